import Catalogs
import Geometry
import Raster

/// A Gaussian on 8-bit samples at several sampling rates: halvings, a FIR at the lowest rate, doublings, row by row.
///
/// Rows are computed on demand: an output row requests the rows that it is made of, and those request theirs. Every
/// intermediate image is a ring of the few rows that are still needed, which stays in the second-level cache. All arithmetic
/// is on 16-bit integers, so neither order nor tiles can change a result. docs/explanation/gaussian.md bounds its error.
final class FixedPyramid {
    private let operations: RowOperations
    private let taps: [Int]
    /// Half a unit for each truncated product of a halving; see docs/explanation/gaussian.md.
    private let biases: [UInt16]
    /// What ``renderWords(_:_:)`` gives for 0; see ``ZeroResponse``.
    let zero: UInt16
    private let reach: [Int]
    private let channels: Int
    private let horizontal: AxisDesign<UInt16>
    private let vertical: AxisDesign<UInt16>
    private let bytes: ByteSource
    private let source: FixedRows
    /// The rows for two halvings at once, which give the same bytes; nil if they are made one after the other.
    private let quartered: FixedRows?
    private let output: PixelRect
    /// Parts of the output's columns, each written at once.
    private let chunks: [Range<Int>]
    /// `low[l]` is the image after l + 1 halvings. `up[l]` is the image at the same rate on the way back.
    private let low: [RowRing<UInt16>]
    private let up: [RowRing<UInt16>]
    /// Whether the last two doublings are one interpolation.
    private let isInterpolated: Bool
    /// Rows for an interpolation: every column of the picture, and every fourth row. Empty otherwise.
    private let spreadRows: RowRing<UInt16>
    /// Four rows of a chunk's samples.
    private let fourRows: RowBuffer<UInt8>
    private let scratch: RowBuffer<UInt16>
    private let words: RowBuffer<UInt16>
    /// The rows that a loop reads, and those that it writes.
    private let window: RowList<UInt16>
    private let targets: MutableRowList<UInt16>

    /// The number of rows that the FIR filters at once.
    static let batch = 8
    private static let margin = 10
    /// The number of output columns of a chunk.
    private static let chunk = 2560
    /// The most values of a row of a chunk that is interpolated. What is written stays in the first-level cache.
    private static let interpolatedValues = 4096
    /// The distance of the four rows of such a chunk.
    private static let fourRowsStride = interpolatedValues + 192
    private static let scratchCount = batch * 800 + 256

    /// Divides a picture so that the rows of a part stay in the second-level cache. The division does not affect any pixel. A
    /// part is much wider than its margins.
    static func parts(of output: PixelRect, channels: Int, reach: Int) -> [PixelRect] {
        let width = max(widestRow / channels, 8 * reach) & ~63
        return output.columns.pieces(of: width).map { PixelRect(columns: $0, rows: output.rows) }
    }

    /// The largest number of values of an output row.
    private static let widestRow = 1 << 16

