package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A filter that draws its input through a projection. The border of the input is repeated around it.
package protocol WarpFilter: Filter {
    /// Nil if nothing of the input is left.
    func warp(_ input: PixelRect) -> Warp?
}

extension WarpFilter {
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let nothing = PixelRect(x: input.x, y: input.y, width: 0, height: 0)
        guard !output.isEmpty, !input.isEmpty else { return nothing }
        return warp(input)?.needed(for: output) ?? nothing
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func isRowLocal(in input: PixelRect) -> Bool { false }
    package var isEven: Bool { false }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        warp(source.extent)?.render(source.pixels, into: &destination)
    }
}

extension Warp.Kernel {
    /// The time for a pixel, in nanoseconds. All channels are computed at once.
    func cost(_ format: SampleFormat) -> Double {
        format == .u8 ? self == .catmullRom ? 8 : 13 : self == .catmullRom ? 25 : 40
    }

    static let parameter = ParameterDescriptor(
        "kernel", .choice(allCases.map(\.rawValue)), fallback: .word(Self.catmullRom.rawValue),
        summary: "Chooses the interpolation. 'lanczos3' is sharper and slower")

    init(_ arguments: FilterArguments) throws(FilterError) {
        self = Warp.Kernel(rawValue: try arguments.word("kernel")) ?? .catmullRom
    }
}
