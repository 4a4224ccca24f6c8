import Catalogs
package import Geometry
import Raster

/// Frosted glass: a Gaussian blur, a change of saturation, and a tint over the result.
package struct Material: WorkingKernel {
    private let blur: Gaussian
    private let light: Light
    private let saturation: Double
    private let tint: Paint

    /// - Parameters:
    ///   - radius: standard deviation of the blur, in pixels, 0 to 1000.
    ///   - light: the light that is blurred. Saturation and tint apply to stored values.
    ///   - saturation: 1 keeps colours, 0 makes them gray, larger values increase saturation.
    package init(radius: Double, light: Light, saturation: Double, tint: Paint) {
        blur = Gaussian(radius: radius)
        self.light = light
        self.saturation = saturation
        self.tint = tint
    }

    package var halo: Halo { blur.halo }

    /// Writes the filtered pixels of `area`, each exactly once.
    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let (layout, full) = (reader.layout, reader.source.raster.format.full)
        let curve = reader.source.curve
        // Floats are never clamped.
        let isClamped = reader.source.raster.format != .f32
        let channels = layout.channels
        let backdrop = BlurredBackdrop(blur, light: light, of: reader, area: area)
        let paint = ChannelPaint(tint, layout, full: full, curve: curve)
        var row = [Double](repeating: 0, count: area.width * channels)
        for y in area.rows {
            backdrop.read(row: y, of: area, into: &row)
            var values = row.mutableSpan
            for start in stride(from: 0, to: values.count, by: channels) {
                if channels >= 3, saturation != 1 {
                    saturate(&values, at: start)
                    if isClamped {
                        clamp(&values, at: start, to: layout.hasAlpha ? values[start + channels - 1] : full)
                    }
                }
                paint.lay(over: &values, at: start)
            }
            sink.write(row.span, x: area.x, y: y)
        }
    }

    /// The usual matrix, out = luma + saturation·(in − luma), with the luma of Rec. 709. Grays do not change.
    @inline(__always) private func saturate(_ values: inout MutableSpan<Double>, at start: Int) {
        let (red, green, blue) = (values[start], values[start + 1], values[start + 2])
        let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        values[start] = luma + saturation * (red - luma)
        values[start + 1] = luma + saturation * (green - luma)
        values[start + 2] = luma + saturation * (blue - luma)
    }

    @inline(__always) private func clamp(_ values: inout MutableSpan<Double>, at start: Int, to alpha: Double) {
        for channel in start..<start + 3 { values[channel] = min(max(values[channel], 0), alpha) }
    }
}

/// The Gaussian blur of an area at 16 bits or more, so that results computed from it are rounded only once.
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

/// A panel that blurs the picture behind it, with a tint, a gloss and a border. The caller's mask defines its area.
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
    ///   - light: the light that is blurred. The layers over it apply to stored values.
    ///   - outline: the outline of the panel; the border lies inside it.
    ///   - gloss: the opacity, 0–1, of a white shine at the top side, which fades out to half of the height.
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

    /// The opacity of the gloss at the middle of a row: full at the panel's top side, 0 from half of its height on.
    private func gloss(atRow y: Int) -> Double {
        let depth = (Double(y) + 0.5 - outline.top) / ((outline.bottom - outline.top) / 2)
        return gloss * min(max(1 - depth, 0), 1)
    }

    /// The share of the border in the covered part of a pixel.
    private func borderShare(x: Int, y: Int) -> Double {
        let covered = outline.coverage(x: x, y: y)
        guard covered > 0 else { return 0 }
        return min(max((covered - inside.coverage(x: x, y: y)) / covered, 0), 1)
    }
}
