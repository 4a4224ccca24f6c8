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
        for prefilter in prefilters {
            let reach = prefilter.doublingReach
            range = (range.lowerBound >> 1) - reach..<((range.upperBound - 1) >> 1) + reach + 1
        }
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
    /// Below this standard deviation a direct FIR is cheaper than any prefilter that is accurate enough.
    static let crossing = 2.5
    /// The largest error of a kernel (sum of absolute differences, one axis): 0.38 of 255 in two dimensions.
    static let allowedError = 1.5e-3

    /// For samples of 8 bits: weights are fractions of 65536 (65535 stands for 1).
    ///
    /// - Parameter sigma: standard deviation in samples, at least 0.
    package static func fixedPoint(sigma: Double) -> AxisDesign {
        guard sigma >= crossing else {
            // What lies beyond 3.5·σ + ½ has a weight below 5e-4 for both tails.
            let radius = max(0, Int((3.5 * sigma - 0.5).rounded(.up)))
            return AxisDesign(prefilters: [], weights: quantized(SymmetricTaps.gaussian(sigma: sigma, radius: radius)))
        }
        var prefilters: [Prefilter] = []
        var local = sigma
        while local >= crossing {
            prefilters.append(prefilter(local))
            local /= 2
        }
        let fit = MultirateFit(sigma: sigma, prefilters: prefilters)
        let candidates = (2...12).lazy.map { quantized(fit.weights(radius: $0)) }
        let good = candidates.first { fit.worstError($0.map { Double($0) / 65536 }) <= allowedError }
        return AxisDesign(prefilters: prefilters, weights: good ?? quantized(fit.weights(radius: 12)))
    }

    /// The shortest prefilter whose aliases stay within the allowed error.
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
    /// kernel's error is below 2.5e-5.
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
