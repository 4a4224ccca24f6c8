// Sums of rows with a different weight for each pixel.

/// out[i] = table[index[i]].
@inline(never) public func lookUpWeights(
    _ index: UnsafePointer<UInt16>, table: UnsafePointer<Float>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var position = 0
    while position < count {
        out[position] = table[Int(truncatingIfNeeded: index[position])]
        position &+= 1
    }
}

/// target[i] += row[i]·weight[i]. Values of weight 0 are skipped, even if they are infinite or NaN.
@inline(never) public func addWeighted(
    _ row: UnsafePointer<Float>, weights: UnsafePointer<Float>, count: Int, to target: UnsafeMutablePointer<Float>
) {
    var position = 0
    while position < count {
        let sum = target[position] + row[position] * weights[position]
        target[position] = weights[position] == 0 ? target[position] : sum
        position &+= 1
    }
}
