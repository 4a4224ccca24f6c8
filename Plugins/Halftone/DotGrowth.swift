/// How large the threshold of a dot is for the share of the cell that it is to cover, soft borders included.
struct DotGrowth: Sendable {
    let shape: DotShape
    /// Thresholds at equal distances, from a dot of nothing to one that fills the cell: what each covers.
    private let covered: [Float]
    private let lowest: Float
    private let step: Float
    private let perDistance: Float

    private static let steps = 1024

    /// - Parameters:
    ///   - border: width of a dot's border, in cells.
    ///   - samples: how many positions along each axis of a cell the area is reckoned from.
    init(_ shape: DotShape, border: Double, samples: Int) {
        self.shape = shape
        let width = Float(border)
        lowest = -width / 2
        step = (shape.farthest + width) / Float(Self.steps)
        perDistance = 1 / width
        let positions = (0..<samples).map { (Float($0) + 0.5) / Float(samples) - 0.5 }
        let distances = positions.flatMap { v in positions.map { u in shape.distance(u, v) } }.sorted()
        covered = Self.coverage(distances, lowest: lowest, step: step, border: width)
    }

    /// The mean of what is covered at the positions of a cell, for each threshold.
    ///
    /// - Parameter distances: of the positions, sorted: those inside of a dot come first, then those at its border.
    private static func coverage(_ distances: [Float], lowest: Float, step: Float, border: Float) -> [Float] {
        let count = Double(distances.count)
        let sums = distances.reduce(into: [0.0]) { sums, distance in
            sums.append(sums[sums.count - 1] + Double(distance))
        }
        var (inside, reached) = (0, 0)
        return (0...steps).map { index in
            let threshold = lowest + step * Float(index)
            while inside < distances.count, distances[inside] <= threshold - border / 2 { inside += 1 }
            while reached < distances.count, distances[reached] < threshold + border / 2 { reached += 1 }
            let soft = Double(reached - inside) * (0.5 + Double(threshold / border))
            let atBorder = soft - (sums[reached] - sums[inside]) / Double(border)
            return Float((Double(inside) + atBorder) / count)
        }
    }

    /// The threshold of a dot that covers a share of its cell.
    func threshold(covering share: Float) -> Float {
        guard share > 0 else { return lowest }
        guard share < 1 else { return lowest + step * Float(Self.steps) }
        var (low, high) = (0, Self.steps)
        while high - low > 1 {
            let middle = (low + high) / 2
            if covered[middle] < share { low = middle } else { high = middle }
        }
        let rise = covered[high] - covered[low]
        let part = rise > 0 ? min(1, (share - covered[low]) / rise) : 0
        return lowest + step * (Float(low) + part)
    }

    /// How much of a pixel is covered, at a position in a cell whose dot has this threshold.
    func coverage(_ u: Float, _ v: Float, _ threshold: Float) -> Float {
        let depth = 0.5 + (threshold - shape.distance(u, v)) * perDistance
        return depth > 0 ? (depth < 1 ? depth : 1) : 0
    }
}
