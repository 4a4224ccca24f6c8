import Kernels
import Raster

/// What a plugin wrote.
enum PluginResult {
    /// Pixels as they are stored.
    case stored(AnyRaster)
    /// 32-bit working values on a scale where 1 is full; `full` is full intensity in the picture's sample format.
    case working(AnyRaster, full: Double)

    /// Makes this the whole of a raster.
    ///
    /// - Parameter curve: of the picture.
    func replace(_ destination: inout AnyRaster, light: Light, curve: TransferCurve) {
        if case .stored(let raster) = self {
            destination = raster
        } else {
            var sink = PixelWriter(destination.take(), light: light, curve: curve)
            write(to: &sink, light: light)
            destination = sink.raster
        }
    }

    /// Hands the rows to a sink as working values in `light`.
    func write(to sink: inout some WorkingRowSink, light: Light) {
        switch self {
        case .stored(let raster):
            let reader = PixelReader(KernelSource(raster), layout: raster.layout, light: light)
            reader.write(raster.rect, to: &sink)
        case .working(.f32(let raster), let full):
            raster.write(to: &sink, scale: full)
        case .working:
            preconditionFailure("working values are 32-bit floats")
        }
    }
}
