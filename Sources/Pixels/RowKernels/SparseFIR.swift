// A FIR whose few taps lie anywhere, in pairs that are symmetric about the centre: motion blur.

/// Filters one row: centre·weight + Σ (first + second)·weight.
///
/// - Parameters:
///   - center: the row itself, in 8.7 fixed point.
///   - pairs: 2·`pairCount` pointers to what is seen at the two offsets of a pair.
///   - weights: fractions of 65536, one for each pair.
///   - count: values of the output; all pointers are readable to 128 values behind.
///   - bytes: receives samples; or, when nil, `words` receives 8.7 fixed point and is writable to 128 values behind.
@inline(never)
public func filterSparse(
    center: UnsafePointer<UInt16>, centerWeight: UInt16, pairs: UnsafePointer<UnsafePointer<UInt16>>, pairCount: Int,
    weights: UnsafePointer<UInt16>, count: Int, bytes: UnsafeMutablePointer<UInt8>?,
    words: UnsafeMutablePointer<UInt16>?
) {
    let bias = WordVector(repeating: truncationBias(pairCount))
    var x = 0
    while x < count {
        var (a, b, c, d) = (bias, bias, bias, bias)
        a &+= highProduct(load(center + x), centerWeight)
        b &+= highProduct(load(center + x + 32), centerWeight)
        c &+= highProduct(load(center + x + 64), centerWeight)
        d &+= highProduct(load(center + x + 96), centerWeight)
        var k = 0
        while k < pairCount {
            let (p, q) = (pairs[2 &* k] + x, pairs[2 &* k &+ 1] + x)
            let weight = weights[k]
            a &+= highProduct(load(p) &+ load(q), weight)
            b &+= highProduct(load(p + 32) &+ load(q + 32), weight)
            c &+= highProduct(load(p + 64) &+ load(q + 64), weight)
            d &+= highProduct(load(p + 96) &+ load(q + 96), weight)
            k &+= 1
        }
        if let words {
            store(a, words + x)
            store(b, words + x + 32)
            store(c, words + x + 64)
            store(d, words + x + 96)
        } else if let bytes {
            if x &+ 128 <= count {
                store(roundedToBytes(a), bytes + x)
                store(roundedToBytes(b), bytes + x + 32)
                store(roundedToBytes(c), bytes + x + 64)
                store(roundedToBytes(d), bytes + x + 96)
            } else {
                storeFirst(max(0, min(32, count &- x)), of: roundedToBytes(a), bytes + x)
                storeFirst(max(0, min(32, count &- x &- 32)), of: roundedToBytes(b), bytes + x + 32)
                storeFirst(max(0, min(32, count &- x &- 64)), of: roundedToBytes(c), bytes + x + 64)
                storeFirst(max(0, min(32, count &- x &- 96)), of: roundedToBytes(d), bytes + x + 96)
            }
        }
        x &+= 128
    }
}
