import CStreaming

// Two halvings by 1 2 1 in one pass over the samples: 1 2 3 4 3 2 1 along both axes at every fourth pixel. The sum of all 49 weights is
// 256, so that it fits 16 bits, and half of it, rounded up, is what two halvings one after the other give.

/// The values of one chunk, in the first-level cache.
private struct QuarteringScratch {
    /// The vertical sums at even and odd columns.
    let sums: HalvingScratch
    /// The sums of 1 2 1 at even columns, split into even and odd ones again.
    let even: UnsafeMutablePointer<UInt16>
    let odd: UnsafeMutablePointer<UInt16>

    /// The number of low-rate pixels of a chunk.
    static let chunk = HalvingScratch.chunk / 2

    init(_ scratch: UnsafeMutablePointer<UInt16>) {
        sums = HalvingScratch(scratch)
        even = scratch + 64 + 2 &* 1536
        odd = even + 832
    }
}

/// Writes `count` pixels of one row of a quarter of the rate, in 8.7 fixed point.
///
/// - Parameters:
///   - rows: seven rows, from three above to three below the row at four times the position, each at the pixel that is four times the
///     first output pixel; readable from 4 pixels before it up to 8 pixels and 64 values after the last one.
///   - scratch: 4800 values.
///   - out: writable up to 32 values after the end.
@inline(never) func quarter<Pixels: Interleaving>(
    _: Pixels.Type, _ rows: ByteRows, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafeMutablePointer<UInt16>
) {
    let buffers = QuarteringScratch(scratch)
    let channels = Pixels.channels
    var first = 0
    while first < count {
        let length = min(QuarteringScratch.chunk, count &- first)
        splitVerticalSums(
            Pixels.self, rows, from: 4 &* (first &- 1) &* channels, count: (2 &* length &+ 4) &* channels,
            buffers.sums)
        splitPairSums(Pixels.self, (length &+ 1) &* channels, buffers)
        let values = length &* channels
        var x = 0
        while x < values {
            let middle = load(buffers.even + (x &+ channels))
            let sum = load(buffers.odd + x) &+ middle &+ middle &+ load(buffers.odd + (x &+ channels))
            store(average(sum, WordVector(repeating: 0)), out + (first &* channels &+ x))
            x &+= 32
        }
        first &+= QuarteringScratch.chunk
    }
}

/// Computes the sums of seven rows and splits them into the values of even pixels and of odd ones.
@inline(__always) private func splitVerticalSums<Pixels: Interleaving>(
    _: Pixels.Type, _ rows: ByteRows, from start: Int, count: Int, _ sums: HalvingScratch
) {
    var x = start
    var done = 0
    while done < count {
        for row in 3..<7 { penumbra_prefetch(rows[row] + (x &+ 1024)) }
        let columns = columnSums(rows, x)
        store(Pixels.evenOfSums(columns.low, columns.high), sums.even + done)
        store(Pixels.oddOfSums(columns.low, columns.high), sums.odd + done)
        x &+= Pixels.block
        done &+= Pixels.block / 2
    }
}

/// 1 2 3 4 3 2 1: at most 16 · 255.
@inline(__always) private func columnSums(_ rows: ByteRows, _ x: Int) -> SampleSums {
    let (upper, lower) = (SampleSums(rows, x, pair: 0, 1, 2), SampleSums(rows, x, pair: 4, 3, 2))
    return (upper + SampleSums(rows, x, pair: 2, 3, 4)) + (lower + SampleSums(rows, x, row: 6))
}

/// Computes 1 2 1 at the even pixels of the first split, and splits these again. They begin one pixel of the lowest rate before the first
/// output.
@inline(__always) private func splitPairSums<Pixels: Interleaving>(
    _: Pixels.Type, _ count: Int, _ buffers: QuarteringScratch
) {
    @inline(__always) func sum(_ x: Int) -> WordVector {
        let middle = load(buffers.sums.even + x)
        return load(buffers.sums.odd + (x &- Pixels.channels)) &+ middle &+ middle &+ load(buffers.sums.odd + x)
    }
    var x = 0
    var done = 0
    while done < count {
        let (a, b) = (sum(x), sum(x &+ 32))
        store(Pixels.even(a, b), buffers.even + done)
        store(Pixels.odd(a, b), buffers.odd + done)
        x &+= Pixels.block
        done &+= Pixels.block / 2
    }
}
