package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `rotate`: rotates the picture. Right angles move pixels unchanged. Other angles interpolate, and show the background in the
/// corners.
package struct RotateFilter: Filter {
    private enum Turn: Hashable {
        case none
        case left
        case half
        case right
        case free(Rotation)
    }

    private let turn: Turn
    private let background: BackgroundColor
    private let kernel: Warp.Kernel

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "rotate", kind: .geometry, summary: "Turns the picture", renderingVersion: 4,
            parameters: [
                ParameterDescriptor(
                    "angle", .numberOrWord(minimum: -3600, maximum: 3600, words: ["right", "left", "half"]), unit: "°",
                    summary:
                        "Sets the angle. 'right' and 'left' turn by 90°, 'half' by 180°. Degrees count counter-clockwise",
                    requiredLike: "right"),
                ParameterDescriptor(
                    "background", .color, fallback: .color(red: 0, green: 0, blue: 0, alpha: 0),
                    summary:
                        "Sets the colour of the corners if the angle is no multiple of 90°. 'transparent' adds transparency"
                ),
                ParameterDescriptor(
                    "kernel", .choice(Warp.Kernel.allCases.map(\.rawValue)), fallback: .word("catmull-rom"),
                    summary:
                        "Chooses the interpolation if the angle is no multiple of 90°. 'lanczos3' is sharper and slower"
                ),
            ],
            rules: [
                .needs(parameter: "background", other: "angle", words: []),
                .needs(parameter: "kernel", other: "angle", words: []),
                .idleAtMultiples(parameter: "background", other: "angle", step: 90),
                .idleAtMultiples(parameter: "kernel", other: "angle", step: 90),
            ]),
        make: { try RotateFilter($0) })

    private init(_ arguments: FilterArguments) throws(FilterError) {
        background = try arguments.color("background")
        kernel = try Warp.Kernel(arguments)
        guard !arguments.isWord("angle") else {
            turn =
                switch try arguments.word("angle") {
                case "left": .left
                case "half": .half
                default: .right
                }
            return
        }
        let degrees = try arguments.number("angle")
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        turn =
            switch rest < 0 ? rest + 360 : rest {
            case 0: .none
            case 90: .left
            case 180: .half
            case 270: .right
            default: .free(Rotation(degrees: degrees, kernel: kernel))
            }
    }

    package var isIdentity: Bool { turn == .none }
    package var edge: Edge { isFree ? .transparent : .clamp }
    package var halo: Halo { .none }

    private var isFree: Bool { if case .free = turn { true } else { false } }
    private var isOpaque: Bool { background.alpha > 0 }

    package func extent(of input: PixelRect) -> PixelRect {
        switch turn {
        case .none, .half: return input
        case .left, .right: return PixelRect(x: 0, y: 0, width: input.height, height: input.width)
        case .free(let rotation):
            guard !input.isEmpty else { return .empty }
            let size = rotation.size(width: input.width, height: input.height)
            return PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        }
    }

    private func placement(_ input: PixelRect) -> Placement? {
        switch turn {
        case .none: Placement(origin: (0, 0), right: (1, 0), down: (0, 1))
        case .half:
            Placement(origin: (input.x + input.right - 1, input.y + input.bottom - 1), right: (-1, 0), down: (0, -1))
        case .right: Placement(origin: (input.x, input.bottom - 1), right: (0, -1), down: (1, 0))
        case .left: Placement(origin: (input.right - 1, input.y), right: (0, 1), down: (-1, 0))
        case .free: nil
        }
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard !output.isEmpty else { return PixelRect(x: input.x, y: input.y, width: 0, height: 0) }
        if case .free(let rotation) = turn { return rotation.warp(input).needed(for: output) }
        guard let placement = placement(input) else { return output }
        let first = placement.source(x: output.x, y: output.y)
        let last = placement.source(x: output.right - 1, y: output.bottom - 1)
        return PixelRect(
            columns: min(first.x, last.x)..<max(first.x, last.x) + 1,
            rows: min(first.y, last.y)..<max(first.y, last.y) + 1)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        guard isFree else { return layout }
        return isOpaque ? layout.removingAlpha : layout.addingAlpha
    }

    package func isRowLocal(in input: PixelRect) -> Bool { turn == .none }
    package var copiesSamples: Bool { !isFree }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        isFree ? kernel.cost(format) : 4
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        guard case .free(let rotation) = turn else {
            placement(source.extent)?.copy(source.pixels, to: &destination)
            return
        }
        guard isOpaque else { return rotation.warp(source.extent).render(source.pixels, into: &destination) }
        var turned = AnyRaster(
            zeroed: destination.rect, layout: destination.layout.addingAlpha, format: destination.format)
        rotation.warp(source.extent).render(source.pixels, into: &turned)
        background.flatten(KernelSource(turned), into: &destination)
    }
}
