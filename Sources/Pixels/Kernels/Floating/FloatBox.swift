import Catalogs
import Geometry

/// A mean along one axis or both, with long plateaus of equal weights. It uses running sums, so that its cost does not grow
/// with the length.
///
/// The sum over a window of n samples consists of two parts: from its start to the end of a block of n, and from there to its
/// end. Blocks start at multiples of n of the picture's coordinates. Each sum therefore adds the same samples in the same
/// order, whatever the tile, and a NaN affects only the windows that contain it (van Herk 1992, Gil and Werman 1993).
struct FloatBox: WorkingKernel {
    private let horizontal: Plateau?
    private let vertical: Plateau?
    private let operations: RowOperations

    /// - Parameters: the plateaus; nil leaves an axis unchanged.
    init(horizontal: Plateau?, vertical: Plateau?, _ operations: RowOperations) {
        self.horizontal = horizontal
        self.vertical = vertical
        self.operations = operations
    }

    var halo: Halo { Halo(horizontal: horizontal?.reach ?? 0, vertical: vertical?.reach ?? 0) }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        for strip in strips(area.columns) {
            apply(reader, PixelRect(columns: strip, rows: area.rows), to: &sink)
        }
    }

    /// Horizontal means keep nothing in the cache.
    private func strips(_ columns: Range<Int>) -> [Range<Int>] {
        guard let vertical else { return [columns] }
        return columns.strips(rows: 4 * vertical.reach + 4, margin: halo.left)
    }

    private func apply(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let source = FloatSource(reader, columns: columnsRead(for: area), operations)
        let run = run(source, area, channels: reader.layout.channels)
        for y in area.rows { sink.write(run.row(y)) }
    }

    private func columnsRead(for area: PixelRect) -> Range<Int> { area.x - halo.left..<area.right + halo.right }

    private func run(_ source: FloatSource, _ area: PixelRect, channels: Int, isExact: Bool = false) -> FloatBoxRun {
        let read = PixelRect(columns: columnsRead(for: area), rows: area.rows)
        let means = FloatColumnMeans(source, read, vertical, channels: channels, isExact: isExact, operations)
        return FloatBoxRun(means, horizontal, area, channels: channels, operations)
    }

    /// The form that keeps the rows of its window from band to band, in single precision.
    func runningForm(of output: RunningOutput) -> RunningForm {
        let channels = output.layout.channels
        let width = output.rect.width + halo.left + halo.right + 320
        let rows = FloatColumnMeans.rows(of: vertical) + (horizontal == nil ? 1 : 5)
        // The source converts some rows value by value.
        let bytes = width * channels * (rows * MemoryLayout<Float>.stride + MemoryLayout<Double>.stride)
        return RunningForm(rows: 1, rowsAhead: 1, copies: 2, bytes: bytes) { input in
            RunningFloats(input, output) { bands in
                let source = FloatSource(bands, input.columns, columns: columnsRead(for: output.rect), operations)
                return run(source, output.rect, channels: channels, isExact: true).row
            }
        }
    }
}

/// The rows of a mean, one after the other.
private final class FloatBoxRun {
    private let means: FloatColumnMeans
    private let horizontal: Plateau?
    private let sums: BlockSums?
    private let area: PixelRect
    private let channels: Int
    private let operations: RowOperations
    private let result: PlaneBuffer
    private let list = RowList<Float>(count: 4)

    init(
        _ means: FloatColumnMeans, _ horizontal: Plateau?, _ area: PixelRect, channels: Int, _ operations: RowOperations
    ) {
        (self.means, self.horizontal, self.area) = (means, horizontal, area)
        (self.channels, self.operations) = (channels, operations)
        sums = horizontal.map { BlockSums(means.columns, length: $0.length) }
        result = PlaneBuffer(area.columns, channels: channels)
    }

    func row(_ y: Int) -> PlaneRow {
        let row = means.row(y)
        guard let horizontal, let sums else { return row }
        for plane in 0..<channels {
            let values = Row(row.plane(plane))
            horizontal.combine(
                sums.windows(of: values, outputs: area.columns), count: area.width, into: result.plane(plane), list,
                operations
            ) { values + (horizontal.reach + $0) }
        }
        return result.row(y, operations)
    }
}

extension Plateau {
    /// Computes sums·weight + the tails' samples·their weights.
    ///
    /// - Parameter list: a list for the rows of the tails, 4 at most.
    func combine(
        _ sums: Row<Float>, count: Int, into target: MutableRow<Float>, _ list: borrowing RowList<Float>,
        _ operations: RowOperations, row: (_ distance: Int) -> Row<Float>
    ) {
        for index in tails.indices {
            list.set(2 * index, row(-side - 1 - index))
            list.set(2 * index + 1, row(side + 1 + index))
        }
        operations.sumFloatPairs(
            center: sums, centerWeight: weight, pairs: list, pairCount: tails.count, weights: tails, count: count,
            out: target)
    }
}

/// Window sums along a row; see ``FloatBox``.
private final class BlockSums {
    private let columns: Range<Int>
    private let length: Int
    private let heads: RowBuffer<Float>
    private let tails: RowBuffer<Float>
    private let sums: RowBuffer<Float>

    init(_ columns: Range<Int>, length: Int) {
        self.columns = columns
        self.length = length
        heads = RowBuffer(count: columns.count)
        tails = RowBuffer(count: columns.count + 1)
        sums = RowBuffer(count: columns.count + 64)
    }

