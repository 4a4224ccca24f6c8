import Catalogs
import Geometry

/// The rows of an 8-bit source for an inner loop: samples if all rows of a window are opaque, or else premultiplied words.
final class FixedRows {
    let channels: Int
    private let source: ByteSource
    private let segments: [ColumnSegment]
    private let outputs: Range<Int>
    private let scale: Int
    /// Nil if pixels have no alpha.
    private let premultiplied: PremultipliedRows?
    private let byteRows: RowList<UInt8>
    private let wordRows: RowList<UInt16>

    /// - Parameters:
    ///   - outputs: the columns that the loop writes.
    ///   - window: the number of rows that it reads at once.
    init(
        _ source: ByteSource, layout: PixelLayout, outputs: Range<Int>, reading: Reading, window: Int,
        _ operations: RowOperations
    ) {
        self.source = source
        self.outputs = outputs
        channels = layout.channels
        scale = reading.scale
        segments = ColumnSegment.cut(outputs, of: source, reading: reading, window: window)
        let read = reading.columns(for: outputs)
        premultiplied =
            layout.hasAlpha
            ? PremultipliedRows(source, layout: layout, columns: read, window: window, operations) : nil
        byteRows = RowList(count: window)
        wordRows = RowList(count: window)
    }

    /// Calls one of two inner loops for the window of rows `y` (coordinates).
    ///
    /// - Parameters:
    ///   - bytes: receives the rows at `scale` times the first of the given output columns.
    ///   - words: receives them at `scale` times the first output column.
    func withRows(
        _ y: Range<Int>, bytes: (borrowing RowList<UInt8>, Range<Int>) -> Void,
        words: (borrowing RowList<UInt16>) -> Void
    ) {
        if isPlain(y) { withBytes(y, bytes) } else { withWords(y, words) }
    }

    /// The same, but with samples only if all pixels that the window reads are opaque.
    func withOpaqueRows(
        _ y: Range<Int>, bytes: (borrowing RowList<UInt8>, Range<Int>) -> Void,
        words: (borrowing RowList<UInt16>) -> Void
    ) {
        if isPlain(y), isOpaque(from: y.lowerBound) { withBytes(y, bytes) } else { withWords(y, words) }
    }

    /// Checks every row, because ``isOpaque(from:)`` must know about all of them.
    private func isPlain(_ y: Range<Int>) -> Bool {
        guard let premultiplied else { return true }
        return y.reduce(true) { premultiplied.isPlain($1) && $0 }
    }

    private func withBytes(_ y: Range<Int>, _ body: (borrowing RowList<UInt8>, Range<Int>) -> Void) {
        for segment in segments {
            segment.point(to: scale * segment.outputs.lowerBound, rows: y, byteRows)
            body(byteRows, segment.outputs)
        }
    }

    private func withWords(_ y: Range<Int>, _ body: (borrowing RowList<UInt16>) -> Void) {
        guard let premultiplied else { return }
        for (index, row) in y.enumerated() {
            wordRows.set(index, premultiplied.pixel(x: scale * outputs.lowerBound, y: row))
        }
        body(wordRows)
    }

    /// Whether all rows read so far, from the coordinate `y` on, are opaque.
    func isOpaque(from y: Int) -> Bool { premultiplied.map { $0.lastTranslucent < y } ?? true }
}

/// The rows of one strip of columns of 8-bit samples, widened to 16 bits, for a window that slides down.
final class FixedStrip {
    /// A buffer for a row of results in 8.7 fixed point.
    var words: MutableRow<UInt16> { wordMemory.start }
    private let source: ByteSource
    private let reachY: Int
    private let strip: Range<Int>
    private let shift: Int
    let operations: RowOperations
    private let premultiplied: PremultipliedRows?
    private let ring: RowRing<UInt16>
    private let bytes: RowBuffer<UInt8>
    private let wordMemory: RowBuffer<UInt16>
    /// The offset of each pair: values to the right, and rows down.
    private let offsets: [(values: Int, rows: Int)]
    /// The positions of the strip's pixels in the latest window.
    let pairs: RowList<UInt16>

