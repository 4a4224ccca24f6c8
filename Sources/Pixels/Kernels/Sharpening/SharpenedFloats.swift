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

    init(
        _ gaussian: Gaussian, _ gain: Sharpening.Gain, _ format: SampleFormat, _ operations: RowOperations
    ) {
        self.gaussian = gaussian
        self.operations = operations
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * format.full)
    }

    var halo: Halo { gaussian.halo }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let channels = reader.layout.channels
        let pyramid = FloatPyramidRun(
            reader, area: area, horizontal: gaussian.floatingX, vertical: gaussian.floatingY, operations)
        let source = FloatSource(reader, columns: area.columns, operations)
        let ring = RowRing<Float>(
            columns: area.columns, rows: area.rows, channels: 1, planes: channels, capacity: 1, margin: 0)
        let result = PlaneBuffer(area.columns, channels: channels)
        for y in area.rows {
            source.read(y, into: ring)
            let (own, blurred) = (RingRow(ring, y), pyramid.row(y))
            for plane in 0..<channels {
                // Without a threshold the alpha's difference says nothing of the colours'.
                if reader.layout.hasAlpha, plane < channels - 1, threshold > 0 {
                    operations.sharpenColorFloats(
                        Row(own.plane(plane)), blurred: Row(blurred.plane(plane)), alpha: Row(own.plane(channels - 1)),
                        blurredAlpha: Row(blurred.plane(channels - 1)), amount: amount, threshold: threshold,
                        count: area.width, out: result.plane(plane))
                } else {
                    operations.sharpenFloats(
                        Row(own.plane(plane)), blurred: Row(blurred.plane(plane)), amount: amount,
                        threshold: threshold, count: area.width, out: result.plane(plane))
                }
            }
            sink.write(result.row(y, operations))
        }
    }
}
