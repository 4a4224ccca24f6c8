/// A mean along one axis: 2·side + 1 samples of one weight, and a fraction of it for the one beyond on each side.
struct BoxAxis: Hashable, Sendable {
    /// Samples on each side of the centre that have its weight: ⌊radius⌋.
    let side: Int
    /// What is left of the radius: the share of the sample beyond, 0 ..< 1.
    let fraction: Double
    /// 1 / (2·radius + 1).
    let weight: Double

    /// - Parameter radius: in pixels, at least 0.
    init(radius: Double) {
        side = Int(radius)
        fraction = radius - Double(side)
        weight = 1 / (2 * radius + 1)
    }

    /// How many samples are read on each side.
    var reach: Int { fraction > 0 ? side + 1 : side }
    var length: Int { 2 * side + 1 }
    var tail: Double { fraction * weight }

    /// Nil where there is nothing to average.
    var plateau: Plateau? {
        reach == 0 ? nil : Plateau(side: side, weight: Float(weight), tails: fraction > 0 ? [Float(tail)] : [])
    }

    /// The weights from the centre outwards, rounded to fractions of 65536 that sum to that exactly, or 65535 alone.
    var quantized: [UInt16] {
        guard reach > 0 else { return [UInt16.max] }
        let sides = (1...reach).map { Int((65536 * ($0 > side ? tail : weight)).rounded()) }
        return [UInt16(clamping: 65536 - 2 * sides.reduce(0, +))] + sides.map { UInt16(clamping: $0) }
    }
}
