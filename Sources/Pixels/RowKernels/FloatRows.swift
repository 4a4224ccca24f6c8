// Sums of rows in single precision, for 16-bit and floating-point samples and for linear light. Each sum has a fixed order,
// and no multiplication is fused with an addition, so that results are the same on every CPU.

private typealias Lanes = SIMD16<Float>

@inline(__always) private func load(_ source: UnsafePointer<Float>) -> Lanes {
    UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always) private func store(_ values: Lanes, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: values, as: Lanes.self)
}

/// out[i] = Σ (first[i] + second[i])·weight over the pairs, after centre[i]·weight if there is a centre.
///
/// All rows must be readable, and `out` writable, up to 31 values after the last one.
@inline(never) public func sumFloatPairs(
    center: UnsafePointer<Float>?, centerWeight: Float, pairs: UnsafePointer<UnsafePointer<Float>>, pairCount: Int,
    weights: UnsafePointer<Float>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        var (a, b) = (Lanes.zero, Lanes.zero)
        if let center {
            a = load(center + x) * centerWeight
            b = load(center + x + 16) * centerWeight
        }
        var k = 0
        while k < pairCount {
            let (p, q) = (pairs[2 &* k] + x, pairs[2 &* k &+ 1] + x)
            a += (load(p) + load(q)) * weights[k]
            b += (load(p + 16) + load(q + 16)) * weights[k]
            k &+= 1
        }
        store(a, out + x)
        store(b, out + x + 16)
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
        var (a, b) = (Lanes.zero, Lanes.zero)
        var k = 0
        while k < rowCount {
            a += load(rows[k] + x) * weights[k]
            b += load(rows[k] + x + 16) * weights[k]
            k &+= 1
        }
        store(a, out + x)
        store(b, out + x + 16)
        x &+= 32
    }
}

/// Splits a row into its even and its odd values: `count` of each.
@inline(never) public func splitFloats(
    _ row: UnsafePointer<Float>, count: Int, even: UnsafeMutablePointer<Float>, odd: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        even[index] = row[2 &* index]
        odd[index] = row[2 &* index &+ 1]
        index &+= 1
    }
}

/// Interleaves `even` and `odd`: `count` of each.
@inline(never) public func zipFloats(
    _ even: UnsafePointer<Float>, _ odd: UnsafePointer<Float>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        out[2 &* index] = even[index]
        out[2 &* index &+ 1] = odd[index]
        index &+= 1
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
