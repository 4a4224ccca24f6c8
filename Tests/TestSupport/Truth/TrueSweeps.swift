package import Filters
import Foundation
package import Geometry

/// What a zoom or a spin averages: a point for each place on a pixel's path, 0…1, and how its lines run.
package enum TrueSweep: Sendable {
    case zoom(amount: Double)
    case spin(degrees: Double)

    /// From the centre, of a pixel at (x, y) from it.
    package func point(_ x: Double, _ y: Double, at t: Double) -> (x: Double, y: Double) {
        switch self {
        case .zoom(let amount):
            return (x * (1 - t * amount), y * (1 - t * amount))
        case .spin(let degrees):
            let angle = (t - 0.5) * degrees * .pi / 180
            return (x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle))
        }
    }

    package func length(_ x: Double, _ y: Double) -> Double { hypot(x, y) * steepness }

    /// Pixels of path for each pixel of distance from the centre.
    fileprivate var steepness: Double {
        switch self {
        case .zoom(let amount): abs(amount)
        case .spin(let degrees): degrees * .pi / 180
        }
    }

    /// The length of the shortest paths that are averaged on lines, in pixels.
    package var shortestOnLines: Double {
        switch self {
        case .zoom: 24
        case .spin: 8
        }
    }

    /// From that distance on paths are averaged on lines.
    fileprivate var directRadius: Double {
        switch self {
        case .zoom: shortestOnLines / steepness
        case .spin: Self.edge(shortestOnLines / steepness)
        }
    }

    /// How far a path runs away from a row or a column.
    fileprivate func drift(_ x: Double, _ y: Double) -> Double {
        switch self {
        case .zoom(let amount): return min(abs(x), abs(y)) * abs(amount)
        case .spin(let degrees):
            if degrees >= 180 { return .infinity }
            // An arc reaches farthest where it crosses an axis.
            let (middle, half) = (atan2(y, x), degrees * .pi / 360)
            let crossed = (-4...4).map { Double($0) * .pi / 2 }.filter { abs($0 - middle) < half }
            let angles = [middle - half, middle + half] + crossed
            func range(_ values: [Double]) -> Double { (values.max() ?? 0) - (values.min() ?? 0) }
            return hypot(x, y) * min(range(angles.map { cos($0) }), range(angles.map { sin($0) }))
        }
    }

    /// How many samples a path has where it is averaged by itself; nil where it is averaged on lines.
    fileprivate func samples(_ x: Double, _ y: Double) -> Int? {
        let unit = Int(length(x, y).rounded(.up)) + 1
        if hypot(x, y) < directRadius { return 3 * unit }
        guard drift(x, y) < 2 else { return nil }
        if case .spin = self { return 2 * unit }
        return unit
    }

    /// Bands of rings begin between rings.
    fileprivate static func edge(_ distance: Double) -> Double { floor(distance * 2) / 2 + 0.125 }
}

extension TruePixels {
    /// A zoom or spin by definition, about the picture's middle: the mean over each path of so many samples. Many
    /// thousands stand for the continuous mean.
    package func swept(
        _ sweep: TrueSweep, samples: Int, edge: Edge, output: PixelRect, around center: (x: Double, y: Double)? = nil
    ) -> TruePixels {
        let center = center ?? middle
        return sweepMap(output, around: center) { x, y, channel in
            mean(sweep, x, y, channel, edge, count: samples, around: center)
        }
    }

    /// The same as it is computed: from some samples a pixel on short paths, and on those along a row or column; from lines
    /// for others.
    package func sweptAsComputed(_ sweep: TrueSweep, edge: Edge, output: PixelRect) -> TruePixels {
        sweepMap(output) { x, y, channel in
            sweep.samples(x, y).map { mean(sweep, x, y, channel, edge, count: $0) }
                ?? meanOnLines(sweep, x, y, channel, edge)
        }
    }

    private func mean(
        _ sweep: TrueSweep, _ x: Double, _ y: Double, _ channel: Int, _ edge: Edge, count: Int,
        around center: (x: Double, y: Double)? = nil
    ) -> Double {
        let center = center ?? middle
        let sum = (0..<count).reduce(0.0) { sum, k in
            let point = sweep.point(x, y, at: (Double(k) + 0.5) / Double(count))
            return sum + bilinear(center.x + point.x, center.y + point.y, channel, edge)
        }
        return sum / Double(count)
    }

