import Raster
import Synchronization

/// The computation of a Gaussian along one axis: halvings, a FIR with symmetric weights at the lowest rate, doublings.
package struct AxisDesign<Weight: Hashable & Sendable>: Hashable, Sendable {
    /// One prefilter for each level, the highest rate first. Empty for a direct FIR.
    package let prefilters: [Prefilter]
    /// The weights from the centre outwards.
    package let weights: [Weight]

    package var radius: Int { weights.count - 1 }
    /// The distance of low-rate samples, in input samples.
    var step: Int { 1 << prefilters.count }
}

extension AxisDesign {
    /// The input samples from which some output samples are computed.
    package func needed(_ output: Range<Int>) -> Range<Int> {
        var range = output
        for prefilter in prefilters { range = prefilter.source(ofDoubled: range) }
        range = range.lowerBound - radius..<range.upperBound + radius
        for prefilter in prefilters.reversed() { range = prefilter.window(range) }
        return range
    }

    /// The largest distance that is read on either side of an output sample, for every phase.
    package var reach: Int {
        (0..<step).map { phase in
            let range = needed(phase..<phase + 1)
            return max(phase - range.lowerBound, range.upperBound - 1 - phase)
        }.max() ?? 0
    }
}

extension Prefilter {
    /// The samples at the higher rate from which some low-rate samples are computed.
    func window(_ low: Range<Int>) -> Range<Int> { 2 * low.lowerBound - before..<2 * (low.upperBound - 1) + after + 1 }
}

extension AxisDesign<UInt16> {
    /// A design for 8-bit samples. Weights are multiples of 1/65536 (65535 stands for 1).
    ///
    /// It has the shortest FIR and the most levels for which no picture can be off by 1 (see ``RoundingBound``).
    ///
    /// - Parameter sigma: the standard deviation in samples, at least 0.
    package static func fixedPoint(sigma: Double) -> AxisDesign {
        fixedPointDesigns.design(sigma: sigma) { computedFixedPoint(sigma: sigma) }
    }

    private static func computedFixedPoint(sigma: Double) -> AxisDesign {
        guard sigma >= crossings[0] else {
            // Both tails beyond 3.5·σ + ½ together have a weight below 5e-4.
            let radius = max(0, Int((3.5 * sigma - 0.5).rounded(.up)))
            return AxisDesign(prefilters: [], weights: quantized(SymmetricTaps.gaussian(sigma: sigma, radius: radius)))
        }
        var last = AxisDesign(prefilters: [], weights: [])
        for light in lightest {
            let longest = light == lightest.last ? MultirateFit.longestRadius : Self.longestRadius
            for crossing in crossings {
                let prefilters = prefilters(sigma, crossing: crossing, light: light)
                let fit = MultirateFit(sigma: sigma, prefilters: prefilters)
                for radius in 2...longest {
                    last = AxisDesign(prefilters: prefilters, weights: quantized(fit.weights(radius: radius)))
                    let error = fit.worstError(last.weights.map { Double($0) / 65536 })
                    if RoundingBound(prefilters: prefilters, radius: last.radius, kernelError: error).worst < 1 {
                        return last
                    }
                }
            }
        }
        return last
    }

    /// The standard deviations, at the rate of a level, from which on 3 taps are tried. The second one is for a few standard deviations for
    /// which the first one leaves no design below the bound.
    private static let lightest = [24.0, 48]

    /// The longest radius of a design that may have the fewest taps.
    private static let longestRadius = 8

    /// The standard deviations, at the rate of a level, from which on the rate is halved once more. Below the first one a
    /// direct FIR is cheaper than any sufficiently accurate prefilter. The second one applies to many levels, whose rounding
    /// errors leave less tolerance for the kernel.
    private static let crossings = [2.5, 2.75]

    private static func prefilters(_ sigma: Double, crossing: Double, light: Double) -> [Prefilter] {
        var prefilters: [Prefilter] = []
        var local = sigma
        while local >= crossing {
            prefilters.append(local >= light ? .binomial(3) : prefilter(local))
            local /= 2
        }
        return prefilters
    }

    /// The shortest prefilter with sufficiently small aliasing, but for 3 taps.
    private static func prefilter(_ sigma: Double) -> Prefilter {
        switch sigma {
        case ..<3: .binomial(8)
        case ..<4: .six
        case ..<8: .binomial(5)
        default: .binomial(4)
        }
    }

    /// The weights rounded to 16 bits. The centre is adjusted so that the sum is 65536.
    static func quantized(_ weights: [Double]) -> [UInt16] {
        var sides = weights.dropFirst().map { UInt16(rounding: $0 * 65536) }
        while sides.last == 0 { sides.removeLast() }
        let center = 65536 - 2 * sides.reduce(0) { $0 + Int($1) }
        return [UInt16(clamping: center)] + sides
    }
}

extension AxisDesign<Float> {
    /// Below this standard deviation 10 taps are not sufficiently accurate, and a direct FIR is used.
    static let crossing = 3.0

    /// The largest error of a kernel: the sum of absolute differences from the Gaussian. An error kernel sums to 0, so samples of
    /// 0…65535 change by at most half of it on each of two axes: 6.5 of 65535.
    static let tolerance = 0.99e-4

