import Arithmetic
import Catalogs
package import Geometry
package import Raster
import Synchronization

/// A Gaussian whose standard deviation changes from pixel to pixel: σ(p) is the radius times the strength at p.
///
/// Pixels that are hardly blurred themselves do not spread into the blur around them:
/// out(p) = Σ G(σ(p))(q − p)·w(q)·in(q) / Σ G(σ(p))(q − p)·w(q). The weight w(q) depends on σ(q)/σ(p). It is 1 from a half on,
/// and 0 up to an eighth. So where strengths change slowly, all weights are 1, and this is a plain Gaussian.
///
/// If the sum of weights is less than 1/256, the pixel itself stands for what is missing.
package struct Variable: Sendable, LevelChoosing {
    private let radius: Double
    private let map: StrengthMap
    package let halo: Halo
    package var level = CPULevel.current

    /// - Parameter radius: the largest standard deviation in pixels, 0 to 200.
    package init(radius: Double, map: StrengthMap) {
        precondition((0...200).contains(radius), "a standard deviation is 0 to 200 px")
        (self.radius, self.map) = (radius, map)
        halo = Self.halo(radius, upTo: VariableLevels.full)
    }

    private static func halo(_ radius: Double, upTo strength: Int) -> Halo {
        guard radius > 0, strength > 0 else { return .none }
        let reach = [4, 6].map { VariableLevels.of(radius: radius, points: $0).reach(upTo: strength) }.max() ?? 0
        return Halo(horizontal: reach, vertical: reach)
    }

    /// The halo of a rectangle of a picture with this extent. It is smaller where the blur is weak.
    package func halo(around rect: PixelRect, in extent: PixelRect) -> Halo {
        Self.halo(radius, upTo: map.most(in: rect, extent: extent))
    }

    /// Blurs into every pixel of `destination`; see ``Gaussian/render(_:light:within:into:)``.
    ///
    /// - Parameters:
    ///   - source: a source whose tables cover the destination, and the halo around the part that the mask may cover.
    ///   - extent: the rectangle over which strengths are spread.
    ///   - places: where the strengths of the source's pixels are found.
    package func render(
        _ source: KernelSource, extent: PixelRect, places: StrengthPlaces, light: Light, within mask: Mask? = nil,
        into destination: inout AnyRaster
    ) {
        let area = mask.map { $0.bounds(in: destination.rect) } ?? destination.rect
        source.checkCoverage(of: destination, halo: halo(around: area, in: extent), within: mask)
        let isFixed = source.raster.format == .u8 && light == .encoded
        let stack = VariableStack(
            levels: .of(radius: radius, points: isFixed ? 4 : 6), map: map, extent: extent, places: places,
            isFixed: isFixed, operations: .of(level))
        stack.render(source, light: light, within: mask, into: &destination)
    }
}

/// Gaussians of a few standard deviations (nodes), and the interpolation between them.
///
/// The largest node is the radius. Each next node is the fourth root of ½ times the one before. The first ones are closer,
/// because there are no nodes above the radius, and there are special nodes below 1 px. At 0.2 px and less a Gaussian is no
/// blur.
///
/// A Gaussian between two nodes is a polynomial through its neighbours. The polynomial is in 1/√σ. Below 0.85 px, where a
/// sampled Gaussian is no smooth function of σ, it is in q = exp(−1/2σ²), because the weights are powers of q. The largest
/// error for any picture is 0.19 of 255 with four neighbours, and 12 of 65535 with six (2 for gratings, 4 for noise);
/// docs/explanation/gaussian.md derives it.
/// Beside borders of the map, where nodes weigh the same pixel differently, it is about 0.5 of 255.
///
/// None of this depends on a picture or a tile.
final class VariableLevels: Sendable {
    /// The nodes in pixels, in rising order. The first one stands for no blur.
    let sigmas: [Double]
    private let radius: Double
    /// For each strength, the lowest node of its polynomial.
    private let first: [UInt8]
    /// The weights: `points` for each strength.
    private let weights: [Float]
    private let points: Int
    /// For each node, the strengths for which it has a weight.
    let supports: [ClosedRange<Int>]
    private let designs = Mutex<[Int: Designs]>([:])

    /// The computation of a node's Gaussian.
    struct Designs: Sendable {
        let floating: AxisDesign<Float>
        /// The design for 8-bit samples; nil if a direct FIR is equally good.
        let fixedPoint: AxisDesign<UInt16>?
    }

    /// Full strength. A pixel's radius is the largest radius times strength / 65535.
    static let full = 65535

    private static let small = [0.9, 0.8, 0.7, 0.6, 0.52, 0.46, 0.4, 0.35, 0.3]
    /// A Gaussian of this standard deviation moves 4e-6 of a sample to each neighbour.
    private static let none = 0.2
    private static let crossing = 0.85

