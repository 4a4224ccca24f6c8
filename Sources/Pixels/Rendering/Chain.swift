package import Catalogs
package import Filters
package import Geometry
package import JobModel
package import Kernels
package import Raster

/// The filters of a job, in order and ready to render.
package struct Chain: Sendable {
    /// The filters, without those that change nothing.
    let filters: [any Filter]
    /// For each filter, what limits it, or those that an animation fades in, to a part of the picture.
    private let limits: [[Limit]]
    /// The curves from the input's samples to light.
    let curve: TransferCurve
    /// The frame of an animation that is rendered; see `FilterSource.frame`. If the chain creates frames, each is rendered
    /// with its own number.
    private(set) var frame = 0

    /// Throws `FilterError` for an unknown filter or an invalid value, and if a measurement is missing.
    ///
    /// - Parameter measurements: those of the picture for the first filters.
    package init(
        _ invocations: [FilterInvocation], registry: FilterRegistry, measurements: [Measurement] = []
    ) throws {
        var made = try invocations.enumerated().map { index, invocation in
            let filter = try registry.makeFilter(
                invocation, measurement: index < measurements.count ? measurements[index] : nil)
            return Made(
                filter: filter, limits: filter.masking.map { [Limit(filter: invocation.filter, masking: $0)] } ?? [])
        }
        let animations = made.reversed().map { $0.filter as? AnimationFilter }.prefix { $0 != nil }
        if !animations.isEmpty {
            let animation = AnimationFilter.joining(animations.reversed().compactMap(\.self)) {
                ChainFilter(chain: Chain(filters: $0, limits: []))
            }
            if let problem = animation.problem { throw problem }
            made = Self.showing(animation, after: made.dropLast(animations.count))
        }
        made.removeAll(where: \.isIdle)
        filters = made.map(\.filter)
        limits = made.map(\.limits)
        curve = .sRGB
        frame = animation?.shown ?? 0
    }

    private struct Made {
        let filter: any Filter
        let limits: [Limit]
        /// Whether it changes nothing.
        var isIdle: Bool { filter.isIdentity || filter.masking?.isIdle == true }
    }

    private struct Limit {
        /// The filter's name.
        let filter: String
        let masking: MaskOptions

        func misfit(in input: PixelRect) -> Misfit? {
            masking.misfit(in: input).map { Misfit(filter: filter, input: input, cause: $0) }
        }
    }

    /// The filters with an animation behind them, which gets those that it fades in.
    private static func showing(_ animation: AnimationFilter, after before: ArraySlice<Made>) -> [Made] {
        guard animation.faded > 0 else { return before + [Made(filter: animation, limits: [])] }
        let faded = before.suffix(animation.faded).filter { !$0.isIdle }
        let chain = Chain(filters: faded.map(\.filter), limits: faded.map(\.limits))
        return before.dropLast(animation.faded) + [
            Made(filter: animation.fading(ChainFilter(chain: chain)), limits: faded.flatMap(\.limits))
        ]
    }

    private init(filters: [any Filter], limits: [[Limit]], curve: TransferCurve = .sRGB) {
        self.filters = filters
        self.limits = limits
        self.curve = curve
    }

    /// The last filter, if it creates frames of a picture.
    private var animation: AnimationFilter? { filters.last as? AnimationFilter }

    /// The timing of the frames; nil for a chain that creates none.
    package var timeline: Timeline? { animation?.timeline }

    /// The number of frames of the output, one below the other.
    package var frames: Int { animation?.frames ?? 1 }

    /// The factor by which a decoder may shrink the input for the chain's first filter, which shrinks it further: 1, 2, 4 or
    /// 8.
    package func shrinkOnLoad(width: Int, height: Int) -> Int {
        (filters.first as? ThumbnailFilter)?.shrinkOnLoad(Sizing.Size(width, height)) ?? 1
    }

    /// The same chain for an input that was shrunk during decoding.
    ///
    /// - Parameters:
    ///   - width, height: the size of the input in its file.
    package func afterShrinking(by factor: Int, width: Int, height: Int) -> Chain {
        guard let first = filters.first as? ThumbnailFilter else { return self }
        return Chain(
            filters: [first.afterShrinking(Sizing.Size(width, height), by: factor)] + filters.dropFirst(),
            limits: limits, curve: curve
        ).rendering(frame: frame)
    }

    /// The same chain for a frame of an animation, from 0.
    package func rendering(frame: Int) -> Chain {
        var copy = self
        copy.frame = frame
        return copy
    }

    /// The same chain for an input with the transfer curve `curve`.
    package func over(_ curve: TransferCurve) -> Chain {
        Chain(filters: filters, limits: limits, curve: curve).rendering(frame: frame)
    }

    /// The number of filters that compute samples, and do not only move or choose those of their input.
    package var computingFilters: Int { filters.count { !$0.copiesSamples } }

    /// Whether the output has the input's bytes.
    package var isIdentity: Bool { filters.isEmpty }

    /// See `Filter.checkGeometry`. Plans call this, because they do not render.
    package func checkGeometry() throws { for filter in filters { try filter.checkGeometry() } }

    /// See `Filter.needsWhole`.
    package var needsWhole: Bool { filters.contains(where: \.needsWhole) }

    /// See `Filter.isEven`.
    var isEven: Bool { filters.allSatisfy(\.isEven) }

    package func plan(input: PixelRect, layout: PixelLayout) -> ChainPlan {
        var stages: [ChainPlan.Stage] = []
        var (extent, current) = (input, layout)
        var halo = Halo.none
        var scale = (x: 1.0, y: 1.0)
        for filter in filters {
            let stage = ChainPlan.Stage(
                input: extent, inputLayout: current, output: filter.extent(of: extent),
                outputLayout: filter.outputLayout(for: current))
            stages.append(stage)
            halo = halo + filter.halo(in: extent).scaled(by: scale)
            let own = filter.scale(in: extent)
            scale = (scale.x * own.x, scale.y * own.y)
            (extent, current) = (stage.output, stage.outputLayout)
        }
        return ChainPlan(
            input: input, inputLayout: layout, stages: stages, halo: halo, scaleX: scale.x, scaleY: scale.y,
            isRowLocal: zip(filters, stages).allSatisfy { $0.isRowLocal(in: $1.input) })
    }
}

