extension DeterministicMath {
    /// The cube root of a positive, normal, finite number.
    ///
    /// Newton's iteration from a guess that is at most 7 % off (a third of the exponent, by integer arithmetic on the
    /// bits); each of the five steps doubles the number of right digits.
    static func cubeRoot(_ x: Double) -> Double {
        let bias = (UInt64(1023) << 52) / 3 * 2
        var y = Double(bitPattern: x.bitPattern / 3 + bias)
        for _ in 0..<5 { y = (y + y + x / (y * y)) / 3 }
        return y
    }

    /// The fifth root of a positive, normal, finite number, likewise.
    static func fifthRoot(_ x: Double) -> Double {
        let bias = (UInt64(1023) << 52) / 5 * 4
        var y = Double(bitPattern: x.bitPattern / 5 + bias)
        for _ in 0..<6 {
            let square = y * y
            y = (4 * y + x / (square * square)) / 5
        }
        return y
    }
}
