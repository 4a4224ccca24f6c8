extension SymmetricTaps {
    /// How many standard deviations a Gaussian reaches. What lies beyond has a weight of 2.1e-5, so that cutting it off
    /// moves a pixel by at most 2.8 of 65535 in two dimensions.
    static let gaussianReach = 4.25

    /// The weights exp(−k²/2σ²) at the whole numbers −R…R, R = ⌈4.25·σ⌉, divided by their sum.
    ///
    /// - Parameter sigma: the standard deviation in pixels, at least 0; 0 gives the one weight 1.
    public static func gaussian(sigma: Double) -> SymmetricTaps {
        precondition(sigma >= 0 && sigma.isFinite, "a standard deviation is a length")
        guard sigma > 0 else { return .identity }
        let radius = Int((gaussianReach * sigma).rounded(.up))
        let tail = (1...radius).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = 1 + 2 * tail.reversed().reduce(0, +)  // the smallest first, for accuracy
        return SymmetricTaps(half: [1 / sum] + tail.map { $0 / sum })
    }
}