    /// - Parameter output: a part of the writer's rectangle.
    /// - Precondition: both axes have the same prefilters, at least one.
    init(
        _ bytes: ByteSource, layout: PixelLayout, output: PixelRect, horizontal: AxisDesign<UInt16>,
        vertical: AxisDesign<UInt16>, _ operations: RowOperations
    ) {
        let prefilters = horizontal.prefilters
        precondition(prefilters == vertical.prefilters && !prefilters.isEmpty, "one rate for both axes")
        let levels = prefilters.count
        let x = AxisSpans(
            output: output.columns, core: bytes.columnCore, prefilters: prefilters, radius: horizontal.radius,
            pairs: true)
        let y = AxisSpans(
            output: output.rows, core: bytes.rowCore, prefilters: prefilters, radius: vertical.radius, pairs: false)
        self.operations = operations
        self.bytes = bytes
        self.output = output
        self.horizontal = horizontal
        self.vertical = vertical
        channels = layout.channels
        taps = prefilters.map(\.taps.count)
        reach = prefilters.map(\.doublingReach)
        biases = taps.enumerated().map { level, count in Self.bias(taps: count, isFirst: level == 0) }
        zero = ZeroResponse.multirate(
            taps: taps, biases: biases, horizontal: horizontal.weights, vertical: vertical.weights)
        isInterpolated = Self.isInterpolated(taps)
        let chunk = isInterpolated ? Self.interpolatedValues / layout.channels : Self.chunk
        chunks = stride(from: output.x & ~1, to: output.right, by: chunk).map {
            max($0, output.x)..<min($0 + chunk, output.right)
        }
        source = FixedRows(
            bytes, layout: layout, outputs: x.low[1], reading: Reading(scale: 2, before: 4, after: 5), window: 8,
            operations)
        // Pixels with alpha may need the halvings of words.
        quartered =
            isInterpolated && !layout.hasAlpha
            ? FixedRows(
                bytes, layout: layout, outputs: x.low[2], reading: Reading(scale: 4, before: 4, after: 8), window: 8,
                operations) : nil
        let (isInterpolated, skipsFirst) = (isInterpolated, quartered != nil)
        let capacities = (1...levels).map {
            Self.capacities($0, vertical, isInterpolated: isInterpolated, skipsFirst: skipsFirst)
        }
        low = (1...levels).map { level in
            RowRing(
                columns: x.low[level], rows: y.low[level], channels: layout.channels,
                capacity: capacities[level - 1].low, margin: Self.margin + (level == levels ? x.excess : 0))
        }
        up = (1...levels).map { level in
            RowRing(
                columns: x.up[level], rows: y.up[level], channels: layout.channels,
                capacity: capacities[level - 1].up, margin: Self.margin)
        }
        spreadRows = RowRing(
            columns: isInterpolated ? output.x & ~3..<(output.right + 3) & ~3 : 0..<0, rows: y.up[min(2, levels)],
            channels: layout.channels, capacity: 2, margin: 0)
        fourRows = RowBuffer(count: isInterpolated ? 4 * Self.fourRowsStride : 0)
        scratch = RowBuffer(count: Self.scratchCount)
        words = RowBuffer(count: (output.width + 4) * layout.channels + 256)
        window = RowList(count: 2 * vertical.radius + Self.batch + 8)
        targets = MutableRowList(count: Self.batch)
    }

    /// Vertical windows of whole samples truncate nothing. Nor do horizontal windows of 4 taps, and those of 5 taps truncate
    /// only a half.
    private static func bias(taps: Int, isFirst: Bool) -> UInt16 {
        switch taps {
        case 3: 0  // averages
        case 4: isFirst ? 0 : 2
        case 5: isFirst ? 0 : 3
        case 6: isFirst ? 1 : 3
        default: isFirst ? 2 : 4
        }
    }

    /// The number of rows that the rings of a level hold.
    private static func capacities(
        _ level: Int, _ vertical: AxisDesign<UInt16>, isInterpolated: Bool, skipsFirst: Bool
    ) -> (low: Int, up: Int) {
        if level == vertical.prefilters.count { return (2 * vertical.radius + batch + 1, 2 * batch) }
        return (level == 1 && skipsFirst ? 1 : 8, level == 1 && isInterpolated ? 1 : 8)
    }

    private static func isInterpolated(_ taps: [Int]) -> Bool { taps.starts(with: [3, 3]) }

    /// An upper bound for the bytes of a pyramid of this output width.
    static func bytes(
        width: Int, _ layout: PixelLayout, _ horizontal: AxisDesign<UInt16>, _ vertical: AxisDesign<UInt16>
    ) -> Int {
        let isInterpolated = isInterpolated(vertical.prefilters.map(\.taps.count))
        let rings = (1...vertical.prefilters.count).map { level in
            let rows = capacities(
                level, vertical, isInterpolated: isInterpolated, skipsFirst: isInterpolated && !layout.hasAlpha)
            let width = (width + 2 * horizontal.reach) >> level
            // A ring has a power of two of rows.
            return (2 * rows.low + rows.up) * (width + 2 * margin + 512) * 2
        }
        // Rows of words and bytes have the whole width. With alpha, eight rows are premultiplied.
        let whole = (layout.hasAlpha ? 32 : 12) * (width + 2 * horizontal.reach + 512)
        return (rings.reduce(0, +) + whole) * layout.channels + fourRowsStride * 4 + 2 * scratchCount
    }

