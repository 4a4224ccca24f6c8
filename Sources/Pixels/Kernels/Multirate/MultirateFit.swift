import Arithmetic

/// The FIR at the lowest rate that brings a chain of halvings, FIR and doublings nearest to a Gaussian.
///
/// Such a chain is a filter of the input whose kernel depends on the output's phase n mod d (d = 2^levels). The kernel is
/// linear in the FIR's weights. The best weights minimise the sum over all phases of the squared distance to the Gaussian,
/// with a sum of 1. They are the solution of a small linear system (docs/explanation/gaussian.md).
package struct MultirateFit {
    private let sigma: Double
    private let step: Int
    /// For each phase, the kernel of the chain with the FIR [1], and its start relative to the output's sample.
    private let kernels: [(start: Int, values: [Double])]
    private let gaussian: [Double]
    /// The ``autocorrelation`` at 0…2·``longestRadius`` low-rate samples.
    private let correlation: [Double]
    /// The ``similarity`` to either side, at 0…``longestRadius`` low-rate samples.
    private let similarity: [Double]

    /// The largest radius of a FIR.
    package static let longestRadius = 14

    /// Only the last levels are fitted. The kernel of the earlier levels is nearly a Gaussian to the rest, and its variance is
    /// subtracted.
    private static let fittedLevels = 4

    /// - Parameters:
    ///   - sigma: standard deviation in samples of the input.
    ///   - prefilters: one for each level, the highest rate first.
    package init(sigma: Double, prefilters: [Prefilter]) {
        var remaining = sigma * sigma
        for prefilter in prefilters.dropLast(Self.fittedLevels) { remaining = (remaining - 2 * prefilter.variance) / 4 }
        self.init(exactSigma: remaining.squareRoot(), prefilters: Array(prefilters.suffix(Self.fittedLevels)))
    }

    /// Fits all levels. The cost grows with 4^levels.
    package init(exactSigma sigma: Double, prefilters: [Prefilter]) {
        self.sigma = sigma
        let cascade = Self.cascade(prefilters)
        let step = 1 << prefilters.count
        self.step = step
        let kernels = (0..<step).map { Self.kernel(phase: $0, cascade, step: step) }
        self.kernels = kernels
        let reach = Int((8 * sigma).rounded(.up)) + 2
        let weights = (0...reach).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights[0] + 2 * weights.dropFirst().reversed().reduce(0, +)
        let gaussian = weights.map { $0 / sum }
        self.gaussian = gaussian
        correlation = (0...2 * Self.longestRadius).map { Self.autocorrelation(kernels, shift: $0 * step) }
        similarity = (0...Self.longestRadius).map { k in
            let right = Self.similarity(kernels, gaussian, shift: k * step)
            return k == 0 ? right : right + Self.similarity(kernels, gaussian, shift: -k * step)
        }
    }

    /// All halvings as one filter: low[m] = Σ values[j]·x[step·m + start + j].
    private static func cascade(_ prefilters: [Prefilter]) -> (start: Int, values: [Double]) {
        var (start, values, step) = (0, [1.0], 1)
        for prefilter in prefilters {
            var longer = [Double](repeating: 0, count: values.count + (prefilter.taps.count - 1) * step)
            for (j, tap) in prefilter.taps.enumerated() {
                for (index, value) in values.enumerated() { longer[index + j * step] += tap * value }
            }
            start -= prefilter.before * step
            (values, step) = (longer, 2 * step)
        }
        return (start, values)
    }

    /// y[n] = step·Σ values[n − step·m − start]·low[m] with low[m] as above, for n = phase.
    private static func kernel(
        phase: Int, _ cascade: (start: Int, values: [Double]), step: Int
    ) -> (start: Int, values: [Double]) {
        let (start, values) = cascade
        let positions = ((phase - start - values.count) / step - 1...(phase - start) / step + 1).filter {
            values.indices.contains(phase - step * $0 - start)
        }
        guard let first = positions.first, let last = positions.last else { return (0, []) }
        var kernel = [Double](repeating: 0, count: (last - first) * step + values.count)
        for position in positions {
            let weight = Double(step) * values[phase - step * position - start]
            for (j, value) in values.enumerated() { kernel[(position - first) * step + j] += weight * value }
        }
        return (step * first + start - phase, kernel)
    }
}

extension MultirateFit {
    /// The best weights of a given radius, at most ``longestRadius``, from the centre outwards.
    func weights(radius: Int) -> [Double] {
        let matrix = (0...radius).map { k in
            (0...radius).map { l in
                switch (k, l) {
                case (0, 0): correlation[0]
                case (0, _), (_, 0): 2 * correlation[max(k, l)]
                default: 2 * correlation[abs(k - l)] + 2 * correlation[k + l]
                }
            }
        }
        let target = Array(similarity[0...radius])
        let multiplicity = [1.0] + [Double](repeating: 2, count: radius)
        let free = LinearSystem.solve(matrix, target)
        let correction = LinearSystem.solve(matrix, multiplicity)
        func sum(_ weights: [Double]) -> Double { zip(weights, multiplicity).reduce(0) { $0 + $1.0 * $1.1 } }
        let excess = (sum(free) - 1) / sum(correction)
        return zip(free, correction).map { $0 - excess * $1 }
    }

