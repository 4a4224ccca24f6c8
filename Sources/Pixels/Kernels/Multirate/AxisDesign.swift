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
    func window(_ low: Range<Int>) -> Range<Int> { 2 * low.lowerBound - before..<2 * (low.upperBound - 1) + after + 1 }
}

extension AxisDesign<UInt16> {
    /// For samples of 8 bits: weights are fractions of 65536 (65535 stands for 1).
    ///
    /// The shortest FIR, and the most levels, with which no picture can be off by 1 (see ``RoundingBound``).
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
                if RoundingBound(prefilters: prefilters, radius: last.radius, kernelError: error).worst < 1 {
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

/// A symmetric filter before halving the sampling rate, and after doubling it.
///
/// Halving: low[m] = Σ taps[j]·x[2m − before + j]. Doubling: y[n] = 2·Σ taps[n − 2m + before]·low[m].
package struct Prefilter: Hashable, Sendable {
    /// Their sum is 1, and so is twice the sum of the even and of the odd ones: a flat image stays flat.
    package let taps: [Double]

    /// Samples that the window reaches before twice the position, and behind it.
    var before: Int { (taps.count - 1) / 2 }
    var after: Int { taps.count / 2 }
    /// Low-rate samples that doubling reads on each side of half the position.
    var doublingReach: Int { taps.count / 4 }

    /// In squared samples of the higher rate.
    package var variance: Double {
        let center = Double(taps.count - 1) / 2
        return taps.enumerated().reduce(0) {
            $0 + $1.element * (Double($1.offset) - center) * (Double($1.offset) - center)
        }
    }

    /// The row of Pascal's triangle with `count` entries: as many zeros as possible at the frequency that would be
    /// taken for a flat image.
    package static func binomial(_ count: Int) -> Prefilter {
        var taps = [1.0]
        while taps.count < count { taps = zip([0] + taps, taps + [0]).map { ($0 + $1) / 2 } }
        return Prefilter(taps: taps)
    }

    /// Six taps that admit a lower crossing than the binomial's: a least-squares fit rounded to 128ths.
    package static let six = Prefilter(taps: [5, 21, 38, 38, 21, 5].map { $0 / 128 })
}

/// The coordinates of one axis that each image of a multirate chain has, for some output.
///
/// Beyond the core of its source an image is constant: everything that is read there is the same, so one value past the
/// last window that touches the core stands for all. That makes `clamp` and `transparent` edges exact at no cost,
/// however far the filter reaches.
struct AxisSpans {
    /// `low[0]` of the source, `low[l]` after l halvings.
    let low: [Range<Int>]
    /// `up[l]` at the rate after l halvings, on the way back; `up[0]` is the output.
    let up: [Range<Int>]
    /// How far the filter at the lowest rate reads beyond what is stored there.
    let excess: Int

    /// - Parameters:
    ///   - prefilters: one for each level; nil where this axis keeps its rate.
    ///   - core: see ``AxisTable/core``.
    ///   - pairs: whether `up` is made in pairs from an even coordinate on.
    init(output: Range<Int>, core: Range<Int>, prefilters: [Prefilter?], radius: Int, pairs: Bool) {
        var up = [output]
        for prefilter in prefilters {
            let range = prefilter.map { $0.source(ofDoubled: up[up.count - 1]) } ?? up[up.count - 1]
            let isMadeInPairs = pairs && up.count < prefilters.count && prefilters[up.count] != nil
            up.append(isMadeInPairs ? range.lowerBound & ~1..<(range.upperBound + 1) & ~1 : range)
        }
        let cores = prefilters.reduce(into: [core]) { cores, prefilter in
            let core = cores[cores.count - 1]
            cores.append(prefilter.map { $0.core(ofHalved: core) } ?? core)
        }
        let lowest = up[up.count - 1]
        let needed = lowest.lowerBound - radius..<lowest.upperBound + radius
        var low = [Self.part(of: needed, in: cores[cores.count - 1])]
        for (level, prefilter) in prefilters.enumerated().reversed() {
            let window = prefilter.map { $0.window(low[0]) } ?? low[0]
            low.insert(Self.part(of: window, in: cores[level]), at: 0)
        }
        let stored = low[low.count - 1]
        excess = max(0, stored.lowerBound - needed.lowerBound, needed.upperBound - stored.upperBound)
        self.low = low
        self.up = up
    }

    /// What of a range lies in the core; the nearest coordinate of the core when nothing does.
    private static func part(of range: Range<Int>, in core: Range<Int>) -> Range<Int> {
        let first = min(max(range.lowerBound, core.lowerBound), core.upperBound - 1)
        let last = min(max(range.upperBound - 1, core.lowerBound), core.upperBound - 1)
        return first..<last + 1
    }
}

extension Prefilter {
    /// The low-rate samples that some doubled ones are made of.
    func source(ofDoubled range: Range<Int>) -> Range<Int> {
        (range.lowerBound >> 1) - doublingReach..<((range.upperBound - 1) >> 1) + doublingReach + 1
    }

    /// Beyond these low-rate samples every window lies beyond the core.
    func core(ofHalved core: Range<Int>) -> Range<Int> {
        let first = (core.lowerBound - after) >> 1
        let last = (core.upperBound - 1 + before + 1) >> 1
        return first..<last + 1
    }
}

extension AxisTable {
    /// The part of the table beyond which it repeats its first and its last entry.
    var core: Range<Int> {
        guard let first = positions.first, let last = positions.last else { return range }
        let lead = positions.prefix { $0 == first }.count
        guard lead < positions.count else { return range.lowerBound..<range.lowerBound + 1 }
        let tail = positions.reversed().prefix { $0 == last }.count
        return range.lowerBound + lead - 1..<range.upperBound - tail + 1
    }

    /// The run of coordinates whose positions are neighbours in order that covers most of `wanted`, and what to add to
    /// get a position.
    func longestRun(in wanted: Range<Int>) -> (coordinates: Range<Int>, shift: Int) {
        let first = wanted.lowerBound - range.lowerBound
        let wanted = first..<first + wanted.count
        var (best, start) = (0..<0, 0)
        for index in 1..<positions.count + 1 {
            let goes = index < positions.count && positions[index] == positions[index - 1] + 1 && positions[index] > 0
            if goes { continue }
            let covered = (start..<index).clamped(to: wanted).count
            if covered > best.clamped(to: wanted).count, positions[start] >= 0 { best = start..<index }
            start = index
        }
        guard !best.isEmpty else { return (range.lowerBound..<range.lowerBound, 0) }
        let coordinates = range.lowerBound + best.lowerBound..<range.lowerBound + best.upperBound
        return (coordinates, Int(positions[best.lowerBound]) - coordinates.lowerBound)
    }
}
