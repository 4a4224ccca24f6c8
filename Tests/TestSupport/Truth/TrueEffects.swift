package import Catalogs
package import Filters
import Foundation
package import Geometry
import Raster

/// A colour and how much of it is laid over pixels, 0–1 each.
package struct TruePaint: Sendable {
    package let red: Double
    package let green: Double
    package let blue: Double
    package let opacity: Double

    package init(_ red: Double, _ green: Double, _ blue: Double, opacity: Double) {
        (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
    }

    package static let none = TruePaint(0, 0, 0, opacity: 0)

    /// The channels on the scale of `full`, straight, the alpha opaque.
    fileprivate func channels(_ layout: PixelLayout, _ full: Double) -> [Double] {
        let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        let colors = layout.channels < 3 ? [luma] : [red, green, blue]
        return colors.map { $0 * full } + (layout.hasAlpha ? [full] : [])
    }
}

extension TruePixels {
    /// Frosted glass by definition: the untruncated Gaussian, out = luma + saturation·(in − luma), in 0…alpha but for
    /// floats, and the tint.
    package func material(
        sigma: Double, saturation: Double, tint: TruePaint, edge: Edge, output: PixelRect, _ layout: PixelLayout,
        full: Double
    ) -> TruePixels {
        let isFloat = full == SampleFormat.f32.full
        return gaussian(sigmaX: sigma, sigmaY: sigma, edge: edge, output: output).mappingPixels { _, _, pixel in
            var pixel = pixel
            if layout.channels >= 3 {
                let luma = 0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2]
                let most = layout.hasAlpha ? pixel[3] : full
                for color in 0..<3 {
                    let value = luma + saturation * (pixel[color] - luma)
                    pixel[color] = isFloat ? value : min(max(value, 0), most)
                }
            }
            return over(tint.channels(layout, full), tint.opacity, pixel)
        }
    }

    /// A panel by definition, where it covers whole pixels: the Gaussian, the tint, the gloss, the border.
    package func panel(
        sigma: Double, top: Double, height: Double, tint: TruePaint, gloss: Double, border: TruePaint,
        borderShare: (_ x: Int, _ y: Int) -> Double, output: PixelRect, _ layout: PixelLayout, full: Double
    ) -> TruePixels {
        gaussian(sigmaX: sigma, sigmaY: sigma, edge: .clamp, output: output).mappingPixels { x, y, pixel in
            let depth = (Double(y) + 0.5 - top) / (height / 2)
            let shine = gloss * min(max(1 - depth, 0), 1)
            let tinted = over(tint.channels(layout, full), tint.opacity, pixel)
            let shining = over(TruePaint(1, 1, 1, opacity: 1).channels(layout, full), shine, tinted)
            return over(border.channels(layout, full), border.opacity * borderShare(x, y), shining)
        }
    }

    private func mappingPixels(
        _ map: (_ x: Int, _ y: Int, _ pixel: [Double]) -> [Double]
    ) -> TruePixels {
        var values: [Double] = []
        for y in rect.rows {
            for x in rect.columns {
                values += map(x, y, (0..<channels).map { value(x, y, $0, .clamp) })
            }
        }
        return TruePixels(rect: rect, channels: channels, values: values)
    }
}

private func over(_ front: [Double], _ opacity: Double, _ behind: [Double]) -> [Double] {
    zip(front, behind).map { $0 * opacity + $1 * (1 - opacity) }
}
