// The bilateral filter by a grid: pixels are spread over nodes and collected from them. `BilateralGrid` of Kernels explains
// it.

/// The likeness of values to a level: 2^(−difference²), and 0 if the difference is `limit` or more.
@inline(__always) private func likeness(_ values: FloatVector, to level: Float, limit: Float) -> FloatVector {
    let difference = values - level
    let exponent = FloatVector.zero - difference * difference
    return cleared(exp2(exponent), where: exponent, isAtMost: -(limit * limit))
}

/// Whether no value of a block is like a level.
@inline(__always)
private func isFar(_ ranges: UnsafePointer<Float>, block: Int, from level: Float, limit: Float) -> Bool {
    ranges[2 &* block] - level >= limit || level - ranges[2 &* block &+ 1] >= limit
}

/// The least and the greatest value of some rows, for each 16 columns.
///
/// - Parameters:
///   - rows: readable up to 15 values after the last one.
///   - ranges: receives two values for each block of 16 columns.
@inline(never) public func rangesOfBlocks(
    _ rows: UnsafePointer<UnsafePointer<Float>>, rowCount: Int, count: Int, ranges: UnsafeMutablePointer<Float>
) {
    var block = 0
    while 16 &* block < count {
        var (least, most) = (loadFloats(rows[0] + 16 &* block), loadFloats(rows[0] + 16 &* block))
        var row = 1
        while row < rowCount {
            let values = loadFloats(rows[row] + 16 &* block)
            least = smaller(least, values)
            most = larger(most, values)
            row &+= 1
        }
        ranges[2 &* block] = least.min()
        ranges[2 &* block &+ 1] = most.max()
        block &+= 1
    }
}

/// Adds a group of rows to the rows of nodes above and below it: what is like one level. Returns whether anything is.
///
/// - Parameters:
///   - rows: the rows of the group, readable up to 15 values after the last one.
///   - weights: for each node, the weights of the group's rows, `weightStride` values apart.
///   - ranges: see ``rangesOfBlocks(_:rowCount:count:ranges:)``.
///   - scratch: room for 32 values for each row.
///   - nodes: for each node, two planes, `planeStride` values apart: sums of weights · values, and of weights. They are
///     writable up to 15 values after the end.
@inline(never) public func spreadToNodes(
    _ rows: UnsafePointer<UnsafePointer<Float>>, rowCount: Int, weights: UnsafePointer<Float>, weightStride: Int,
    level: Float, limit: Float, ranges: UnsafePointer<Float>, count: Int, scratch: UnsafeMutablePointer<Float>,
    nodes: UnsafePointer<UnsafeMutablePointer<Float>>, nodeCount: Int, planeStride: Int
) -> Bool {
    var isTouched = false
    var block = 0
    while 16 &* block < count {
        let x = 16 &* block
        block &+= 1
        if isFar(ranges, block: block &- 1, from: level, limit: limit) { continue }
        isTouched = true
        var row = 0
        while row < rowCount {
            let values = loadFloats(rows[row] + x)
            let share = likeness(values, to: level, limit: limit)
            storeFloats(share * values, scratch + 32 &* row)
            storeFloats(share, scratch + (32 &* row &+ 16))
            row &+= 1
        }
        var node = 0
        while node < nodeCount {
            let target = nodes[node] + x
            var (sum, weight) = (FloatVector.zero, FloatVector.zero)
            row = 0
            while row < rowCount {
                let factor = weights[node &* weightStride &+ row]
                sum += loadFloats(scratch + 32 &* row) * factor
                weight += loadFloats(scratch + (32 &* row &+ 16)) * factor
                row &+= 1
            }
            storeFloats(loadFloats(target) + sum, target)
            storeFloats(loadFloats(target + planeStride) + weight, target + planeStride)
            node &+= 1
        }
    }
    return isTouched
}

/// out[j] = Σ row[j·step + i] · weights[i].
///
/// - Parameters:
///   - row: readable up to the last tap of the last node.
///   - tapCount: a multiple of 16.
@inline(never) public func sumAtNodes(
    _ row: UnsafePointer<Float>, step: Int, weights: UnsafePointer<Float>, tapCount: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var node = 0
    while node < count {
        let start = row + node &* step
        var sums = FloatVector.zero
        var tap = 0
        while tap < tapCount {
            sums += loadFloats(start + tap) * loadFloats(weights + tap)
            tap &+= 16
        }
        let eight = sums.lowHalf + sums.highHalf
        let four = eight.lowHalf + eight.highHalf
        let two = four.lowHalf + four.highHalf
        out[node] = two[0] + two[1]
        node &+= 1
    }
}

/// Collects pixels from the nodes along a row: out[x] = Σ nodes[x/step + k] · weights[x mod step][k].
///
/// - Parameters:
///   - nodes: readable up to `nodeCount` values from the group of the last block on.
///   - nodeCount: the number of nodes that 16 pixels collect from.
///   - bands: for each place of a block's first pixel in its group, the weights of the nodes from that group's first one on:
///     16 for each node, and 0 for pixels that it does not reach.
///   - out: writable up to 15 values after the end.
@inline(never) public func collectAlongRow(
    _ nodes: UnsafePointer<Float>, nodeCount: Int, bands: UnsafePointer<Float>, step: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        let group = x / step
        let own = nodes + group
        let weights = bands + 16 &* nodeCount &* (x &- group &* step)
        var sum = FloatVector.zero
        var node = 0
        while node < nodeCount {
            sum += loadFloats(weights + 16 &* node) * own[node]
            node &+= 1
        }
        storeFloats(sum, out + x)
        x &+= 16
    }
}

/// Adds to the sums of a group's pixels what the nodes around them have of one level.
///
/// - Parameters:
///   - weights: for each node, the weights of the rows, `weightStride` values apart.
///   - nodes: for each node, two planes, `planeStride` values apart, as `spreadToNodes` fills them.
///   - sums: for each row, two planes, `sumStride` values apart.
@inline(never) public func collectFromNodes(
    _ rows: UnsafePointer<UnsafePointer<Float>>, rowCount: Int, weights: UnsafePointer<Float>, weightStride: Int,
    level: Float, limit: Float, ranges: UnsafePointer<Float>, count: Int,
    nodes: UnsafePointer<UnsafeMutablePointer<Float>>, nodeCount: Int, planeStride: Int,
    sums: UnsafePointer<UnsafeMutablePointer<Float>>, sumStride: Int
) {
    var block = 0
    while 16 &* block < count {
        let x = 16 &* block
        block &+= 1
        if isFar(ranges, block: block &- 1, from: level, limit: limit) { continue }
        var row = 0
        while row < rowCount {
            let share = likeness(loadFloats(rows[row] + x), to: level, limit: limit)
            var (sum, weight) = (FloatVector.zero, FloatVector.zero)
            var node = 0
            while node < nodeCount {
                let factor = weights[node &* weightStride &+ row]
                let source = nodes[node] + x
                sum += loadFloats(source) * factor
                weight += loadFloats(source + planeStride) * factor
                node &+= 1
            }
            let target = sums[row] + x
            storeFloats(loadFloats(target) + sum * share, target)
            storeFloats(loadFloats(target + sumStride) + weight * share, target + sumStride)
            row &+= 1
        }
    }
}
