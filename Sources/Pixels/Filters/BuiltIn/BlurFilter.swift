package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A filter that is one blur with the parameters of all area filters. It provides what blurs have in common as filters.
package protocol BlurFilter: Filter {
    associatedtype Kernel: Blur
    var kernel: Kernel { get }
    var options: AreaOptions { get }
    /// The growth on each side with `extent: expand`.
    var growth: Halo { get }
}

extension BlurFilter {
    package var growth: Halo { kernel.halo }
    package var masking: MaskOptions? { options.masking }
    package var edge: Edge { options.edge }
    package var halo: Halo { kernel.halo }

    package func extent(of input: PixelRect) -> PixelRect { options.extent(of: input, growth: growth) }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }

    package func runningForm(
        of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) -> RunningForm? {
        guard options.masking == nil, !input.isEmpty, !output.isEmpty, isRowLocal(in: input),
            let kernel = kernel as? any RunningBlur
        else { return nil }
        // A mirrored border is read from the other side, at both ends of the picture.
        let mirrored = edge == .mirror ? min(halo.top + halo.bottom, input.height) : 0
        return kernel.runningForm(
            of: RunningOutput(rect: output, layout: outputLayout(for: layout), format: format, light: options.light)
        )?.holding(moreRows: mirrored)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
