import CStreaming

// The direct FIR from samples to samples, for two rows at once. Their windows share all rows but two, so that a sample is
// widened once for both. Even and odd samples are kept separate. Widening is then a shift or a mask, and neither it nor
// packing the results moves values between lanes. (12 MP of RGB at radius 2 take 17 ms. One row at once with widening loads
// takes 23 ms.)

/// The number of samples of a chunk with its margins, for each of two rows.
private let chunk = 2048
/// The distance of the two planes of a chunk in values. It leaves space for what a loop writes beyond a chunk.
private let planeStride = chunk / 2 + 32

/// 64 samples as 8.8 fixed point, or values computed from them.
private struct Halves {
    var even: WordVector
    var odd: WordVector

    /// Loads samples from `source` on. Each fills the high byte of a word.
    @inline(__always) init(samples source: UnsafePointer<UInt8>) {
        let words = loadPairs(source)
        even = shiftedLeft(words, by: 8)
        odd = highBytes(words)
    }

    @inline(__always) init(_ even: WordVector, _ odd: WordVector) { (self.even, self.odd) = (even, odd) }

    /// The sum of two samples in 8.7 fixed point: the average of their 8.8 values, which is exact.
    @inline(__always)
    func pairSum(_ other: Halves) -> Halves { Halves(average(even, other.even), average(odd, other.odd)) }

    @inline(__always) mutating func add(_ x: Halves, weight: UInt16) {
        even &+= highProduct(x.even, weight)
        odd &+= highProduct(x.odd, weight)
    }
}

/// Filters vertically over the windows of two rows: `count` samples from `start` on, in 8.7 fixed point.
@inline(__always) private func filterWindows<Both: Radius>(
    _: Both.Type, _ rows: UnsafePointer<UnsafePointer<UInt8>>, _ weights: UnsafePointer<UInt16>, start: Int,
    count: Int, _ planes: UnsafeMutablePointer<UInt16>
) {
    let radius = Both.value
    let bias = WordVector(repeating: truncationBias(radius))
    var x = 0
    while x < count {
        @inline(__always) func row(_ index: Int) -> Halves { Halves(samples: rows[index] + (start &+ x)) }
        penumbra_prefetch(rows[2 &* radius] + (start &+ x &+ 1024))
        penumbra_prefetch(rows[2 &* radius &+ 1] + (start &+ x &+ 1024))
        var (above, below) = (row(radius), row(radius &+ 1))
        var (first, second) = (Halves(bias, bias), Halves(bias, bias))
        first.add(above, weight: weights[0])
        second.add(below, weight: weights[0])
        @inline(__always) func addPair(_ k: Int) {
            guard k <= radius else { return }
            let (nextAbove, nextBelow) = (row(radius &- k), row(radius &+ 1 &+ k))
            first.add(nextAbove.pairSum(below), weight: weights[k])
            second.add(above.pairSum(nextBelow), weight: weights[k])
            (above, below) = (nextAbove, nextBelow)
        }
        // The compiler unrolls neither this loop nor the loop along rows by itself.
        addPair(1)
        addPair(2)
        addPair(3)
        addPair(4)
        addPair(5)
        addPair(6)
        addPair(7)
        addPair(8)
        addPair(9)
        let target = planes + x / 2
        store(first.even, target)
        store(first.odd, target + planeStride)
        store(second.even, target + 2 &* planeStride)
        store(second.odd, target + 3 &* planeStride)
        x &+= 64
    }
}

/// The sums along a row of 64 samples. The even samples are at `even`.
@inline(__always) private func sumsAlong<Pixels: Interleaving, Both: Radius>(
    _: Pixels.Type, _: Both.Type, _ even: UnsafePointer<UInt16>, _ weights: UnsafePointer<UInt16>
) -> Halves {
    let odd = even + planeStride
    let bias = WordVector(repeating: truncationBias(Both.value))
    var sums = Halves(bias, bias)
    sums.add(Halves(load(even), load(odd)), weight: weights[0])
    @inline(__always) func addPair(_ k: Int) {
        guard k <= Both.value else { return }
        // An odd distance leads from even samples to odd ones.
        let distance = k &* Pixels.channels
        let half = distance / 2
        let isOdd = distance & 1 == 1
        let pairs =
            isOdd
            ? Halves(load(odd - (half &+ 1)) &+ load(odd + half), load(even - half) &+ load(even + (half &+ 1)))
            : Halves(load(even - half) &+ load(even + half), load(odd - half) &+ load(odd + half))
        sums.add(pairs, weight: weights[k])
    }
    addPair(1)
    addPair(2)
    addPair(3)
    addPair(4)
    addPair(5)
    addPair(6)
    addPair(7)
    addPair(8)
    addPair(9)
    return sums
}