    /// The formulas of the fast code, without its running sums.
    private func meanOnLines(
        _ sweep: TrueSweep, _ x: Double, _ y: Double, _ channel: Int, _ edge: Edge
    ) -> Double {
        let turn = atan2(y, x) / (2 * .pi)
        let farthest = hypot(Double(rect.width - 1) / 2, Double(rect.height - 1) / 2)
        let place = LinePlace(
            sweep, distance: hypot(x, y), turn: turn < 0 ? turn + 1 : turn, farthest: max(1, farthest))
        let (line, position) = (floor(place.across), floor(place.along))
        let rows = (-1...2).map { row in
            let means = (0...1).map { step in
                place.mean(line: line + Double(row), position: position + Double(step)) {
                    fromMiddle($0, $1, channel, edge)
                }
            }
            return means[0] + (means[1] - means[0]) * (place.along - position)
        }
        return trueCubic(rows, place.across - line)
    }

    private func sweepMap(
        _ output: PixelRect, around center: (x: Double, y: Double)? = nil,
        _ value: (_ x: Double, _ y: Double, _ channel: Int) -> Double
    ) -> TruePixels {
        let middle = center ?? middle
        let values = output.rows.flatMap { y in
            output.columns.flatMap { x in
                (0..<channels).map { value(Double(x) - middle.x, Double(y) - middle.y, $0) }
            }
        }
        return TruePixels(rect: output, channels: channels, values: values)
    }

    private var middle: (x: Double, y: Double) {
        (Double(rect.x) + Double(rect.width - 1) / 2, Double(rect.y) + Double(rect.height - 1) / 2)
    }

    private func fromMiddle(_ x: Double, _ y: Double, _ channel: Int, _ edge: Edge) -> Double {
        bilinear(middle.x + x, middle.y + y, channel, edge)
    }
}

/// A pixel's place among the lines of its distance, and what lies on them.
private struct LinePlace {
    let across: Double
    let along: Double
    private let sweep: TrueSweep
    /// Lines all around; of a spin, samples on an arc.
    private let count: Double
    /// Pixels between rings, or between a ray's samples.
    private let spacing: Double

    init(_ sweep: TrueSweep, distance: Double, turn: Double, farthest: Double) {
        self.sweep = sweep
        switch sweep {
        case .spin(let degrees):
            // 16 px of rings have as many samples on an arc: at their outer end 1.75 a pixel, or 2.25 on shorter arcs.
            let (start, middle) = (sweep.directRadius, TrueSweep.edge(32 / sweep.steepness))
            let isShort = distance < middle
            let first = isShort ? start : middle
            let inner = first + 16 * floor((distance - first) / 16)
            let outer = isShort ? min(inner + 16, middle) : inner + 16
            count = ceil(outer * sweep.steepness * (isShort ? 2.25 : 1.75))
            spacing = isShort ? 0.25 : 1.0 / 3
            (across, along) = (distance * (isShort ? 4 : 3), turn * 360 / degrees * count)
        case .zoom(let amount):
            // Every octave has rays that are 0.4 px apart at the far ends of its paths, and samples each half pixel.
            let far = farthest / exp2(max(0, floor(log2(farthest / distance))))
            count = 8 * max(32, (Double.pi / 4 * far * max(1, abs(1 - amount)) / 0.4).rounded(.up))
            spacing = 0.5
            (across, along) = (turn * count, distance * 2)
        }
    }

    /// The mean over the arc whose samples begin at a position; or over a ray's piecewise linear course.
    func mean(line: Double, position: Double, _ picture: (_ x: Double, _ y: Double) -> Double) -> Double {
        switch sweep {
        case .spin(let degrees):
            return (0..<Int(count)).reduce(0.0) { sum, k in
                let angle = (((position + Double(k)) + 0.5) / count - 0.5) * degrees * .pi / 180
                return sum + picture(line * spacing * cos(angle), line * spacing * sin(angle))
            } / count
        case .zoom(let amount):
            let other = position * (1 - amount)
            let angle = 2 * Double.pi * line / count
            return integral(min(position, other), max(position, other)) { k in
                picture(k * spacing * cos(angle), k * spacing * sin(angle))
            } / abs(position - other)
        }
    }

    /// Cell by cell: in each the course is straight, so its mean there is the value in the middle.
    private func integral(_ low: Double, _ high: Double, _ sample: (Double) -> Double) -> Double {
        var sum = 0.0
        var cell = floor(low)
        var left = sample(cell)
        while cell < high {
            let right = sample(cell + 1)
            let (start, end) = (max(low, cell), min(high, cell + 1))
            sum += (end - start) * (left + (right - left) * ((start + end) / 2 - cell))
            (cell, left) = (cell + 1, right)
        }
        return sum
    }
}

/// Catmull and Rom's interpolation, between the second and the third of four.
private func trueCubic(_ p: [Double], _ t: Double) -> Double {
    let slopes = ((p[2] - p[0]) / 2, (p[3] - p[1]) / 2)
    return p[1] * (1 + 2 * t) * (1 - t) * (1 - t) + slopes.0 * t * (1 - t) * (1 - t) + p[2] * t * t * (3 - 2 * t)
        + slopes.1 * t * t * (t - 1)
}
