/// How far a sample of 0…255 can be off, whatever the picture; docs/arithmetic.md derives each term.
package struct FixedPointError: Hashable, Sendable {
    /// From kernels that are not quite a Gaussian, both axes together.
    package let kernel: Double
    /// From products, halves and averages rounded to 1/128.
    package let arithmetic: Double
    /// From rounding to a sample at the end.
    package let rounding = 0.5

    /// - Parameters:
    ///   - radius: of the FIR at the lowest rate.
    ///   - kernelError: the sum of absolute differences from a Gaussian along one axis, the worst phase.
    package init(prefilters: [Prefilter], radius: Int, kernelError: Double) {
        // An error kernel sums to 0, so samples of 0…255 make at most half of its absolute sum times 255, on each axis.
        kernel = 255 * kernelError
        var units = 0.5  // a colour times its alpha
        for (level, prefilter) in prefilters.enumerated() {
            units += Self.halving(prefilter.taps.count, isFirst: level == 0) + Self.doubling(prefilter.taps.count)
        }
        units += 2 * Self.products(radius + 1)
        arithmetic = units / 128
    }

    package var worst: Double { kernel + arithmetic + rounding }

    /// A cut product is up to a unit too small; half a unit is added for each, in whole units.
    private static func products(_ count: Int) -> Double { Double(count - count / 2) }

    private static func halving(_ taps: Int, isFirst: Bool) -> Double {
        switch (taps, isFirst) {
        case (4, true): 0  // whole numbers all the way
        case (5, true): 0.5  // one half is cut
        case (6, true): 2
        case (8, true): 2
        case (4, false): 2
        case (8, false): 4
        default: 3
        }
    }

    /// Averages round up by at most half a unit each; sums of 3 or 4 products by ``products(_:)``. Both axes.
    private static func doubling(_ taps: Int) -> Double {
        switch taps {
        case 4: 1.5
        case 5: 1.75
        default: 4
        }
    }
}
