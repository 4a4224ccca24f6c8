// Sums of rows in single precision, for 16-bit and floating-point samples and for linear light. Each sum has a fixed order,
// and no multiplication is fused with an addition, so that results are the same on every CPU.

/// out[i] = Σ (first[i] + second[i])·weight over the pairs, after centre[i]·weight if there is a centre.
///
/// All rows must be readable, and `out` writable, up to 31 values after the last one.
@inline(never) public func sumFloatPairs(
    center: UnsafePointer<Float>?, centerWeight: Float, pairs: UnsafePointer<UnsafePointer<Float>>, pairCount: Int,
    weights: UnsafePointer<Float>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        var (a, b) = (FloatVector.zero, FloatVector.zero)
        if let center {
            a = loadFloats(center + x) * centerWeight
            b = loadFloats(center + x + 16) * centerWeight
        }
        var k = 0
        while k < pairCount {
            let (p, q) = (pairs[2 &* k] + x, pairs[2 &* k &+ 1] + x)
            a += (loadFloats(p) + loadFloats(q)) * weights[k]
            b += (loadFloats(p + 16) + loadFloats(q + 16)) * weights[k]
            k &+= 1
        }
        storeFloats(a, out + x)
        storeFloats(b, out + x + 16)
        x &+= 32
    }
}

/// out[i] = Σ row[i]·weight, in the order of the rows.
///
/// All rows must be readable, and `out` writable, up to 31 values after the last one.
@inline(never) public func sumFloatRows(
    _ rows: UnsafePointer<UnsafePointer<Float>>, rowCount: Int, weights: UnsafePointer<Float>, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        var (a, b) = (FloatVector.zero, FloatVector.zero)
        var k = 0
        while k < rowCount {
            a += loadFloats(rows[k] + x) * weights[k]
            b += loadFloats(rows[k] + x + 16) * weights[k]
            k &+= 1
        }
        storeFloats(a, out + x)
        storeFloats(b, out + x + 16)
        x &+= 32
    }
}

/// target[i] += Σ row[i]·weight, in the order of the rows.
///
/// All rows must be readable, and `target` writable, up to 31 values after the last one. There it receives sums, too.
@inline(never) public func addFloatRows(
    _ rows: UnsafePointer<UnsafePointer<Float>>, rowCount: Int, weights: UnsafePointer<Float>, count: Int,
    to target: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        var (a, b) = (loadFloats(target + x), loadFloats(target + x + 16))
        var k = 0
        while k < rowCount {
            a += loadFloats(rows[k] + x) * weights[k]
            b += loadFloats(rows[k] + x + 16) * weights[k]
            k &+= 1
        }
        storeFloats(a, target + x)
        storeFloats(b, target + x + 16)
        x &+= 32
    }
}

/// target[i] += row[i].
@inline(never) public func addFloats(_ row: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int) {
    var index = 0
    while index < count {
        target[index] += row[index]
        index &+= 1
    }
}
