package import Catalogs
package import Geometry

/// What a chain makes of an input of given extent and layout, without a pixel of it.
package struct ChainPlan: Hashable, Sendable {
    /// One filter's step. Filters that change nothing have none.
    package struct Stage: Hashable, Sendable {
        package let input: PixelRect
        package let inputLayout: PixelLayout
        package let output: PixelRect
        package let outputLayout: PixelLayout
        /// The filter's name when its `within` covers nothing of the input.
        package let missing: String?
    }

    package let input: PixelRect
    package let inputLayout: PixelLayout
    package let stages: [Stage]
    /// The sum of all filters' halos, in pixels of the input: no tile reads more around it.
    package let halo: Halo
    /// Pixels of the input to one of the output.
    package let scaleX: Double
    package let scaleY: Double
    /// True when every band of rows needs only the rows around it, so that a picture can be filtered while it is
    /// decoded. (`edge: wrap` needs the last rows for the first.)
    package let isRowLocal: Bool

    /// The extent of the output; larger than the input, with a negative origin, when a filter expands.
    package var output: PixelRect { stages.last?.output ?? input }
    package var outputLayout: PixelLayout { stages.last?.outputLayout ?? inputLayout }
}
