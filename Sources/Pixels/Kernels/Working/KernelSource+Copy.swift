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
