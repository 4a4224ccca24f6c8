package import Catalogs
package import Geometry
package import Raster

/// Where the pixels of a chain's first input come from: a raster in memory, a canvas, rows of a decoder.
package protocol PixelSource {
    /// The extent of the picture.
    var rect: PixelRect { get }
    var layout: PixelLayout { get }
    var format: SampleFormat { get }

    /// The pixels of `part`, which lies in ``rect``, under its own coordinates.
    func read(_ part: PixelRect) throws -> AnyRaster
}

extension AnyRaster: PixelSource {
    package func read(_ part: PixelRect) -> AnyRaster { cropped(to: part) }
}

extension Canvas: PixelSource {
    package var rect: PixelRect { header.rect }
    package var layout: PixelLayout { header.layout }
    package var format: SampleFormat { header.format }
}
