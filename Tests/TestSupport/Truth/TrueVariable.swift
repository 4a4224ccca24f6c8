package import Filters
import Foundation
package import Geometry
package import Raster

extension TruePixels {
    /// A Gaussian of its own standard deviation at every pixel, by definition: all of the plane is summed up, as far as
    /// weights are above 1e-22, by what the edge shows there.
    package func variable(
        edge: Edge, output: PixelRect, sigma: (_ x: Int, _ y: Int) -> Double
    ) -> TruePixels {
        var result: [Double] = []
        for y in output.rows {
            for x in output.columns {
                let sigma = sigma(x, y)
                let columns = folded(sigma, around: x, rect.columns, edge)
                let rows = folded(sigma, around: y, rect.rows, edge)
                for channel in 0..<channels {
                    var sum = 0.0
                    for (row, down) in rows.enumerated() where down > 0 {
                        for (column, along) in columns.enumerated() where along > 0 {
                            sum += down * along * values[(row * rect.width + column) * channels + channel]
                        }
                    }
                    result.append(sum)
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
