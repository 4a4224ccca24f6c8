import Catalogs
package import Geometry
import Raster

/// A panel that blurs what lies behind it, with a tint, a gloss and a border. What it covers is the caller's mask.
package struct Panel: WorkingKernel {
    private let blur: Gaussian
    private let light: Light
    private let outline: RoundedRect
    private let inside: RoundedRect
    private let tint: Paint
    private let border: Paint
    private let gloss: Double

    /// - Parameters:
    ///   - radius: standard deviation of the blur, in pixels, 0 to 1000.
    ///   - light: what is blurred. All that is laid over it is of stored values.
    ///   - outline: of the panel; the border lies inside it.
    ///   - gloss: opacity, 0–1, of a white shine at the top side, which fades out to half of the height.
    package init(
        radius: Double, light: Light, outline: RoundedRect, tint: Paint, border: Paint, borderWidth: Double,
        gloss: Double
    ) {
        blur = Gaussian(radius: radius)
        self.light = light
        self.outline = outline
        inside = RoundedRect(
            left: outline.left + borderWidth, top: outline.top + borderWidth,
            width: outline.right - outline.left - 2 * borderWidth,
            height: outline.bottom - outline.top - 2 * borderWidth, cornerRadius: outline.cornerRadius - borderWidth)
        self.tint = tint
        self.border = border
        self.gloss = gloss
    }

    package var halo: Halo { blur.halo }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let (layout, full) = (reader.layout, reader.source.raster.format.full)
        let curve = reader.source.curve
        let backdrop = BlurredBackdrop(blur, light: light, of: reader, area: area)
        let tint = ChannelPaint(tint, layout, full: full, curve: curve)
        let shine = ChannelPaint(Paint(white: 1, opacity: 1), layout, full: full, curve: curve)
        let border = ChannelPaint(border, layout, full: full, curve: curve)
        var row = [Double](repeating: 0, count: area.width * layout.channels)
        for y in area.rows {
            backdrop.read(row: y, of: area, into: &row)
            var values = row.mutableSpan
            let gloss = gloss(atRow: y)
            for (index, x) in area.columns.enumerated() {
                let start = index * layout.channels
                tint.lay(over: &values, at: start)
                shine.lay(over: &values, at: start, share: gloss)
                border.lay(over: &values, at: start, share: borderShare(x: x, y: y))
            }
            sink.write(row.span, x: area.x, y: y)
        }
    }

    /// At the middle of a row: full at the panel's top side, none from half of its height on.
    private func gloss(atRow y: Int) -> Double {
        let depth = (Double(y) + 0.5 - outline.top) / ((outline.bottom - outline.top) / 2)
        return gloss * min(max(1 - depth, 0), 1)
    }

    /// How much of what the panel covers of a pixel is border.
    private func borderShare(x: Int, y: Int) -> Double {
        let covered = outline.coverage(x: x, y: y)
        guard covered > 0 else { return 0 }
        return min(max((covered - inside.coverage(x: x, y: y)) / covered, 0), 1)
    }
}
