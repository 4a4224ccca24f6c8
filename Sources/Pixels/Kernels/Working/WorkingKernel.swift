package import Geometry
package import Raster

/// A kernel that computes with working values (see ``PixelReader``), whatever the sample format.
package protocol WorkingKernel: Sendable {
    /// Writes the filtered pixels of `area`, each exactly once.
    ///
    /// - Precondition: the reader's tables cover what is read for `area`.
    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink)
}

extension WorkingKernel {
    /// Writes every pixel of `destination`; see ``Gaussian/render(_:light:within:into:)`` for what it takes.
    package func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect?, into destination: inout AnyRaster
    ) {
        let reader = PixelReader(source, layout: destination.layout, light: light)
        let area = destination.rect
        if let mask {
            source.copyPixels(to: &destination)
            var sink = MaskedWriter(destination.take(), mask: mask, original: reader)
            apply(reader, area: mask.bounds(in: area), to: &sink)
            destination = sink.raster
        } else {
            var sink = PixelWriter(destination.take(), like: reader)
            apply(reader, area: area, to: &sink)
            destination = sink.raster
        }
    }
}
