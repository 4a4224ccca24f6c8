// Integer sums over long windows of equal weights. Each step adds the sample that enters and subtracts the sample that leaves,
// so the result is always exact. A window has at most 2001 words: the sum is below 2²⁶.

/// sums[i] += entering[i] − leaving[i].
@inline(never) public func slideSums(
    _ entering: UnsafePointer<UInt16>, _ leaving: UnsafePointer<UInt16>, count: Int,
    sums: UnsafeMutablePointer<UInt32>
) {
    var index = 0
    while index < count {
        sums[index] = sums[index] &+ UInt32(entering[index]) &- UInt32(leaving[index])
        index &+= 1
    }
}

/// sums[i] += entering[i].
@inline(never)
public func addToSums(_ entering: UnsafePointer<UInt16>, count: Int, sums: UnsafeMutablePointer<UInt32>) {
    var index = 0
    while index < count {
        sums[index] = sums[index] &+ UInt32(entering[index])
        index &+= 1
    }
}

/// The sums of the windows of `length` pixels along a row. The first window starts at `row`.
@inline(never) public func sumWindows(
    _ row: UnsafePointer<UInt16>, channels: Int, length: Int, count: Int, sums: UnsafeMutablePointer<UInt32>
) {
    var channel = 0
    while channel < channels {
        var sum: UInt32 = 0
        var index = channel
        while index < length &* channels {
            sum &+= UInt32(row[index])
            index &+= channels
        }
        sums[channel] = sum
        channel &+= 1
    }
    let ahead = (length &- 1) &* channels
    var index = channels
    while index < count {
        sums[index] = sums[index &- channels] &+ UInt32(row[index &+ ahead]) &- UInt32(row[index &- channels])
        index &+= 1
    }
}

/// The weighted sums and up to two pairs of tails, rounded to words.
///
/// - Parameters:
///   - pairs: 4 rows; where a weight is 0, any row may be given.
@inline(never) public func weighSums(
    _ sums: UnsafePointer<UInt32>, weight: Float, pairs: UnsafePointer<UnsafePointer<UInt16>>, first: Float,
    second: Float, count: Int, words: UnsafeMutablePointer<UInt16>
) {
    let (a, b, c, d) = (pairs[0], pairs[1], pairs[2], pairs[3])
    var index = 0
    while index < count {
        let plateau = Float(Int32(bitPattern: sums[index])) * weight
        let nearTails = Float(Int32(a[index]) &+ Int32(b[index])) * first
        let farTails = Float(Int32(c[index]) &+ Int32(d[index])) * second
        words[index] = UInt16(truncatingIfNeeded: Int32(plateau + nearTails + farTails + 0.5))
        index &+= 1
    }
}

/// Rounds words to samples. Both must be readable and writable up to 31 values after the end.
@inline(never) public func roundWords(_ words: UnsafePointer<UInt16>, count: Int, bytes: UnsafeMutablePointer<UInt8>) {
    var x = 0
    while x < count {
        store(roundedToBytes(load(words + x)), bytes + x)
        x &+= 32
    }
}
