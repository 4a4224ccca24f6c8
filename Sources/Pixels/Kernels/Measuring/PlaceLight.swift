import Arithmetic
package import Catalogs
import Geometry
package import Raster

/// The mean light of a disc in a picture, for each colour. Transparent pixels count by their alpha.
package final class PlaceLight {
    private let x: Double
    private let y: Double
    private let radius: Double
    private let layout: PixelLayout
    private var sums = SIMD3<Double>(repeating: 0)
    private var weight = 0.0

    /// - Parameters:
    ///   - x, y: the middle of the disc. The first pixel has its middle at (0.5, 0.5).
    ///   - radius: in pixels. The pixel under the middle always counts, if the picture has one there.
    package init(x: Double, y: Double, radius: Double, layout: PixelLayout) {
        (self.x, self.y, self.radius, self.layout) = (x, y, radius, layout)
    }

    /// Takes rows of the picture, in its full width and in coordinates that begin at (0, 0). The frames of an animation are taken
    /// one after the other, and all of them count.
    package func add(_ rows: AnyRaster) {
        switch rows {
        case .u8(let raster): add(raster)
        case .u16(let raster): add(raster)
        case .f32(let raster): add(raster)
        }
    }

    private func add<Sample: PixelSample>(_ raster: Raster<Sample>) {
        let rect = raster.rect
        // Far beyond every picture. The disc has at most 201 rows, and so none of this overflows.
        guard x.magnitude < 1e9, y.magnitude < 1e9 else { return }
        let (column, row) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        let reach = Int(radius.rounded(.up))
        let disc = PixelRect(x: column - reach, y: row - reach, width: 2 * reach + 1, height: 2 * reach + 1)
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let samples = raster.samples.span
        for pixelY in disc.intersection(rect).rows {
            for pixelX in disc.intersection(rect).columns {
                let (dx, dy) = (Double(pixelX) + 0.5 - x, Double(pixelY) + 0.5 - y)
                guard dx * dx + dy * dy <= radius * radius || (pixelX, pixelY) == (column, row) else { continue }
                let first = (pixelY - rect.y) * raster.stride + (pixelX - rect.x) * channels
                func share(_ channel: Int) -> Double { samples[first + channel].double / Sample.full }
                let alpha = layout.hasAlpha ? share(colors) : 1
                let light = SIMD3((0..<3).map { SRGBCurve.decode(share(min($0, colors - 1))) })
                guard alpha > 0, light.sum().isFinite else { continue }
                sums += light * alpha
                weight += alpha
            }
        }
    }

    /// The means for red, green and blue, which gray has alike. Nil if no visible pixel lies in the disc.
    package var mean: SIMD3<Double>? { weight > 0 ? sums / weight : nil }
}
