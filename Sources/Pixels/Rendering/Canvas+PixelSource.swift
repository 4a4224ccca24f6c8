package import Catalogs
package import Geometry
package import Raster

extension Canvas: PixelSource {
    package var rect: PixelRect { header.rect }
    package var layout: PixelLayout { header.layout }
    package var format: SampleFormat { header.format }
}
