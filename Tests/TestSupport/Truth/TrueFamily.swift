import Catalogs
package import Filters
import Foundation
package import Geometry

extension TruePixels {
    /// The box by definition: 1 up to ⌊radius⌋, the fraction beyond, divided by 2·radius + 1.
    package func box(radiusX: Double, radiusY: Double, edge: Edge, output: PixelRect) -> TruePixels {
        let rows = PixelRect(columns: output.columns, rows: rect.rows)
        return convolved(trueBox(radiusX), edge, isHorizontal: true, output: rows)
            .convolved(trueBox(radiusY), edge, isHorizontal: false, output: output)
    }

    /// The disc by definition: every pixel weighs what a circle of radius + ½ covers of it.
    package func disc(radius: Double, edge: Edge, output: PixelRect) -> TruePixels {
        let weights = trueDisc(radius)
        return mapped(output) { x, y, channel in
            weights.reduce(0) { $0 + $1.weight * value(x + $1.dx, y + $1.dy, channel, edge) }
        }
    }

    /// The median by definition: the middle of a sorted square, NaN behind all numbers.
    package func median(radius: Int, edge: Edge, output: PixelRect) -> TruePixels {
        mapped(output) { x, y, channel in
            let square = (-radius...radius).flatMap { dy in
                (-radius...radius).map { dx in value(x + dx, y + dy, channel, edge) }
            }
            return square.sorted { $1.isNaN ? !$0.isNaN : $0 < $1 }[square.count / 2]
        }
    }

    /// The unsharp mask by definition, kept in what can be stored: 0…full, colours up to their alpha.
    ///
    /// - Parameter full: nil for floats, which are kept in a range only where there is alpha.
    package func sharpened(
        sigma: Double, amount: Double, threshold: Double, edge: Edge, output: PixelRect, full: Double?, hasAlpha: Bool
    ) -> TruePixels {
        let blurred = gaussian(sigmaX: sigma, sigmaY: sigma, edge: edge, output: output)
        func excess(_ difference: Double) -> Double {
            let excess = max(0, abs(difference) - threshold)
            return difference < 0 ? -excess : excess
        }
        func difference(_ x: Int, _ y: Int, _ channel: Int) -> Double {
            value(x, y, channel, edge) - blurred.value(x, y, channel, edge)
        }
        var result = blurred.mapped(output) { x, y, channel in
            let original = value(x, y, channel, edge)
            let alpha = hasAlpha && channel < channels - 1 ? value(x, y, channels - 1, edge) : 0
            // What the alpha explains goes with the alpha.
            let color = alpha > 0 ? original / alpha : 0
            let ofAlpha = color == 0 ? 0 : difference(x, y, channels - 1)
            let own = difference(x, y, channel) - color * ofAlpha
            return original + amount * (color * excess(ofAlpha) + excess(own))
        }
        guard let full else { return result }
        for pixel in stride(from: 0, to: result.values.count, by: channels) {
            let alpha = hasAlpha ? result.values[pixel + channels - 1] : full
            for index in pixel..<pixel + channels {
                // Colours go with an alpha that is too large, and none exceeds the alpha.
                let value = alpha > full ? result.values[index] * full / alpha : result.values[index]
                result.values[index] = max(0, min(value, alpha, full))
            }
        }
        return result
    }

    private func mapped(
        _ output: PixelRect, _ value: (_ x: Int, _ y: Int, _ channel: Int) -> Double
    ) -> TruePixels {
        let values = output.rows.flatMap { y in
            output.columns.flatMap { x in (0..<channels).map { value(x, y, $0) } }
        }
        return TruePixels(rect: output, channels: channels, values: values)
    }
}

private func trueBox(_ radius: Double) -> [Double] {
    let reach = Int(ceil(radius))
    return (-reach...reach).map { min(1, radius - Double(abs($0)) + 1) / (2 * radius + 1) }
}

/// What the circle covers of each pixel, divided by the sum: where the circle passes through it is cut into 20,000 columns.
package func trueDisc(_ radius: Double) -> [(dx: Int, dy: Int, weight: Double)] {
    let reach = Int(ceil(radius))
    let areas = (-reach...reach).flatMap { dy in
        (-reach...reach).map { dx in (dx: dx, dy: dy, weight: covered(dx, dy, radius + 0.5)) }
    }
    let sum = areas.reduce(0) { $0 + $1.weight }
    return areas.map { ($0.dx, $0.dy, $0.weight / sum) }
}

private func covered(_ dx: Int, _ dy: Int, _ circle: Double) -> Double {
    let (x, y) = (Double(abs(dx)), Double(abs(dy)))
    if hypot(x + 0.5, y + 0.5) <= circle { return 1 }
    if hypot(max(0, x - 0.5), max(0, y - 0.5)) >= circle { return 0 }
    let count = 20_000
    let columns = (0..<count).map { step in
        let column = x - 0.5 + (Double(step) + 0.5) / Double(count)
        guard abs(column) < circle else { return 0.0 }
        let height = sqrt(circle * circle - column * column)
        return max(0, min(y + 0.5, height) - max(y - 0.5, -height))
    }
    return columns.reduce(0, +) / Double(count)
}
