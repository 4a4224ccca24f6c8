import Catalogs
import Geometry

/// Means down the columns of working values in single precision, a row after the other; see ``FloatBox``.
final class FloatColumnMeans {
    private let source: FloatSource
    private let plateau: Plateau?
    private let operations: RowOperations
    private let output: PixelRect
    private let ring: RowRing<Float>
    /// Sums from every row of the latest whole block to the block's end.
    private let tails: RowRing<Float>
    /// The sum from the block's start to the last row.
    private let heads: RowRing<Float>
    private let result: RowRing<Float>
    private let list = RowList<Float>(count: 4)
    /// The next row that a window ends with.
    private var last: Int

    /// - Parameters:
    ///   - output: its columns are all that will be read.
    ///   - plateau: nil gives the rows of the source.
    init(_ reader: PixelReader, _ output: PixelRect, _ plateau: Plateau?, _ operations: RowOperations) {
        let reach = plateau?.reach ?? 0
        let rows = output.y - reach..<output.bottom + reach
        func makeRing(_ capacity: Int) -> RowRing<Float> {
            RowRing(
                columns: output.columns, rows: rows, channels: 1, planes: reader.layout.channels, capacity: capacity,
                margin: 0)
        }
        self.plateau = plateau
        self.operations = operations
        self.output = output
        source = FloatSource(reader, columns: output.columns, operations)
        ring = makeRing(2 * reach + 1)
        tails = makeRing(plateau.map { $0.length + 1 } ?? 1)
        heads = makeRing(1)
        result = makeRing(1)
        last = output.y - (plateau?.side ?? 0)
    }

    /// A row, from the first column on. Rows are asked for in order.
    func row(_ y: Int) -> RingRow {
        guard let plateau else {
            makeRows(through: y)
            return RingRow(ring, y)
        }
        while last <= y + plateau.side {
            makeRows(through: last + plateau.tails.count)
            addUp(plateau)
            last += 1
        }
        average(y, plateau)
        return RingRow(result, 0)
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
