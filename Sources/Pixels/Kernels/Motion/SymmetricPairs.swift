/// The taps of a filter that is symmetric about its centre: the centre's weight, and pairs of opposite offsets.
package struct SymmetricPairs: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        let dx: Int
        let dy: Int
        /// Of each of the two.
        package let weight: Double
    }

    let center: Double
    /// From the one farthest down to the centre's row; none twice.
    package let pairs: [Pair]
    let reachX: Int
    let reachY: Int

    /// - Parameter taps: symmetric but for rounding, which is evened out.
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

    /// True when the centre and all others weigh the same, up to rounding.
    var isMean: Bool { pairs.allSatisfy { abs($0.weight - center) < 1e-12 } }

    /// The centre's weight and each pair's, rounded to fractions of 65536 that sum to that exactly: those that rounding moved down most are rounded up.
    package func quantized() -> [UInt16] {
        var sides = pairs.map { Int($0.weight * 65536) }
        let wished = Int((center * 65536).rounded())
        let missing = (65536 - wished) / 2 - sides.reduce(0, +)
        let order = sides.indices.sorted {
            let (a, b) = (pairs[$0].weight * 65536 - Double(sides[$0]), pairs[$1].weight * 65536 - Double(sides[$1]))
            return a == b ? $0 < $1 : a > b
        }
        for index in order.prefix(max(0, missing)) { sides[index] += 1 }
        let rest = 65536 - 2 * sides.reduce(0, +)
        return [UInt16(clamping: rest)] + sides.map { UInt16(clamping: $0) }
    }
}
