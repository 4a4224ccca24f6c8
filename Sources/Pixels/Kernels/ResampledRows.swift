import Catalogs
import Geometry

/// The rows of a resize from the top down. Its state lives from band to band, so that no row of the input is read twice.
final class ResampledRows {
    private let columns: ColumnTaps
    private let output: PixelRect
    private let shift: Int
    private let vertical: AxisResampling
    private let operations: RowOperations
    private let sums: any ColumnSums
    private let results: PlaneBuffer
    private let channels: Int

    /// - Parameters:
    ///   - source: the source of the input's rows, which are read from the top down.
    ///   - corner: the coordinates of the input pixel at which output pixel (0, 0) begins.
    ///   - output: the rectangle of all rows.
    ///   - shift: the row of the resize that lies at the output's coordinate 0.
    init(
        _ source: FloatSource, columns: ColumnTaps, vertical: AxisResampling, corner: (x: Int, y: Int),
        output: PixelRect, shift: Int, channels: Int, _ operations: RowOperations
    ) {
        self.columns = columns
        self.output = output
        self.shift = shift
        self.vertical = vertical
        self.operations = operations
        self.channels = channels
        let input = SummedInput(
            source: source, columns: columns.read.moved(by: corner.x), corner: corner.y, channels: channels,
            axis: vertical, rows: output.rows.moved(by: shift), operations: operations)
        sums = GrowingSums.suits(vertical) ? GrowingSums(input) : WindowSums(input)
        results = PlaneBuffer(output.columns, channels: channels)
    }

    /// A row of the output. Rows are asked for from the top down. The result is valid until the next call.
    func row(_ y: Int) -> PlaneRow {
        sums.complete(y + shift)
        for channel in 0..<channels {
            operations.resampleRow(
                sums.plane(channel, row: y + shift), starts: columns.starts, counts: columns.counts,
                weights: columns.weights, stride: columns.stride, count: output.width, out: results.plane(channel))
        }
        return results.row(y, operations)
    }

    /// An upper bound for the memory, if so many columns are read.
    static func bytes(reading columns: Int, writing count: Int, channels: Int, _ axis: AxisResampling) -> Int {
        let rows = GrowingSums.suits(axis) ? GrowingSums.rows(axis) : WindowSums.rows(axis)
        return 4 * channels * ((columns + 320) * rows + count + 64)
    }
}

/// What a resize sums along columns.
private struct SummedInput {
    let source: FloatSource
    let columns: Range<Int>
    /// The input's row at which output row 0 begins.
    let corner: Int
    let channels: Int
    let axis: AxisResampling
    /// All rows of the output.
    let rows: Range<Int>
    let operations: RowOperations

    /// The input's rows that are read, from 0 at the corner.
    var read: Range<Int> { axis.needed(rows) }

    func makeRing(_ rows: Range<Int>, capacity: Int) -> RowRing<Float> {
        RowRing(columns: columns, rows: rows, channels: 1, planes: channels, capacity: capacity, margin: 0)
    }
}

/// The weighted sums of columns for each output row.
private protocol ColumnSums: AnyObject {
    /// Completes the sums of an output row. Rows are completed from the top down.
    func complete(_ row: Int)
    /// The sums of the row that was completed last.
    func plane(_ channel: Int, row: Int) -> Row<Float>
}

/// Sums over a ring of the input's rows.
private final class WindowSums: ColumnSums {
    private let input: SummedInput
    private let ring: RowRing<Float>
    private let list: RowList<Float>
    private let sums: RowRing<Float>

    /// The number of rows in memory: a ring has a power of two of them.
    static func rows(_ axis: AxisResampling) -> Int { 2 * window(axis) + 1 }
    private static func window(_ axis: AxisResampling) -> Int { 2 * axis.reach + Int(axis.scale.rounded(.up)) }

    init(_ input: SummedInput) {
        self.input = input
        let window = Self.window(input.axis)
        ring = input.makeRing(input.read.moved(by: input.corner), capacity: window)
        sums = input.makeRing(0..<1, capacity: 1)
        list = RowList(count: window)
    }

