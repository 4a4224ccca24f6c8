import Catalogs
package import Geometry
package import Raster

/// The colour behind transparent pixels: red, green and blue; for gray pictures their luma (Rec. 709 weights).
package struct BackgroundColor: Hashable, Sendable {
    /// The red component, 0–255.
    package let red: Int
    package let green: Int
    package let blue: Int
    /// The alpha, 0–255. Only pictures with alpha show it.
    package let alpha: Int

    package init(red: Int, green: Int, blue: Int, alpha: Int) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// A pixel of this colour, on the scale of `full`: straight, not premultiplied.
    func pixel(_ layout: PixelLayout, full: Double) -> [Double] {
        let luma = Double((red * 2126 + green * 7152 + blue * 722 + 5000) / 10000)
        let colors = layout.removingAlpha == .gray ? [luma] : [Double(red), Double(green), Double(blue)]
        let own = colors.map { $0 / 255 * full }
        return layout.hasAlpha ? own + [Double(alpha) / 255 * full] : own
    }

    /// Fills a part of a raster.
    package func fill(_ rect: PixelRect, of raster: inout AnyRaster) {
        guard !rect.isEmpty else { return }
        var sink = PixelWriter(raster.take(), light: .encoded)
        let layout = sink.layout
        let straight = pixel(layout, full: sink.raster.format.full)
        let alpha = layout.hasAlpha ? straight[straight.count - 1] / sink.raster.format.full : 1
        let premultiplied = straight.enumerated().map {
            layout.hasAlpha && $0.offset < straight.count - 1 ? $0.element * alpha : $0.element
        }
        let row = (0..<rect.width).flatMap { _ in premultiplied }
        for y in rect.rows { sink.write(row.span, x: rect.x, y: y) }
        raster = sink.raster
    }

    /// Writes the pixels of a source with alpha in front of this colour into a destination without.
    ///
    /// Kernels with negative weights may leave floats with an alpha outside 0 to full. Alpha is clamped then, and the colour
    /// is scaled with it. One colour in front of the same background therefore stays that colour.
    package func flatten(_ source: KernelSource, into destination: inout AnyRaster) {
        let rect = destination.rect
        guard !rect.isEmpty else { return }
        let reader = PixelReader(source, layout: source.raster.layout, light: .encoded)
        var sink = PixelWriter(destination.take(), light: .encoded)
        let full = source.raster.format.full
        let behind = pixel(reader.layout.removingAlpha, full: full)
        let channels = reader.layout.channels
        var values = [Double](repeating: 0, count: rect.width * channels)
        var row = [Double](repeating: 0, count: rect.width * behind.count)
        for y in rect.rows {
            precondition(source.rows[y] >= 0, "what is flattened is there")
            var span = values.mutableSpan
            reader.read(columns: rect.columns, atPosition: source.rows[y], into: &span)
            for x in 0..<rect.width {
                let stored = values[x * channels + channels - 1]
                let alpha = min(full, max(0, stored))
                // Colours are premultiplied by the stored alpha.
                let share = alpha == stored ? 1 : alpha / stored
                for channel in behind.indices {
                    row[x * behind.count + channel] =
                        values[x * channels + channel] * share + behind[channel] * (full - alpha) / full
                }
            }
            sink.write(row.span, x: rect.x, y: y)
        }
        destination = sink.raster
    }
}
