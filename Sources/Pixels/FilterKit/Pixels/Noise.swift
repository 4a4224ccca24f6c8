/// Random numbers that depend only on a position and a seed: the same in every tile, in every run and on every machine.
public enum Noise {
    /// Four times 32 random bits for a position. The bits of neighbouring positions are independent.
    ///
    /// They are the result of SplitMix64's finaliser (Steele, Lea and Flood, 2014) for a number that is unique among nearby
    /// positions.
    @inlinable public static func bits(x: Int, y: Int, seed: UInt64 = 0) -> SIMD4<UInt32> {
        let place =
            UInt64(bitPattern: Int64(x)) &* 0xD6E8_FEB8_6659_FD93
            &+ UInt64(bitPattern: Int64(y)) &* 0xA076_1D64_78BD_642F &+ seed &* 0xE703_7ED1_A0B4_28DB
        let (first, second) = (mixed(place), mixed(place &+ 0x9E37_79B9_7F4A_7C15))
        return SIMD4(
            UInt32(truncatingIfNeeded: first), UInt32(truncatingIfNeeded: first >> 32),
            UInt32(truncatingIfNeeded: second), UInt32(truncatingIfNeeded: second >> 32))
    }

    /// Four numbers of mean 0 and standard deviation 1 for a position, none beyond ±3.46.
    ///
    /// Each is the sum of four random bytes, whose distribution is close to a Gaussian and exactly symmetric.
    @inlinable public static func gaussian(x: Int, y: Int, seed: UInt64 = 0) -> SIMD4<Float> {
        let bits = bits(x: x, y: y, seed: seed)
        let pairs = (bits & 0x00FF_00FF) &+ ((bits &>> 8) & 0x00FF_00FF)
        let sums = (pairs & 0xFFFF) &+ (pairs &>> 16)
        let numbers = SIMD4(Float(sums.x), Float(sums.y), Float(sums.z), Float(sums.w))
        return (numbers - 510) * 0.0067658754  // 1/√(4·(256² − 1)/12)
    }

    @inlinable static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
