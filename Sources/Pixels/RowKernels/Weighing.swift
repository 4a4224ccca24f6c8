// Sums of rows with a weight for each pixel.

/// out[i] = table[index[i]].
@inline(never)
public func lookUpWeights(
    _ index: UnsafePointer<UInt16>, table: UnsafePointer<Float>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var place = 0
    while place < count {
        out[place] = table[Int(truncatingIfNeeded: index[place])]
        place &+= 1
    }
}

/// target[i] += row[i]·weight[i]; what weighs nothing is left out, be it infinite or no number.
@inline(never)
public func addWeighted(
    _ row: UnsafePointer<Float>, weights: UnsafePointer<Float>, count: Int, to target: UnsafeMutablePointer<Float>
) {
    var place = 0
    while place < count {
        let sum = target[place] + row[place] * weights[place]
        target[place] = weights[place] == 0 ? target[place] : sum
        place &+= 1
    }
}
