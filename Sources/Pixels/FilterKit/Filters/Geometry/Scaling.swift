package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// What `resize` and `thumbnail` have in common: a picture is scaled, then cut or surrounded by bars.
package struct Scaling: Sendable {
    package let wish: SizeWish
    package let fit: Fit
    package let enlarges: Bool
    package let kernel: ResamplingKernel
    package let light: Light
    /// Of bars.
    package var background = BackgroundColor(red: 255, green: 255, blue: 255, alpha: 255)
    /// The picture's size in its file, when the decoder has shrunk it, by ``shrink``.
    package var original: Sizing.Size?
    package var shrink = 1
    private let tables = ResamplingTables()

    package init(
        wish: SizeWish, fit: Fit, enlarges: Bool, kernel: ResamplingKernel, light: Light
    ) {
        self.wish = wish
        self.fit = fit
        self.enlarges = enlarges
        self.kernel = kernel
        self.light = light
    }

    static let size = ParameterDescriptor(
        "size", .size,
        summary: "no side longer (320), a width (320x), a height (x240), both (320x240), or a part (50%)",
        requiredLike: "320x240")

    private func source(_ input: PixelRect) -> Sizing.Size { original ?? Sizing.Size(input.width, input.height) }

    func sizing(_ input: PixelRect) -> Sizing {
        Sizing(source(input), to: wish, fit, enlarges: enlarges)
    }

    package func extent(of input: PixelRect) -> PixelRect {
        guard !input.isEmpty else { return .empty }
        let output = sizing(input).output
        return PixelRect(x: 0, y: 0, width: output.width, height: output.height)
    }

    package func scale(in input: PixelRect) -> (x: Double, y: Double) {
        guard !input.isEmpty else { return (1, 1) }
        let (source, scaled) = (source(input), sizing(input).scaled)
        return (
            Double(source.width) / Double(shrink) / Double(scaled.width),
            Double(source.height) / Double(shrink) / Double(scaled.height)
        )
    }

    private func resampler(_ input: PixelRect) -> Resampler {
        let scale = scale(in: input)
        return Resampler(
            horizontal: AxisResampling(scale: scale.x, kernel: kernel),
            vertical: AxisResampling(scale: scale.y, kernel: kernel), tables)
    }

    package func halo(in input: PixelRect) -> Halo {
        guard !input.isEmpty else { return .none }
        let resampler = resampler(input)
        return Halo(horizontal: resampler.horizontal.reach, vertical: resampler.vertical.reach)
    }

    /// The part of an output rectangle that no bar covers.
    private func picture(in output: PixelRect, _ sizing: Sizing) -> PixelRect {
        output.intersection(
            PixelRect(
                x: -sizing.shift.x, y: -sizing.shift.y, width: sizing.scaled.width, height: sizing.scaled.height))
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard !input.isEmpty else { return .empty }
        let sizing = sizing(input)
        let part = picture(in: output, sizing)
        guard !part.isEmpty else { return PixelRect(x: input.x, y: input.y, width: 0, height: 0) }
        let resampler = resampler(input)
        let columns = resampler.horizontal.needed(part.columns.moved(by: sizing.shift.x))
        let rows = resampler.vertical.needed(part.rows.moved(by: sizing.shift.y))
        return PixelRect(columns: columns.moved(by: input.x), rows: rows.moved(by: input.y))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let input = source.extent
        let sizing = sizing(input)
        let part = picture(in: destination.rect, sizing)
        let resampler = resampler(input)
        guard part != destination.rect else {
            return resampler.render(
                source.pixels, corner: (input.x, input.y), shift: sizing.shift, light: light, into: &destination)
        }
        background.fill(destination.rect, of: &destination)
        guard !part.isEmpty else { return }
        var inner = AnyRaster(zeroed: part, layout: destination.layout, format: destination.format)
        resampler.render(
            source.pixels, corner: (input.x, input.y), shift: sizing.shift, light: light, into: &inner)
        destination.paste(inner)
    }
}

/// A filter that is nothing but a change of size.
package protocol ScalingFilter: Filter {
    var scaling: Scaling { get }
}

extension ScalingFilter {
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { scaling.extent(of: input) }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        scaling.needed(for: output, in: input)
    }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func halo(in input: PixelRect) -> Halo { scaling.halo(in: input) }
    package func scale(in input: PixelRect) -> (x: Double, y: Double) { scaling.scale(in: input) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        scaling.render(source, into: &destination)
    }
}
