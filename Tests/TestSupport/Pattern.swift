package import Catalogs
import Foundation
package import Geometry
package import Raster

/// A picture that is hard on a filter in its own way. Samples are shares of full intensity, 0…1.
package enum Pattern: String, CaseIterable, Sendable {
    /// Independent uniform samples.
    case noise
    /// Independent samples of 0 or full: the largest errors of a kernel show here.
    case binaryNoise
    /// Single full samples on black: shows the kernel itself.
    case impulses
    /// Hard edges along both axes.
    case steps
    /// Rings that get ever finer: shows aliasing.
    case zonePlate
    /// Smooth shading with a few edges and a little noise.
    case photograph

    /// Makes a picture; the same arguments give the same picture.
    ///
    /// Colours under alpha 0 are not 0: a filter must not let them through.
    package func picture(
        _ rect: PixelRect, _ layout: PixelLayout = .rgb, _ format: SampleFormat = .u8, alpha: AlphaPattern = .noise,
        seed: UInt64 = 1
    ) -> AnyRaster {
        switch format {
        case .u8: .u8(raster(rect, layout, alpha, seed))
        case .u16: .u16(raster(rect, layout, alpha, seed))
        case .f32: .f32(raster(rect, layout, alpha, seed))
        }
    }

    private func raster<Sample: PixelSample>(
        _ rect: PixelRect, _ layout: PixelLayout, _ alpha: AlphaPattern, _ seed: UInt64
    ) -> Raster<Sample> {
        var random = SplitMix64(seed: seed)
        var samples: [Sample] = []
        samples.reserveCapacity(rect.area * layout.channels)
        for y in 0..<rect.height {
            for x in 0..<rect.width {
                for channel in 0..<layout.removingAlpha.channels {
                    samples.append(Sample(rounding: value(x, y, channel, rect, &random) * Sample.full))
                }
                if layout.hasAlpha {
                    samples.append(Sample(rounding: alpha.value(x, y, rect, &random) * Sample.full))
                }
            }
        }
        return Raster(rect: rect, layout: layout, samples: samples)
    }

    private func value(_ x: Int, _ y: Int, _ channel: Int, _ rect: PixelRect, _ random: inout SplitMix64) -> Double {
        switch self {
        case .noise:
            return random.share()
        case .binaryNoise:
            return random.share() < 0.5 ? 1 : 0
        case .impulses:
            return x % 11 == 5 && y % 7 == 3 ? 1 : 0
        case .steps:
            return (x * 3 / max(rect.width, 1) + y * 2 / max(rect.height, 1) + channel) % 2 == 0 ? 0 : 1
        case .zonePlate:
            let (u, v) = (Double(x) / Double(rect.width), Double(y) / Double(rect.height))
            return 0.5 + 0.5 * cos((u * u + v * v) * Double(rect.width) * 1.5 + Double(channel))
        case .photograph:
            let (u, v) = (Double(x) / Double(rect.width), Double(y) / Double(rect.height))
            let shading = 0.5 + 0.3 * sin(3 * u + 2 * v + Double(channel)) + 0.1 * cos(11 * u * v)
            let roof = v > 0.4 + 0.2 * abs(u - 0.5) ? -0.25 : 0
            return min(max(shading + roof + 0.04 * (random.share() - 0.5), 0), 1)
        }
    }
}

/// How opaque the pixels of a picture with alpha are.
package enum AlphaPattern: String, CaseIterable, Sendable {
    case noise
    case opaque
    case clear
    /// A clear half beside an opaque one.
    case step

    fileprivate func value(_ x: Int, _ y: Int, _ rect: PixelRect, _ random: inout SplitMix64) -> Double {
        switch self {
        case .noise: min(max(random.share() * 3 - 1, 0), 1)  // a third each: clear, in between, opaque
        case .opaque: 1
        case .clear: 0
        case .step: x * 2 < rect.width ? 0 : 1
        }
    }
}
