import Catalogs
import Geometry
import Raster

extension Raster where Sample: OutputSample {
    /// As 8-bit samples, each colour rounded up or down by its place. Opacity is rounded to the nearest.
    func dithered() -> Raster<UInt8> {
        let channels = layout.channels
        let colors = layout.removingAlpha.channels
        var result: [UInt8] = []
        result.reserveCapacity(samples.count)
        var pixel = 0
        for y in rect.rows {
            for x in rect.columns {
                let threshold = Dither.threshold(x: x, y: y)
                for channel in 0..<colors {
                    let level = samples[pixel + channel].double / Sample.full * 255 + threshold
                    result.append(level >= 255 ? 255 : level >= 1 ? UInt8(level) : 0)
                }
                if layout.hasAlpha { result.append(Sample.toU8(samples[pixel + channels - 1])) }
                pixel += channels
            }
        }
        return Raster<UInt8>(rect: rect, layout: layout, samples: result)
    }
}

/// The pattern of thresholds: the R2 sequence, whose neighbours differ much and whose every window is nearly even.
/// M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018.
enum Dither {
    /// 2³²/ρ and 2³²/ρ², where ρ³ = ρ + 1.
    private static let (stepX, stepY): (UInt32, UInt32) = (3_242_174_889, 2_447_445_414)

    /// Between 0 and 1, in steps of 1/65536; never so near to either that rounding could change a whole step.
    static func threshold(x: Int, y: Int) -> Double {
        let sum = UInt32(truncatingIfNeeded: x) &* stepX &+ UInt32(truncatingIfNeeded: y) &* stepY
        return (Double(sum >> 16) + 0.5) / 65536
    }
}
