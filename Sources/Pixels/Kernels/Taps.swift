/// The weights of a symmetric one-dimensional filter.
public struct SymmetricTaps: Hashable, Sendable {
    /// `half[k]` is the weight at distance k on either side. The last one is not 0, unless it is the only one.
    public let half: [Double]

    /// - Parameter half: at least the weight of the centre. Zeros at the end are dropped, so that the reach is exact.
    public init(half: [Double]) {
        precondition(!half.isEmpty, "a filter has a centre")
        let end = half.lastIndex { $0 != 0 } ?? 0
        self.half = Array(half[...end])
    }

    /// The number of pixels that are read on each side.
    public var radius: Int { half.count - 1 }
}

/// The weights of a two-dimensional filter with few taps.
public struct SparseTaps: Hashable, Sendable {
    public struct Tap: Hashable, Sendable {
        /// The horizontal offset from the output pixel to the input pixel, in pixels.
        public let dx: Int
        public let dy: Int
        public let weight: Double

        public init(dx: Int, dy: Int, weight: Double) {
            self.dx = dx
            self.dy = dy
            self.weight = weight
        }
    }

    /// Sorted by row, then by column; no weight is 0.
    public let taps: [Tap]
    /// The number of pixels that are read on the wider side of each axis.
    public let reachX: Int
    public let reachY: Int

    /// - Parameter taps: at most one for each offset. Taps of weight 0 are dropped, so that the reach is exact.
    public init(_ taps: [Tap]) {
        self.taps = taps.filter { $0.weight != 0 }.sorted { ($0.dy, $0.dx) < ($1.dy, $1.dx) }
        reachX = self.taps.map { abs($0.dx) }.max() ?? 0
        reachY = self.taps.map { abs($0.dy) }.max() ?? 0
    }
}

/// The taps of a filter that is symmetric about its centre: the centre's weight, and pairs of opposite offsets.
package struct SymmetricPairs: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        package let dx: Int
        package let dy: Int
        /// The weight of each of the two taps.
        package let weight: Double
    }

    let center: Double
    /// The pairs from the lowest row up to the centre's row, each once.
    package let pairs: [Pair]
    let reachX: Int
    let reachY: Int

    /// - Parameter taps: symmetric except for rounding errors, which are removed.
    package init(_ taps: SparseTaps) {
        var opposite: [[Int]: Double] = [:]
        for tap in taps.taps { opposite[[-tap.dx, -tap.dy]] = tap.weight }
        center = opposite[[0, 0]] ?? 0
        pairs = taps.taps.filter { ($0.dy, $0.dx) > (0, 0) }.map { tap in
            Pair(dx: tap.dx, dy: tap.dy, weight: (tap.weight + (opposite[[tap.dx, tap.dy]] ?? tap.weight)) / 2)
        }
        reachX = taps.reachX
        reachY = taps.reachY
    }

    /// Whether all weights are equal, except for rounding.
    var isMean: Bool { pairs.allSatisfy { abs($0.weight - center) < 1e-12 } }

    /// The centre's weight and each pair's weight, as multiples of 1/65536 that sum to exactly 65536. The weights with the
    /// largest rounding losses are rounded up.
    package func quantized() -> [UInt16] {
        var sides = pairs.map { Int($0.weight * 65536) }
        let desired = Int((center * 65536).rounded())
        let missing = (65536 - desired) / 2 - sides.reduce(0, +)
        let order = sides.indices.sorted {
            let (a, b) = (pairs[$0].weight * 65536 - Double(sides[$0]), pairs[$1].weight * 65536 - Double(sides[$1]))
            return a == b ? $0 < $1 : a > b
        }
        for index in order.prefix(max(0, missing)) { sides[index] += 1 }
        let rest = 65536 - 2 * sides.reduce(0, +)
        return [UInt16(clamping: rest)] + sides.map { UInt16(clamping: $0) }
    }
}

/// Taps on one axis with equal weights, except for one or two at each end. They can be computed by running sums.
package struct Plateau: Hashable, Sendable {
    /// The number of samples on each side of the centre that have its weight.
    package let side: Int
    let weight: Float
    /// The weights of the first samples beyond the plateau, at most two.
    let tails: [Float]

    /// A shorter plateau is summed faster tap by tap.
    private static let shortest = 8

    /// Returns nil if the taps do not have this form.
    package init?(_ taps: SymmetricPairs) {
        guard (taps.reachX == 0) != (taps.reachY == 0), taps.pairs.count == max(taps.reachX, taps.reachY) else {
            return nil
        }
        let sorted = taps.pairs.sorted { ($0.dx + $0.dy) < ($1.dx + $1.dy) }
        side = sorted.prefix { abs($0.weight - taps.center) < 1e-12 }.count
        guard side >= Self.shortest, sorted.count - side <= 2 else { return nil }
        weight = Float(taps.center)
        tails = sorted.dropFirst(side).map { Float($0.weight) }
    }

    /// - Parameter tails: at most two.
    init(side: Int, weight: Float, tails: [Float]) {
        self.side = side
        self.weight = weight
        self.tails = tails
    }

    var length: Int { 2 * side + 1 }
    var reach: Int { side + tails.count }
}

/// Sums the weights of a sparse filter, tap by tap, in the order of the calls.
struct TapAccumulator {
    private struct Offset: Hashable {
        let dx: Int
        let dy: Int
    }

    private var weights: [Offset: Double] = [:]

    mutating func add(_ cell: BilinearCell, at corner: (x: Int, y: Int), times factor: Double) {
        for (dx, dy, weight) in cell.corners {
            weights[Offset(dx: corner.x + dx, dy: corner.y + dy), default: 0] += weight * factor
        }
    }

    /// Adds the same weights at the opposite offsets, too.
    mutating func addWithMirror(_ cell: BilinearCell, at corner: (x: Int, y: Int), times factor: Double) {
        for (dx, dy, weight) in cell.corners {
            weights[Offset(dx: corner.x + dx, dy: corner.y + dy), default: 0] += weight * factor
            weights[Offset(dx: -corner.x - dx, dy: -corner.y - dy), default: 0] += weight * factor
        }
    }

    var result: SparseTaps {
        SparseTaps(weights.map { SparseTaps.Tap(dx: $0.key.dx, dy: $0.key.dy, weight: $0.value) })
    }
}
