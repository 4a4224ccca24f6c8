package import Catalogs
package import Filters
package import Geometry
import JobModel
package import Raster

extension FilterRegistry {
    /// The filters of every installation.
    package static let builtIn = FilterRegistry(BuiltInFilters.all)

    package func make(_ name: String, _ values: [String: ParameterValue] = [:]) throws -> any Filter {
        try makeFilter(FilterInvocation(filter: name, values: values))
    }
}

extension Filter {
    /// Renders one rectangle of what the filter makes of a picture (all of it unless told otherwise), and checks that
    /// the filter reads nothing but its region of interest.
    package func render(_ picture: AnyRaster, tile: PixelRect? = nil, frame: Int = 0) throws -> AnyRaster {
        let output = tile ?? extent(of: picture.rect)
        let pixels = sourceMap(for: output, in: picture.rect).gather(layout: picture.layout, format: picture.format) {
            picture.cropped(to: $0)
        }
        var result = AnyRaster(zeroed: output, layout: outputLayout(for: picture.layout), format: picture.format)
        try render(FilterSource(pixels: pixels, extent: picture.rect, frame: frame), into: &result)
        return result
    }
}

/// For pictures that no test has.
package struct UnreadableLayer: Error {
    package init() {}
}
