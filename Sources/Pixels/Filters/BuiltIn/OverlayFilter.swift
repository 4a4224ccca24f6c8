package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `overlay`: another picture in front of the input, once or repeated, with a shadow if it is asked for.
package struct OverlayFilter: Filter {
    private let layer: Layer
    private let front: FrontOptions
    private let width: Length?
    private let height: Length?
    package let masking: MaskOptions?

    private init(_ arguments: FilterArguments) throws {
        front = try FrontOptions(arguments, of: "overlay")
        width = try arguments.optionalLength("width")
        height = try arguments.optionalLength("height")
        layer = try arguments.layer("picture")
        masking = try MaskOptions(arguments)
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "overlay", kind: .point, summary: "Puts another picture in front of the picture", renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "picture", .layer, summary: "Names the other picture, from the folder of the manifest",
                    requiredLike: "logo.png")
            ] + FrontOptions.places(of: "the other picture") + [
                ParameterDescriptor(
                    "width", .distance,
                    summary: "Scales it to this width. Percentages refer to the picture. Its proportions stay"),
                ParameterDescriptor(
                    "height", .distance,
                    summary: "Scales it to this height. With a width, too, it fits into both"),
            ] + FrontOptions.looks(of: "the other picture") + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters), refusesValues: true),
        make: { try OverlayFilter($0) })

    package var isIdentity: Bool { front.isHidden }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        front.outputLayout(for: layout, under: layer.raster.layout)
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { front.cost(layout) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let input = source.extent
        let isScaled = width != nil || height != nil
        try front.lay(
            layer, of: size(in: input), isSharp: isScaled, over: source.pixels, in: input,
            within: masking?.mask(in: input), into: &destination)
    }

    private func size(in input: PixelRect) -> PictureSize {
        let own = layer.raster.rect
        let factors = [
            width.map { $0.pixels(of: input.width) / Double(own.width) },
            height.map { $0.pixels(of: input.height) / Double(own.height) },
        ].compactMap(\.self)
        guard let factor = factors.min() else { return PictureSize(width: own.width, height: own.height) }
        func side(_ side: Int) -> Int { Int(min(max((Double(side) * factor).rounded(), 1), 1e7)) }
        return PictureSize(width: side(own.width), height: side(own.height))
    }
}
