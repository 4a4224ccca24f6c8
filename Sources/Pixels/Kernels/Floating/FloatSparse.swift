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
        let stride = (strip.count + 63) & ~31
        let sums = WorkBuffer<Float>(count: stride * channels)
        let pointers = WorkBuffer<UnsafePointer<Float>?>(count: 2 * taps.pairs.count + 1)
        for y in rows {
            while ring.lacks(y + taps.reachY) {
                source.read(ring.next, into: ring)
                ring.next += 1
            }
            for plane in 0..<channels {
                sum(
                    ring, y, strip.lowerBound, plane * ring.planeStride, strip.count, pointers,
                    sums.base + plane * stride)
            }
            sink.write(
                PlaneRow(
                    sums.base, stride: stride, count: strip.count, channels: channels, x: strip.lowerBound, y: y,
                    operations))
        }
    }

    private func sum(
        _ ring: RowRing<Float>, _ y: Int, _ x: Int, _ offset: Int, _ count: Int,
        _ pointers: WorkBuffer<UnsafePointer<Float>?>, _ target: UnsafeMutablePointer<Float>
    ) {
        for (index, pair) in taps.pairs.enumerated() {
            pointers.base[2 * index] = UnsafePointer(ring.pixel(x: x + pair.dx, y: y + pair.dy) + offset)
            pointers.base[2 * index + 1] = UnsafePointer(ring.pixel(x: x - pair.dx, y: y - pair.dy) + offset)
        }
        let list = UnsafeRawPointer(pointers.base).assumingMemoryBound(to: UnsafePointer<Float>.self)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 1) { none in
            weights.withUnsafeBufferPointer { weights in
                guard let values = weights.baseAddress ?? UnsafePointer(none.baseAddress) else { return }
                operations.sumFloatPairs(
                    UnsafePointer(ring.pixel(x: x, y: y) + offset), Float(taps.center), list, taps.pairs.count, values,
                    count, target)
            }
        }
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
