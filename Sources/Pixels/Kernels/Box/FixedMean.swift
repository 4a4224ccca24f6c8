import Catalogs
import Geometry

/// A mean over a rectangle of 8-bit samples, row by row: first along columns in 8.7 fixed point, then along the row.
final class FixedMean {
    private let columns: Range<Int>
    private let horizontal: BoxAxis
    private let vertical: BoxAxis
    private let bytes: ByteSource
    private let operations: RowOperations
    private let source: SummedRows
    private let channels: Int
    private let hasAlpha: Bool
    /// Whether the sums are those of the window around the row above the next one.
    private var isFilled = false
    /// The sums of the windows of all columns that are read. They are in 8.7 fixed point, or in samples if those fit 16 bits
    /// and no pixel is translucent. Both give the same means.
    private let sums: RowBuffer<Int32>
    private let shortSums: RowBuffer<UInt16>
    private let shortWeights: ShortWeights?
    private let isOpaque: Bool
    private let means: RowBuffer<UInt16>
    private let words: RowBuffer<UInt16>

    /// The number of values before the first column's mean, with which a sum along the row begins.
    private static let lead = 64
    /// The gap between the sums of parts, which a loop may overwrite beyond its last value.
    private static let gap = 64

    /// Divides a picture so that a part's sums stay in the first-level cache. The division does not affect any pixel.
    static func parts(of columns: Range<Int>, channels: Int, reach: Int) -> [Range<Int>] {
        let width = max((1 << 16) / channels, 8 * reach) & ~63
        return columns.pieces(of: width)
    }

    /// - Parameters:
    ///   - columns: a part of the target's columns.
    ///   - layout: the layout of the target.
    ///   - isOpaque: whether all pixels that are read have full alpha.
    init(
        _ bytes: ByteSource, _ columns: Range<Int>, _ horizontal: BoxAxis, _ vertical: BoxAxis, isOpaque: Bool,
        _ layout: PixelLayout, _ operations: RowOperations
    ) {
        self.bytes = bytes
        self.horizontal = horizontal
        self.vertical = vertical
        self.operations = operations
        channels = layout.channels
        hasAlpha = layout.hasAlpha
        self.columns = columns
        let read = columns.lowerBound - horizontal.reach..<columns.upperBound + horizontal.reach
        self.isOpaque = isOpaque
        source = SummedRows(bytes, read, vertical, isOpaque: isOpaque, layout, operations)
        shortWeights = ShortWeights(vertical)
        sums = RowBuffer(count: read.count * channels)
        shortSums = RowBuffer(count: read.count * channels + 3 * Self.gap)
        means = RowBuffer(count: Self.lead + read.count * channels + 64)
        words = RowBuffer(count: columns.count * channels + 64)
    }

    /// An upper bound for the bytes of a mean of this output.
    static func bytes(of output: RunningOutput, _ horizontal: BoxAxis, _ vertical: BoxAxis) -> Int {
        let channels = output.layout.channels
        let width = output.rect.width + 2 * horizontal.reach + 512
        // The columns beyond the picture are copied for each row of a window.
        let copies = 2 * (vertical.length + 2) * ((2 * horizontal.reach + 128) * channels + 1024)
        // Rows are premultiplied when they enter and when they leave.
        let premultiplied = output.layout.hasAlpha ? 2 * width * channels * 6 : 0
        return copies + premultiplied + width * channels * 32
    }

    /// Computes the rows of the target's rectangle. The next call continues below them.
    func render(to target: RowWriter<UInt8>) {
        let rows = target.rect.rows
        for y in rows {
            let (leaving, entering) = (y - vertical.side - 1, y + vertical.side)
            bytes.require(leaving..<entering + 2)
            if !isFilled { for y in leaving + 1..<entering { slide(entering: y, leaving: nil) } }
            slide(
                entering: entering, leaving: isFilled ? leaving : nil,
                outside: vertical.fraction > 0 ? (above: leaving, below: entering + 1) : nil)
            isFilled = true
            write(y, to: target)
        }
    }

    private func slide(entering: Int, leaving: Int?, outside: (above: Int, below: Int)? = nil) {
        let weight = shortWeights?.scale ?? vertical.weight
        let tail = outside == nil ? 0 : shortWeights.map { Double($0.tail) } ?? vertical.tail
        let isShort = shortWeights != nil
        let to = means.start + Self.lead
        source.withRows(
            entering: entering, leaving: leaving, outside: outside,
            bytes: { rows, part, start, count in
                if let shortWeights, isOpaque {
                    operations.slideShortColumns(
                        rows, shift: shortWeights.shift, weight: shortWeights.weight,
                        tail: outside == nil ? 0 : shortWeights.tail, count: count,
                        sums: shortSums.start + start + Self.gap * part, words: to + start)
                } else {
                    operations.slideByteColumns(
                        rows, weight: weight, tail: tail, isShort: isShort, count: count, sums: sums.start + start,
                        words: to + start)
                }
            },
            words: { rows, count in
                operations.slideWordColumns(
                    rows, weight: weight, tail: tail, isShort: isShort, count: count, sums: sums.start, words: to)
            })
    }