extension Chain {
    /// A filter whose regions or mask do not fit its input.
    package struct Misfit: Hashable, Sendable {
        package let filter: String
        package let input: PixelRect
        package let cause: MaskOptions.Misfit
    }

    /// Nil if the regions and masks of all filters fit. A user who wants a part made unreadable must learn that it is not.
    package func misfit(_ plan: ChainPlan) -> Misfit? {
        zip(limits, plan.stages).lazy.flatMap { limits, stage in limits.lazy.compactMap { $0.misfit(in: stage.input) } }
            .first
    }

    /// Why a filter's output has no pixels, or its values do not suit its input. Nil if neither is so.
    ///
    /// Of the built-in filters, `crop` and `perspective` may have no output.
    package func objection(_ plan: ChainPlan) -> String? {
        emptiness(plan) ?? zip(filters, plan.stages).lazy.compactMap { $0.misfit(in: $1.input) }.first
    }

    private func emptiness(_ plan: ChainPlan) -> String? {
        guard let (filter, stage) = zip(filters, plan.stages).first(where: { $1.output.isEmpty }) else { return nil }
        let size = "\(stage.input.width) × \(stage.input.height) pixels"
        return filter is PerspectiveFilter
            ? "the 'corners' of 'perspective' make no picture of \(size); \(PerspectiveFilter.advice)"
            : "'crop' keeps nothing of \(size)"
    }

