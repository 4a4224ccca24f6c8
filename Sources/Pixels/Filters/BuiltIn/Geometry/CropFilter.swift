package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `crop`: keeps a rectangle of the picture. Coordinates stay those of the input, so later filters keep their grids.
package struct CropFilter: Filter {
    private let x: Length
    private let y: Length
    private let width: Length
    private let height: Length

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "crop", kind: .geometry, summary: "Keeps a rectangle of the picture", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "x", .length(), fallback: .length(.pixels(0)),
                    summary: "Sets the left side of the rectangle, from the left side of the picture"),
                ParameterDescriptor(
                    "y", .length(), fallback: .length(.pixels(0)),
                    summary: "Sets the top side of the rectangle, from the top side of the picture"),
                ParameterDescriptor(
                    "width", .distance, fallback: .length(.percent(100)), summary: "Sets the width of the rectangle"),
                ParameterDescriptor(
                    "height", .distance, fallback: .length(.percent(100)), summary: "Sets the height of the rectangle"),
            ]),
        make: { try CropFilter($0) })

    private init(_ arguments: FilterArguments) throws(FilterError) {
        x = try arguments.length("x")
        y = try arguments.length("y")
        width = try arguments.length("width")
        height = try arguments.length("height")
    }

    package var isIdentity: Bool { x.isZero && y.isZero && width == .percent(100) && height == .percent(100) }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    /// Parts outside the picture are omitted.
    package func extent(of input: PixelRect) -> PixelRect {
        let left = input.x + x.wholePixels(of: input.width)
        let top = input.y + y.wholePixels(of: input.height)
        let wanted = PixelRect(
            x: left, y: top, width: width.wholePixels(of: input.width), height: height.wholePixels(of: input.height))
        return wanted.intersection(input)
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package var copiesSamples: Bool { true }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 0.5 }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        source.pixels.copyPixels(to: &destination)
    }
}

extension Length {
    fileprivate var isZero: Bool {
        switch self {
        case .pixels(let value), .percent(let value): value == 0
        }
    }

    /// The side in pixels, rounded to the nearest integer.
    fileprivate func wholePixels(of side: Int) -> Int { Int(pixels(of: side).rounded()) }
}