    /// With alpha, all means are computed in 8.7 fixed point: the result for an opaque pixel must not depend on whether
    /// another pixel in the row is translucent.
    private func write(_ y: Int, to target: RowWriter<UInt8>) {
        let row = means.start + Self.lead + (horizontal.reach - horizontal.side) * channels
        let scale = hasAlpha ? 1 : 128.0  // from 8.7 fixed point to samples
        let count = columns.count * channels
        operations.averageAlong(
            Row(row), channels: channels, length: horizontal.length, weight: Float(horizontal.weight / scale),
            tail: Float(horizontal.tail / scale), count: count, bytes: hasAlpha ? nil : target.row,
            words: hasAlpha ? words.start : nil)
        if hasAlpha {
            target.storeWords(
                words.start, isOpaque: source.isOpaque(from: y - vertical.reach), columns: columns, y: y)
        } else {
            target.store(target.row, columns: columns, y: y)
        }
    }
}

/// The weights of one axis for sums of samples that fit 16 bits: ⌊sum·2^shift·weight / 65536⌋ is a mean in 8.7.
private struct ShortWeights {
    let shift: Int
    let weight: UInt16
    /// The weight of the sum of the two outermost samples, in 8.7.
    let tail: UInt16

    /// The factor of a sum in 8.7 fixed point.
    var scale: Double { Double(weight) * Double(1 << shift) / Double(1 << 23) }

    /// Returns nil if the sums are too large.
    init?(_ axis: BoxAxis) {
        guard 255 * axis.length <= UInt16.max else { return nil }
        shift = UInt16(255 * axis.length).leadingZeroBitCount
        weight = UInt16(clamping: Int((65536 * 128 * axis.weight / Double(1 << shift)).rounded()))
        tail = UInt16(clamping: Int((65536 * axis.tail).rounded()))
    }
}

/// A mean over a rectangle of 16-bit samples, row by row: first along columns in 16.4 fixed point, then along the row.
final class WordMean {
    private let columns: Range<Int>
    private let horizontal: BoxAxis
    private let vertical: BoxAxis
    private let operations: RowOperations
    private let words: WordSource
    private let source: WordSource.Columns
    /// Whether the sums are those of the window around the row above the next one.
    private var isFilled = false
    private let channels: Int
    private let count: Int
    /// The sums of the windows of all columns that are read.
    private let sums: RowBuffer<Int32>
    private let means: RowBuffer<UInt32>
    /// Copies of the rows that cannot be read in place: those that enter and leave, and those outside.
    private let copies: RowBuffer<UInt16>
    private let copyStride: Int
    private let zeros: RowBuffer<UInt16>

    /// The number of values before the first column's mean, with which a sum along the row begins.
    private static let lead = 64

    /// Divides a picture so that a part's sums stay in the second-level cache. The division does not affect any pixel.
    static func parts(of columns: Range<Int>, channels: Int, reach: Int) -> [Range<Int>] {
        let width = max((1 << 14) / channels, 8 * reach)
        return columns.pieces(of: width)
    }

    /// - Parameter columns: a part of the target's columns.
    init(
        _ words: WordSource, _ columns: Range<Int>, _ horizontal: BoxAxis, _ vertical: BoxAxis,
        _ operations: RowOperations
    ) {
        self.words = words
        self.columns = columns
        self.horizontal = horizontal
        self.vertical = vertical
        self.operations = operations
        channels = words.channels
        let read = columns.lowerBound - horizontal.reach..<columns.upperBound + horizontal.reach
        source = words.reading(read)
        count = read.count * channels
        sums = RowBuffer(count: count)
        means = RowBuffer(count: Self.lead + count + 64)
        copyStride = (count + 31) & ~31  // loops read whole vectors
        copies = RowBuffer(count: 4 * copyStride)
        zeros = RowBuffer(count: count)
    }

    /// An upper bound for the bytes of a mean of this output.
    static func bytes(of output: RunningOutput, _ horizontal: BoxAxis) -> Int {
        (output.rect.width + 2 * horizontal.reach + 512) * output.layout.channels * 24
    }

    /// Computes the rows of the target's rectangle. The next call continues below them.
    func render(to target: RowWriter<UInt16>) {
        for y in target.rect.rows {
            let (leaving, entering) = (y - vertical.side - 1, y + vertical.side)
            words.require(leaving..<entering + 2)
            if !isFilled { for y in leaving + 1..<entering { slide(entering: y, leaving: nil) } }
            slide(entering: entering, leaving: isFilled ? leaving : nil, around: y)
            isFilled = true
            average(y, to: target)
        }
    }

