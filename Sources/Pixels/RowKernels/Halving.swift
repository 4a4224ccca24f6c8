import CStreaming

// Half the rows and columns of an image: y[m] = Σ h[j]·x[2m + j] along both axes, anchored at even coordinates.
// The rows of a window are summed first, which halves what is left to do; then even and odd columns are split and
// summed likewise.

/// The rows of which output row m is computed, relative to row 2m, are −before … taps − 1 − before.
///
/// - 3 taps: −1 … 1; 4: −1 … 2; 5: −2 … 2; 6: −2 … 3; 8: −3 … 4.
struct HalvingScratch {
    /// The even and odd columns of one chunk, in the first-level cache.
    let even: UnsafeMutablePointer<UInt16>
    let odd: UnsafeMutablePointer<UInt16>

    /// The number of low-rate pixels of a chunk.
    static let chunk = 320

    init(_ scratch: UnsafeMutablePointer<UInt16>) {
        even = scratch + 64
        odd = scratch + 64 + 1536
    }
}

/// Writes `count` low-rate pixels of one row in 8.7 fixed point.
///
/// - Parameters:
///   - rows: one row for each tap, each at the pixel that is twice the first output pixel; readable from 4 pixels before it up
///     to 4 pixels and 64 values after the last one.
///   - bias: half a unit in the last place for every truncated product; see docs/explanation/gaussian.md.
///   - scratch: 3200 values.
///   - out: writable up to 32 values after the end.
@inline(never) func halve<Sample: FixedSample, Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, _ rows: UnsafePointer<UnsafePointer<Sample>>, count: Int, bias: UInt16,
    scratch: UnsafeMutablePointer<UInt16>, out: UnsafeMutablePointer<UInt16>
) {
    let buffers = HalvingScratch(scratch)
    let channels = Pixels.channels
    var first = 0
    while first < count {
        let length = min(HalvingScratch.chunk, count &- first)
        let low = (first &- 2) &* channels
        splitSums(Pixels.self, Taps.self, rows, from: low, count: (length &+ 4) &* channels, buffers)
        let values = length &* channels
        let start = 2 &* channels
        var x = 0
        while x < values {
            let sum = lowRateSum(
                Sample.self, Pixels.self, Taps.self, buffers.even + (start &+ x), buffers.odd + (start &+ x), bias)
            store(sum, out + (first &* channels &+ x))
            x &+= 32
        }
        first &+= HalvingScratch.chunk
    }
}

/// Computes vertical sums and splits them into the values of even pixels from low-rate value `low` on, and of odd ones.
@inline(__always) private func splitSums<Sample: FixedSample, Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, _ rows: UnsafePointer<UnsafePointer<Sample>>, from low: Int, count: Int,
    _ buffers: HalvingScratch
) {
    var x = 2 &* low
    var done = 0
    while done < count {
        if Sample.self == UInt8.self {
            let rows = UnsafeRawPointer(rows).assumingMemoryBound(to: UnsafePointer<UInt8>.self)
            penumbra_prefetch(rows[Taps.count &- 1] + (x &+ 1024))
            penumbra_prefetch(rows[Taps.count &- 2] + (x &+ 1024))
            let sums = sampleSums(Taps.self, rows, x)
            store(Pixels.evenOfSums(sums.low, sums.high), buffers.even + done)
            store(Pixels.oddOfSums(sums.low, sums.high), buffers.odd + done)
        } else {
            let rows = UnsafeRawPointer(rows).assumingMemoryBound(to: UnsafePointer<UInt16>.self)
            let (a, b) = (wordSum(Taps.self, rows, x), wordSum(Taps.self, rows, x &+ 32))
            store(Pixels.even(a, b), buffers.even + done)
            store(Pixels.odd(a, b), buffers.odd + done)
        }
        x &+= Pixels.block
        done &+= Pixels.block / 2
    }
}

/// The vertical weighted sums of 64 samples of a window. They are exact and scaled by the sum of the weights (4, 8, 16, 128).
@inline(__always) private func sampleSums<Taps: PrefilterTaps>(
    _: Taps.Type, _ rows: ByteRows, _ x: Int
) -> SampleSums {
    func pair(_ k: Int, _ weight: UInt8, _ nextWeight: UInt8) -> SampleSums {
        SampleSums(rows, x, pair: k, weight, nextWeight)
    }
    switch Taps.count {
    case 3: return pair(0, 1, 2) + SampleSums(rows, x, row: 2)
    case 4: return pair(0, 1, 3) + pair(2, 3, 1)
    case 5: return pair(0, 1, 4) + pair(2, 6, 4) + SampleSums(rows, x, row: 4)
    case 6: return pair(0, 5, 21) + pair(2, 38, 38) + pair(4, 21, 5)
    default:
        let (upper, lower) = (pair(0, 1, 7) + pair(2, 21, 35), pair(4, 35, 21) + pair(6, 7, 1))
        return upper + lower
    }
}

