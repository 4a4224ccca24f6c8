import Catalogs
import Geometry

/// A mean along one axis or both with long plateaus of equal weights: running sums, whose cost does not grow with their
/// length.
///
/// The sum over a window of n samples is that from its start to the end of a block of n, and from there to its end.
/// Blocks start at multiples of n of the picture's coordinates: each sum adds the same samples in the same order
/// whatever the tile, and a NaN reaches the windows that hold it and no others (van Herk 1992, Gil and Werman 1993).
struct FloatBox: WorkingKernel {
    private let horizontal: Plateau?
    private let vertical: Plateau?
    private let operations: RowOperations

    /// - Parameters: nil leaves an axis alone.
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

    /// Along the rows alone there is nothing to keep in the cache.
    private func strips(_ columns: Range<Int>) -> [Range<Int>] {
        guard let vertical else { return [columns] }
        return FloatStrips.cut(columns, rows: 4 * vertical.reach + 4, margin: halo.left)
    }

    private func apply(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let columns = area.x - halo.left..<area.right + halo.right
        let means = FloatColumnMeans(reader, PixelRect(columns: columns, rows: area.rows), vertical, operations)
        let sums = horizontal.map { BlockSums(columns, length: $0.length) }
        let stride = (area.width + 63) & ~31
        let result = WorkBuffer<Float>(count: stride * channels)
        for y in area.rows {
            let (row, planeStride) = means.row(y)
            var planes = PlaneRow(
                row, stride: planeStride, count: area.width, channels: channels, x: area.x, y: y, operations)
            if let horizontal, let sums {
                for plane in 0..<channels {
                    let values = row + plane * planeStride
                    horizontal.combine(
                        sums.windows(of: values, outputs: area.columns), count: area.width,
                        into: result.base + plane * stride, operations
                    ) { UnsafePointer(values + (horizontal.reach + $0)) }
                }
                planes = PlaneRow(
                    result.base, stride: stride, count: area.width, channels: channels, x: area.x, y: y, operations)
            }
            sink.write(planes)
        }
    }
}

extension Plateau {
    /// sums·weight + the tails' samples times theirs.
    func combine(
        _ sums: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Float>,
        _ operations: RowOperations, row: (_ distance: Int) -> UnsafePointer<Float>
    ) {
        withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: 4) { pointers in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: 2) { weights in
                guard let list = pointers.baseAddress, let values = weights.baseAddress else { return }
                for (index, tail) in tails.enumerated() {
                    (list + 2 * index).initialize(to: row(-side - 1 - index))
                    (list + 2 * index + 1).initialize(to: row(side + 1 + index))
                    (values + index).initialize(to: tail)
                }
                operations.sumFloatPairs(sums, weight, list, tails.count, values, count, target)
            }
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
        addUp(row)
        let first = outputs.lowerBound - length / 2
        let start = first - columns.lowerBound
        var phase = first.modulo(length)
        for index in 0..<outputs.count {
            let head = heads.base[start + index + length - 1]
            sums.base[index] = phase == 0 ? head : head + tails.base[start + index]
            phase = phase == length - 1 ? 0 : phase + 1
        }
        return UnsafePointer(sums.base)
    }

    /// From each block's start to every value of it, and from there to its end.
    private func addUp(_ row: UnsafePointer<Float>) {
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
    }
}

extension Int {
    /// The remainder in 0 ..< divisor.
    func modulo(_ divisor: Int) -> Int {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
