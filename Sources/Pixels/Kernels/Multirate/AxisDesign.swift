import Raster

/// How a Gaussian along one axis is computed: halvings, a FIR with symmetric weights at the lowest rate, doublings.
package struct AxisDesign<Weight: Hashable & Sendable>: Hashable, Sendable {
    /// One for each level, the highest rate first; none for a direct FIR.
    package let prefilters: [Prefilter]
    /// From the centre outwards.
    package let weights: [Weight]

    package var radius: Int { weights.count - 1 }
    /// Input samples from one low-rate sample to the next.
    var step: Int { 1 << prefilters.count }
}

extension AxisDesign {
    /// The input samples that are read for some output samples.
    package func needed(_ output: Range<Int>) -> Range<Int> {
        var range = output
        for prefilter in prefilters { range = prefilter.source(ofDoubled: range) }
        range = range.lowerBound - radius..<range.upperBound + radius
        for prefilter in prefilters.reversed() { range = prefilter.window(range) }
        return range
    }

    /// The most that is read on either side of an output sample, whatever its phase.
    package var reach: Int {
        (0..<step).map { phase in
            let range = needed(phase..<phase + 1)
            return max(phase - range.lowerBound, range.upperBound - 1 - phase)
        }.max() ?? 0
    }
}

extension Prefilter {
    /// The samples at the higher rate that some low-rate samples are made of.
    func window(_ low: Range<Int>) -> Range<Int> {
        2 * low.lowerBound - before..<2 * (low.upperBound - 1) + after + 1
    }
}

extension AxisDesign<UInt16> {
    /// For samples of 8 bits: weights are fractions of 65536 (65535 stands for 1).
    ///
    /// The shortest FIR, and the most levels, with which no picture can be off by 1 (see ``FixedPointError``).
    ///
    /// - Parameter sigma: standard deviation in samples, at least 0.
    package static func fixedPoint(sigma: Double) -> AxisDesign {
        guard sigma >= crossings[0] else {
            // What lies beyond 3.5·σ + ½ has a weight below 5e-4 for both tails.
            let radius = max(0, Int((3.5 * sigma - 0.5).rounded(.up)))
            return AxisDesign(prefilters: [], weights: quantized(SymmetricTaps.gaussian(sigma: sigma, radius: radius)))
        }
        var last = AxisDesign(prefilters: [], weights: [])
        for crossing in crossings {
            let prefilters = prefilters(sigma, crossing: crossing)
            let fit = MultirateFit(sigma: sigma, prefilters: prefilters)
            for radius in 2...MultirateFit.longestRadius {
                last = AxisDesign(prefilters: prefilters, weights: quantized(fit.weights(radius: radius)))
                let error = fit.worstError(last.weights.map { Double($0) / 65536 })
                if FixedPointError(prefilters: prefilters, radius: last.radius, kernelError: error).worst < 1 {
                    return last
                }
            }
        }
        return last
    }

    /// The standard deviation, at the rate of a level, from which on it is halved once more. Below the first one a
    /// direct FIR is cheaper than any prefilter that is accurate enough; the second one is for many levels, whose
    /// rounding leaves less for the kernel.
    private static let crossings = [2.5, 2.75]

    private static func prefilters(_ sigma: Double, crossing: Double) -> [Prefilter] {
        var prefilters: [Prefilter] = []
        var local = sigma
        while local >= crossing {
            prefilters.append(prefilter(local))
            local /= 2
        }
        return prefilters
    }

    /// The shortest prefilter whose aliases are small enough.
    private static func prefilter(_ sigma: Double) -> Prefilter {
        switch sigma {
        case ..<3: .binomial(8)
        case ..<4: .six
        case ..<8: .binomial(5)
        default: .binomial(4)
        }
    }

    /// Rounded to 16 bits; the centre takes what is missing from 65536 in all.
    static func quantized(_ weights: [Double]) -> [UInt16] {
        var sides = weights.dropFirst().map { UInt16(rounding: $0 * 65536) }
        while sides.last == 0 { sides.removeLast() }
        let center = 65536 - 2 * sides.reduce(0) { $0 + Int($1) }
        return [UInt16(clamping: center)] + sides
    }
}

extension AxisDesign<Float> {
    /// Below this standard deviation a direct FIR is as cheap.
    static let crossing = 3.25

    /// For 16-bit and floating-point samples and linear light: 12 taps a level, a FIR to 4.25 standard deviations; the
    /// kernel's error is below 1e-4.
    package static func floating(sigma: Double) -> AxisDesign {
        var prefilters: [Prefilter] = []
        var local = sigma
        while local >= crossing {
            prefilters.append(.binomial(12))
            local /= 2
        }
        guard !prefilters.isEmpty else {
            return AxisDesign(prefilters: [], weights: SymmetricTaps.gaussian(sigma: sigma).half.map { Float($0) })
        }
        let remaining = MultirateFit.remainingSigma(sigma, prefilters)
        let radius = max(2, Int((SymmetricTaps.gaussianReach * remaining).rounded(.up)))
        let weights = MultirateFit(sigma: sigma, prefilters: prefilters).weights(radius: radius)
        return AxisDesign(prefilters: prefilters, weights: weights.map { Float($0) })
    }
}
