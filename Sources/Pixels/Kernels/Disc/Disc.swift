import Arithmetic
import Catalogs
public import Geometry
public import Raster

/// A mean over a disc, like a lens that is out of focus. Each pixel is weighted by its area in the disc. The cost grows with
/// the radius.
public struct Disc: Blur, RunningBlur, LevelChoosing {
    private let weights: DiscWeights
    package var level = CPULevel.current

    /// - Parameter radius: the disc is 2·radius + 1 pixels wide; 0 to 200.
    public init(radius: Double) {
        precondition((0...200).contains(radius), "a disc's radius is 0 to 200 px")
        weights = DiscWeights(radius: radius)
    }

    public var halo: Halo { Halo(horizontal: weights.reach, vertical: weights.reach) }

    /// See ``Gaussian/render(_:light:within:into:)``.
    public func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard case .u8 = source.raster, light == .encoded else {
            return FloatDisc(weights, .of(level)).render(source, light: light, within: mask, into: &destination)
        }
        let strips = FixedDisc.strips(weights)
        source.renderBytes(within: mask, on: level, into: &destination) { strips.render($0, to: $1) }
    }

    /// There is one for 8-bit samples.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        guard output.isBytes, weights.reach > 0 else { return nil }
        let bytes = FixedStrip.bytesOfValue(reachY: weights.reach) + 8
        return FixedDisc.strips(weights).runningForm(of: output, .of(level), bytesOfValue: bytes)
    }
}

/// The share of each pixel around a centre that a disc covers.
///
/// The disc is centred on the centre of the pixel (0, 0). Its radius is `radius` + ½, so that its diameter is 2·radius + 1.
package struct DiscWeights: Hashable, Sendable {
    /// A partly covered pixel of the quadrant with dx ≥ 0 and dy ≥ 0. The other quadrants are mirror images.
    struct Border: Hashable, Sendable {
        let dx: Int
        let dy: Int
        /// The weight of the pixel; all weights of the disc sum to 1.
        let weight: Double
    }

    /// The number of pixels that are read on each side.
    let reach: Int
    /// For each horizontal distance, how far up and down pixels are completely covered; −1 if none is.
    let heights: [Int]
    /// The weight of a completely covered pixel.
    let weight: Double
    let borders: [Border]

    /// - Parameter radius: in pixels, at least 0.
    package init(radius: Double) {
        let disc = radius + 0.5
        let reach = Int(radius.rounded(.up))
        var areas: [Border] = []
        var heights: [Int] = []
        var total = 0.0
        for dx in 0...reach {
            var height = -1
            for dy in 0...reach {
                let area = Self.area(dx, dy, disc)
                guard area > 0 else { break }
                total += area * (dx == 0 ? 1 : 2) * (dy == 0 ? 1 : 2)
                if area == 1 { height = dy } else { areas.append(Border(dx: dx, dy: dy, weight: area)) }
            }
            heights.append(height)
        }
        self.reach = reach
        self.heights = heights
        weight = 1 / total
        borders = areas.map { Border(dx: $0.dx, dy: $0.dy, weight: $0.weight / total) }
    }

    /// The weight of the pixel at an offset.
    package func weight(dx: Int, dy: Int) -> Double {
        let (x, y) = (abs(dx), abs(dy))
        guard x <= reach else { return 0 }
        return y <= heights[x] ? weight : borders.first { ($0.dx, $0.dy) == (x, y) }?.weight ?? 0
    }

    /// The area of the pixel around dx, dy that a disc of radius r around 0, 0 covers.
    private static func area(_ dx: Int, _ dy: Int, _ r: Double) -> Double {
        let (x, y) = (Double(dx), Double(dy))
        if (x + 0.5) * (x + 0.5) + (y + 0.5) * (y + 0.5) <= r * r { return 1 }
        // A pixel on an axis is computed as twice its half.
        let (left, top) = (max(0, x - 0.5), max(0, y - 0.5))
        let part = area(left..<x + 0.5, top..<y + 0.5, r)
        return min(1, part * (dx == 0 ? 2 : 1) * (dy == 0 ? 2 : 1))
    }

    /// The integral over `columns` of the height that the circle has within `rows`. Both ranges lie in one quadrant.
    private static func area(_ columns: Range<Double>, _ rows: Range<Double>, _ r: Double) -> Double {
        let (low, high) = (columns.lowerBound, columns.upperBound)
        guard low * low + rows.lowerBound * rows.lowerBound < r * r else { return 0 }
        func column(at y: Double) -> Double { min(high, max(low, max(0, r * r - y * y).squareRoot())) }
        // Up to `whole` the circle lies above the rows, from `end` on below them.
        let (whole, end) = (column(at: rows.upperBound), column(at: rows.lowerBound))
        return (whole - low) * (rows.upperBound - rows.lowerBound)
            + (integral(to: end, r) - integral(to: whole, r)) - rows.lowerBound * (end - whole)
    }

    /// ∫ √(r² − x²) over 0 … x.
    private static func integral(to x: Double, _ r: Double) -> Double {
        (x * max(0, r * r - x * x).squareRoot() + r * r * DeterministicMath.arcSine(min(1, x / r))) / 2
    }
}
