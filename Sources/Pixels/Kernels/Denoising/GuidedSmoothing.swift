import Catalogs
package import Geometry
import Raster

/// The guided filter (K. He, J. Sun and X. Tang, "Guided image filtering", 2010) with the picture's own luma as its guide: it
/// smooths what varies little, and keeps edges. Its cost does not grow with the radius.
///
/// In every square window, a channel p is described by its luma Y as p ≈ a·Y + b, where a = cov(Y, p)/(var(Y) + s²) and
/// b = mean(p) − a·mean(Y). A pixel becomes A·Y + B with the means A and B of all windows around it. Means are weighted by alpha, and
/// the second ones by the alpha that a window has in all. Alpha stays.
package struct GuidedSmoothing: WorkingKernel, LevelChoosing {
    private let radius: Int
    private let epsilon: Float
    package var level = CPULevel.current

    /// - Parameters:
    ///   - radius: half the side of a window, without its centre, in pixels; at least 1.
    ///   - strength: s, as a share of full intensity; above 0. Where values vary less than this, they are smoothed.
    package init(radius: Int, strength: Double) {
        precondition(radius >= 1 && strength > 0, "a window has a size, and a strength is positive")
        (self.radius, epsilon) = (radius, Float(strength * strength))
    }

    package var halo: Halo { Halo(horizontal: 2 * radius, vertical: 2 * radius) }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        // Parts read their surroundings again: at most five quarters of a window on each side. The division does not affect any pixel.
        let side = max(256, 8 * radius)
        for rows in area.rows.pieces(of: side) {
            for columns in area.columns.pieces(of: side) {
                GuidedPart(self, reader, PixelRect(columns: columns, rows: rows)).write(to: &sink)
            }
        }
    }

    /// The means over windows, for all places whose windows lie in the plane.
    fileprivate func means(_ plane: Raster<Float>) -> Raster<Float> {
        let rect = plane.rect
        var result = AnyRaster(
            zeroed: PixelRect(
                x: rect.x + radius, y: rect.y + radius, width: rect.width - 2 * radius,
                height: rect.height - 2 * radius), layout: .gray, format: .f32)
        let box = Box(radiusX: Double(radius), radiusY: Double(radius)).running(on: level)
        box.render(KernelSource(.f32(plane)), light: .encoded, into: &result)
        guard case .f32(let means) = result else { preconditionFailure("means of floats are floats") }
        return means
    }

    /// a and b of one window, by its means.
    @inline(__always) fileprivate func line(
        luma: Float, square: Float, channel: Float, product: Float
    ) -> (a: Float, b: Float) {
        let a = (product - luma * channel) / (max(square - luma * luma, 0) + epsilon)
        return (a, channel - a * luma)
    }
}

/// The filter for one part of a picture.
///
/// Values are on a scale where 1 is full intensity, multiplied by alpha, less half of alpha: differences of squares are more precise
/// around 0.
private struct GuidedPart {
    private let filter: GuidedSmoothing
    private let area: PixelRect
    private let full: Float
    /// The rectangle that is read.
    private let rect: PixelRect
    private let colors: Int
    /// A plane for each channel, without alpha.
    private let channels: [[Float]]
    private let lumas: [Float]
    /// Nil if all is opaque.
    private let alphas: [Float]?

    init(_ filter: GuidedSmoothing, _ reader: PixelReader, _ area: PixelRect) {
        (self.filter, self.area) = (filter, area)
        full = Float(reader.source.raster.format.full)
        let picture = reader.floats(in: area.expanded(by: filter.halo))
        rect = picture.rect
        let (count, colors) = (picture.layout.channels, picture.layout.removingAlpha.channels)
        self.colors = colors
        let alphas = count > colors ? picture.plane(colors) : nil
        self.alphas = alphas
        channels = (0..<colors).map { channel in
            var values = picture.plane(channel)
            for index in values.indices { values[index] -= 0.5 * (alphas?[index] ?? 1) }
            return values
        }
        guard colors == 3 else {
            lumas = channels[0]
            return
        }
        let (red, green, blue) = (channels[0], channels[1], channels[2])
        lumas = red.indices.map { 0.2126 * red[$0] + 0.7152 * green[$0] + 0.0722 * blue[$0] }
    }

    func write(to sink: inout some WorkingRowSink) {
        let (lines, weights) = lines()
        let means = lines.map { (a: filter.means($0.a).samples, b: filter.means($0.b).samples) }
        let totals = weights.map { filter.means($0).samples }
        let width = colors + (alphas == nil ? 0 : 1)
        var row = [Double](repeating: 0, count: area.width * width)
        for y in area.rows {
            for x in 0..<area.width {
                let window = (y - area.y) * area.width + x
                let pixel = (y - rect.y) * rect.width + area.x - rect.x + x
                let alpha = alphas?[pixel] ?? 1
                let total = totals?[window] ?? 1
                for channel in 0..<colors {
                    let (a, b) = (means[channel].a[window], means[channel].b[window])
                    let value = total > 0 ? (a * lumas[pixel] + b * alpha) / total + 0.5 * alpha : 0
                    row[x * width + channel] = Double(value * full)
                }
                if alphas != nil { row[x * width + colors] = Double(alpha * full) }
            }
            sink.write(row.span, x: area.x, y: y)
        }
    }

    /// a and b of each window and channel, multiplied by the window's mean alpha, and these means.
    private func lines() -> (lines: [(a: Raster<Float>, b: Raster<Float>)], weights: Raster<Float>?) {
        let weights = alphas.map(means)
        let (luma, square) = (means(lumas), means(products(lumas, lumas)))
        let lines = channels.map { values in
            let channel = colors == 1 ? luma : means(values)
            let product = colors == 1 ? square : means(products(lumas, values))
            var (slopes, offsets) = (luma, luma)
            for index in luma.samples.indices {
                let weight = weights?.samples[index] ?? 1
                guard weight > 0 else {
                    (slopes.samples[index], offsets.samples[index]) = (0, 0)
                    continue
                }
                let (a, b) = filter.line(
                    luma: luma.samples[index] / weight, square: square.samples[index] / weight,
                    channel: channel.samples[index] / weight, product: product.samples[index] / weight)
                (slopes.samples[index], offsets.samples[index]) = (a * weight, b * weight)
            }
            return (slopes, offsets)
        }
        return (lines, weights)
    }

    private func means(_ values: [Float]) -> Raster<Float> {
        filter.means(Raster(rect: rect, layout: .gray, samples: values))
    }

    /// The products of values, multiplied by alpha once.
    private func products(_ one: [Float], _ other: [Float]) -> [Float] {
        guard let alphas else { return one.indices.map { one[$0] * other[$0] } }
        return one.indices.map { alphas[$0] > 0 ? one[$0] * other[$0] / alphas[$0] : 0 }
    }
}

extension Raster<Float> {
    /// The samples of one channel.
    fileprivate func plane(_ channel: Int) -> [Float] {
        let channels = layout.channels
        return (0..<rect.area).map { samples[$0 * channels + channel] }
    }
}
