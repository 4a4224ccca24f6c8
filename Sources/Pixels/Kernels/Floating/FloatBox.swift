import Catalogs
import Geometry

/// A mean along one axis with a long plateau of equal weights: running sums, whose cost does not grow with its length.
///
/// The sum over a window of n samples is that from its start to the end of a block of n, and from there to its end.
/// Blocks start at multiples of n of the picture's coordinates: each sum adds the same samples in the same order
/// whatever the tile, and a NaN reaches the windows that hold it and no others (van Herk 1992, Gil and Werman 1993).
struct FloatBox: WorkingKernel {
    private let plateau: Plateau
    private let operations: RowOperations

    init(_ plateau: Plateau, _ operations: RowOperations) {
        self.plateau = plateau
        self.operations = operations
    }

    private var reach: Int { plateau.reach }

    var halo: Halo {
        plateau.isHorizontal ? Halo(horizontal: reach, vertical: 0) : Halo(horizontal: 0, vertical: reach)
    }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        if plateau.isHorizontal {
            applyAlong(reader, area, to: &sink)
        } else {
            for strip in FloatStrips.cut(area.columns, rows: 4 * reach + 4, margin: 0) {
                applyDown(reader, PixelRect(columns: strip, rows: area.rows), to: &sink)
            }
        }
    }

    /// centre·weight + the tails' samples times theirs.
    private func combine(
        _ sums: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Float>,
        row: (_ distance: Int) -> UnsafePointer<Float>
    ) {
        withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: 4) { pointers in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: 2) { weights in
                guard let list = pointers.baseAddress, let values = weights.baseAddress else { return }
                for (index, tail) in plateau.tails.enumerated() {
                    (list + 2 * index).initialize(to: row(-plateau.side - 1 - index))
                    (list + 2 * index + 1).initialize(to: row(plateau.side + 1 + index))
                    (values + index).initialize(to: tail)
                }
                operations.sumFloatPairs(sums, plateau.weight, list, plateau.tails.count, values, count, target)
            }
        }
    }
}

extension FloatBox {
    private func applyAlong(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let columns = area.x - reach..<area.right + reach
        let source = FloatSource(reader, columns: columns, operations)
        let ring = RowRing<Float>(
            columns: columns, rows: area.rows, channels: 1, planes: channels, capacity: 1, margin: 0)
        let sums = BlockSums(columns, length: plateau.length)
        let stride = (area.width + 63) & ~31
        let result = WorkBuffer<Float>(count: stride * channels)
        for y in area.rows {
            source.read(y, into: ring)
            ring.next += 1
            for plane in 0..<channels {
                let row = ring.row(y) + plane * ring.planeStride
                let windows = sums.windows(of: row, outputs: area.columns)
                combine(windows, count: area.width, into: result.base + plane * stride) {
                    UnsafePointer(row + (reach + $0))
                }
            }
            sink.write(
                PlaneRow(
                    result.base, stride: stride, count: area.width, channels: channels, x: area.x, y: y, operations))
        }
    }

    private func applyDown(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let length = plateau.length
        let rows = area.y - reach..<area.bottom + reach
        let source = FloatSource(reader, columns: area.columns, operations)
        func makeRing(_ capacity: Int) -> RowRing<Float> {
            RowRing(columns: area.columns, rows: rows, channels: 1, planes: channels, capacity: capacity, margin: 0)
        }
        let ring = makeRing(2 * reach + 1)
        let tails = makeRing(length + 1)
        let heads = makeRing(1)
        let result = makeRing(1)
        let count = ring.wholeCount
        for last in area.y - plateau.side..<area.bottom + plateau.side {
            while ring.lacks(last + plateau.tails.count) {
                source.read(ring.next, into: ring)
                ring.next += 1
            }
            // From the block's start to here.
            if last.modulo(length) == 0 || last == area.y - plateau.side {
                heads.whole(0).update(from: ring.whole(last), count: count)
            } else {
                operations.addFloats(UnsafePointer(ring.whole(last)), heads.whole(0), count)
            }
            // From every row of the block to its end.
            if last.modulo(length) == length - 1 {
                for y in (max(last - length + 1, area.y - plateau.side)...last).reversed() {
                    tails.whole(y).update(from: ring.whole(y), count: count)
                    if y < last { operations.addFloats(UnsafePointer(tails.whole(y + 1)), tails.whole(y), count) }
                }
            }
            let (first, y) = (last - length + 1, last - plateau.side)
            guard y >= area.y else { continue }
            result.whole(0).update(from: heads.whole(0), count: count)
            if first.modulo(length) != 0 {
                operations.addFloats(UnsafePointer(tails.whole(first)), result.whole(0), count)
            }
            combine(UnsafePointer(result.whole(0)), count: count, into: result.whole(0)) {
                UnsafePointer(ring.whole(y + $0))
            }
            sink.write(
                PlaneRow(
                    result.row(0), stride: result.planeStride, count: area.width, channels: channels, x: area.x, y: y,
                    operations))
        }
    }
}

/// Window sums along a row; see ``FloatBox``.
private final class BlockSums {
    private let columns: Range<Int>
    private let length: Int
    private let heads: WorkBuffer<Float>
    private let tails: WorkBuffer<Float>
    private let sums: WorkBuffer<Float>

    init(_ columns: Range<Int>, length: Int) {
        self.columns = columns
        self.length = length
        heads = WorkBuffer(count: columns.count)
        tails = WorkBuffer(count: columns.count + 1)
        sums = WorkBuffer(count: columns.count + 64)
    }

    /// The sums of the windows around some columns; `row` starts at the first column.
    func windows(of row: UnsafePointer<Float>, outputs: Range<Int>) -> UnsafePointer<Float> {
        let count = columns.count
        var phase = columns.lowerBound.modulo(length)
        var head: Float = 0
        for index in 0..<count {
            head = phase == 0 ? row[index] : head + row[index]
            heads.base[index] = head
            phase = phase == length - 1 ? 0 : phase + 1
        }
        var tail: Float = 0
        phase = (columns.upperBound - 1).modulo(length)
        for index in (0..<count).reversed() {
            tail = phase == length - 1 ? row[index] : row[index] + tail
            tails.base[index] = tail
            phase = phase == 0 ? length - 1 : phase - 1
        }
        let side = length / 2
        for (index, x) in outputs.enumerated() {
            let first = x - side - columns.lowerBound
            let head = heads.base[first + length - 1]
            sums.base[index] = (x - side).modulo(length) == 0 ? head : head + tails.base[first]
        }
        return UnsafePointer(sums.base)
    }
}

extension Int {
    /// The remainder in 0 ..< divisor.
    fileprivate func modulo(_ divisor: Int) -> Int {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
