import Catalogs
import Geometry
import Raster

extension AnyRaster {
    /// All samples, alpha too, at a part of full intensity, 0–1.
    init(_ rect: PixelRect, layout: PixelLayout, format: SampleFormat, level: Double) {
        let count = rect.area * layout.channels
        self =
            switch format {
            case .u8: .u8(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            case .u16: .u16(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            case .f32: .f32(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            }
    }

    private static func samples<Sample: PixelSample>(_ count: Int, _ level: Double) -> [Sample] {
        Array(repeating: Sample(rounding: level * Sample.full), count: count)
    }

    /// The same picture with gray spread over three channels, or a full alpha, where `layout` has them.
    func withChannels(of layout: PixelLayout) -> AnyRaster {
        guard layout != self.layout else { return self }
        return switch self {
        case .u8(let raster): .u8(raster.withChannels(of: layout))
        case .u16(let raster): .u16(raster.withChannels(of: layout))
        case .f32(let raster): .f32(raster.withChannels(of: layout))
        }
    }

    /// The same picture in a rectangle around it, transparent or white where it is not.
    func extended(to rect: PixelRect) -> AnyRaster {
        guard rect != self.rect else { return self }
        var result = AnyRaster(rect, layout: layout, format: format, level: layout.hasAlpha ? 0 : 1)
        if !self.rect.isEmpty { result.paste(self) }
        return result
    }

    /// The same colours with nothing transparent.
    var opaque: AnyRaster {
        layout.hasAlpha ? withChannels(of: layout.removingAlpha).withChannels(of: layout) : self
    }
}

extension Raster {
    fileprivate func withChannels(of layout: PixelLayout) -> Raster {
        let (old, new) = (self.layout.channels, layout.channels)
        let colors = self.layout.removingAlpha.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / old * new)
        for pixel in Swift.stride(from: 0, to: samples.count, by: old) {
            for channel in 0..<layout.removingAlpha.channels {
                result.append(samples[pixel + min(channel, colors - 1)])
            }
            if layout.hasAlpha {
                result.append(self.layout.hasAlpha ? samples[pixel + old - 1] : Sample(rounding: Sample.full))
            }
        }
        return Raster(rect: rect, layout: layout, samples: result)
    }
}
