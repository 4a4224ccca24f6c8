import Catalogs
import Geometry
import Kernels
import Raster

/// `crossfade`: a transition from a picture to the result of its last filters.
enum CrossfadeFilter {
    static let entry = FilterEntry(
        FilterDescriptor(
            name: "crossfade", kind: .animation, summary: "Fades from the picture to its filtered version",
            renderingVersion: 1,
            parameters: AnimationParameters.all(duration: 0.2) + [
                ParameterDescriptor(
                    "curve", .choice(AnimationParameters.curves), fallback: .word("ease-in"),
                    summary: "Chooses how the speed changes on the way"),
                ParameterDescriptor(
                    "filters", .integer(minimum: 1, maximum: 1000),
                    summary:
                        "Sets how many of the last filters fade in. By default these are all filters after the last one that changes the size"
                ),
            ], refusesValues: true)
    ) { arguments in
        let easing = Easing(curve: try arguments.word("curve"))
        let filters = try arguments.optionalInteger("filters") ?? 0
        return try AnimationFilter(arguments, named: "crossfade", faded: filters) { clock, filters in
            CrossfadeStill(filters: filters, share: easing.progress(at: clock.share(at: clock.time)))
        }
    }
}

/// One frame of a crossfade.
private struct CrossfadeStill: Filter {
    let filters: any Filter
    /// The weight of the filters' result, 0–1.
    let share: Double

    var isIdentity: Bool { false }
    var edge: Edge { .clamp }
    var halo: Halo { filters.halo }
    var isEven: Bool { filters.isEven }
    func halo(in input: PixelRect) -> Halo { filters.halo(in: input) }
    func isRowLocal(in input: PixelRect) -> Bool { filters.isRowLocal(in: input) }
    func extent(of input: PixelRect) -> PixelRect { input }

    /// Reads only the input: the filters define what lies around it.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let part = filtered(of: output, input)
        guard share > 0, !part.isEmpty else { return output }
        return filters.regionOfInterest(for: part, in: input).reduce(output) { $0.union($1) }
    }

    func outputLayout(for layout: PixelLayout) -> PixelLayout {
        Crossfade.layout(of: layout, and: filters.outputLayout(for: layout))
    }

    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        filters.cost(layout, format) + 8 * Double(layout.channels)
    }

    func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        filters.cost(layout, format, in: input) + 8 * Double(layout.channels)
    }

    /// The part of the output where the filters are defined. Around it pixels are transparent.
    private func filtered(of output: PixelRect, _ input: PixelRect) -> PixelRect {
        output.intersection(filters.extent(of: input))
    }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let own = source.pixels.raster.layout
        let part = filtered(of: destination.rect, source.extent)
        var second = AnyRaster(zeroed: part, layout: filters.outputLayout(for: own), format: destination.format)
        if share > 0, !part.isEmpty { try filters.render(source, into: &second) }
        if share == 0, own == destination.layout { return source.pixels.copyPixels(to: &destination) }
        if share == 1, second.layout == destination.layout { return destination.paste(second) }
        Crossfade(share: share).render(source.pixels, second.placed(in: destination.rect), into: &destination)
    }
}

extension AnyRaster {
    /// A source with transparent pixels around it.
    fileprivate func placed(in area: PixelRect) -> KernelSource {
        func table(_ area: Range<Int>, _ own: Range<Int>) -> AxisTable {
            AxisTable(
                range: area,
                positions: area.map { own.contains($0) ? Int32($0 - own.lowerBound) : AxisTable.transparent })
        }
        return KernelSource(raster: self, columns: table(area.columns, rect.columns), rows: table(area.rows, rect.rows))
    }
}
