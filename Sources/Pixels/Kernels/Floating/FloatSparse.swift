import Catalogs
import Geometry

/// A filter with few symmetric taps in single precision, for every sample format and light.
struct FloatSparse: WorkingKernel {
    private let taps: SymmetricPairs
    private let weights: [Float]
    private let operations: RowOperations

    init(_ taps: SymmetricPairs, _ operations: RowOperations) {
        self.taps = taps
        self.operations = operations
        weights = taps.pairs.map { Float($0.weight) }
    }

    var halo: Halo { Halo(horizontal: taps.reachX, vertical: taps.reachY) }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        for strip in FloatStrips.cut(area.columns, rows: 2 * taps.reachY + 1, margin: taps.reachX) {
            apply(reader, strip, area.rows, to: &sink)
        }
    }

    private func apply(
        _ reader: PixelReader, _ strip: Range<Int>, _ rows: Range<Int>, to sink: inout some WorkingRowSink
    ) {
        let channels = reader.layout.channels
        let columns = strip.lowerBound - taps.reachX..<strip.upperBound + taps.reachX
        let source = FloatSource(reader, columns: columns, operations)
        let ring = RowRing<Float>(
            columns: columns, rows: rows.lowerBound - taps.reachY..<rows.upperBound + taps.reachY, channels: 1,
            planes: channels, capacity: 2 * taps.reachY + 1, margin: 0)
        let sums = PlaneBuffer(strip, channels: channels)
        let list = RowList<Float>(count: 2 * taps.pairs.count + 1)
        for y in rows {
            while ring.lacks(y + taps.reachY) {
                source.read(ring.next, into: ring)
                ring.next += 1
            }
            for plane in 0..<channels {
                sum(ring, y, strip.lowerBound, plane * ring.planeStride, strip.count, list, sums.plane(plane))
            }
            sink.write(sums.row(y, operations))
        }
    }

    private func sum(
        _ ring: RowRing<Float>, _ y: Int, _ x: Int, _ offset: Int, _ count: Int,
        _ list: borrowing RowList<Float>, _ target: MutableRow<Float>
    ) {
        for (index, pair) in taps.pairs.enumerated() {
            list.set(2 * index, Row(ring.pixel(x: x + pair.dx, y: y + pair.dy).moved(unchecked: offset)))
            list.set(2 * index + 1, Row(ring.pixel(x: x - pair.dx, y: y - pair.dy).moved(unchecked: offset)))
        }
        operations.sumFloatPairs(
            center: Row(ring.pixel(x: x, y: y).moved(unchecked: offset)), centerWeight: Float(taps.center), pairs: list,
            pairCount: taps.pairs.count, weights: weights, count: count, out: target)
    }
}

/// Cuts columns so that the rows of a window stay in the second-level cache. Where the cuts fall changes no pixel.
enum FloatStrips {
    static func cut(_ columns: Range<Int>, rows: Int, margin: Int) -> [Range<Int>] {
        let fitting = (1 << 18) / (rows + 4) - 2 * margin
        let width = max(fitting, 256, margin)
        return stride(from: columns.lowerBound, to: columns.upperBound, by: width).map {
            $0..<min($0 + width, columns.upperBound)
        }
    }
}
