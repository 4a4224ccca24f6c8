package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A filter of single pixels that changes their colours.
package protocol ColoringFilter: Filter {
    var recoloring: Recoloring { get }
}

extension ColoringFilter {
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }
    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        recoloring.render(source.pixels, within: masking?.mask(in: source.extent), into: &destination)
    }
}
