import Catalogs
import Geometry

/// A mean over a disc in single precision, for every sample format and light.
///
/// Around each output row, the rows at equal distances above and below are added in pairs, and the pairs are summed from the
/// middle outwards. These sums contain every column of the disc, and each is read once for all pixels of the row.
struct FloatDisc: WorkingKernel {
    private let disc: DiscWeights
    /// The border pixels, except the centre.
    private let borders: [DiscWeights.Border]
    private let weights: [Float]
    private let operations: RowOperations

    init(_ disc: DiscWeights, _ operations: RowOperations) {
        self.disc = disc
        self.operations = operations
        let columns = disc.heights.dropFirst().filter { $0 >= 0 }.map { _ in Float(disc.weight) }
        borders = disc.borders.filter { $0.dx > 0 || $0.dy > 0 }
        // If both pixels of a pair are the same, it counts twice.
        weights = columns + borders.map { Float($0.dx == 0 ? $0.weight / 2 : $0.weight) } + [0]  // never empty
    }

    var halo: Halo { Halo(horizontal: disc.reach, vertical: disc.reach) }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        for strip in area.columns.strips(rows: 4 * disc.reach + 3, margin: disc.reach) {
            apply(reader, PixelRect(columns: strip, rows: area.rows), to: &sink)
        }
    }

    private func apply(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let rows = DiscRows(reader, area, reach: disc.reach, operations)
        let list = RowList<Float>(count: 2 * weights.count + 2)
        let result = PlaneBuffer(area.columns, channels: channels)
        for y in area.rows {
            for plane in 0..<channels {
                rows.addUp(around: y, plane: plane)
                sum(rows, list, area.width, result.plane(plane))
            }
            sink.write(result.row(y, operations))
        }
    }

    private func sum(_ rows: DiscRows, _ list: borrowing RowList<Float>, _ count: Int, _ target: MutableRow<Float>) {
        var index = 0
        for (dx, height) in disc.heights.enumerated() where dx > 0 && height >= 0 {
            list.set(index, rows.column(height) - dx)
            list.set(index + 1, rows.column(height) + dx)
            index += 2
        }
        for border in borders {
            let row = border.dy == 0 ? rows.column(0) : rows.pair(border.dy)
            list.set(index, row - border.dx)
            list.set(index + 1, row + border.dx)
            index += 2
        }
        let center = disc.heights[0]
        operations.sumFloatPairs(
            center: rows.column(max(0, center)), centerWeight: Float(center < 0 ? centerWeight : disc.weight),
            pairs: list, pairCount: index / 2, weights: weights, count: count, out: target)
    }

    /// The weight of the centre of a disc that does not cover its own pixel completely.
    private var centerWeight: Double { disc.weight(dx: 0, dy: 0) }
}

/// Sums of the rows around a row, in one plane.
private final class DiscRows {
    private let source: FloatSource
    private let ring: RowRing<Float>
    private let operations: RowOperations
    private let reach: Int
    private let stride: Int
    /// `pairs[k]` is the sum of the rows k above and k below. `columns[k]` is the sum of all pairs up to k.
    private let pairs: RowBuffer<Float>
    private let columns: RowBuffer<Float>
    private let two = RowList<Float>(count: 2)
    private let one: [Float] = [1]

    init(_ reader: PixelReader, _ area: PixelRect, reach: Int, _ operations: RowOperations) {
        self.reach = reach
        self.operations = operations
        let read = area.expanded(by: Halo(horizontal: reach, vertical: reach))
        source = FloatSource(reader, columns: read.columns, operations)
        ring = RowRing(
            columns: read.columns, rows: read.rows, channels: 1, planes: reader.layout.channels,
            capacity: 2 * reach + 1, margin: 0)
        stride = (read.width + 63) & ~31
        pairs = RowBuffer(count: stride * (reach + 1))
        columns = RowBuffer(count: stride * (reach + 1))
    }

    /// The sum of the rows at `distance` above and below, at the first output column.
    func pair(_ distance: Int) -> Row<Float> { Row(pairs.start + (distance * stride + reach)) }

    /// The sum of all rows up to `height` above and below.
    func column(_ height: Int) -> Row<Float> { Row(columns.start + (height * stride + reach)) }

    func addUp(around y: Int, plane: Int) {
        while ring.lacks(y + reach) {
            source.read(ring.next, into: ring)
            ring.next += 1
        }
        func row(_ distance: Int) -> Row<Float> { Row(ring.row(y + distance) + plane * ring.planeStride) }
        let count = ring.columns.count
        columns.start.update(from: row(0), count: count)
        for distance in 1..<reach + 1 {
            two.set(0, row(-distance))
            two.set(1, row(distance))
            let pair = pairs.start + distance * stride
            operations.sumFloatPairs(
                center: nil, centerWeight: 0, pairs: two, pairCount: 1, weights: one, count: count, out: pair)
            let column = columns.start + distance * stride
            column.update(from: Row(column - stride), count: count)
            operations.addFloats(Row(pair), to: column, count: count)
        }
    }
}