    /// The most rows that are read before an output row needs them: those for a batch at the lowest rate.
    static func rowsAhead(_ vertical: AxisDesign<UInt16>) -> Int { batch << vertical.prefilters.count }

    /// Computes the rows of the target's rectangle. The next call continues below them.
    func render(to target: RowWriter<UInt8>) {
        let (isInterpolated, chunks) = (isInterpolated, chunks)
        // So many rows are made from the same rows of a lower rate.
        let count = isInterpolated ? 4 : 2
        let (halo, rows) = (vertical.reach, target.rect.rows)
        for first in stride(from: rows.lowerBound & ~(count - 1), to: rows.upperBound, by: count) {
            prepare(first)
            if source.isOpaque(from: first - halo) {
                // A `for` loop would retain the array. That is an atomic operation, which waits for the stores that bypass the
                // caches.
                var chunk = 0
                while chunk < chunks.count {
                    if isInterpolated {
                        writeInterpolated(chunks[chunk], first, to: target)
                    } else {
                        writeDoubled(chunks[chunk], first >> 1, to: target)
                    }
                    chunk += 1
                }
            } else {
                for y in (first..<first + count).clamped(to: rows) { writeStraight(y, to: target) }
            }
        }
    }

    /// Computes rows in 8.7 fixed point, premultiplied if there is alpha. The next call continues below them.
    func renderWords(_ rows: Range<Int>, _ body: (_ y: Int, _ row: Row<UInt16>) -> Void) {
        for y in rows {
            prepare(y)
            body(y, doubledRow(y))
        }
    }

    /// Whether all rows read so far, from the coordinate `y` on, are opaque.
    func isOpaque(from y: Int) -> Bool { source.isOpaque(from: y) }

    /// Computes the rows of a lower rate from which the row `y` is made.
    private func prepare(_ y: Int) {
        if isInterpolated { makeSpread(through: (y >> 2) + 1) } else { makeUp(1, through: (y >> 1) + reach[0]) }
    }

    /// Interpolates a part of four rows to samples in the first-level cache, and copies them into the raster.
    private func writeInterpolated(_ columns: Range<Int>, _ first: Int, to target: RowWriter<UInt8>) {
        operations.interpolateToBytes(
            near: Row(spreadRows.pixel(x: columns.lowerBound, y: first >> 2)),
            far: Row(spreadRows.pixel(x: columns.lowerBound, y: (first >> 2) + 1)), count: columns.count * channels,
            stride: Self.fourRowsStride, out: fourRows.start)
        for y in (first..<first + 4).clamped(to: target.rect.rows) {
            target.store(fourRows.start + (y - first) * Self.fourRowsStride, columns: columns, y: y)
        }
    }

    /// Doubles a part of two rows to samples in the first-level cache, and copies them into the raster.
    private func writeDoubled(_ columns: Range<Int>, _ pair: Int, to target: RowWriter<UInt8>) {
        setWindow(up[0], around: pair, x: columns.lowerBound >> 1)
        let even = 2 * pair >= target.rect.y
        let odd = 2 * pair + 1 < target.rect.bottom
        let skip = columns.lowerBound & 1
        operations.doubleWordsToBytes(
            window, channels: channels, taps: taps[0], count: (skip + columns.count + 1) / 2, scratch: scratch.start,
            even: even ? target.row : nil, odd: odd ? target.secondRow : nil)
        if even { target.store(target.row + skip * channels, columns: columns, y: 2 * pair) }
        if odd { target.store(target.secondRow + skip * channels, columns: columns, y: 2 * pair + 1) }
    }

    /// Doubles a row to words and divides by alpha.
    private func writeStraight(_ y: Int, to target: RowWriter<UInt8>) {
        operations.unpremultiply(doubledRow(y), zero: zero, colors: channels - 1, pixels: output.width, out: target.row)
        target.store(target.row, columns: output.columns, y: y)
    }