/// The vertical weighted sum of a window of words, in 8.7 fixed point. It is exact if they are whole samples.
@inline(__always) private func wordSum<Taps: PrefilterTaps>(_: Taps.Type, _ rows: WordRows, _ x: Int) -> WordVector {
    func row(_ k: Int) -> WordVector { load(rows[k] + x) }
    func pair(_ k: Int) -> WordVector { row(k) &+ row(Taps.count &- 1 &- k) }
    switch Taps.count {
    case 3: return average(row(1), average(row(0), row(2)))
    case 4: return highProduct(pair(0), 8192) &+ highProduct(pair(1), 24576)
    case 5:
        let center = row(2)
        return highProduct(pair(0), 4096) &+ highProduct(pair(1), 16384) &+ highProduct(center &+ center, 12288)
    case 6: return highProduct(pair(0), 2560) &+ highProduct(pair(1), 10752) &+ highProduct(pair(2), 19456)
    default:
        return highProduct(pair(0), 512) &+ highProduct(pair(1), 3584) &+ highProduct(pair(2), 10752)
            &+ highProduct(pair(3), 17920)
    }
}

/// The horizontal weighted sum of even and odd columns (both at the same low-rate value), in 8.7 fixed point.
@inline(__always) private func lowRateSum<Sample: FixedSample, Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Sample.Type, _: Pixels.Type, _: Taps.Type, _ even: UnsafePointer<UInt16>, _ odd: UnsafePointer<UInt16>,
    _ bias: UInt16
) -> WordVector {
    let channels = Pixels.channels
    let (e, o) = (load(even), load(odd))
    switch Taps.count {
    case 3:
        if Sample.self == UInt8.self {
            return shiftedLeft(load(odd - channels) &+ o &+ e &+ e, by: 3)  // at most 128 · 255
        }
        return average(e, average(load(odd - channels), o))
    case 4:
        let outer = load(odd - channels) &+ load(even + channels)
        let inner = e &+ o
        if Sample.self == UInt8.self {
            let sum = outer &+ inner &+ inner &+ inner  // at most 64 · 255
            return sum &+ sum
        }
        return highProduct(outer, 8192) &+ highProduct(inner, 24576) &+ WordVector(repeating: bias)
    case 5:
        let outer = load(even - channels) &+ load(even + channels)
        let inner = load(odd - channels) &+ o
        if Sample.self == UInt8.self {
            return shiftedRight(outer &+ shiftedLeft(inner &+ e, by: 2) &+ e &+ e, by: 1)  // at most 256 · 255
        }
        return highProduct(outer, 4096) &+ highProduct(inner, 16384) &+ highProduct(e &+ e, 12288)
            &+ WordVector(repeating: bias)
    case 6:
        return highProduct(load(even - channels) &+ load(odd + channels), 2560)
            &+ highProduct(load(odd - channels) &+ load(even + channels), 10752) &+ highProduct(e &+ o, 19456)
            &+ WordVector(repeating: bias)
    default:
        return highProduct(load(odd - 2 &* channels) &+ load(even + 2 &* channels), 512)
            &+ highProduct(load(even - channels) &+ load(odd + channels), 3584)
            &+ highProduct(load(odd - channels) &+ load(even + channels), 10752) &+ highProduct(e &+ o, 17920)
            &+ WordVector(repeating: bias)
    }
}

/// The prefilters that halve and double the sampling rate, as constants of a specialisation.
/// docs/explanation/gaussian.md derives them.
/// All are symmetric, sum to 1, and are their own interpolators (times 2).
protocol PrefilterTaps {
    static var count: Int { get }
}

extension PrefilterTaps {
    /// Whether the outputs at twice the rate are averages of averages.
    static var areAverages: Bool { @inline(__always) get { count <= 5 } }
}

/// 1 2 1, over 4.
enum ThreeTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 3 } }
}

/// 1 3 3 1, over 8.
enum FourTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 4 } }
}

/// 1 4 6 4 1, over 16.
enum FiveTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 5 } }
}

/// 5 21 38 38 21 5, over 128.
enum SixTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 6 } }
}

/// 1 7 21 35 35 21 7 1, over 128.
enum EightTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 8 } }
}
