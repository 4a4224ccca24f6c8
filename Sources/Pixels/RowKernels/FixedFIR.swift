// A separable FIR with symmetric taps on words in 8.7 fixed point. Weights are 16-bit fractions (65536 is 1). A product keeps
// its high half, and half a unit for every truncated product is added in one step.

/// 128 values, so that each weight is loaded once for four vectors.
private struct Block {
    var a: WordVector
    var b: WordVector
    var c: WordVector
    var d: WordVector

    @inline(__always) init(center: UnsafePointer<UInt16>, weight: UInt16, bias: UInt16) {
        let bias = WordVector(repeating: bias)
        a = highProduct(load(center), weight) &+ bias
        b = highProduct(load(center + 32), weight) &+ bias
        c = highProduct(load(center + 64), weight) &+ bias
        d = highProduct(load(center + 96), weight) &+ bias
    }

    @inline(__always) mutating func add(_ p: UnsafePointer<UInt16>, _ q: UnsafePointer<UInt16>, weight: UInt16) {
        a &+= highProduct(load(p) &+ load(q), weight)
        b &+= highProduct(load(p + 32) &+ load(q + 32), weight)
        c &+= highProduct(load(p + 64) &+ load(q + 64), weight)
        d &+= highProduct(load(p + 96) &+ load(q + 96), weight)
    }

    @inline(__always) func write(to out: UnsafeMutablePointer<UInt16>) {
        store(a, out)
        store(b, out + 32)
        store(c, out + 64)
        store(d, out + 96)
    }
}

/// Half a unit for each of `radius` + 1 truncated products.
@inline(__always) func truncationBias(_ radius: Int) -> UInt16 { UInt16(truncatingIfNeeded: (radius &+ 1) / 2) }

/// The number of values of a chunk with its margins, in the first-level cache, and the distance of its rows.
private let chunk = 640
private let chunkStride = chunk + 160

/// Filters a few neighbouring rows along both axes.
///
/// - Parameters:
///   - rows: `rowCount` + 2·`verticalRadius` rows from the topmost on, at the first output pixel; readable from
///     `horizontalRadius` pixels and 32 values before it up to as many pixels and 160 values after the end.
///   - vertical, horizontal: the weights from the centre outwards, radius + 1 of them.
///   - count: the number of values of an output row.
///   - scratch: `rowCount`·800 + 128 values.
///   - out: one row each, writable up to 128 values after the end.
@inline(never) func filterWords(
    _ rows: UnsafePointer<UnsafePointer<UInt16>>, rowCount: Int, channels: Int, vertical: UnsafePointer<UInt16>,
    verticalRadius: Int, horizontal: UnsafePointer<UInt16>, horizontalRadius: Int, count: Int,
    scratch: UnsafeMutablePointer<UInt16>, out: UnsafePointer<UnsafeMutablePointer<UInt16>>
) {
    let halo = horizontalRadius &* channels
    let length = (chunk &- 2 &* halo &- 31) & ~31
    var start = 0
    while start < count {
        let aligned = (start &- halo) & ~31
        let lead = start &- aligned
        let part = min(length, count &- start)
        let end = min(chunk, part &+ lead &+ halo)
        var row = 0
        while row < rowCount {
            let target = scratch + row &* chunkStride
            filterColumns(rows + row, verticalRadius, vertical, aligned, end, target)
            row &+= 1
        }
        row = 0
        while row < rowCount {
            let source = UnsafePointer(scratch + (row &* chunkStride &+ lead))
            filterAlong(source, channels, horizontalRadius, horizontal, part, out[row] + start)
            row &+= 1
        }
        start &+= length
    }
}

@inline(__always) private func filterColumns(
    _ rows: UnsafePointer<UnsafePointer<UInt16>>, _ radius: Int, _ weights: UnsafePointer<UInt16>, _ start: Int,
    _ count: Int, _ out: UnsafeMutablePointer<UInt16>
) {
    let bias = truncationBias(radius)
    var x = 0
    while x < count {
        var sum = Block(center: rows[radius] + (start &+ x), weight: weights[0], bias: bias)
        var k = 1
        while k <= radius {
            sum.add(rows[radius &- k] + (start &+ x), rows[radius &+ k] + (start &+ x), weight: weights[k])
            k &+= 1
        }
        sum.write(to: out + x)
        x &+= 128
    }
}

@inline(__always) private func filterAlong(
    _ row: UnsafePointer<UInt16>, _ channels: Int, _ radius: Int, _ weights: UnsafePointer<UInt16>, _ count: Int,
    _ out: UnsafeMutablePointer<UInt16>
) {
    let bias = truncationBias(radius)
    var x = 0
    while x < count {
        var sum = Block(center: row + x, weight: weights[0], bias: bias)
        var k = 1
        var offset = channels
        while k <= radius {
            sum.add(row + (x &- offset), row + (x &+ offset), weight: weights[k])
            offset &+= channels
            k &+= 1
        }
        sum.write(to: out + x)
        x &+= 128
    }
}