    /// Doubles a row to words.
    private func doubledRow(_ y: Int) -> Row<UInt16> {
        if isInterpolated {
            operations.interpolateWords(
                near: Row(spreadRows.pixel(x: output.x, y: y >> 2)),
                far: Row(spreadRows.pixel(x: output.x, y: (y >> 2) + 1)),
                place: y & 3, count: output.width * channels, out: words.start + 64)
            return Row(words.start + 64)
        }
        setWindow(up[0], around: y >> 1, x: output.x >> 1)
        let skip = output.x & 1
        operations.doubleWords(
            window, channels: channels, taps: taps[0], isOdd: y & 1 == 1, count: (skip + output.width + 1) / 2,
            scratch: scratch.start, out: words.start + 64)
        return Row(words.start + 64 + skip * channels)
    }

    /// Sets the window to the rows from two above to two below, at a column.
    private func setWindow(_ ring: RowRing<UInt16>, around y: Int, x: Int) {
        for offset in -2...2 { window.set(offset + 2, Row(ring.pixel(x: x, y: y + offset))) }
    }
}

extension FixedPyramid {
    /// Computes ``spreadRows`` up to `y`, which counts every fourth row of the picture.
    private func makeSpread(through y: Int) {
        while spreadRows.lacks(y) {
            let row = spreadRows.next
            makeUp(2, through: row)
            operations.spreadWords(
                Row(up[1].pixel(x: spreadRows.columns.lowerBound >> 2, y: row)), channels: channels,
                count: spreadRows.columns.count / 4, out: spreadRows.row(row))
            spreadRows.next = row + 1
        }
    }

    /// Computes the rows of the doubled image of a level, up to `y`.
    private func makeUp(_ level: Int, through y: Int) {
        let index = level - 1
        guard level < taps.count else { return filter(through: y) }
        while up[index].lacks(y) {
            let row = up[index].next
            makeUp(level + 1, through: (row >> 1) + reach[level])
            setWindow(up[level], around: row >> 1, x: up[index].columns.lowerBound >> 1)
            operations.doubleWords(
                window, channels: channels, taps: taps[level], isOdd: row & 1 == 1, count: up[index].columns.count / 2,
                scratch: scratch.start, out: up[index].row(row))
            up[index].next = row + 1
        }
    }

    /// Filters rows at the lowest rate, up to `y`.
    private func filter(through y: Int) {
        let index = taps.count - 1
        while up[index].lacks(y) {
            let row = up[index].next
            let count = min(Self.batch, up[index].rows.upperBound - row)
            makeLow(index, through: row + count - 1 + vertical.radius)
            let left = up[index].columns.lowerBound
            for offset in 0..<count + 2 * vertical.radius {
                window.set(offset, Row(low[index].pixel(x: left, y: row - vertical.radius + offset)))
            }
            for offset in 0..<count { targets.set(offset, up[index].row(row + offset)) }
            operations.filterWordRows(
                window, rowCount: count, channels: channels, vertical: vertical.weights,
                verticalRadius: vertical.radius, horizontal: horizontal.weights, horizontalRadius: horizontal.radius,
                count: up[index].columns.count * channels, scratch: scratch.start + 32, into: targets)
            up[index].next = row + count
        }
    }

    /// Computes the rows after `index` + 1 halvings, up to `y`.
    private func makeLow(_ index: Int, through y: Int) {
        while low[index].lacks(y) {
            let row = low[index].next
            switch index {
            case 0: halveSource(row)
            case 1:
                if let quartered { quarter(quartered, row) } else { halveLow(index, row) }
            default: halveLow(index, row)
            }
            low[index].pad(row)
            low[index].next = row + 1
        }
    }

    /// The rows from which a halved row is computed.
    private func rowsRead(_ index: Int, _ row: Int) -> Range<Int> { horizontal.prefilters[index].window(row..<row + 1) }