/// Rounds 8.7 fixed point to samples, halves up, and interleaves even and odd samples again.
@inline(__always) private func roundedToBytes(_ x: Halves) -> WordVector {
    let half = WordVector(repeating: 64)
    return either(shiftedRight(x.even &+ half, by: 7), highBytes(shiftedLeft(x.odd &+ half, by: 1)))
}

/// Filters two neighbouring rows along both axes, and writes only their samples.
///
/// - Parameters:
///   - rows: 2·radius + 2 rows at the first output pixel, readable from the radius before (in pixels) and one value up to the
///     radius and 64 values after the end, or 128 values if it streams.
///   - vertical: the weights; the centre's weight is halved, because its sample is counted twice.
///   - count: the number of values of an output row.
///   - streams: whether whole cache lines bypass the caches, as in ``storeRow(_:count:streams:out:)``.
///   - scratch: 4352 values.
@inline(never) func filterDirectPair<Pixels: Interleaving, Both: Radius>(
    _: Pixels.Type, _: Both.Type, _ rows: UnsafePointer<UnsafePointer<UInt8>>, vertical: UnsafePointer<UInt16>,
    horizontal: UnsafePointer<UInt16>, count: Int, streams: Bool, scratch: UnsafeMutablePointer<UInt16>,
    first: UnsafeMutablePointer<UInt8>, second: UnsafeMutablePointer<UInt8>
) {
    let halo = Both.value &* Pixels.channels
    let lead = (halo &+ 1) & ~1
    let streams = streams && count >= 2 &* line
    // Lines that bypass the caches begin with a line of the output, so that a chunk may end in the next one.
    let length = (chunk &- lead &- halo &- (streams ? line : 0)) & ~(line &- 1)
    var (firstDone, secondDone) = (0, 0)
    var start = 0
    while start < count {
        let part = min(length, count &- start)
        filterWindows(
            Both.self, rows, vertical, start: start &- lead, count: lead &+ part &+ halo &+ (streams ? line : 0),
            scratch)
        let planes = UnsafePointer(scratch + lead / 2)
        firstDone =
            writeRow(
                Pixels.self, Both.self, planes, horizontal, from: firstDone &- start, to: part, left: count &- start,
                streams, scratch, first + start) &+ start
        secondDone =
            writeRow(
                Pixels.self, Both.self, planes + 2 &* planeStride, horizontal, from: secondDone &- start, to: part,
                left: count &- start, streams, scratch, second + start) &+ start
        start &+= length
    }
}

/// The samples that are written at once: a line of the cache.
private let line = 64

/// Writes the samples of one row of a chunk.
///
/// - Parameter left: the number of samples that may be written.
/// - Returns: the end of what is written.
@inline(__always) private func writeRow<Pixels: Interleaving, Both: Radius>(
    _: Pixels.Type, _: Both.Type, _ planes: UnsafePointer<UInt16>, _ weights: UnsafePointer<UInt16>, from start: Int,
    to end: Int, left: Int, _ streams: Bool, _ scratch: UnsafeMutablePointer<UInt16>,
    _ out: UnsafeMutablePointer<UInt8>
) -> Int {
    @inline(__always) func samples(_ x: Int) -> WordVector {
        roundedToBytes(sumsAlong(Pixels.self, Both.self, planes + x / 2, weights))
    }
    var x = start
    // Even samples stay even.
    let head = -Int(bitPattern: out + x) & (line &- 1)
    if streams, head & 1 == 0 {
        if head > 0 { storePairs(samples(x), out + x) }
        x &+= head
        while x < end, left &- x >= line {
            withUnsafePointer(to: samples(x)) { penumbra_stream_line($0, out + x) }
            x &+= line
        }
    }
    while x < end, left &- x >= line {
        storePairs(samples(x), out + x)
        x &+= line
    }
    if x < end {
        let tail = UnsafeMutableRawPointer(scratch + 4 &* planeStride).assumingMemoryBound(to: UInt8.self)
        storePairs(samples(x), tail)
        var index = 0
        while index < left &- x {
            out[x &+ index] = tail[index]
            index &+= 1
        }
        x &+= line
    }
    return x
}
