package import Catalogs
package import Geometry
package import Raster

/// The source of a chain's first input: a raster in memory, or a canvas.
package protocol PixelSource {
    /// The extent of the picture.
    var rect: PixelRect { get }
    var layout: PixelLayout { get }
    var format: SampleFormat { get }

    /// The pixels of `part`, a part of ``rect``, in its own coordinates.
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
