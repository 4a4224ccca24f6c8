import FilterKit

/// What the grains of a film look like: independent random numbers at all pixels, each spread over a small round spot.
///
/// The spot is (1 − t²)² along each axis, where t is 1 at `size` pixels from its middle: one pixel alone at size 1. The
/// squares of its weights add up to 1, so that the noise is as strong at every size.
struct GrainShape: Sendable {
    private(set) var seed: UInt64
    /// Along one axis, the middle one for the pixel itself; an odd number of them.
    let weights: [Float]

    init(size: Double, seed: UInt64) {
        self.seed = seed
        let reach = Int(size.rounded(.up)) - 1
        let heights = (-reach...reach).map { offset in
            let t = Double(offset) / size
            return (1 - t * t) * (1 - t * t)
        }
        let length = heights.reduce(0) { $0 + $1 * $1 }.squareRoot()
        weights = heights.map { Float($0 / length) }
    }

    /// The grains of a frame of an animation: others in each, as of film. Those of the first one are a still's.
    func inFrame(_ frame: Int) -> GrainShape {
        var shape = self
        // The steps of SplitMix64, larger than any seed that can be given.
        shape.seed &+= UInt64(bitPattern: Int64(frame)) &* 0x9E37_79B9_7F4A_7C15
        return shape
    }

    /// How many pixels a spot reaches beyond its middle.
    var reach: Int { weights.count / 2 }
}

/// The noise of some columns, row after row.
struct GrainRows {
    private let shape: GrainShape
    private let columns: Range<Int>
    /// Rows that are spread along x, from the spot's upper end to its lower one around `next - 1 - reach`.
    private var spread: [[SIMD4<Float>]] = []
    /// The row of the next one.
    private var next = Int.min

    init(_ shape: GrainShape, columns: Range<Int>) { (self.shape, self.columns) = (shape, columns) }

    /// Four numbers for each column of row `y`, of mean 0 and standard deviation 1. Cheapest from one row to the next.
    mutating func row(_ y: Int) -> [SIMD4<Float>] {
        if next != y + shape.reach {
            spread = (y - shape.reach..<y + shape.reach).map(spreadRow)
        } else {
            spread.removeFirst()
        }
        spread.append(spreadRow(y + shape.reach))
        next = y + shape.reach + 1
        var noise = [SIMD4<Float>](repeating: .zero, count: columns.count)
        for (row, weight) in zip(spread, shape.weights) {
            for x in noise.indices { noise[x] += row[x] * weight }
        }
        return noise
    }

    private func spreadRow(_ y: Int) -> [SIMD4<Float>] {
        let (first, last) = (columns.lowerBound - shape.reach, columns.upperBound + shape.reach)
        let numbers = (first..<last).map { Noise.gaussian(x: $0, y: y, seed: shape.seed) }
        guard shape.reach > 0 else { return numbers }
        return (0..<columns.count).map { x in
            var sum = SIMD4<Float>.zero
            for (offset, weight) in shape.weights.enumerated() { sum += numbers[x + offset] * weight }
            return sum
        }
    }
}
