/// Taps on one axis that weigh the same but for one or two at each end: what running sums are for.
package struct Plateau: Hashable, Sendable {
    /// Samples on each side of the centre that have its weight.
    package let side: Int
    let weight: Float
    /// Weights of the first samples beyond, at most two.
    let tails: [Float]

    /// A shorter plateau is faster summed tap by tap.
    private static let shortest = 8

    /// Nil when the taps have no such form.
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
