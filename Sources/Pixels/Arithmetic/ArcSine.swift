extension DeterministicMath {
    /// The angle, in radians, whose sine is `x`, for 0 ≤ `x` ≤ 1.
    ///
    /// Halving the angle three times, by sin(a/2) = sin a / √(2 + 2·cos a), leaves at most 0.196; the Taylor series up to
    /// the 21st power leaves out less than 1e-17 of that.
    package static func arcSine(_ x: Double) -> Double {
        precondition((0...1).contains(x), "a sine of the first quadrant")
        var sine = x
        for _ in 0..<3 { sine /= (2 + 2 * (1 - sine * sine).squareRoot()).squareRoot() }
        // x·(1 + 1/6·x²·(1 + 9/20·x²·(1 + 25/42·x²·(…)))), by Horner from the last term.
        let series = stride(from: 19.0, through: 1, by: -2).reduce(1) { sum, k in
            1 + sine * sine * k * k / ((k + 1) * (k + 2)) * sum
        }
        return 8 * sine * series
    }
}
