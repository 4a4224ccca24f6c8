package import Geometry
package import Raster

/// A finished picture that replaces its original where a mask covers it.
package struct Replacement: WorkingKernel {
    private let picture: AnyRaster

    package init(_ picture: AnyRaster) { self.picture = picture }

    /// - Precondition: the picture covers `area`.
    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        PixelReader(KernelSource(picture), layout: picture.layout, light: .encoded).write(area, to: &sink)
    }
}