    /// - Parameters:
    ///   - reach: the number of pixels that are read on each side of the strip, and of rows above and below.
    ///   - pairs: the pairs for ``makeWindow(_:)``.
    ///   - rows: the rows of the output.
    ///   - shift: 7 for 8.7 fixed point, or 0; pixels with alpha are always in fixed point.
    ///   - layout: the layout of the output.
    init(
        _ source: ByteSource, reach: (x: Int, y: Int), pairs: [SymmetricPairs.Pair] = [], strip: Range<Int>,
        rows: Range<Int>, shift: Int, _ layout: PixelLayout, _ operations: RowOperations
    ) {
        let columns = strip.lowerBound - reach.x..<strip.upperBound + reach.x
        self.source = source
        reachY = reach.y
        self.strip = strip
        self.shift = shift
        self.operations = operations
        premultiplied =
            layout.hasAlpha
            ? PremultipliedRows(source, layout: layout, columns: columns, window: 1, operations) : nil
        ring = RowRing(
            columns: columns, rows: rows.lowerBound - reach.y..<rows.upperBound + reach.y,
            channels: layout.channels, capacity: 2 * reach.y + 2, margin: 0)
        bytes = RowBuffer(count: columns.count * source.channels + 64)
        wordMemory = RowBuffer(count: strip.count * layout.channels + 192)
        offsets = pairs.map { ($0.dx * layout.channels, $0.dy) }
        self.pairs = RowList(count: 2 * pairs.count + 1)
    }

    /// An upper bound for the bytes of a strip of this many columns, those on both sides included.
    static func bytes(columns: Int, reachY: Int, channels: Int) -> Int {
        (columns + 512) * channels * bytesOfValue(reachY: reachY)
    }

    /// The same for one value of a row.
    static func bytesOfValue(reachY: Int) -> Int {
        // A ring has a power of two of rows. Premultiplied words may have the same width.
        var rows = 1
        while rows < 2 * reachY + 2 { rows *= 2 }
        return 2 * rows + 12
    }

    /// Computes the rows around `y` and points ``pairs`` to them. Returns the position of the strip's pixels in the row `y`.
    func makeWindow(_ y: Int) -> Row<UInt16> {
        makeRows(through: y + reachY)
        let lead = (strip.lowerBound - ring.columns.lowerBound) * ring.channels
        var index = 0
        for offset in offsets {
            pairs.set(index, Row(ring.rowInside(y &+ offset.rows).moved(unchecked: lead &+ offset.values)))
            pairs.set(index &+ 1, Row(ring.rowInside(y &- offset.rows).moved(unchecked: lead &- offset.values)))
            index &+= 2
        }
        return Row(ring.rowInside(y) + lead)
    }

    /// The row at `y`, from the strip's first column on. It must be one of the latest rows.
    func row(_ y: Int) -> Row<UInt16> { Row(ring.pixel(x: strip.lowerBound, y: y)) }

    func makeRows(through y: Int) {
        while ring.lacks(y) {
            fill(ring.next)
            ring.next += 1
        }
    }

    func isOpaque(from y: Int) -> Bool { premultiplied.map { $0.lastTranslucent < y } ?? true }

    private func fill(_ y: Int) {
        let row = ring.row(y)
        if let premultiplied, !premultiplied.isPlain(y) {
            let from = premultiplied.pixel(x: ring.columns.lowerBound, y: y)
            return row.update(from: from, count: ring.columns.count * ring.channels)
        }
        let position = source.position(ofRow: y)
        let isInPlace = position >= 0 && source.isSafeInPlace(ring.columns)
        if !isInPlace { source.copy(ring.columns, position: position, to: bytes.start) }
        let from =
            isInPlace ? source.inPlace(x: ring.columns.lowerBound, position: position) : Row(bytes.start)
        operations.widenBytes(from, count: ring.columns.count * ring.channels, shift: shift, out: row)
    }
}