    /// - Parameter y: the row in the middle of the window; nil while the window is filled.
    private func slide(entering: Int, leaving: Int?, around y: Int? = nil) {
        let tail = y == nil ? 0 : vertical.tail
        let outside = y.flatMap { tail > 0 ? ($0 - vertical.side - 1, $0 + vertical.side + 1) : nil }
        let rows = SlidingRows(
            entering: row(entering, 0), leaving: row(leaving, 1), above: row(outside?.0, 2), below: row(outside?.1, 3))
        operations.slideSampleColumns(
            rows, weight: Float(16 * vertical.weight), tail: Float(16 * tail), count: count, sums: sums.start,
            means: means.start + Self.lead)
    }

    private func row(_ y: Int?, _ position: Int) -> Row<UInt16> {
        y.map { source.row($0, copies.start + position * copyStride) } ?? Row(zeros.start)
    }

    private func average(_ y: Int, to target: RowWriter<UInt16>) {
        let row = means.start + Self.lead + (horizontal.reach - horizontal.side) * channels
        operations.averageWideAlong(
            Row(row), channels: channels, length: horizontal.length, weight: Float(horizontal.weight / 16),
            tail: Float(horizontal.tail / 16), count: columns.count * channels, words: target.row)
        target.store(target.row, columns: columns, y: y)
    }
}

/// Rows of an 8-bit source for running sums along its columns, any four at a time.
///
/// No row of a window is stored. A row that leaves the window is read again, and premultiplied again if there is alpha.
final class SummedRows {
    private let columns: Range<Int>
    private let channels: Int
    private let segments: [ColumnSegment]
    /// The premultiplied rows that enter a window, and those that leave it; nil if all pixels are opaque.
    private let ahead: PremultipliedRows?
    private let behind: PremultipliedRows?
    private let zeroBytes: RowBuffer<UInt8>
    private let zeroWords: RowBuffer<UInt16>

    /// - Parameter isOpaque: whether all pixels have full alpha.
    init(
        _ source: ByteSource, _ columns: Range<Int>, _ axis: BoxAxis, isOpaque: Bool, _ layout: PixelLayout,
        _ operations: RowOperations
    ) {
        self.columns = columns
        channels = layout.channels
        segments = ColumnSegment.cut(
            columns, of: source, reading: Reading(scale: 1, before: 0, after: 0), window: axis.length + 2)
        func premultiplied() -> PremultipliedRows? {
            guard layout.hasAlpha, !isOpaque else { return nil }
            return PremultipliedRows(source, layout: layout, columns: columns, window: 2, operations)
        }
        ahead = premultiplied()
        behind = premultiplied()
        zeroBytes = RowBuffer(count: columns.count * layout.channels + 64)
        zeroWords = RowBuffer(count: columns.count * layout.channels + 64)
    }

    /// Calls `bytes` for each part of the columns (three at most), with the position of its first value and the number of
    /// values. If some pixel is not opaque, it calls `words` once instead. A nil row is a row of zeros.
    func withRows(
        entering: Int, leaving: Int?, outside: (above: Int, below: Int)?,
        bytes: (SlidingRows<UInt8>, _ part: Int, _ start: Int, _ count: Int) -> Void,
        words: (SlidingRows<UInt16>, _ count: Int) -> Void
    ) {
        if isPlain([entering, leaving, outside?.above, outside?.below]) {
            for (part, segment) in segments.enumerated() {
                func row(_ y: Int?) -> Row<UInt8> {
                    y.map { segment.row($0, x: segment.outputs.lowerBound) } ?? Row(zeroBytes.start)
                }
                let rows = SlidingRows(
                    entering: row(entering), leaving: row(leaving), above: row(outside?.above),
                    below: row(outside?.below))
                bytes(
                    rows, part, (segment.outputs.lowerBound - columns.lowerBound) * channels,
                    segment.outputs.count * channels)
            }
        } else {
            func row(_ y: Int?, of rows: PremultipliedRows?) -> Row<UInt16> {
                y.flatMap { rows?.pixel(x: columns.lowerBound, y: $0) } ?? Row(zeroWords.start)
            }
            // The entering row and the lower outside row are neighbours, as are the leaving row and the upper outside row.
            let rows = SlidingRows(
                entering: row(entering, of: ahead), leaving: row(leaving, of: behind),
                above: row(outside?.above, of: behind), below: row(outside?.below, of: ahead))
            words(rows, columns.count * channels)
        }
    }

    /// Whether all rows read so far, from the coordinate `y` on, are opaque.
    func isOpaque(from y: Int) -> Bool { ahead.map { $0.lastTranslucent < y } ?? true }

    /// Checks every row, because ``isOpaque(from:)`` must know about all of them.
    private func isPlain(_ y: [Int?]) -> Bool {
        guard let ahead else { return true }
        return y.reduce(true) { isPlain, row in row.map { ahead.isPlain($0) && isPlain } ?? isPlain }
    }
}
