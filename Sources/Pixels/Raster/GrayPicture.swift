import Catalogs
import Geometry

/// A picture as nothing but how bright it is: what filters read beside their input.
///
/// Of stored values, not of light: 0.2126 of red, 0.7152 of green, 0.0722 of blue, times alpha.
package struct GrayPicture: Hashable, Sendable {
    package let width: Int
    package let height: Int
    /// 0 for black to 65535 for white, row by row.
    package private(set) var samples: [UInt16]

    /// Black.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
        samples = [UInt16](repeating: 0, count: width * height)
    }

    /// Puts pixels at the place that they have in the picture.
    package mutating func paste(_ pixels: AnyRaster) {
        switch pixels {
        case .u8(let raster): paste(raster) { UInt32($0) * 257 }
        case .u16(let raster): paste(raster) { UInt32($0) }
        case .f32(let raster):
            // What is no number is black; comparisons with it fail.
            paste(raster) { $0 > 0 ? UInt32(min($0, 1) * 65535 + 0.5) : 0 }
        }
    }

    private mutating func paste<Sample: PixelSample>(_ raster: Raster<Sample>, _ level: (Sample) -> UInt32) {
        precondition(PixelRect(x: 0, y: 0, width: width, height: height).contains(raster.rect), "a part of the picture")
        let (rect, layout) = (raster.rect, raster.layout)
        let stored = raster.samples.span
        var source = 0
        for y in rect.rows {
            var target = y * width + rect.x
            for _ in rect.columns {
                var gray = level(stored[source])
                if layout.channels >= 3 {
                    let (green, blue) = (level(stored[source + 1]), level(stored[source + 2]))
                    gray = (2126 * gray + 7152 * green + 722 * blue + 5000) / 10_000
                }
                if layout.hasAlpha { gray = (gray * level(stored[source + layout.channels - 1]) + 32767) / 65535 }
                samples[target] = UInt16(gray)
                source += layout.channels
                target += 1
            }
        }
    }
}
