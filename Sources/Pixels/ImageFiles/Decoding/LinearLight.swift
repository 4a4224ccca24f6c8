import Arithmetic
import Catalogs
import Kernels
import Raster

extension AnyRaster {
    /// Linear light that is multiplied by alpha, as stored values that are not. Colour without opacity becomes 0.
    ///
    /// Only floats come so; others are left as they are. (libvips counts the opacity of such pictures to 255.)
    func encodedFromLinear() -> AnyRaster {
        guard case .f32(let raster) = self else { return self }
        let (channels, hasAlpha) = (layout.channels, layout.hasAlpha)
        var samples = raster.samples
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let alpha = hasAlpha ? Double(samples[pixel + channels - 1]) / 255 : 1
            for index in pixel..<pixel + (hasAlpha ? channels - 1 : channels) {
                samples[index] = alpha == 0 ? 0 : Float(SRGBCurve.encode(Double(samples[index]) / alpha))
            }
            if hasAlpha { samples[pixel + channels - 1] = Float(alpha) }
        }
        return .f32(Raster(rect: rect, layout: layout, samples: samples))
    }
}
