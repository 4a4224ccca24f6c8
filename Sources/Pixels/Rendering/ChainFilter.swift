import Catalogs
import Filters
import Geometry
import Kernels
import Raster

/// Filters one after the other, as one filter.
struct ChainFilter: Filter {
    let chain: Chain

    /// No filter's geometry depends on it.
    private func plan(_ input: PixelRect) -> ChainPlan { chain.plan(input: input, layout: .rgba) }

    var isIdentity: Bool { chain.isIdentity }
    var edge: Edge { .clamp }
    var halo: Halo { .none }
    var isEven: Bool { chain.isEven }
    var hasForeignGeometry: Bool { chain.filters.contains(where: \.hasForeignGeometry) }
    func checkGeometry() throws { try chain.checkGeometry() }
    func halo(in input: PixelRect) -> Halo { plan(input).halo }
    func isRowLocal(in input: PixelRect) -> Bool { plan(input).isRowLocal }
    func extent(of input: PixelRect) -> PixelRect { plan(input).output }

    /// Of the input alone: every filter knows what it sees around its own.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let rects = chain.regionOfInterest(for: output, in: plan(input))
        return rects.dropFirst().reduce(rects.first ?? output) { $0.union($1) }
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

/// A filter's input as the source of a chain.
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
