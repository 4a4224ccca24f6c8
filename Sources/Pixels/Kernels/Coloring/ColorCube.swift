/// A table of colours (a LUT): results at the points of a grid, for one channel after the other or for whole colours, and
/// interpolation between them.
///
/// Whole colours are interpolated in the tetrahedron around them: along the diagonal from dark to bright, so that grays depend on
/// grays alone. (J. Sakamoto and K. Itooka, US patent 4275413, 1981, which has expired.) Colours outside of the grid count as its
/// nearest ones, and NaN as the smallest value.
package struct ColorCube: Sendable {
    package enum Grid: Sendable {
        /// Results of red, green and blue, each at equidistant values from the domain's minimum to its maximum.
        case channels
        /// Results of whole colours. Red counts fastest, then green.
        case colors
    }

    private let grid: Grid
    /// The points along each axis.
    package let size: Int
    /// Red, green and blue. The fourth number is 0.
    private let points: [SIMD4<Float>]
    private let minimum: SIMD3<Float>
    /// Steps of the grid for each unit of a value.
    private let scale: SIMD3<Float>
    /// How much of the result is taken; the rest is the colour as it was.
    private let strength: Float

    /// - Parameters:
    ///   - size: at least 2.
    ///   - points: `size` of them, or `size`³; red, green and blue.
    ///   - minimum, maximum: the values of each channel at the ends of the grid.
    package init(_ grid: Grid, size: Int, points: [SIMD3<Float>], minimum: SIMD3<Float>, maximum: SIMD3<Float>) {
        precondition(size >= 2 && points.count == (grid == .channels ? size : size * size * size), "a grid is complete")
        precondition((0..<3).allSatisfy { minimum[$0] < maximum[$0] }, "a domain has a size")
        (self.grid, self.size, self.minimum, strength) = (grid, size, minimum, 1)
        self.points = points.map { SIMD4($0, 0) }
        scale = Float(size - 1) / (maximum - minimum)
    }

    private init(_ other: ColorCube, strength: Float) {
        (grid, size, points, minimum, scale) = (other.grid, other.size, other.points, other.minimum, other.scale)
        self.strength = strength
    }

    /// The same table, of whose changes a share is made, 0 to 1.
    package func withStrength(_ share: Double) -> ColorCube { ColorCube(self, strength: Float(share)) }

    /// A table that stands for one whose file is not read.
    package static let inverting = ColorCube(
        .channels, size: 2, points: [SIMD3(repeating: 1), SIMD3(repeating: 0)], minimum: SIMD3(repeating: 0),
        maximum: SIMD3(repeating: 1))

    /// The memory of the table.
    package var bytes: Int { points.count * MemoryLayout<SIMD4<Float>>.stride }

    /// The function for pictures. If each channel has a table of its own, integers have tables for all their values.
    package var function: Recoloring.Function { grid == .channels ? .channels(self) : .colors(self) }
}

extension ColorCube: ColorFunction {
    package func recolor(_ pixels: ColorPixels) {
        let full = Float(pixels.full)
        let (first, steps) = (minimum * full, scale / full)
        pixels.operations.mapColors(
            pixels, points: points, size: size, domain: [first.x, first.y, first.z, steps.x, steps.y, steps.z],
            strength: strength)
    }

    package func color(_ color: SIMD3<Float>) -> SIMD3<Float> {
        let last = SIMD3<Float>(repeating: Float(size - 1))
        var place = (color - minimum) * scale
        // NaN fails the comparison.
        place.replace(with: 0, where: .!(place .> 0))
        place.replace(with: last, where: place .> last)
        let found = grid == .channels ? channels(place) : tetrahedron(place)
        return strength == 1 ? found : (1 - strength) * color + strength * found
    }

    private func channels(_ place: SIMD3<Float>) -> SIMD3<Float> {
        let points = points.span
        var result = SIMD3<Float>()
        for channel in 0..<3 {
            let first = cell(place[channel])
            let (low, high) = (points[unchecked: first][channel], points[unchecked: first + 1][channel])
            result[channel] = low + (place[channel] - Float(first)) * (high - low)
        }
        return result
    }

    /// The whole part of a place. 0 for NaN, which compares as no number.
    private func cell(_ place: Float) -> Int { place >= 1 ? min(Int(place), size - 2) : 0 }

    private func tetrahedron(_ place: SIMD3<Float>) -> SIMD3<Float> {
        let points = points.span
        let (x, y, z) = (cell(place.x), cell(place.y), cell(place.z))
        let (r, g, b) = (place.x - Float(x), place.y - Float(y), place.z - Float(z))
        let (right, up, far) = (1, size, size * size)
        let start = x + size * (y + size * z)
        // The way from dark to bright: along the axis of the largest share first, and along that of the smallest last.
        let (large, small) = (max(max(r, g), b), min(min(r, g), b))
        let middle = max(min(r, g), min(max(r, g), b))
        let first = r == large ? right : g == large ? up : far
        let second = right + up + far - (b == small ? far : g == small ? up : right)
        let dark = points[unchecked: start]
        let (one, two, bright) = (
            points[unchecked: start + first], points[unchecked: start + second],
            points[unchecked: start + right + up + far]
        )
        // Grays lie on the diagonal. Rounding errors of the other points must not reach them.
        if r == g, g == b {
            let gray = dark + r * (bright - dark)
            return SIMD3(gray.x, gray.y, gray.z)
        }
        let result = dark + large * (one - dark) + middle * (two - one) + small * (bright - two)
        return SIMD3(result.x, result.y, result.z)
    }
}

extension ColorCube: ChannelFunction {
    /// - Precondition: each channel has a table of its own.
    package func value(_ value: Double, channel: Int?, isFloat: Bool) -> Double {
        let result = color(SIMD3(repeating: Float(value)))
        if let channel { return Double(result[channel]) }
        return Double(result.y + 0.2126 * (result.x - result.y) + 0.0722 * (result.z - result.y))
    }
}
