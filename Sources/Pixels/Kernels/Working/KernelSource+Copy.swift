import Catalogs
import Geometry
package import Raster

extension KernelSource {
    /// Copies stored pixels, bit for bit, to the coordinates of `target`'s rectangle.
    ///
    /// Where the target has an alpha that the raster lacks, pixels become opaque. Coordinates that are transparent are
    /// left alone.
    ///
    /// - Precondition: the tables cover the target's rectangle; sample formats are the same.
    package func copyPixels(to target: inout AnyRaster) {
        switch (raster, target) {
        case (.u8(let own), .u8(var other)):
            target = .empty
            copy(own, to: &other)
            target = .u8(other)
        case (.u16(let own), .u16(var other)):
            target = .empty
            copy(own, to: &other)
            target = .u16(other)
        case (.f32(let own), .f32(var other)):
            target = .empty
            copy(own, to: &other)
            target = .f32(other)
        default:
            preconditionFailure("a copy has the same sample format")
        }
    }

    private func copy<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        let stored = own.layout.channels
        let addsAlpha = other.layout != own.layout
        for y in other.rect.rows where rows[y] >= 0 {
            for x in other.rect.columns where columns[x] >= 0 {
                let from = rows[y] * own.stride + columns[x] * stored
                let to = other.index(x: x, y: y)
                for channel in 0..<stored { other.samples[to + channel] = own.samples[from + channel] }
                if addsAlpha { other.samples[to + stored] = Sample(rounding: Sample.full) }
            }
        }
    }
}