    /// Why a filter cannot work on the pixels that it gets. Nil if each can.
    package func objection(_ plan: ChainPlan, _ samples: SampleFormat) -> String? {
        zip(filters, plan.stages).lazy.compactMap { $0.objection(to: $1.inputLayout, samples) }.first
    }

    /// The memory of a filter that needs a whole picture, beside the picture that is filtered: its input and its output, both as files,
    /// too, and the latter once more for later calls. 0 if no filter needs one.
    package func wholeBytes(_ plan: ChainPlan, _ samples: SampleFormat) -> Int {
        zip(filters, plan.stages).lazy.filter(\.0.needsWhole).map { filter, stage in
            let frames = (filter as? AnimationFilter)?.frames ?? 1
            return 5 * max(stage.input.area, stage.output.area / frames)
                * max(stage.inputLayout.channels, stage.outputLayout.channels) * samples.bytes
        }.max() ?? 0
    }

    /// The approximate time of one core for a whole picture, in seconds.
    package func cost(_ plan: ChainPlan, _ format: SampleFormat) -> Double {
        zip(filters, plan.stages).reduce(0) { sum, step in
            sum + Double(step.1.output.area) * step.0.cost(step.1.inputLayout, format, in: step.1.input) / 1e9
        }
    }

    /// The rectangles of the input that must be read for a rectangle of the output. They may overlap each other.
    package func regionOfInterest(for output: PixelRect, in plan: ChainPlan) -> [PixelRect] {
        precondition(plan.output.contains(output), "a tile lies in the output")
        let rects = zip(filters, plan.stages).reversed().reduce([output]) { outputs, step in
            let (filter, stage) = step
            return outputs.flatMap { filter.regionOfInterest(for: $0, in: stage.input) }
        }
        return rects.enumerated().filter { index, rect in
            !rects.enumerated().contains { other, container in
                container.contains(rect) && (container != rect || other < index)
            }
        }.map(\.element)
    }

    /// Renders a rectangle of the output.
    ///
    /// Pixels do not depend on the requested rectangles. Throws the errors of the source and of plugins, and
    /// `CancellationError` if the current task was cancelled between two filters. The memory is that of each filter's input
    /// and output for the rectangle.
    package func render(_ tile: PixelRect, from source: some PixelSource) throws -> AnyRaster {
        let plan = plan(input: source.rect, layout: source.layout)
        precondition(plan.output.contains(tile), "a tile lies in the output")
        guard let animation, frames > 1, let stage = plan.stages.last else {
            return try render(tile, through: plan.stages.count, plan, source)
        }
        // Filters before the animation receive the frame's number, too.
        var film = AnyRaster(zeroed: tile, layout: plan.outputLayout, format: source.format)
        for (frame, rect) in animation.parts(of: tile, stage.input) {
            let part = rect.translated(x: 0, y: frame * stage.input.height)
            film.paste(try rendering(frame: frame).render(part, through: plan.stages.count, plan, source))
        }
        return film
    }

    /// The output of the first `count` filters: each requests its input from the one before it.
    private func render(
        _ tile: PixelRect, through count: Int, _ plan: ChainPlan, _ source: some PixelSource
    ) throws -> AnyRaster {
        guard count > 0 else { return try source.read(tile) }
        let (filter, stage) = (filters[count - 1], plan.stages[count - 1])
        let pixels = try filter.sourceMap(for: tile, in: stage.input).gather(
            layout: stage.inputLayout, format: source.format, curve: curve
        ) { try render($0, through: count - 1, plan, source) }
        try Task.checkCancellation()
        var destination = AnyRaster(zeroed: tile, layout: stage.outputLayout, format: source.format)
        try filter.render(FilterSource(pixels: pixels, extent: stage.input, frame: frame), into: &destination)
        return destination
    }
}