/// The rows of a source whose pixels have or get an alpha: premultiplied words in 8.7 fixed point, computed on demand. Rows of
/// opaque pixels do not need them, because their samples give the same results.
final class PremultipliedRows {
    let channels: Int
    private let source: ByteSource
    private let operations: RowOperations
    private let columns: Range<Int>
    private let addsAlpha: Bool
    /// Whether some columns are transparent, so that no row is opaque.
    private let hasGaps: Bool
    private let ring: RowRing<UInt16>
    private var held: [Int]
    private let bytes: RowBuffer<UInt8>
    /// The last coordinate so far whose row is not opaque.
    private(set) var lastTranslucent = Int.min

    private static let margin = 16

    /// - Parameters:
    ///   - layout: the layout of the words, with an alpha.
    ///   - columns: the columns that the kernel reads, less 16 pixels and a few vectors.
    ///   - window: the number of rows that are needed at the same time.
    init(_ source: ByteSource, layout: PixelLayout, columns: Range<Int>, window: Int, _ operations: RowOperations) {
        self.source = source
        self.operations = operations
        self.columns = columns.lowerBound - Self.margin..<columns.upperBound + Self.margin
        channels = layout.channels
        addsAlpha = layout.channels > source.channels
        hasGaps = !self.columns.allSatisfy { source.hasColumn($0) }
        var capacity = 1
        while capacity < window { capacity *= 2 }
        ring = RowRing(
            columns: self.columns, rows: 0..<capacity, channels: layout.channels, capacity: capacity, margin: 0)
        held = Array(repeating: Int.min, count: capacity)
        bytes = RowBuffer(count: self.columns.count * (source.channels + layout.channels) + 64)
    }

    /// Whether a row's samples can replace its premultiplied words. Remembers rows that are not opaque.
    func isPlain(_ y: Int) -> Bool {
        let position = source.position(ofRow: y)
        let isOpaque = position < 0 || addsAlpha || source.isOpaque(position, operations)
        if !isOpaque || position < 0 || hasGaps {
            // The last row repeats for all rows below it.
            lastTranslucent = y >= source.rowCore.upperBound - 1 ? Int.max : max(lastTranslucent, y)
        }
        return isOpaque && !addsAlpha
    }

    /// The pixel at the column `x` of the row at the coordinate `y`.
    func pixel(x: Int, y: Int) -> Row<UInt16> {
        let slot = y & (held.count - 1)
        if held[slot] != y {
            fill(ring.row(slot), y)
            held[slot] = y
        }
        return Row(ring.pixel(x: x, y: slot))
    }

    private func fill(_ row: MutableRow<UInt16>, _ y: Int) {
        let position = source.position(ofRow: y)
        let own = bytes.start
        source.copy(columns, position: position, to: own)
        guard addsAlpha else {
            return operations.premultiply(Row(own), colors: channels - 1, pixels: columns.count, out: row)
        }
        let target = own + columns.count * source.channels
        for (index, x) in columns.enumerated() {
            let exists = position >= 0 && source.hasColumn(x)
            for color in 0..<source.channels {
                target[unchecked: index * channels + color] = own[unchecked: index * source.channels + color]
            }
            target[unchecked: index * channels + source.channels] = exists ? 255 : 0
        }
        operations.premultiply(Row(target), colors: channels - 1, pixels: columns.count, out: row)
    }
}

/// The margin that an inner loop reads around its outputs.
struct Reading {
    /// Source pixels from one output pixel to the next: 1, 2 or 4.
    let scale: Int
    /// The source pixels that are read before and after `scale` times the output.
    let before: Int
    let after: Int
    /// The number of values that vectors may read beyond those, on either side.
    static let slack = 192

    /// The source columns that are read for some columns of the output.
    func columns(for outputs: Range<Int>) -> Range<Int> {
        scale * outputs.lowerBound - before..<scale * (outputs.upperBound - 1) + after + 1
    }
}

/// A part of the output's columns whose source rows are all read in the same way.
final class ColumnSegment {
    let outputs: Range<Int>
    private let source: ByteSource
    /// Nil if rows are read in place.
    private let copies: CopiedRows?

    private init(_ outputs: Range<Int>, _ source: ByteSource, copying: Reading?, window: Int) {
        self.outputs = outputs
        self.source = source
        copies = copying.map { reading in
            CopiedRows(reading.columns(for: outputs), of: source, capacity: window)
        }
    }

