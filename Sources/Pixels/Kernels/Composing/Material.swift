import Catalogs
package import Geometry
import Raster

/// Frosted glass: a Gaussian, colours drawn away from gray or towards it, and a tint over that.
package struct Material: WorkingKernel {
    private let blur: Gaussian
    private let light: Light
    private let saturation: Double
    private let tint: Paint

    /// - Parameters:
    ///   - radius: standard deviation of the blur, in pixels, 0 to 1000.
    ///   - light: what is blurred. Saturation and tint are of stored values.
    ///   - saturation: 1 keeps colours, 0 makes them gray, more draws them apart.
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

    /// The published matrix, out = luma + saturation·(in − luma) with the luma of Rec. 709. What is gray stays as it is.
    @inline(__always)
    private func saturate(_ values: inout MutableSpan<Double>, at start: Int) {
        let (red, green, blue) = (values[start], values[start + 1], values[start + 2])
        let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        values[start] = luma + saturation * (red - luma)
        values[start + 1] = luma + saturation * (green - luma)
        values[start + 2] = luma + saturation * (blue - luma)
    }

    @inline(__always)
    private func clamp(_ values: inout MutableSpan<Double>, at start: Int, to alpha: Double) {
        for channel in start..<start + 3 { values[channel] = min(max(values[channel], 0), alpha) }
    }
}
