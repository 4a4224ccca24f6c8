// A FIR with few taps at any offsets, in pairs that are symmetric about the centre, for motion blur.

/// Filters one row: centre·weight + Σ (first + second)·weight.
///
/// - Parameters:
///   - center: the row itself, in 8.7 fixed point.
///   - pairs: 2·`pairCount` pointers, to the rows at the two offsets of each pair.
///   - weights: multiples of 1/65536: the centre's weight, then one for each pair.
///   - count: the number of output values. All pointers are readable up to 128 values after the end.
///   - bytes: receives samples. If it is nil, `words` receives 8.7 fixed point. Both are writable up to 128 values after the
///     end.
@inline(never) public func filterSparse(
    center: UnsafePointer<UInt16>, pairs: UnsafePointer<UnsafePointer<UInt16>>, pairCount: Int,
    weights: UnsafePointer<UInt16>, count: Int, bytes: UnsafeMutablePointer<UInt8>?,
    words: UnsafeMutablePointer<UInt16>?
) {
    let bias = WordVector(repeating: truncationBias(pairCount))
    var x = 0
    while x < count {
        var (a, b, c, d) = (bias, bias, bias, bias)
        a &+= highProduct(load(center + x), weights[0])
        b &+= highProduct(load(center + x + 32), weights[0])
        c &+= highProduct(load(center + x + 64), weights[0])
        d &+= highProduct(load(center + x + 96), weights[0])
        var k = 0
        while k < pairCount {
            let (p, q) = (pairs[2 &* k] + x, pairs[2 &* k &+ 1] + x)
            let weight = weights[k &+ 1]
            a &+= highProduct(load(p) &+ load(q), weight)
            b &+= highProduct(load(p + 32) &+ load(q + 32), weight)
            c &+= highProduct(load(p + 64) &+ load(q + 64), weight)
            d &+= highProduct(load(p + 96) &+ load(q + 96), weight)
            k &+= 1
        }
        storeResult((a, b, c, d), at: x, bytes, words)
        x &+= 128
    }
}

/// The mean of a centre and pairs of equal weight: their samples are summed in 16 bits, and multiplied once.
///
/// - Parameters:
///   - center, pairs: as above, but samples widened to 16 bits without a shift, at most 257 of them.
///   - shift: the left shift before the high product with the only weight in `weights`.
///   - count, bytes, words: as above.
@inline(never) public func averageSparse(
    center: UnsafePointer<UInt16>, pairs: UnsafePointer<UnsafePointer<UInt16>>, pairCount: Int, shift: Int,
    weights: UnsafePointer<UInt16>, count: Int, bytes: UnsafeMutablePointer<UInt8>?,
    words: UnsafeMutablePointer<UInt16>?
) {
    let shift = UInt16(truncatingIfNeeded: shift)
    let one = WordVector(repeating: 1)
    var x = 0
    while x < count {
        var (a, b) = (load(center + x), load(center + x + 32))
        var (c, d) = (load(center + x + 64), load(center + x + 96))
        var k = 0
        while k < 2 &* pairCount {
            let row = pairs[k] + x
            a &+= load(row)
            b &+= load(row + 32)
            c &+= load(row + 64)
            d &+= load(row + 96)
            k &+= 1
        }
        a = highProduct(shiftedLeft(a, by: shift), weights[0]) &+ one
        b = highProduct(shiftedLeft(b, by: shift), weights[0]) &+ one
        c = highProduct(shiftedLeft(c, by: shift), weights[0]) &+ one
        d = highProduct(shiftedLeft(d, by: shift), weights[0]) &+ one
        storeResult((a, b, c, d), at: x, bytes, words)
        x &+= 128
    }
}

/// Stores to `words` unchanged, or else to `bytes`, rounded.
@inline(__always) private func storeResult(
    _ result: (WordVector, WordVector, WordVector, WordVector), at x: Int, _ bytes: UnsafeMutablePointer<UInt8>?,
    _ words: UnsafeMutablePointer<UInt16>?
) {
    if let words {
        store(result.0, words + x)
        store(result.1, words + x + 32)
        store(result.2, words + x + 64)
        store(result.3, words + x + 96)
    } else if let bytes {
        store(roundedToBytes(result.0), bytes + x)
        store(roundedToBytes(result.1), bytes + x + 32)
        store(roundedToBytes(result.2), bytes + x + 64)
        store(roundedToBytes(result.3), bytes + x + 96)
    }
}
