package import Filters
import Foundation
package import Geometry

/// A lens blur by its definition: all sums are taken pixel by pixel.
package struct TrueLens: Sendable {
    /// A pixel of an aperture, and the part of it that is open.
    package typealias Opening = [(dx: Int, dy: Int, weight: Double)]

    package var radius: Double
    /// The aperture for a radius.
    package var aperture: @Sendable (_ radius: Double) -> Opening = { trueDisc($0) }
    package var threshold = 0.8
    package var gain = 1.0
    package var focus = 0.5
    package var range = 0.1
    package var isWhiteNear = true

    package init(radius: Double) { self.radius = radius }

    fileprivate var count: Int { min(12, max(1, Int((2 * sqrt(radius)).rounded(.up)))) }

    fileprivate func radius(of layer: Int) -> Double { radius * pow(Double(abs(layer)) / Double(count), 2) }

    /// The place of a shade, 0…1, among the layers.
    package func place(of shade: Double) -> Double {
        let farthest = max(focus, 1 - focus) - range / 2
        guard abs(shade - focus) > range / 2, farthest > 0 else { return 0 }
        let own = radius * min(1, (abs(shade - focus) - range / 2) / farthest)
        let inner = (0..<count).last { radius(of: $0) <= own } ?? 0
        let (a, b) = (radius(of: inner), radius(of: inner + 1))
        let outer = ((own * own - a * a) / (b * b - a * a) * 65536).rounded() / 65536
        return (Double(inner) + outer) * ((shade > focus) == isWhiteNear ? 1 : -1)
    }
}

/// The shares of an aperture of blades, by many points in each pixel. Each side is looked at in its own sector.
package func trueBlades(_ blades: Int, curvature: Double, degrees: Double, radius: Double) -> TrueLens.Opening {
    let outer = radius + 0.5
    let step = 2 * Double.pi / Double(blades)
    let height = outer * cos(step / 2)
    let rise = curvature * (outer - height)
    let chord = outer * sin(step / 2)
    func isInside(_ x: Double, _ y: Double) -> Bool {
        let first = degrees * Double.pi / 180
        let sector = floor((atan2(-y, x) - first) / step)
        let middle = first + (sector + 0.5) * step
        // Along the direction of the side's middle, and across.
        let (along, across) = (x * cos(middle) - y * sin(middle), x * sin(middle) + y * cos(middle))
        guard rise > 0 else { return along <= height }
        let arc = (chord * chord + rise * rise) / (2 * rise)
        return hypot(along - (height + rise - arc), across) <= arc
    }
    let reach = Int(radius.rounded(.up))
    let (lines, points) = (200, 200)
    var opening: TrueLens.Opening = []
    for dy in -reach...reach {
        for dx in -reach...reach {
            let corners = [-0.5, 0.5].flatMap { down in [-0.5, 0.5].map { (Double(dx) + $0, Double(dy) + down) } }
            if corners.allSatisfy({ isInside($0.0, $0.1) }) {
                opening.append((dx, dy, 1))
                continue
            }
            var inside = 0
            for line in 0..<lines {
                for point in 0..<points
                where isInside(
                    Double(dx) - 0.5 + (Double(point) + 0.5) / Double(points),
                    Double(dy) - 0.5 + (Double(line) + 0.5) / Double(lines))
                {
                    inside += 1
                }
            }
            if inside > 0 { opening.append((dx, dy, Double(inside) / Double(lines * points))) }
        }
    }
    return opening
}

extension TruePixels {
    /// - Parameters:
    ///   - full: full intensity.
    ///   - colors: the number of channels before alpha.
    ///   - depth: the shade at a coordinate of the picture, 0…1. Nil without a depth picture.
    package func blurred(
        by lens: TrueLens, full: Double, colors: Int, edge: Edge, output: PixelRect,
        depth: ((_ x: Int, _ y: Int) -> Double)? = nil
    ) -> TruePixels {
        let bright = brightened(lens, full, colors)
        guard let depth else {
            let opening = lens.aperture(lens.radius)
            let total = opening.reduce(0) { $0 + $1.weight }
            return mapped(output) { x, y, channel in
                opening.reduce(0) { $0 + $1.weight * bright.value(x - $1.dx, y - $1.dy, channel, edge) } / total
            }
        }
        let places = rect.rows.map { y in rect.columns.map { x in lens.place(of: depth(x, y)) } }
        func place(_ x: Int, _ y: Int) -> Double {
            let inside = edge == .transparent ? Edge.clamp : edge
            guard let column = trueEdge(x, rect.columns, inside), let row = trueEdge(y, rect.rows, inside) else {
                return 0
            }
            return places[row - rect.y][column - rect.x]
        }
        return composed(lens, bright, edge, output, place)
    }

