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
