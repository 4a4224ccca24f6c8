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
    /// The place around which the rectangle lies, instead of `x` and `y`.
    private let focus: FocalPoint?

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
            ] + FocalPoint.parameters(keeping: "the rectangle keeps"),
            rules: FocalPoint.rules(replacing: ["x", "y"])),
        make: { try CropFilter($0) })

    private init(_ arguments: FilterArguments) throws(FilterError) {
        focus = try FocalPoint(arguments)
        x = try arguments.optionalLength("x") ?? .pixels(0)
        y = try arguments.optionalLength("y") ?? .pixels(0)
        width = try arguments.length("width")
        height = try arguments.length("height")
    }

    /// Keeps a part of a picture that begins at (0, 0). Nil for all of it.
    init(keeping part: PixelRect?) {
        x = .pixels(Double(part?.x ?? 0))
        y = .pixels(Double(part?.y ?? 0))
        width = part.map { .pixels(Double($0.width)) } ?? .percent(100)
        height = part.map { .pixels(Double($0.height)) } ?? .percent(100)
        focus = nil
    }

    package var isIdentity: Bool { x.isZero && y.isZero && width == .percent(100) && height == .percent(100) }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    /// Parts outside the picture are omitted.
    package func extent(of input: PixelRect) -> PixelRect {
        let (width, height) = (width.wholePixels(of: input.width), height.wholePixels(of: input.height))
        guard let focus, !input.isEmpty else {
            let wanted = PixelRect(
                x: input.x + x.wholePixels(of: input.width), y: input.y + y.wholePixels(of: input.height), width: width,
                height: height)
            return wanted.intersection(input)
        }
        let size = Sizing.Size(input.width, input.height)
        let window = Sizing.Size(min(width, size.width), min(height, size.height))
        let start = focus.start(of: window, in: size, of: size)
        return PixelRect(x: input.x + start.x, y: input.y + start.y, width: window.width, height: window.height)
    }

    package func misfit(in input: PixelRect) -> String? { focus?.misfit(in: Sizing.Size(input.width, input.height)) }

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
    func wholePixels(of side: Int) -> Int { Int(pixels(of: side).rounded()) }
}
