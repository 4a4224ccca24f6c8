// Floats as whole numbers in the same order, so that they can be compared and sorted as such: those below zero have all
// bits but the sign turned over. Zero has one sign, and NaN is one number, larger than infinity.

/// Turns floats into their ranks, in place.
@inline(never)
public func rankFloats(_ values: UnsafeMutablePointer<Float>, count: Int) {
    var index = 0
    while index < count {
        let value = values[index] + 0  // −0 + 0 is 0
        let bits = Int32(bitPattern: value.bitPattern)
        let rank = value == value ? bits ^ ((bits &>> 31) & 0x7FFF_FFFF) : 0x7FC0_0000
        values[index] = Float(bitPattern: UInt32(bitPattern: rank))
        index &+= 1
    }
}

/// Turns ranks into their floats, in place.
@inline(never)
public func unrankFloats(_ ranks: UnsafeMutablePointer<Int32>, count: Int) {
    var index = 0
    while index < count {
        ranks[index] = ranks[index] ^ ((ranks[index] &>> 31) & 0x7FFF_FFFF)
        index &+= 1
    }
}