extension Halo {
    /// The halo in pixels of a picture that has `scale` pixels for each of this halo's pixels, rounded up.
    fileprivate func scaled(by scale: (x: Double, y: Double)) -> Halo {
        guard scale != (1, 1) else { return self }
        func pixels(_ side: Int, _ scale: Double) -> Int { Int((Double(side) * scale).rounded(.up)) }
        return Halo(
            left: pixels(left, scale.x), top: pixels(top, scale.y), right: pixels(right, scale.x),
            bottom: pixels(bottom, scale.y)) ?? self
    }
}

/// The geometry of a chain for an input of given extent and layout. It needs no pixels.
package struct ChainPlan: Hashable, Sendable {
    /// One filter's step. Filters that change nothing have no step.
    package struct Stage: Hashable, Sendable {
        package let input: PixelRect
        package let inputLayout: PixelLayout
        package let output: PixelRect
        package let outputLayout: PixelLayout
    }

    package let input: PixelRect
    package let inputLayout: PixelLayout
    package let stages: [Stage]
    /// The sum of all filters' halos in pixels of the input. No tile reads more around it.
    package let halo: Halo
    /// The number of input pixels for one output pixel.
    package let scaleX: Double
    package let scaleY: Double
    /// Whether every band of rows needs only the rows around it, so that a picture can be filtered while it is decoded.
    /// (`edge: wrap` needs the last rows for the first.)
    package let isRowLocal: Bool

    /// The extent of the output. It is larger than the input, with a negative origin, if a filter expands.
    package var output: PixelRect { stages.last?.output ?? input }
    package var outputLayout: PixelLayout { stages.last?.outputLayout ?? inputLayout }
}

/// A sequence of filters as one filter.
struct ChainFilter: Filter {
    let chain: Chain

    /// The layout is arbitrary, because no filter's geometry depends on it.
    private func plan(_ input: PixelRect) -> ChainPlan { chain.plan(input: input, layout: .rgba) }

    var isIdentity: Bool { chain.isIdentity }
    var edge: Edge { .clamp }
    var halo: Halo { .none }
    var isEven: Bool { chain.isEven }
    var needsWhole: Bool { chain.needsWhole }
    var hasForeignGeometry: Bool { chain.filters.contains(where: \.hasForeignGeometry) }
    func checkGeometry() throws { try chain.checkGeometry() }
    func halo(in input: PixelRect) -> Halo { plan(input).halo }
    func isRowLocal(in input: PixelRect) -> Bool { plan(input).isRowLocal }
    func extent(of input: PixelRect) -> PixelRect { plan(input).output }

    /// Reads only the input: every filter applies its own edge.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let rects = chain.regionOfInterest(for: output, in: plan(input))
        return rects.dropFirst().reduce(rects.first ?? output) { $0.union($1) }
    }

    func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String? {
        var layout = layout
        for filter in chain.filters {
            if let objection = filter.objection(to: layout, samples) { return objection }
            layout = filter.outputLayout(for: layout)
        }
        return nil
    }

    func outputLayout(for layout: PixelLayout) -> PixelLayout {
        chain.filters.reduce(layout) { $1.outputLayout(for: $0) }
    }

    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        chain.filters.reduce(0) { $0 + $1.cost(layout, format) }
    }

    func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        chain.filters.reduce(0) { $0 + $1.cost(layout, format, in: input) }
    }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        destination = try chain.over(source.pixels.curve).rendering(frame: source.frame).render(
            destination.rect, from: FilterInput(source: source))
    }
}

/// A filter's input as a pixel source of a chain.
private struct FilterInput: PixelSource {
    let source: FilterSource

    var rect: PixelRect { source.extent }
    var layout: PixelLayout { source.pixels.raster.layout }
    var format: SampleFormat { source.pixels.raster.format }

    func read(_ part: PixelRect) throws -> AnyRaster {
        var pixels = AnyRaster(zeroed: part, layout: layout, format: format)
        source.pixels.copyPixels(to: &pixels)
        return pixels
    }
}
