// Running sums along lines that are not parallel to an axis, for motion blur; see `LineDesign` in Kernels.

/// sums[i] += Σ entering[i + k·stride]·weight[k] − Σ leaving[i + k·stride]·weight[k], in 8.7 fixed point.
///
/// Each product is truncated, so that a row that enters a sum and leaves it later changes nothing.
///
/// - Parameters:
///   - enteringWeights, leavingWeights: `taps` multiples of 1/65536.
///   - stride: the number of values from a tap to the next.
///   - count: the number of sums. Rows are readable for 63 values beyond those that are needed. Sums are readable and writable for
///     63 values beyond `count`.
@inline(never) public func slideLines(
    entering: UnsafePointer<UInt16>, enteringWeights: UnsafePointer<UInt16>, leaving: UnsafePointer<UInt16>,
    leavingWeights: UnsafePointer<UInt16>, taps: Int, stride: Int, count: Int, sums: UnsafeMutablePointer<UInt32>
) {
    var x = 0
    while x < count {
        let new = filtered(entering + x, enteringWeights, taps, stride)
        let old = filtered(leaving + x, leavingWeights, taps, stride)
        add(new.0 &- old.0, new.1 &- old.1, to: sums + x, count: count &- x)
        x &+= 64
    }
}

/// sums[i] += Σ entering[i + k·stride]·weight[k]; see above.
@inline(never) public func addLines(
    entering: UnsafePointer<UInt16>, enteringWeights: UnsafePointer<UInt16>, taps: Int, stride: Int, count: Int,
    sums: UnsafeMutablePointer<UInt32>
) {
    var x = 0
    while x < count {
        let new = filtered(entering + x, enteringWeights, taps, stride)
        add(new.0, new.1, to: sums + x, count: count &- x)
        x &+= 64
    }
}

/// 64 values of a FIR along a row.
@inline(__always) private func filtered(
    _ row: UnsafePointer<UInt16>, _ weights: UnsafePointer<UInt16>, _ taps: Int, _ stride: Int
) -> (WordVector, WordVector) {
    var (a, b) = (WordVector(repeating: 0), WordVector(repeating: 0))
    var (k, tap) = (0, row)
    while k < taps {
        let weight = WordVector(repeating: weights[k])
        a &+= highProduct(load(tap), weight)
        b &+= highProduct(load(tap + 32), weight)
        tap += stride
        k &+= 1
    }
    return (a, b)
}

/// Adds 64 words, which may be negative, or as many of the first ones as are left.
@inline(__always) private func add(
    _ first: WordVector, _ second: WordVector, to sums: UnsafeMutablePointer<UInt32>, count: Int
) {
    guard count < 64 else {
        add(first, to: sums)
        return add(second, to: sums + 32)
    }
    // The next sums belong to lines that this row does not enter.
    add(leading(first, count: count), to: sums)
    add(leading(second, count: count &- 32), to: sums + 32)
}

@inline(__always) private func add(_ words: WordVector, to sums: UnsafeMutablePointer<UInt32>) {
    let sum = UnsafeRawPointer(sums).loadUnaligned(as: SIMD32<UInt32>.self) &+ signExtended(words)
    UnsafeMutableRawPointer(sums).storeBytes(of: sum, as: SIMD32<UInt32>.self)
}

/// Σ sums[k][i]·sumWeights[k] + Σ (first + second)·weight, in words or rounded to samples.
///
/// - Parameters:
///   - sums: `sumCount` rows of sums.
///   - bias: is added to the part of the sums, which is then limited to 0…`most`.
///   - pairs: 2·`pairCount` pointers, to the rows at the two offsets of each pair.
///   - weights: a multiple of 1/65536 for each pair.
///   - count, bytes, words: as for `filterSparse`.
@inline(never) public func weighLines(
    _ sums: UnsafePointer<UnsafePointer<UInt32>>, sumWeights: UnsafePointer<Float>, sumCount: Int, bias: Float,
    most: Float, pairs: UnsafePointer<UnsafePointer<UInt16>>, pairCount: Int, weights: UnsafePointer<UInt16>,
    count: Int, bytes: UnsafeMutablePointer<UInt8>?, words: UnsafeMutablePointer<UInt16>?
) {
    var x = 0
    while x < count {
        var (a, b) = (FloatVector(repeating: bias), FloatVector(repeating: bias))
        var (c, d) = (a, b)
        var node = 0
        while node < sumCount {
            let (row, weight) = (sums[node] + x, FloatVector(repeating: sumWeights[node]))
            a += floats(loadWide(row)) * weight
            b += floats(loadWide(row + 16)) * weight
            c += floats(loadWide(row + 32)) * weight
            d += floats(loadWide(row + 48)) * weight
            node &+= 1
        }
        var first = limitedWords(a, b, most: most)
        var second = limitedWords(c, d, most: most)
        var k = 0
        while k < pairCount {
            let (p, q) = (pairs[2 &* k] + x, pairs[2 &* k &+ 1] + x)
            let weight = WordVector(repeating: weights[k])
            first &+= highProduct(load(p) &+ load(q), weight)
            second &+= highProduct(load(p + 32) &+ load(q + 32), weight)
            k &+= 1
        }
        if let words {
            store(first, words + x)
            store(second, words + x + 32)
        } else if let bytes {
            store(roundedToBytes(first), bytes + x)
            store(roundedToBytes(second), bytes + x + 32)
        }
        x &+= 64
    }
}

@inline(__always) private func limitedWords(_ low: FloatVector, _ high: FloatVector, most: Float) -> WordVector {
    @inline(__always) func words(_ values: FloatVector) -> SixteenWords {
        lowWords(wholes(smaller(larger(values, than: 0), than: most)))
    }
    return WordVector(lowHalf: words(low), highHalf: words(high))
}