    /// A design for 16-bit and floating-point samples and linear light. It has the shortest FIR for which the kernel's error
    /// is below 1e-4. `DesignTests` check that there is one.
    package static func floating(sigma: Double) -> AxisDesign {
        floatingDesigns.design(sigma: sigma) { computedFloating(sigma: sigma) }
    }

    private static func computedFloating(sigma: Double) -> AxisDesign {
        var prefilters: [Prefilter] = []
        var local = sigma
        while local >= crossing {
            prefilters.append(prefilter(local))
            local /= 2
        }
        guard !prefilters.isEmpty else {
            return AxisDesign(
                prefilters: [], weights: SymmetricTaps.gaussian(sigma: sigma, error: tolerance).map { Float($0) })
        }
        let fit = MultirateFit(sigma: sigma, prefilters: prefilters)
        var weights: [Double] = []
        for radius in 2...MultirateFit.longestRadius {
            weights = fit.weights(radius: radius)
            if fit.worstError(weights) < tolerance { break }
        }
        return AxisDesign(prefilters: prefilters, weights: weights.map { Float($0) })
    }

    /// The shortest prefilter with sufficiently small aliasing.
    private static func prefilter(_ sigma: Double) -> Prefilter {
        switch sigma {
        case ..<3.5: .binomial(10)
        case ..<5: .binomial(8)
        case ..<14: .binomial(6)
        default: .binomial(4)
        }
    }
}

private let fixedPointDesigns = LatestDesigns<UInt16>()
private let floatingDesigns = LatestDesigns<Float>()

/// The designs that this process has computed last. Each task makes its chain anew, and the designs of a large radius take several
/// milliseconds, a third of the processor time of a small picture.
private final class LatestDesigns<Weight: Hashable & Sendable>: Sendable {
    private let designs = Mutex<[Double: AxisDesign<Weight>]>([:])
    /// A sweep has fewer. If there are more, all are forgotten.
    private static var most: Int { 64 }

    func design(sigma: Double, _ compute: () -> AxisDesign<Weight>) -> AxisDesign<Weight> {
        if let known = designs.withLock({ $0[sigma] }) { return known }
        let design = compute()
        designs.withLock { designs in
            if designs.count >= Self.most { designs = [:] }
            designs[sigma] = design
        }
        return design
    }
}

/// A symmetric filter that is applied before the sampling rate is halved, and after it is doubled.
///
/// Halving: low[m] = Σ taps[j]·x[2m − before + j]. Doubling: y[n] = 2·Σ taps[n − 2m + before]·low[m].
package struct Prefilter: Hashable, Sendable {
    /// The taps. Their sum is 1, and the even and the odd ones each sum to ½, so that a flat image stays flat.
    package let taps: [Double]

    /// The number of samples in the window before twice the position.
    var before: Int { (taps.count - 1) / 2 }
    var after: Int { taps.count / 2 }
    /// The number of low-rate samples that doubling reads on each side of half the position.
    var doublingReach: Int { (taps.count + 1) / 4 }

    /// The variance, in squared samples of the higher rate.
    package var variance: Double {
        let center = Double(taps.count - 1) / 2
        return taps.enumerated().reduce(0) {
            $0 + $1.element * (Double($1.offset) - center) * (Double($1.offset) - center)
        }
    }

    /// The row of Pascal's triangle with `count` entries. It has the most zeros at the frequency that aliases to 0.
    package static func binomial(_ count: Int) -> Prefilter {
        var taps = [1.0]
        while taps.count < count { taps = zip([0] + taps, taps + [0]).map { ($0 + $1) / 2 } }
        return Prefilter(taps: taps)
    }

    /// Six taps with a lower crossing than the binomial filter: a least-squares fit rounded to 128ths.
    package static let six = Prefilter(taps: [5, 21, 38, 38, 21, 5].map { $0 / 128 })
}

/// The coordinates along one axis that each image of a multirate chain needs for some output.
///
/// Beyond the core of its source an image is constant, so one value beyond the last window that touches the core represents
/// all others. This makes `clamp` and `transparent` edges exact at no cost, however far the filter reaches.
struct AxisSpans {
    /// `low[0]` is the range of the source, `low[l]` that after l halvings.
    let low: [Range<Int>]
    /// `up[l]` is the range at the rate after l halvings, on the way back. `up[0]` is the output.
    let up: [Range<Int>]
    /// The distance that the filter at the lowest rate reads beyond the stored range.
    let excess: Int

    /// - Parameters:
    ///   - prefilters: one for each level; nil if this axis keeps its rate.
    ///   - core: see ``AxisTable/core``.
    ///   - pairs: whether `up` is computed in pairs from an even coordinate on.
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

    /// The intersection of a range with the core, or the nearest coordinate of the core if they are disjoint.
    private static func part(of range: Range<Int>, in core: Range<Int>) -> Range<Int> {
        let first = min(max(range.lowerBound, core.lowerBound), core.upperBound - 1)
        let last = min(max(range.upperBound - 1, core.lowerBound), core.upperBound - 1)
        return first..<last + 1
    }
}

extension Prefilter {
    /// The low-rate samples from which some doubled samples are computed.
    func source(ofDoubled range: Range<Int>) -> Range<Int> {
        (range.lowerBound >> 1) - doublingReach..<((range.upperBound - 1) >> 1) + doublingReach + 1
    }

    /// The low-rate samples beyond which every window lies outside the core.
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

    /// The longest run of coordinates in `wanted` with consecutive positions, and the shift from a coordinate to its position.
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
