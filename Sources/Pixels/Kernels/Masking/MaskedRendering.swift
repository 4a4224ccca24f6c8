import Geometry
import Raster

/// Renders whole samples within a mask.
enum MaskedRendering {
    /// What is partly covered is blended with the original, from the rounded samples.
    ///
    /// - Parameter body: renders into every pixel of a raster.
    static func render(
        _ source: KernelSource, within mask: RoundedRect?, into destination: inout AnyRaster,
        _ body: (inout AnyRaster) -> Void
    ) {
        guard let mask else { return body(&destination) }
        source.copyPixels(to: &destination)
        let area = mask.bounds(in: destination.rect)
        guard !area.isEmpty else { return }
        var part = AnyRaster(zeroed: area, layout: destination.layout, format: destination.format)
        body(&part)
        let reader = PixelReader(source, layout: destination.layout, light: .encoded)
        let filtered = PixelReader(KernelSource(part), layout: part.layout, light: .encoded)
        var sink = MaskedWriter(destination.take(), mask: mask, original: reader)
        filtered.write(area, to: &sink)
        destination = sink.raster
    }
}
