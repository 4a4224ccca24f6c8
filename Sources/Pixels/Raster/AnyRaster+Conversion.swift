public import Catalogs
import Geometry

extension AnyRaster {
    /// The same picture in another sample format: full intensity stays full intensity, halves round up, integer
    /// formats clamp. Alpha and colours are treated alike.
    public func converted(to format: SampleFormat) -> AnyRaster {
        switch self {
        case .u8(let raster): raster.converted(to: format)
        case .u16(let raster): raster.converted(to: format)
        case .f32(let raster): raster.converted(to: format)
        }
    }
}

extension AnyRaster {
    /// The same picture with colour 0 wherever the stored alpha is 0.
    package func clearingTransparent() -> AnyRaster {
        switch self {
        case .u8(let raster): .u8(raster.clearingTransparent())
        case .u16(let raster): .u16(raster.clearingTransparent())
        case .f32(let raster): .f32(raster.clearingTransparent())
        }
    }
}

extension Raster {
    fileprivate func clearingTransparent() -> Raster {
        guard layout.hasAlpha else { return self }
        let channels = layout.channels
        var result = self
        var samples = result.samples.mutableSpan
        for pixel in 0..<rect.area where samples[(pixel + 1) * channels - 1].double == 0 {
            for color in 0..<channels - 1 { samples[pixel * channels + color] = Sample(rounding: 0) }
        }
        return result
    }

    fileprivate func converted(to format: SampleFormat) -> AnyRaster {
        if format == Sample.format { return Sample.erase(self) }
        return switch format {
        case .u8: .u8(converted())
        case .u16: .u16(converted())
        case .f32: .f32(converted())
        }
    }

    private func converted<Other: PixelSample>() -> Raster<Other> {
        Raster<Other>(
            rect: rect, layout: layout,
            samples: samples.map { Other(rounding: $0.double / Sample.full * Other.full) })
    }
}
