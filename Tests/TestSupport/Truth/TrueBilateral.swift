package import Filters
import Foundation
import Geometry

extension TruePixels {
    /// The bilateral filter by definition.
    ///
    /// - Parameters:
    ///   - range: on the samples' scale.
    ///   - isLimited: whether pixels beyond three radii do not count. Without a limit, those beyond six weigh less than 2e-8.
    package func bilateral(radius: Double, range: Double, edge: Edge, isLimited: Bool = true) -> TruePixels {
        let reach = Int(ceil((isLimited ? 3 : 6) * radius))
        var result = self
        for (pixel, (y, x)) in rect.rows.flatMap({ y in rect.columns.map { (y, $0) } }).enumerated() {
            let own = (0..<channels).map { value(x, y, $0, edge) }
            var (sums, weights) = ([Double](repeating: 0, count: channels), 0.0)
            for dy in -reach...reach {
                for dx in -reach...reach where dx * dx + dy * dy <= reach * reach {
                    let other = (0..<channels).map { value(x + dx, y + dy, $0, edge) }
                    let difference = zip(own, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
                    let weight = exp(
                        -Double(dx * dx + dy * dy) / (2 * radius * radius) - difference / (2 * range * range))
                    for channel in 0..<channels { sums[channel] += weight * other[channel] }
                    weights += weight
                }
            }
            for channel in 0..<channels { result.values[pixel * channels + channel] = sums[channel] / weights }
        }
        return result
    }
}