    private func composed(
        _ lens: TrueLens, _ bright: TruePixels, _ edge: Edge, _ output: PixelRect, _ place: (Int, Int) -> Double
    ) -> TruePixels {
        let most = lens.count
        let openings = (0...most).map { $0 == 0 ? [(0, 0, 1.0)] : lens.aperture(lens.radius(of: $0)) }
        func share(_ place: Double, _ layer: Int) -> Double { max(0, 1 - abs(place - Double(layer))) }
        var values: [Double] = []
        for y in output.rows {
            for x in output.columns {
                var (light, total, open) = ([Double](repeating: 0, count: channels), 0.0, 1.0)
                for layer in stride(from: most, through: -most, by: -1) {
                    let pixels = layer == 0 ? self : bright
                    var (own, behind, little) = (0.0, 0.0, 0.0)
                    var ownLight = [Double](repeating: 0, count: channels)
                    var littleLight = ownLight
                    for (dx, dy, weight) in openings[abs(layer)] {
                        let there = place(x - dx, y - dy)
                        let a = share(there, layer)
                        let b = (-most...layer).reduce(0) { $0 + share(there, $1) }
                        let s = layer > 0 ? (1 - layer...layer - 1).reduce(0) { $0 + share(there, $1) } : 0
                        own += weight * a
                        behind += weight * b
                        little += weight * s
                        for channel in 0..<channels where a + s > 0 {
                            let value = pixels.value(x - dx, y - dy, channel, edge)
                            ownLight[channel] += weight * a * value
                            littleLight[channel] += weight * s * value
                        }
                    }
                    guard own > 0 else { continue }
                    let rest = max(0, 1 - own / behind)
                    var filled = 0.0
                    if layer > 0, rest > 1e-12 {
                        let known = min(rest, (-most...layer - 1).reduce(0) { $0 + share(place(x, y), $1) })
                        filled = (rest - known) / rest
                    }
                    for channel in 0..<channels {
                        light[channel] += open * (ownLight[channel] + filled * littleLight[channel]) / behind
                    }
                    total += open * (own + filled * little) / behind
                    open *= max(0, rest - filled * little / behind)
                }
                for channel in 0..<channels {
                    values.append(total > 0 ? light[channel] / total : value(x, y, channel, edge))
                }
            }
        }
        return TruePixels(rect: output, channels: channels, values: values)
    }

    private func brightened(_ lens: TrueLens, _ full: Double, _ colors: Int) -> TruePixels {
        var result = self
        for pixel in 0..<rect.area {
            let start = pixel * channels
            let alpha = channels > colors ? values[start + colors] : full
            guard alpha > 0 else { continue }
            let parts = colors == 1 ? [1.0] : [0.2126, 0.7152, 0.0722]
            let luma = parts.indices.reduce(0) { $0 + parts[$1] * values[start + $1] } / alpha
            let ramp = lens.threshold < 1 ? (luma - lens.threshold) / (1 - lens.threshold) : luma > 1 ? 1 : 0
            for channel in 0..<colors {
                result.values[start + channel] *= 1 + (lens.gain - 1) * min(1, max(0, ramp))
            }
        }
        return result
    }

    private func mapped(_ output: PixelRect, _ value: (_ x: Int, _ y: Int, _ channel: Int) -> Double) -> TruePixels {
        var values: [Double] = []
        for y in output.rows {
            for x in output.columns {
                for channel in 0..<channels { values.append(value(x, y, channel)) }
            }
        }
        return TruePixels(rect: output, channels: channels, values: values)
    }
}