    func complete(_ row: Int) {
        let taps = input.axis.taps(at: row)
        while ring.lacks(taps.range.upperBound - 1 + input.corner) {
            input.source.read(ring.next, into: ring)
            ring.next += 1
        }
        for k in taps.weights.indices { list.set(k, Row(ring.whole(taps.start + k + input.corner))) }
        input.operations.sumFloatRows(
            list, rowCount: taps.weights.count, weights: taps.weights, count: ring.wholeCount, out: sums.whole(0))
    }

    func plane(_ channel: Int, row: Int) -> Row<Float> { Row(sums.plane(channel, y: 0)) }
}

/// Sums that grow while the input's rows are read. If a picture shrinks much, each sum has many rows, and few sums are unfinished at
/// the same time. The input's rows are not kept then. A sum adds its rows in the same order as in ``WindowSums``.
private final class GrowingSums: ColumnSums {
    private struct Growing {
        let row: Int
        let taps: AxisResampling.Taps
    }

    private let input: SummedInput
    /// The latest rows of the input.
    private let block: RowRing<Float>
    private let sums: RowRing<Float>
    private let list = RowList<Float>(count: GrowingSums.blockRows)
    private var growing: [Growing] = []
    /// The next row of the input that is read.
    private var next: Int
    private let end: Int
    /// The next row of the output that begins.
    private var nextOutput: Int

    /// The number of rows that are added at once.
    private static let blockRows = 8
    /// The number of values that are added at once: those of a block and of the sums stay in the first-level cache.
    private static let part = 512

    static func suits(_ axis: AxisResampling) -> Bool { axis.scale >= 3 }

    /// The number of rows in memory.
    static func rows(_ axis: AxisResampling) -> Int { blockRows + 2 * unfinished(axis) }

    /// The largest number of output rows that have begun and are not written.
    private static func unfinished(_ axis: AxisResampling) -> Int {
        Int((Double(2 * axis.reach + blockRows) / axis.scale).rounded(.up)) + 3
    }

    init(_ input: SummedInput) {
        self.input = input
        let read = input.read
        block = input.makeRing(read.moved(by: input.corner), capacity: Self.blockRows)
        sums = input.makeRing(input.rows, capacity: Self.unfinished(input.axis))
        (next, end) = (read.lowerBound, read.upperBound)
        nextOutput = input.rows.lowerBound
    }

    func complete(_ row: Int) {
        growing.removeAll { $0.row < row }
        while !isComplete(row) { read(next..<min(next + Self.blockRows, end)) }
    }

    private func isComplete(_ row: Int) -> Bool {
        guard let first = growing.first, first.row == row else { return false }
        return first.taps.range.upperBound <= next
    }

    func plane(_ channel: Int, row: Int) -> Row<Float> { Row(sums.plane(channel, y: row)) }

    private func read(_ rows: Range<Int>) {
        for y in rows { input.source.read(y + input.corner, into: block) }
        while nextOutput < input.rows.upperBound,
            input.axis.needed(nextOutput..<nextOutput + 1).lowerBound < rows.upperBound
        {
            growing.append(Growing(row: nextOutput, taps: input.axis.taps(at: nextOutput)))
            sums.whole(nextOutput).update(repeating: 0, count: sums.wholeCount)
            nextOutput += 1
        }
        for start in stride(from: 0, to: sums.wholeCount, by: Self.part) {
            for output in growing { add(rows, to: output, from: start) }
        }
        next = rows.upperBound
    }

    /// Adds rows to a part of the sums of an output row.
    private func add(_ rows: Range<Int>, to output: Growing, from start: Int) {
        let rows = rows.clamped(to: output.taps.range)
        guard !rows.isEmpty else { return }
        for (index, y) in rows.enumerated() { list.set(index, Row(block.whole(y + input.corner) + start)) }
        let first = rows.lowerBound - output.taps.start
        output.taps.weights.withRow { weights in
            input.operations.addFloatRows(
                list, rowCount: rows.count, weights: weights + first, count: min(Self.part, sums.wholeCount - start),
                to: sums.whole(output.row) + start)
        }
    }
}