    /// Divides `outputs` into a middle part that can be read in place, and the remainders on both sides.
    static func cut(_ outputs: Range<Int>, of source: ByteSource, reading: Reading, window: Int) -> [ColumnSegment] {
        let run = source.inPlaceColumns
        let first = (run.lowerBound + reading.before).dividedRoundingUp(by: reading.scale)
        let end = (run.upperBound - reading.after).dividedRoundingDown(by: reading.scale)
        let middle = max(first, outputs.lowerBound)..<max(first, outputs.lowerBound, min(end, outputs.upperBound))
        guard middle.count >= 64 else { return [ColumnSegment(outputs, source, copying: reading, window: window)] }
        return [
            ColumnSegment(outputs.lowerBound..<middle.lowerBound, source, copying: reading, window: window),
            ColumnSegment(middle, source, copying: nil, window: window),
            ColumnSegment(middle.upperBound..<outputs.upperBound, source, copying: reading, window: window),
        ].filter { !$0.outputs.isEmpty }
    }

    /// The column `x` of the row at the coordinate `y`. Only the latest few copies are kept.
    func row(_ y: Int, x: Int) -> Row<UInt8> {
        guard let copies else { return source.row(y, inPlace: x) }
        if !copies.holds(y) { copies.fill(y, from: source) }
        return copies.row(y, x: x, source.channels)
    }

    /// Points to the column `x` of each of the rows `y` (coordinates).
    func point(to x: Int, rows y: Range<Int>, _ list: borrowing RowList<UInt8>) {
        guard let copies else { return source.point(to: x, rows: y, list) }
        var index = 0
        for row in y {
            if !copies.holds(row) {
                copies.fill(row, from: source)
            }
            list.set(index, copies.row(row, x: x, source.channels))
            index &+= 1
        }
    }
}

/// The latest rows of a few columns, copied on first use.
final class CopiedRows {
    let columns: Range<Int>
    private let memory: RowBuffer<UInt8>
    private let stride: Int
    private let mask: Int
    private let held: RowBuffer<Int>
    private let offsets: RowBuffer<Int>
    /// The indices of those columns that follow one another in a row of the source. Few together are copied one by one.
    private let runs: [Range<Int>]

    init(_ columns: Range<Int>, of source: ByteSource, capacity: Int) {
        self.columns = columns
        offsets = source.offsets(of: columns)
        var (runs, first) = ([Range<Int>](), 0)
        for index in 1..<columns.count + 1 {
            let follows =
                index < columns.count && offsets[index - 1] >= 0
                && offsets[index] == offsets[index - 1] + source.channels
            if follows { continue }
            if index - first >= 8 { runs.append(first..<index) }
            first = index
        }
        self.runs = runs
        var count = 1
        while count < capacity { count *= 2 }
        stride = (columns.count * source.channels + 2 * Reading.slack + 63) & ~63
        mask = count - 1
        held = RowBuffer(count: count)
        for slot in 0..<count { held[slot] = Int.min }
        memory = RowBuffer(count: stride * count)
    }

    @inline(__always) private func row(_ y: Int) -> MutableRow<UInt8> {
        memory.start.moved(unchecked: Reading.slack &+ (y & mask) &* stride)
    }

    /// The column `x` of a row that is in the cache.
    @inline(__always) func row(_ y: Int, x: Int, _ channels: Int) -> Row<UInt8> {
        Row(row(y).moved(unchecked: (x &- columns.lowerBound) &* channels))
    }

    @inline(__always) func holds(_ y: Int) -> Bool { held[unchecked: y & mask] == y }

    func fill(_ y: Int, from source: ByteSource) {
        source.copy(
            Row(offsets.start), count: columns.count, runs: runs, position: source.position(ofRow: y), to: row(y))
        held[y & mask] = y
    }
}

extension Int {
    /// The divisor is a power of two.
    fileprivate func dividedRoundingDown(by divisor: Int) -> Int { self >> divisor.trailingZeroBitCount }
    fileprivate func dividedRoundingUp(by divisor: Int) -> Int { (self + divisor - 1).dividedRoundingDown(by: divisor) }
}
