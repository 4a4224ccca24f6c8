import Geometry

/// A continuous motion blur by running sums along its line, for lines that are not parallel to an axis.
///
/// With the slope s = v.x/v.y and the reach τ = |v.y| (see ``MotionTaps``), the row at distance d from the output's row
/// contributes its pixels x with the weights W(x − s·d) / 2τ if |d| ≤ τ − 1. So these rows are a sum along a line that has the
/// same position c = x − s·y in each of its outputs, and the sum for the next row has one row more at one end, and one row less
/// at the other. Such sums are kept for positions c that are multiples of 1/``density``. An output is interpolated between
/// four of them by a cubic polynomial. The rows at the ends of the line are added tap by tap.
///
/// W is a hat of the width 2 times a hat of the width 2s, convolved: it is so smooth that the interpolation changes no 8-bit
/// sample by more than about 0.4, whatever the picture.
package struct LineDesign: Hashable {
    /// The number of pixels to the right from a row to the next.
    package let slope: Double
    /// The number of rows above and below an output's row that running sums contain.
    package let side: Int
    /// The number of sums for each pixel.
    package let density: Int
    /// Whether outputs lie at positions of sums, so that nothing is interpolated.
    let isExact: Bool
    /// The number of taps of a row.
    let taps: Int
    /// The weight of a row.
    package let rowWeight: Double
    /// The taps of the rows outside of the sums.
    package let ends: [SymmetricPairs.Pair]

    /// The number of positions between two pixels that have their own weights. Others are moved by at most 1/2048 of a pixel.
    package static let steps = 1024
    private static let densest = 20

    /// Returns nil if running sums do not pay, or do not exist: for lines along an axis, and for short ones.
    package init?(_ velocity: MotionTaps.Velocity, _ taps: SymmetricPairs) {
        let reach = velocity.y.magnitude
        guard velocity.x != 0, reach >= 2 else { return nil }
        let slope = velocity.x / velocity.y
        let steepness = slope.magnitude
        if let exact = (1...4).first(where: { Self.isWhole(steepness * Double($0)) }) {
            density = exact
            isExact = true
            self.slope = (slope * Double(exact)).rounded() / Double(exact)
        } else {
            density = Self.density(steepness)
            isExact = false
            self.slope = slope
        }
        side = Int(reach) - 1
        self.taps = Int((2 + 2 * steepness).rounded(.up))
        guard self.slope != 0, density <= Self.densest, self.taps <= FixedSparse.mostPairs else { return nil }
        rowWeight = 1 / (2 * reach)
        ends = taps.pairs.filter { [side] in $0.dy > side }
        // Each product is truncated, which must not add up to half a level. Flat lines have few rows, each with many taps.
        guard self.taps + ends.count <= FixedSparse.mostPairs else { return nil }
        guard cost < Self.directCost(taps) else { return nil }
    }

    private static func isWhole(_ value: Double) -> Bool { abs(value - value.rounded()) < 1e-9 }

    /// The number of sums that keeps the interpolation's error small: found by `LineDesignTests`.
    private static func density(_ steepness: Double) -> Int {
        switch steepness {
        case ..<0.5: Int((8 * (0.41 / steepness).squareRoot()).rounded(.up))
        case ..<1.15: 6
        case ..<1.6: 4
        case ..<3: 3
        default: 2
        }
    }

    /// The number of columns that an output reads to each side of the taps' own.
    var margin: Int { isExact ? 0 : 1 }

    /// The number of vector operations for a vector of outputs.
    var cost: Int { density * (4 * taps + 9) + 32 + 4 * ends.count }

    /// The same number for taps that are summed one by one.
    static func directCost(_ taps: SymmetricPairs) -> Int {
        taps.pairs.count * (taps.pairs.count <= FixedSparse.mostPairs ? 4 : 16)
    }

    /// W at a distance, which is 1 + s at most where it is not 0: a fourth difference of |x|³/12.
    func profile(_ distance: Double) -> Double {
        let steepness = slope.magnitude
        guard distance.magnitude < 1 + steepness else { return 0 }
        var sum = 0.0
        for (place, weight) in [(-1.0, 1.0), (0, -2), (1, 1)] {
            for (other, otherWeight) in [(-1.0, 1.0), (0, -2), (1, 1)] {
                let x = (distance - place - steepness * other).magnitude
                sum += weight * otherWeight * x * x * x
            }
        }
        return max(0, sum / (12 * steepness * steepness))
    }

    /// The pixels that a row contributes to a sum, for a line that crosses the row `step` ``steps``-ths to the right of a pixel.
    ///
    /// - Returns: the offset of the first pixel, and the weights, which are multiples of 1/65536. Their sum is exactly 65536.
    package func crossing(step: Int) -> (first: Int, weights: [UInt16]) {
        let place = Double(step) / Double(Self.steps)
        let first = Int((place - 1 - slope.magnitude).rounded(.down)) + 1
        let exact = (0..<taps).map { profile(Double(first + $0) - place) }
        return (first, Self.quantized(exact, sum: 1))
    }

    /// The weight of each pair of ``ends``, as a multiple of 1/65536.
    package var endWeights: [UInt16] {
        Self.quantized(ends.map(\.weight), sum: (1 - Double(2 * side + 1) * rowWeight) / 2)
    }

    /// Rounds weights to multiples of 1/65536. The largest one gets the rest.
    private static func quantized(_ weights: [Double], sum: Double) -> [UInt16] {
        var whole = weights.map { Int(($0 * 65536).rounded()) }
        let rest = Int((sum * 65536).rounded()) - whole.reduce(0, +)
        if let largest = whole.indices.max(by: { whole[$0] < whole[$1] }) { whole[largest] += rest }
        return whole.map { UInt16(clamping: $0) }
    }

    /// Where a line crosses the row at `y`: the pixel to the left of it, and the number of ``steps``-ths to the right of that.
    ///
    /// - Parameter phase: the line's position at y = 0, in 1/``density`` of a pixel.
    package func place(y: Int, phase: Int) -> (pixel: Int, step: Int) {
        let position = Double(phase) / Double(density) + slope * Double(y)
        return Int((position * Double(Self.steps)).rounded()).quotientAndModulus(Self.steps)
    }

    /// The sums between which the output at column 0 of the row at `y` lies, by the columns of their lines at y = 0 and their
    /// phases, and the weights of the sums.
    package func sums(y: Int) -> [(line: Int, phase: Int, weight: Double)] {
        let position = -slope * Double(density) * Double(y)
        var (first, weights) = (Int(position.rounded()), [1.0])
        if !isExact {
            let t = position - position.rounded(.down)
            // Lagrange's cubic polynomial through −1, 0, 1 and 2.
            let (a, b, c) = (t + 1, t - 1, t - 2)
            first = Int(position.rounded(.down)) - 1
            weights = [-t * b * c / 6, a * b * c / 2, -a * t * c / 2, a * t * b / 6]
        }
        return weights.enumerated().map { index, weight in
            let (line, phase) = (first + index).quotientAndModulus(density)
            return (line, phase, weight)
        }
    }
}

extension Int {
    fileprivate func quotientAndModulus(_ divisor: Int) -> (Int, Int) {
        let rest = self % divisor
        return rest < 0 ? (self / divisor - 1, rest + divisor) : (self / divisor, rest)
    }
}