    /// The sum of absolute differences between the chain's kernel and the Gaussian, for the worst phase.
    ///
    /// - Parameter weights: the weights of the FIR, from the centre outwards.
    package func worstError(_ weights: [Double]) -> Double {
        kernels.map { kernel in
            let radius = weights.count - 1
            let lead = radius * step
            var values = [Double](repeating: 0, count: kernel.values.count + 2 * lead)
            for k in -radius...radius {
                for (index, value) in kernel.values.enumerated() {
                    values[index + lead + k * step] += weights[abs(k)] * value
                }
            }
            let start = kernel.start - lead
            let inside = values.enumerated().reduce(0) { $0 + abs($1.element - gaussianWeight(start + $1.offset)) }
            let covered = values.indices.reduce(0) { $0 + gaussianWeight(start + $1) }
            return inside + max(0, 1 - covered)
        }.max() ?? 0
    }

    private func gaussianWeight(_ distance: Int) -> Double { Self.weight(gaussian, distance) }

    private static func weight(_ gaussian: [Double], _ distance: Int) -> Double {
        let distance = abs(distance)
        return distance < gaussian.count ? gaussian[distance] : 0
    }

    /// Σ over phases and samples of the kernel times the kernel shifted by `shift` samples.
    private static func autocorrelation(_ kernels: [(start: Int, values: [Double])], shift: Int) -> Double {
        kernels.reduce(0) { sum, kernel in
            guard shift < kernel.values.count else { return sum }
            return sum + zip(kernel.values, kernel.values[shift...]).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }

    /// Σ over phases and samples of the kernel, shifted by `shift` samples, times the Gaussian.
    private static func similarity(
        _ kernels: [(start: Int, values: [Double])], _ gaussian: [Double], shift: Int
    ) -> Double {
        kernels.reduce(0) { sum, kernel in
            let start = kernel.start + shift
            return sum
                + kernel.values.enumerated().reduce(0) { $0 + $1.element * weight(gaussian, start + $1.offset) }
        }
    }
}

/// Gaussian elimination with partial pivoting, in a fixed order.
package enum LinearSystem {
    /// - Precondition: the matrix is square and regular.
    package static func solve(_ matrix: [[Double]], _ target: [Double]) -> [Double] {
        var rows = zip(matrix, target).map { $0 + [$1] }
        for column in rows.indices {
            let pivot = (column..<rows.count).max { rows[$0][column].magnitude < rows[$1][column].magnitude } ?? column
            rows.swapAt(column, pivot)
            for other in rows.indices where other > column {
                let factor = rows[other][column] / rows[column][column]
                for index in column...rows.count { rows[other][index] -= factor * rows[column][index] }
            }
        }
        var result = [Double](repeating: 0, count: rows.count)
        for index in rows.indices.reversed() {
            let known = (index + 1..<rows.count).reduce(0) { $0 + rows[index][$1] * result[$1] }
            result[index] = (rows[index][rows.count] - known) / rows[index][index]
        }
        return result
    }
}

/// A bound for the error of a sample of 0…255, for every picture. docs/explanation/gaussian.md derives each term.
package struct RoundingBound: Hashable, Sendable {
    /// The error from kernels that differ from a Gaussian, for both axes together.
    package let kernel: Double
    /// The error from products, halves and averages that are rounded to 1/128.
    package let arithmetic: Double
    /// The error from the final rounding to a sample.
    package let rounding = 0.5

    /// - Parameters:
    ///   - radius: the radius of the FIR at the lowest rate.
    ///   - kernelError: the sum of absolute differences from a Gaussian along one axis, for the worst phase.
    package init(prefilters: [Prefilter], radius: Int, kernelError: Double) {
        // An error kernel sums to 0, so samples of 0…255 change by at most half of its absolute sum times 255, on each axis.
        kernel = 255 * kernelError
        var units = 0.5  // a colour times its alpha
        for (level, prefilter) in prefilters.enumerated() {
            units += Self.halving(prefilter.taps.count, isFirst: level == 0) + Self.doubling(prefilter.taps.count)
        }
        units += 2 * Self.products(radius + 1)
        arithmetic = units / 128
    }

    package var worst: Double { kernel + arithmetic + rounding }

    /// A truncated product is up to one unit too small. Half a unit is added for each, in whole units.
    private static func products(_ count: Int) -> Double { Double(count - count / 2) }

    private static func halving(_ taps: Int, isFirst: Bool) -> Double {
        switch (taps, isFirst) {
        // Two averages on each axis round up by at most half a unit each, and the second one halves what the first one added.
        case (3, _): 1.5
        case (4, true): 0  // integers all the way
        case (5, true): 0.5  // one half is truncated
        case (6, true): 2
        case (8, true): 2
        case (4, false): 2
        case (8, false): 4
        default: 3
        }
    }

    /// Averages round up by at most half a unit each; sums of 3 or 4 products err by ``products(_:)``. Both axes.
    private static func doubling(_ taps: Int) -> Double {
        switch taps {
        case 3: 1
        case 4: 1.5
        case 5: 1.75
        default: 4
        }
    }
}