    private func halveSource(_ row: Int) {
        let (ring, taps) = (low[0], taps[0])
        let (bias, rows) = (biases[0], rowsRead(0, row))
        bytes.require(rows)
        source.withRows(
            rows,
            bytes: { rows, columns in
                operations.halveBytes(
                    rows, channels: channels, taps: taps, count: columns.count, bias: bias, scratch: scratch.start,
                    out: ring.pixel(x: columns.lowerBound, y: row))
            },
            words: { rows in
                operations.halveWords(
                    rows, channels: channels, taps: taps, count: ring.columns.count, bias: bias, scratch: scratch.start,
                    out: ring.row(row))
            })
    }

    /// Computes a row after two halvings of the samples.
    private func quarter(_ source: FixedRows, _ row: Int) {
        let ring = low[1]
        let rows = horizontal.prefilters[0].window(rowsRead(1, row))
        bytes.require(rows)
        source.withRows(
            rows,
            bytes: { rows, columns in
                operations.quarterBytes(
                    rows, channels: channels, count: columns.count, scratch: scratch.start,
                    out: ring.pixel(x: columns.lowerBound, y: row))
            },
            words: { _ in preconditionFailure("pixels without alpha are read as samples") })
    }

    private func halveLow(_ index: Int, _ row: Int) {
        let rows = rowsRead(index, row)
        makeLow(index - 1, through: rows.upperBound - 1)
        let first = 2 * low[index].columns.lowerBound
        for (offset, y) in rows.enumerated() {
            window.set(offset, Row(low[index - 1].pixel(x: first, y: y)))
        }
        operations.halveWords(
            window, channels: channels, taps: taps[index], count: low[index].columns.count, bias: biases[index],
            scratch: scratch.start, out: low[index].row(row))
    }
}

/// A separable FIR of a small radius on 8-bit samples, row by row.
package final class FixedDirect {
    private let operations: RowOperations
    private let bytes: ByteSource
    private let source: FixedRows
    private let columns: Range<Int>
    private let radius: Int
    private let horizontal: [UInt16]
    private let vertical: [UInt16]
    /// The weights for the loop over pairs of rows, which uses half the centre's weight. That weight is even, or 65535 for a
    /// single sample, where the last bit changes no product.
    private let verticalOfPairs: [UInt16]
    private let zero: UInt16
    private let scratch = RowBuffer<UInt16>(count: 4352)
    private let words: RowBuffer<UInt16>

    /// - Parameters:
    ///   - columns: the columns of the output.
    ///   - horizontal: weights from the centre outwards, at most ten, because there are loops for radii up to 9.
    ///   - vertical: the same.
    init(
        _ bytes: ByteSource, layout: PixelLayout, columns: Range<Int>, horizontal: [UInt16], vertical: [UInt16],
        _ operations: RowOperations
    ) {
        let count = max(horizontal.count, vertical.count)
        self.operations = operations
        self.bytes = bytes
        self.columns = columns
        radius = count - 1
        self.horizontal = horizontal + Array(repeating: 0, count: count - horizontal.count)
        self.vertical = vertical + Array(repeating: 0, count: count - vertical.count)
        verticalOfPairs = [self.vertical[0] / 2] + self.vertical.dropFirst()
        zero = UInt16(clamping: ZeroResponse.direct(horizontal: self.horizontal, vertical: self.vertical))
        source = FixedRows(
            bytes, layout: layout, outputs: columns, reading: Reading(scale: 1, before: count - 1, after: count - 1),
            window: 2 * radius + 2, operations)
        words = RowBuffer(count: columns.count * layout.channels + 128)
    }

    /// The form that keeps the rows of its window from band to band.
    static func runningForm(
        of output: RunningOutput, horizontal: [UInt16], vertical: [UInt16], _ operations: RowOperations
    ) -> RunningForm {
        let window = 2 * max(horizontal.count, vertical.count)
        let (count, channels) = (output.rect.width + 2 * window + 512, output.layout.channels)
        // A row that is read by its words has them twice, and with its bytes. At the borders, columns are copied for each row of a window.
        let words = output.layout.hasAlpha ? 2 * window * (count * channels * 2 + 256) + 2 * count * channels : 0
        let copies = 2 * 2 * window * (2 * window + 128 + 512) * channels
        return RunningForm(rows: window, rowsAhead: 1, bytes: words + copies + 8 * count * channels + 16384) { input in
            RunningBytes(input, output, operations) { bytes in
                FixedDirect(
                    bytes, layout: output.layout, columns: output.rect.columns, horizontal: horizontal,
                    vertical: vertical, operations
                ).render
            }
        }
    }

    /// Computes the rows of the target's rectangle. The next call continues below them.
    func render(to target: RowWriter<UInt8>) {
        for y in stride(from: target.rect.y, to: target.rect.bottom, by: 2) { render(pairAt: y, to: target) }
    }

    /// Renders the row `y` and, if it is in the target, the next row.
    private func render(pairAt y: Int, to target: RowWriter<UInt8>) {
        let isPair = y + 1 < target.rect.bottom
        bytes.require(y - radius..<y + radius + 2)
        source.withOpaqueRows(
            y - radius..<y + radius + 2,
            bytes: { rows, columns in
                let start = (columns.lowerBound - self.columns.lowerBound) * source.channels
                operations.filterBytePair(
                    rows, channels: source.channels, radius: radius, vertical: verticalOfPairs, horizontal: horizontal,
                    count: columns.count * source.channels, streams: target.streams, scratch: scratch.start,
                    first: target.inPlace(y: y) + start,
                    second: (isPair ? target.inPlace(y: y + 1) : target.row) + start)
            },
            words: { rows in
                render(rows, from: 0, y: y, to: target)
                if isPair { render(rows, from: 1, y: y + 1, to: target) }
            })
    }

    /// - Parameter first: the index in the list of the first row that is read.
    private func render(_ rows: borrowing RowList<UInt16>, from first: Int, y: Int, to target: RowWriter<UInt8>) {
        let isOpaque = source.isOpaque(from: y - radius)
        operations.filterWordRow(
            rows, from: first, channels: source.channels, radius: radius, vertical: vertical, horizontal: horizontal,
            count: columns.count * source.channels, scratch: scratch.start, bytes: isOpaque ? target.row : nil,
            words: isOpaque ? nil : words.start)
        if !isOpaque {
            operations.unpremultiply(
                Row(words.start), zero: zero, colors: source.channels - 1, pixels: columns.count, out: target.row)
        }
        target.store(target.row, y: y)
    }
}

