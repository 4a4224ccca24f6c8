// The weighted sums along a row of a resize, in single precision.

private typealias Eight = SIMD8<Float>

@inline(__always) private func load(_ source: UnsafePointer<Float>) -> Eight {
    UnsafeRawPointer(source).loadUnaligned(as: Eight.self)
}

/// out[i] = Σ row[starts[i] + k]·weights[i·stride + k] over k < counts[i].
///
/// Eight partial sums, then sums of halves, then the rest of the row: the same order on every CPU.
@inline(never) public func resampleRow(
    _ row: UnsafePointer<Float>, starts: UnsafePointer<Int32>, counts: UnsafePointer<Int32>,
    weights: UnsafePointer<Float>, stride: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        let from = row + Int(starts[index])
        let own = weights + index &* stride
        let length = Int(counts[index])
        var sums = Eight.zero
        var k = 0
        while k &+ 8 <= length {
            sums += load(from + k) * load(own + k)
            k &+= 8
        }
        let four = sums.lowHalf + sums.highHalf
        let two = four.lowHalf + four.highHalf
        var sum = two.x + two.y
        while k < length {
            sum += from[k] * own[k]
            k &+= 1
        }
        out[index] = sum
        index &+= 1
    }
}
