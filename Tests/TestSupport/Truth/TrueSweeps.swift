package import Filters
import Foundation
package import Geometry

/// What a zoom or a spin averages: a point for each place on a pixel's path, 0…1, and how its lines run.
package enum TrueSweep: Sendable {
    case zoom(amount: Double)
    case spin(degrees: Double)

    /// From the centre, of a pixel at (x, y) from it.
    func point(_ x: Double, _ y: Double, at t: Double) -> (x: Double, y: Double) {
        switch self {
        case .zoom(let amount):
            return (x * (1 - t * amount), y * (1 - t * amount))
        case .spin(let degrees):
            let angle = (t - 0.5) * degrees * .pi / 180
            return (x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle))
        }
    }

    func length(_ x: Double, _ y: Double) -> Double {
        switch self {
        case .zoom(let amount): hypot(x, y) * abs(amount)
        case .spin(let degrees): hypot(x, y) * degrees * .pi / 180
        }
    }
}

extension TruePixels {
    /// A zoom or spin by definition, about the picture's middle: the mean over each path of so many samples. Many
    /// thousands stand for the continuous mean.
    package func swept(_ sweep: TrueSweep, samples: Int, edge: Edge, output: PixelRect) -> TruePixels {
        sweepMap(output) { x, y, channel in mean(sweep, x, y, channel, edge, count: samples) }
    }

    /// The same as it is computed: from two samples a pixel, and two more, on paths of up to 32 px; from lines for longer
    /// ones.
    package func sweptAsComputed(_ sweep: TrueSweep, edge: Edge, output: PixelRect) -> TruePixels {
        sweepMap(output) { x, y, channel in
            let length = sweep.length(x, y)
            return length > 32
                ? meanOnLines(sweep, x, y, channel, edge)
                : mean(sweep, x, y, channel, edge, count: 2 * (Int(length.rounded(.up)) + 1))
        }
    }

    private func mean(
        _ sweep: TrueSweep, _ x: Double, _ y: Double, _ channel: Int, _ edge: Edge, count: Int
    ) -> Double {
        let sum = (0..<count).reduce(0.0) { sum, k in
            let point = sweep.point(x, y, at: (Double(k) + 0.5) / Double(count))
            return sum + fromMiddle(point.x, point.y, channel, edge)
        }
        return sum / Double(count)
    }

    /// The formulas of the fast code, without its running sums.
    private func meanOnLines(
        _ sweep: TrueSweep, _ x: Double, _ y: Double, _ channel: Int, _ edge: Edge
    ) -> Double {
        let turn = atan2(y, x) / (2 * .pi)
        let place = LinePlace(sweep, distance: hypot(x, y), turn: turn < 0 ? turn + 1 : turn)
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
        _ output: PixelRect, _ value: (_ x: Double, _ y: Double, _ channel: Int) -> Double
    ) -> TruePixels {
        let middle = self.middle
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
    /// Lines, or samples on each, all around.
    private let count: Double

    init(_ sweep: TrueSweep, distance: Double, turn: Double) {
        self.sweep = sweep
        switch sweep {
        case .spin:
            // 16 px of rings have as many samples each, for their outermost at least one a pixel: 4 to 7 times a power of two.
            let least = 2 * Double.pi * 16 * (floor(distance / 16) + 1)
            var unit = 64.0
            while 7 * unit < least { unit *= 2 }
            count = [4, 5, 6, 7].map { $0 * unit }.first { $0 >= least } ?? 0
            (across, along) = (distance * 2, turn * count)
        case .zoom:
            // Every octave has rays that are half a pixel apart at its far end.
            let far = 2 * exp2(floor(log2(distance)))
            count = max(256, (2 * Double.pi * far / 0.5).rounded(.up))
            (across, along) = (turn * count, distance)
        }
    }

    /// The mean over a window of the piecewise linear course through a line's samples.
    func mean(line: Double, position: Double, _ picture: (_ x: Double, _ y: Double) -> Double) -> Double {
        switch sweep {
        case .spin(let degrees):
            let half = count * degrees / 720
            return integral(position - half, position + half) { k in
                let angle = 2 * Double.pi * k / count
                return picture(line / 2 * cos(angle), line / 2 * sin(angle))
            } / (2 * half)
        case .zoom(let amount):
            let other = position * (1 - amount)
            let angle = 2 * Double.pi * line / count
            return integral(min(position, other), max(position, other)) { k in
                picture(k * cos(angle), k * sin(angle))
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