/// The response to a black image in 8.7 fixed point: the sum of the halves that are added for truncated products. It is a few
/// 128ths of a sample, the same everywhere.
enum ZeroResponse {
    static func multirate(taps: [Int], biases: [UInt16], horizontal: [UInt16], vertical: [UInt16]) -> UInt16 {
        var value = 0
        for (count, bias) in zip(taps, biases) {
            // Averages preserve a constant value.
            guard let weights = halving[count] else { continue }
            let down = weights.reduce(0) { $0 + product(2 * value, $1) }
            value = weights.reduce(Int(bias)) { $0 + product(2 * down, $1) }
        }
        value = direct(value, horizontal: horizontal, vertical: vertical)
        for count in taps.reversed() { value = doubled(doubled(value, count), count) }
        return UInt16(clamping: value)
    }

    static func direct(_ value: Int = 0, horizontal: [UInt16], vertical: [UInt16]) -> Int {
        fir(fir(value, vertical), horizontal)
    }

    /// One weight for each pair. The centre of five taps is paired with itself.
    private static let halving = [
        4: [8192, 24576], 5: [4096, 16384, 12288], 6: [2560, 10752, 19456], 8: [512, 3584, 10752, 17920],
    ]

    private static func product(_ value: Int, _ weight: Int) -> Int { (value * weight) >> 16 }

    private static func fir(_ value: Int, _ weights: [UInt16]) -> Int {
        weights.dropFirst().reduce(product(value, Int(weights[0])) + weights.count / 2) {
            $0 + product(2 * value, Int($1))
        }
    }

    /// Averages preserve a constant value; sums of products do not exactly.
    private static func doubled(_ value: Int, _ count: Int) -> Int {
        switch count {
        case 6: [21504, 38912, 5120].reduce(1) { $0 + product(value, $1) }
        case 8: [1024, 21504, 35840, 7168].reduce(2) { $0 + product(value, $1) }
        default: value
        }
    }
}