    /// - Parameters:
    ///   - radius: the largest standard deviation, more than 0.
    ///   - points: the number of neighbours of a polynomial: 4 or 6.
    private init(radius: Double, points: Int) {
        let sigmas = Self.nodes(radius)
        self.radius = radius
        let count = min(points, sigmas.count)
        var first = [UInt8](repeating: 0, count: Self.full + 1)
        var weights = [Float](repeating: 0, count: count * (Self.full + 1))
        var low = [Int](repeating: .max, count: sigmas.count)
        var high = [Int](repeating: -1, count: sigmas.count)
        var interval = 0
        for strength in 0...Self.full {
            let sigma = radius * (Double(strength) / Double(Self.full))
            while interval + 2 < sigmas.count, sigma >= sigmas[interval + 1] { interval += 1 }
            let start = min(max(0, interval - (count / 2 - 1)), sigmas.count - count)
            first[strength] = UInt8(start)
            let own = Self.lagrange(
                sigma, Array(sigmas[start..<start + count]), isSmall: sigmas[interval] < Self.crossing)
            for (offset, weight) in own.enumerated() where weight != 0 {
                weights[strength * count + offset] = Float(weight)
                low[start + offset] = min(low[start + offset], strength)
                high[start + offset] = max(high[start + offset], strength)
            }
        }
        (self.sigmas, self.first, self.weights, self.points) = (sigmas, first, weights, count)
        supports = zip(low, high).map { $0 <= $1 ? $0...$1 : 0...0 }
    }

    private static func nodes(_ radius: Double) -> [Double] {
        guard radius > none else { return [none] }
        var (nodes, last) = ([radius], radius)
        for step in [0.94, 0.9] where last * step > small[small.count - 1] {
            last *= step
            nodes.append(last)
        }
        let ratio = 0.5.squareRoot().squareRoot()
        while last * ratio > 0.95 {
            last *= ratio
            nodes.append(last)
        }
        return [none] + small.filter { $0 < 0.955 * last }.reversed() + nodes.reversed()
    }

    /// The weights of the Lagrange polynomial: exactly 0 and 1 at a node.
    private static func lagrange(_ sigma: Double, _ nodes: [Double], isSmall: Bool) -> [Double] {
        if sigma <= none { return nodes.map { $0 == none ? 1 : 0 } }
        func position(_ sigma: Double) -> Double {
            if !isSmall { return 1 / sigma.squareRoot() }
            return sigma <= none ? 0 : DeterministicMath.exp(-1 / (2 * sigma * sigma))
        }
        let (x, positions) = (position(sigma), nodes.map(position))
        return positions.indices.map { own in
            positions.indices.reduce(1.0) { product, other in
                other == own ? product : product * ((x - positions[other]) / (positions[own] - positions[other]))
            }
        }
    }
}

extension VariableLevels {
    /// The levels of a radius. They are cached for a few radii, because computing them takes as long as some tiles.
    static func of(radius: Double, points: Int) -> VariableLevels {
        struct Key: Hashable {
            let radius: Double
            let points: Int
        }
        enum Kept { static let levels = Mutex<[(key: Key, levels: VariableLevels)]>([]) }
        let key = Key(radius: radius, points: points)
        if let known = Kept.levels.withLock({ $0.first { $0.key == key }?.levels }) { return known }
        let levels = VariableLevels(radius: radius, points: points)
        Kept.levels.withLock { kept in
            kept.append((key, levels))
            if kept.count > 8 { kept.removeFirst() }
        }
        return levels
    }

    func designs(_ node: Int) -> Designs {
        if let known = designs.withLock({ $0[node] }) { return known }
        let sigma = node == 0 ? 0 : sigmas[node]
        let fixedPoint = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        let made = Designs(
            floating: .floating(sigma: sigma), fixedPoint: fixedPoint.prefilters.isEmpty ? nil : fixedPoint)
        designs.withLock { $0[node] = made }
        return made
    }

    /// The reach around a pixel up to a strength, for all designs.
    func reach(upTo strength: Int) -> Int {
        sigmas.indices.filter { supports[$0].lowerBound <= strength && supports[$0].upperBound > 0 }
            .map { reach(of: $0) }.max() ?? 0
    }

    /// The reach of a node, for all designs.
    func reach(of node: Int) -> Int {
        let designs = designs(node)
        return max(designs.floating.reach, designs.fixedPoint?.reach ?? 0)
    }

    /// The least strength whose pixels have the full weight in a node's Gaussian.
    func fullWeight(_ node: Int) -> Int { Int((sigmas[node] / radius / 2 * Double(Self.full)).rounded(.up)) }

    /// Writes the weight of the pixels of each strength in a node's Gaussian.
    ///
    /// The weight rises from 0 to 1 with two continuous derivatives, because the polynomials go through different nodes, which
    /// weigh the same pixel differently.
    func fillPixelWeights(_ table: MutableRow<Float>, node: Int) {
        let full = min(fullWeight(node), Self.full + 1)
        for strength in 0..<full {
            let ratio = radius * (Double(strength) / Double(Self.full)) / sigmas[node]
            let t = min(1, max(0, (ratio - 0.125) / 0.375))
            table[strength] = Float(t * t * t * (10 + t * (6 * t - 15)))
        }
        (table + full).update(repeating: 1, count: Self.full + 1 - full)
    }

    /// Writes a node's weight for each strength of a range into a table of all strengths.
    func fill(_ table: MutableRow<Float>, node: Int, strengths: ClosedRange<Int>, scale: Float) {
        for strength in strengths {
            let offset = node - Int(first[strength])
            table[strength] = (0..<points).contains(offset) ? weights[strength * points + offset] * scale : 0
        }
    }
}