    /// The sums of the windows around some columns; `row` starts at the first column.
    func windows(of row: Row<Float>, outputs: Range<Int>) -> Row<Float> {
        addUp(row)
        let first = outputs.lowerBound - length / 2
        let start = first - columns.lowerBound
        precondition(start >= 0 && start + outputs.count + length - 1 <= columns.count, "windows lie in the columns")
        var phase = first.modulo(length)
        for index in 0..<outputs.count {
            let head = heads[unchecked: start + index + length - 1]
            sums[unchecked: index] = phase == 0 ? head : head + tails[unchecked: start + index]
            phase = phase == length - 1 ? 0 : phase + 1
        }
        return Row(sums.start)
    }

    /// Computes the prefix sums and the suffix sums of each block.
    private func addUp(_ row: Row<Float>) {
        let count = columns.count
        precondition(count <= row.count, "the row has all columns")
        var phase = columns.lowerBound.modulo(length)
        var head: Float = 0
        for index in 0..<count {
            head = phase == 0 ? row[unchecked: index] : head + row[unchecked: index]
            heads[unchecked: index] = head
            phase = phase == length - 1 ? 0 : phase + 1
        }
        var tail: Float = 0
        phase = (columns.upperBound - 1).modulo(length)
        for index in (0..<count).reversed() {
            tail = phase == length - 1 ? row[unchecked: index] : row[unchecked: index] + tail
            tails[unchecked: index] = tail
            phase = phase == 0 ? length - 1 : phase - 1
        }
    }
}

extension Int {
    /// The remainder in 0 ..< divisor.
    func modulo(_ divisor: Int) -> Int {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}

/// Vertical means of working values in single precision, one row after the other; see ``FloatBox``.
final class FloatColumnMeans {
    private let source: FloatSource
    private let plateau: Plateau?
    private let operations: RowOperations
    private let output: PixelRect
    private let ring: RowRing<Float>
    /// Suffix sums of the latest complete block.
    private let tails: RowRing<Float>
    /// The sum from the block's start to the last row.
    private let heads: RowRing<Float>
    private let result: RowRing<Float>
    private let list = RowList<Float>(count: 4)
    /// The next row to be added to a window.
    private var last: Int

    /// - Parameters:
    ///   - output: the rectangle that is computed; its columns are the only ones that are read.
    ///   - plateau: nil returns the rows of the source.
    ///   - isExact: see ``RowRing``.
    init(
        _ source: FloatSource, _ output: PixelRect, _ plateau: Plateau?, channels: Int, isExact: Bool,
        _ operations: RowOperations
    ) {
        let reach = plateau?.reach ?? 0
        let rows = output.y - reach..<output.bottom + reach
        func makeRing(_ capacity: Int) -> RowRing<Float> {
            RowRing(
                columns: output.columns, rows: rows, channels: 1, planes: channels, capacity: capacity, margin: 0,
                isExact: isExact)
        }
        self.plateau = plateau
        self.operations = operations
        self.output = output
        self.source = source
        ring = makeRing(2 * reach + 1)
        tails = makeRing(plateau.map { $0.length + 1 } ?? 1)
        heads = makeRing(1)
        result = makeRing(1)
        last = output.y - (plateau?.side ?? 0)
    }

    /// The number of rows in all rings that hold no more than they need.
    static func rows(of plateau: Plateau?) -> Int { plateau.map { 2 * $0.reach + $0.length + 4 } ?? 3 }

    var columns: Range<Int> { output.columns }

    /// A row, from the first column on. Rows must be requested in order.
    func row(_ y: Int) -> PlaneRow {
        guard let plateau else {
            makeRows(through: y)
            return ring.planeRow(y, operations)
        }
        while last <= y + plateau.side {
            makeRows(through: last + plateau.tails.count)
            addUp(plateau)
            last += 1
        }
        average(y, plateau)
        return result.planeRow(0, as: y, operations)
    }

    private func makeRows(through y: Int) {
        while ring.lacks(y) {
            source.read(ring.next, into: ring)
            ring.next += 1
        }
    }

    private func addUp(_ plateau: Plateau) {
        let (length, count, first) = (plateau.length, ring.wholeCount, output.y - plateau.side)
        let phase = last.modulo(length)
        if phase == 0 || last == first {
            heads.whole(0).update(from: Row(ring.whole(last)), count: count)
        } else {
            operations.addFloats(Row(ring.whole(last)), to: heads.whole(0), count: count)
        }
        guard phase == length - 1 else { return }
        for y in (max(last - length + 1, first)...last).reversed() {
            tails.whole(y).update(from: Row(ring.whole(y)), count: count)
            if y < last { operations.addFloats(Row(tails.whole(y + 1)), to: tails.whole(y), count: count) }
        }
    }

    private func average(_ y: Int, _ plateau: Plateau) {
        let (first, count) = (y - plateau.side, ring.wholeCount)
        result.whole(0).update(from: Row(heads.whole(0)), count: count)
        if first.modulo(plateau.length) != 0 {
            operations.addFloats(Row(tails.whole(first)), to: result.whole(0), count: count)
        }
        plateau.combine(Row(result.whole(0)), count: count, into: result.whole(0), list, operations) {
            Row(ring.whole(y + $0))
        }
    }
}
