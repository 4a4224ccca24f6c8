package import Filters
import Foundation
package import Geometry
package import Raster

extension TruePixels {
    /// A Gaussian of its own standard deviation at every pixel, by definition: the mean of all of the plane by the weights of
    /// the Gaussian, as far as they are above 1e-22, times the share of each pixel that spreads. By what the edge shows there.
    ///
    /// - Parameter sigma: the standard deviation at any coordinate. Beyond a transparent edge it must be that of the border.
    package func variable(
        edge: Edge, output: PixelRect, sigma: (_ x: Int, _ y: Int) -> Double
    ) -> TruePixels {
        let sigmas = rect.rows.map { y in rect.columns.map { x in sigma(x, y) } }
        // A transparent pixel outside has a weight and no light.
        let outside = edge == .transparent ? Edge.clamp : edge
        var result: [Double] = []
        for y in output.rows {
            for x in output.columns {
                let own = sigma(x, y)
                let columns = folded(own, around: x, rect.columns, edge)
                let rows = folded(own, around: y, rect.rows, edge)
                let allColumns = folded(own, around: x, rect.columns, outside)
                let allRows = folded(own, around: y, rect.rows, outside)
                var (sums, total) = ([Double](repeating: 0, count: channels), 0.0)
                for row in 0..<rect.height where allRows[row] > 0 {
                    for column in 0..<rect.width where allColumns[column] > 0 {
                        let share = own > 0 ? trueSpread(sigmas[row][column] / own) : 1
                        total += allRows[row] * allColumns[column] * share
                        let weight = rows[row] * columns[column] * share
                        if weight == 0 { continue }
                        for channel in 0..<channels {
                            sums[channel] += weight * values[(row * rect.width + column) * channels + channel]
                        }
                    }
                }
                // The pixel itself stands for what is missing to 1/256.
                let missing = max(0, 1.0 / 256 - total)
                for channel in 0..<channels {
                    result.append((sums[channel] + missing * value(x, y, channel, edge)) / (total + missing))
                }
            }
        }
        return TruePixels(rect: output, channels: channels, values: result)
    }

    /// What each column or row of the picture weighs in a Gaussian around a coordinate.
    private func folded(_ sigma: Double, around center: Int, _ range: Range<Int>, _ edge: Edge) -> [Double] {
        var weights = [Double](repeating: 0, count: range.count)
        let reach = Int((10 * sigma).rounded(.up))
        var total = 0.0
        for distance in -reach...reach {
            let weight = sigma > 0 ? exp(-Double(distance * distance) / (2 * sigma * sigma)) : 1
            total += weight
            if let place = trueEdge(center + distance, range, edge) { weights[place - range.lowerBound] += weight }
        }
        return weights.map { $0 / total }
    }
}

/// How much of a pixel spreads into a blur, by the ratio of its own standard deviation to that of the blur.
package func trueSpread(_ ratio: Double) -> Double {
    if ratio >= 0.5 { return 1 }
    let place = max(0, (ratio - 0.125) / 0.375)
    return 6 * pow(place, 5) - 15 * pow(place, 4) + 10 * pow(place, 3)
}

/// How strongly a mask applies at a pixel, by bilinear interpolation between the middles of its own pixels.
package func trueStrength(of mask: GrayPicture, x: Int, y: Int, over extent: PixelRect) -> Double {
    func sample(_ column: Int, _ row: Int) -> Double {
        let (column, row) = (min(max(column, 0), mask.width - 1), min(max(row, 0), mask.height - 1))
        return Double(mask.samples[row * mask.width + column])
    }
    let across = (Double(x - extent.x) + 0.5) / Double(extent.width) * Double(mask.width) - 0.5
    let down = (Double(y - extent.y) + 0.5) / Double(extent.height) * Double(mask.height) - 0.5
    let (left, top) = (Int(floor(across)), Int(floor(down)))
    let (u, v) = (across - floor(across), down - floor(down))
    let upper = (1 - u) * sample(left, top) + u * sample(left + 1, top)
    let lower = (1 - u) * sample(left, top + 1) + u * sample(left + 1, top + 1)
    return floor((1 - v) * upper + v * lower + 0.5) / 65535
}

/// How strongly a gradient applies at a distance from its middle.
package func trueStrength(at distance: Double, sharp: Double, falloff: Double) -> Double {
    floor(min(max((distance - sharp) / falloff, 0), 1) * 65535 + 0.5) / 65535
}
