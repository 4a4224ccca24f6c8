package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// The common part of `resize` and `thumbnail`: a picture is scaled, then cut or surrounded by bars.
package struct Scaling: Sendable {
    package let wish: SizeWish
    package let fit: Fit
    package let enlarges: Bool
    package let kernel: ResamplingKernel
    package let light: Light
    /// The colour of bars.
    package var background = BackgroundColor(red: 255, green: 255, blue: 255, alpha: 255)
    /// The part that is kept if `fit: cover` crops.
    package var crop = CropChoice.centre
    /// The place that is kept near the middle if `fit: cover` crops, instead of the choice.
    package var focus: FocalPoint?
    /// The picture's size in its file, if the decoder has shrunk it by the factor ``shrink``.
    package var original: Sizing.Size?
    package var shrink = 1
    private let tables = ResamplingTables()

    static let size = ParameterDescriptor(
        "size", .size,
        summary:
            "Sets the longest side (320), a width (320x), a height (x240), both (320x240), or a part of the size (50%)",
        requiredLike: "320x240")

    private func source(_ input: PixelRect) -> Sizing.Size { original ?? Sizing.Size(input.width, input.height) }

    func sizing(_ input: PixelRect) -> Sizing { Sizing(source(input), to: wish, fit, enlarges: enlarges, focus: focus) }

    func misfit(in input: PixelRect) -> String? { fit == .cover ? focus?.misfit(in: source(input)) : nil }

    /// Whether the crop depends on the pixels, all of them.
    package func looksAtPixels(of input: PixelRect) -> Bool {
        guard fit == .cover, crop != .centre, !input.isEmpty else { return false }
        let sizing = sizing(input)
        return sizing.scaled != sizing.output
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
        let (x, y) = (resampler.horizontal.reach, resampler.vertical.reach)
        return looksAtPixels(of: input)
            ? Halo(horizontal: input.width + x, vertical: input.height + y) : Halo(horizontal: x, vertical: y)
    }

    /// The part of an output rectangle that bars do not cover.
    private func picture(in output: PixelRect, _ sizing: Sizing) -> PixelRect {
        output.intersection(
            PixelRect(x: -sizing.shift.x, y: -sizing.shift.y, width: sizing.scaled.width, height: sizing.scaled.height))
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard !input.isEmpty else { return .empty }
        let sizing = sizing(input)
        let part = picture(in: output, sizing)
        guard !part.isEmpty else { return PixelRect(x: input.x, y: input.y, width: 0, height: 0) }
        let resampler = resampler(input)
        guard !looksAtPixels(of: input) else {
            return PixelRect(
                columns: resampler.horizontal.needed(0..<sizing.scaled.width).moved(by: input.x),
                rows: resampler.vertical.needed(0..<sizing.scaled.height).moved(by: input.y))
        }
        let columns = resampler.horizontal.needed(part.columns.moved(by: sizing.shift.x))
        let rows = resampler.vertical.needed(part.rows.moved(by: sizing.shift.y))
        return PixelRect(columns: columns.moved(by: input.x), rows: rows.moved(by: input.y))
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        let input = source.extent
        let sizing = sizing(input)
        if looksAtPixels(of: input) {
            return resampler(input).render(
                source.pixels, corner: (input.x, input.y), shift: chosenShift(source, sizing), light: light,
                into: &destination)
        }
        let part = picture(in: destination.rect, sizing)
        let resampler = resampler(input)
        guard part != destination.rect else {
            return resampler.render(
                source.pixels, corner: (input.x, input.y), shift: sizing.shift, light: light, into: &destination)
        }
        background.fill(destination.rect, of: &destination)
        guard !part.isEmpty else { return }
        var inner = AnyRaster(zeroed: part, layout: destination.layout, format: destination.format)
        resampler.render(source.pixels, corner: (input.x, input.y), shift: sizing.shift, light: light, into: &inner)
        destination.paste(inner)
    }
}

extension Scaling {
    /// There is one unless the crop depends on all pixels, or bars surround the picture.
    func runningForm(
        of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) -> RunningForm? {
        guard !input.isEmpty, !output.isEmpty, !looksAtPixels(of: input) else { return nil }
        let sizing = sizing(input)
        guard picture(in: output, sizing) == output else { return nil }
        return resampler(input).runningForm(
            of: RunningOutput(rect: output, layout: layout, format: format, light: light), corner: (input.x, input.y),
            shift: sizing.shift)
    }
}

extension Scaling {
    /// The longer side of the small picture that is used to choose a crop.
    private static let lookedAt = 96

    /// The start of the part that is kept, in the scaled picture.
    private func chosenShift(_ source: FilterSource, _ sizing: Sizing) -> (x: Int, y: Int) {
        let input = source.extent
        let longer = max(sizing.scaled.width, sizing.scaled.height)
        let factor = min(1, Double(Self.lookedAt) / Double(longer))
        func small(_ side: Int) -> Int { max(1, Int((Double(side) * factor).rounded())) }
        let (width, height) = (small(sizing.scaled.width), small(sizing.scaled.height))
        let looker = Resampler(
            horizontal: AxisResampling(scale: Double(input.width) / Double(width), kernel: .box),
            vertical: AxisResampling(scale: Double(input.height) / Double(height), kernel: .box))
        var picture = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: width, height: height), layout: source.pixels.raster.layout,
            format: source.pixels.raster.format)
        looker.render(source.pixels, corner: (input.x, input.y), shift: (0, 0), light: .encoded, into: &picture)
        guard case .u8(let bytes) = picture.converted(to: .u8) else { return sizing.shift }
        let window = CropWindow(bytes)
        func shift(_ small: Int, _ whole: Int, _ output: Int, _ choose: (Int) -> Int) -> Int {
            let count = max(1, Int((Double(small) * Double(output) / Double(whole)).rounded()))
            let start = Double(choose(min(count, small))) / Double(small) * Double(whole)
            return max(0, min(whole - output, Int(start.rounded())))
        }
        return (
            sizing.output.width < sizing.scaled.width
                ? shift(width, sizing.scaled.width, sizing.output.width) { window.column(count: $0, crop) } : 0,
            sizing.output.height < sizing.scaled.height
                ? shift(height, sizing.scaled.height, sizing.output.height) { window.row(count: $0, crop) } : 0
        )
    }
}

/// A filter that only changes the size.
package protocol ScalingFilter: Filter {
    var scaling: Scaling { get }
}

extension ScalingFilter {
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { scaling.extent(of: input) }
    package func misfit(in input: PixelRect) -> String? { scaling.misfit(in: input) }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        scaling.needed(for: output, in: input)
    }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func isRowLocal(in input: PixelRect) -> Bool { !scaling.looksAtPixels(of: input) }
    package func halo(in input: PixelRect) -> Halo { scaling.halo(in: input) }
    package func scale(in input: PixelRect) -> (x: Double, y: Double) { scaling.scale(in: input) }

    package func runningForm(
        of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) -> RunningForm? { scaling.runningForm(of: output, in: input, layout, format) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        scaling.render(source, into: &destination)
    }
}
