import Catalogs
import Geometry
import Raster

/// An unsharp mask in single precision, for every sample format and light.
struct SharpenedFloats: WorkingKernel {
    private let gaussian: Gaussian
    private let amount: Float
    /// On the scale of the samples.
    private let threshold: Float
    private let operations: RowOperations
    private let sharpening: SharpeningOperations

    init(
        _ gaussian: Gaussian, _ gain: Sharpening.Gain, _ format: SampleFormat, _ operations: RowOperations,
        _ sharpening: SharpeningOperations
    ) {
        self.gaussian = gaussian
        self.operations = operations
        self.sharpening = sharpening
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * format.full)
    }

    var halo: Halo { gaussian.halo }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let channels = reader.layout.channels
        let blurred = FloatPyramidRun(
            reader, area: area, horizontal: gaussian.floatingX, vertical: gaussian.floatingY, operations)
        let source = FloatSource(reader, columns: area.columns, operations)
        let ring = RowRing<Float>(
            columns: area.columns, rows: area.rows, channels: 1, planes: channels, capacity: 1, margin: 0)
        let stride = (area.width + 63) & ~31
        let result = WorkBuffer<Float>(count: stride * channels)
        for y in area.rows {
            source.read(y, into: ring)
            let (planes, planeStride) = blurred.row(y)
            for plane in 0..<channels {
                let own = ring.row(y) + plane * ring.planeStride
                let (blurred, target) = (planes + plane * planeStride, result.base + plane * stride)
                // Without a threshold the alpha's difference says nothing of the colours'.
                if reader.layout.hasAlpha, plane < channels - 1, threshold > 0 {
                    sharpening.sharpenColorFloats(
                        own, blurred, ring.row(y) + (channels - 1) * ring.planeStride,
                        planes + (channels - 1) * planeStride, amount, threshold, area.width, target)
                } else {
                    sharpening.sharpenFloats(own, blurred, amount, threshold, area.width, target)
                }
            }
            sink.write(
                PlaneRow(
                    result.base, stride: stride, count: area.width, channels: channels, x: area.x, y: y, operations))
        }
    }
}
