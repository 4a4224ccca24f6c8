import Arithmetic

extension SymmetricTaps {
    /// How many standard deviations a Gaussian reaches. What lies beyond has a weight of 2.1e-5, so that cutting it off
    /// moves a pixel by at most 2.8 of 65535 in two dimensions.
    static let gaussianReach = 4.25

    /// The weights exp(−k²/2σ²) at the whole numbers −R…R, R = ⌈4.25·σ⌉, divided by their sum.
    ///
    /// - Parameter sigma: the standard deviation in pixels, at least 0; 0 gives the one weight 1.
    public static func gaussian(sigma: Double) -> SymmetricTaps {
        SymmetricTaps(half: gaussian(sigma: sigma, radius: Int((gaussianReach * sigma).rounded(.up))))
    }

    /// The same for a given R, from the centre outwards.
    static func gaussian(sigma: Double, radius: Int) -> [Double] {
        precondition(sigma >= 0 && sigma.isFinite, "a standard deviation is a length")
        guard sigma > 0, radius > 0 else { return [1] }
        let tail = (1...radius).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = 1 + 2 * tail.reversed().reduce(0, +)  // the smallest first, for accuracy
        return [1 / sum] + tail.map { $0 / sum }
    }
}
