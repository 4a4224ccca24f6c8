import Catalogs
import Geometry
import Raster

/// The Gaussian of an area, kept at 16 bits or more: what is computed from it is rounded once.
struct BlurredBackdrop {
    private let reader: PixelReader
    private let scale: Double

    /// - Precondition: the reader's tables cover `area` and the kernel's halo around it.
    init(_ blur: Gaussian, light: Light, of picture: PixelReader, area: PixelRect) {
        let source = picture.source
        let format = source.raster.format == .f32 ? SampleFormat.f32 : .u16
        let precise = KernelSource(
            raster: source.raster.converted(to: format), columns: source.columns, rows: source.rows,
            curve: source.curve)
        var blurred = AnyRaster(zeroed: area, layout: picture.layout, format: format)
        blur.render(precise, light: light, into: &blurred)
        reader = PixelReader(KernelSource(blurred), layout: picture.layout, light: .encoded)
        scale = source.raster.format.full / format.full
    }

    /// Working values of the area's row `y`, on the scale of the picture's samples.
    func read(row y: Int, of area: PixelRect, into row: inout [Double]) {
        var values = row.mutableSpan
        reader.read(columns: area.columns, atPosition: reader.source.rows[y], into: &values)
        for index in values.indices { values[index] *= scale }
    }
}
