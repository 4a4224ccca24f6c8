package import Filters
import Foundation
package import Geometry

extension TruePixels {
    /// The Gaussian by definition: weights exp(−k²/2σ²), normalised, as far as they are above 1e-22.
    package func gaussian(sigmaX: Double, sigmaY: Double, edge: Edge, output: PixelRect) -> TruePixels {
        let rows = PixelRect(columns: output.columns, rows: rect.rows)
        return convolved(trueGaussian(sigmaX), edge, isHorizontal: true, output: rows)
            .convolved(trueGaussian(sigmaY), edge, isHorizontal: false, output: output)
    }

    func convolved(_ taps: [Double], _ edge: Edge, isHorizontal: Bool, output: PixelRect) -> TruePixels {
        let reach = taps.count / 2
        let along = isHorizontal ? output.columns : output.rows
        // The edge's answer for every coordinate that is asked for, so that the loop below stays quick.
        let seen = (along.lowerBound - reach..<along.upperBound + reach).map {
            trueEdge($0, isHorizontal ? rect.columns : rect.rows, edge)
        }
        var result: [Double] = []
        for y in output.rows {
            for x in output.columns {
                for channel in 0..<channels {
                    var sum = 0.0
                    let start = (isHorizontal ? x : y) - along.lowerBound
                    for (k, tap) in taps.enumerated() {
                        guard let place = seen[start + k] else { continue }
                        let (column, row) = isHorizontal ? (place, y) : (x, place)
                        sum += tap * values[((row - rect.y) * rect.width + column - rect.x) * channels + channel]
                    }
                    result.append(sum)
                }
            }
        }
        return TruePixels(rect: output, channels: channels, values: result)
    }

    /// The motion blur by definition: the mean of 2n + 1 bilinear samples along the line, by the C library's sine and
    /// cosine. `n` of many thousands stands for the continuous one.
    package func motion(radius: Double, degrees: Double, n: Int, edge: Edge, output: PixelRect) -> TruePixels {
        let velocity = (x: radius * cos(degrees * .pi / 180), y: -radius * sin(degrees * .pi / 180))
        let offsets = (0...2 * n).map { k in
            (x: -velocity.x + Double(k) * velocity.x / Double(n), y: -velocity.y + Double(k) * velocity.y / Double(n))
        }
        var result: [Double] = []
        for y in output.rows {
            for x in output.columns {
                for channel in 0..<channels {
                    let sum = offsets.reduce(0) { $0 + bilinear(Double(x) + $1.x, Double(y) + $1.y, channel, edge) }
                    result.append(sum / Double(2 * n + 1))
                }
            }
        }
        return TruePixels(rect: output, channels: channels, values: result)
    }

    func bilinear(_ x: Double, _ y: Double, _ channel: Int, _ edge: Edge) -> Double {
        let (left, top) = (Int(floor(x)), Int(floor(y)))
        let (u, v) = (x - floor(x), y - floor(y))
        return (1 - v) * ((1 - u) * value(left, top, channel, edge) + u * value(left + 1, top, channel, edge))
            + v * ((1 - u) * value(left, top + 1, channel, edge) + u * value(left + 1, top + 1, channel, edge))
    }

    /// Full where the mask is, the original elsewhere, by coverage of the given pixel.
    package func blended(over original: TruePixels, coverage: (_ x: Int, _ y: Int) -> Double) -> TruePixels {
        var result = self
        for y in rect.rows {
            for x in rect.columns {
                let share = coverage(x, y)
                for channel in 0..<channels {
                    let index = ((y - rect.y) * rect.width + x - rect.x) * channels + channel
                    result.values[index] = share * values[index] + (1 - share) * original.values[index]
                }
            }
        }
        return result
    }
}

/// All weights above 1e-22 of the largest one, centre in the middle.
func trueGaussian(_ sigma: Double) -> [Double] {
    guard sigma > 0 else { return [1] }
    let reach = Int((10 * sigma).rounded(.up))
    let weights = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
}
