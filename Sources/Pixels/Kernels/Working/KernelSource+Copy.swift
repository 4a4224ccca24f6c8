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
        switch raster {
        case .u8(let own): target.modifyU8 { copy(own, to: &$0) }
        case .u16(let own): target.modifyU16 { copy(own, to: &$0) }
        case .f32(let own): target.modifyF32 { copy(own, to: &$0) }
        }
    }

    private func copy<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        let (rect, width) = (other.rect, other.layout.channels)
        let stored = own.layout.channels
        precondition(other.layout == own.layout || other.layout == own.layout.addingAlpha, "only alpha may be added")
        let from = own.samples.span
        var to = other.samples.mutableSpan
        var index = 0
        for y in rect.rows {
            for x in rect.columns {
                let (row, column) = (rows[y], columns[x])
                if row >= 0, column >= 0 {
                    let start = row * own.stride + column * stored
                    for channel in 0..<stored { to[index + channel] = from[start + channel] }
                    if width > stored { to[index + stored] = Sample(rounding: Sample.full) }
                }
                index += width
            }
        }
    }
}
