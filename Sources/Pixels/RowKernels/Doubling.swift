import CStreaming

// Twice the rows and columns of a low-rate image: y[n] = 2 · Σ h[n − 2m]·x[m]. Even and odd outputs are weighted sums
// of the same 1 to 4 neighbours; along columns first, then along rows, then zipped.

/// The neighbours of a low-rate position, from two before to two after it.
private struct Neighbours {
    let before2: WordVector
    let before: WordVector
    let center: WordVector
    let behind: WordVector
    let behind2: WordVector
}

/// The output at twice the position. Chains of averages round up, and sums of products down, by less than 2 units.
@inline(__always) private func evenOutput<Taps: PrefilterTaps>(_: Taps.Type, _ x: Neighbours) -> WordVector {
    switch Taps.count {
    case 3: return x.center
    case 4: return average(x.center, average(x.before, x.center))
    case 5: return average(x.center, average(x.center, average(x.before, x.behind)))
    case 6:
        return highProduct(x.before, 21504) &+ highProduct(x.center, 38912) &+ highProduct(x.behind, 5120)
            &+ WordVector(repeating: 1)
    default:
        return highProduct(x.before2, 1024) &+ highProduct(x.before, 21504) &+ highProduct(x.center, 35840)
            &+ highProduct(x.behind, 7168) &+ WordVector(repeating: 2)
    }
}

/// The output after it: the mirror image of the even output. The centre of 3 and 5 taps lies on even outputs, so their odd output is an
/// average.
@inline(__always) private func oddOutput<Taps: PrefilterTaps>(_: Taps.Type, _ x: Neighbours) -> WordVector {
    if Taps.count == 3 || Taps.count == 5 { return average(x.center, x.behind) }
    return evenOutput(
        Taps.self,
        Neighbours(before2: x.behind2, before: x.behind, center: x.center, behind: x.before, behind2: x.before2))
}

/// Loads only the neighbours that the taps need.
@inline(__always) private func neighbours<Taps: PrefilterTaps>(
    _: Taps.Type, _ rows: UnsafePointer<UnsafePointer<UInt16>>, _ x: Int
) -> Neighbours {
    let center = load(rows[2] + x)
    let isWide = Taps.count == 8
    return Neighbours(
        before2: isWide ? load(rows[0] + x) : center, before: load(rows[1] + x), center: center,
        behind: load(rows[3] + x), behind2: isWide ? load(rows[4] + x) : center)
}

@inline(__always) private func neighbours<Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, in row: UnsafePointer<UInt16>
) -> Neighbours {
    let channels = Pixels.channels
    let center = load(row)
    let isWide = Taps.count == 8
    return Neighbours(
        before2: isWide ? load(row - 2 &* channels) : center, before: load(row - channels), center: center,
        behind: load(row + channels), behind2: isWide ? load(row + 2 &* channels) : center)
}

/// The number of low-rate values of a chunk, in the first-level cache.
private let chunk = 960

/// Writes 2·`count` pixels of one row in 8.7 fixed point.
///
/// - Parameters:
///   - rows: the low-rate rows from two before the position to two after it, at the first low-rate pixel; readable from 2
///     pixels and 32 values before the first pixel up to 2 pixels and 64 values after the last.
///   - isOdd: whether the row is the one after twice the position, or the one at it.
///   - scratch: 1280 values.
///   - out: writable up to 64 values after the end.
@inline(never) func double<Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, _ rows: UnsafePointer<UnsafePointer<UInt16>>, isOdd: Bool, count: Int,
    scratch: UnsafeMutablePointer<UInt16>, out: UnsafeMutablePointer<UInt16>
) {
    let row = scratch + 64
    let total = count &* Pixels.channels
    var start = 0
    while start < total {
        let length = min(chunk, total &- start)
        let end = length &+ 2 &* Pixels.channels &+ Pixels.block / 2
        var x = -32
        while x < end {
            let around = neighbours(Taps.self, rows, start &+ x)
            store(isOdd ? oddOutput(Taps.self, around) : evenOutput(Taps.self, around), row + x)
            x &+= 32
        }
        x = 0
        while x < length {
            let around = neighbours(Pixels.self, Taps.self, in: row + x)
            let (even, odd) = (evenOutput(Taps.self, around), oddOutput(Taps.self, around))
            let target = out + 2 &* (start &+ x)
            store(Pixels.zipLow(even, odd), target)
            store(Pixels.zipHigh(even, odd), target + Pixels.block / 2)
            x &+= Pixels.block / 2
        }
        start &+= chunk
    }
}

/// Writes the samples of two rows, at twice a low-rate position and after it: 2·`count` pixels each.
///
/// - Parameters:
///   - rows: as for ``double(_:_:_:isOdd:count:scratch:out:)``.
///   - scratch: 2560 values.
///   - even, odd: writable up to 64 values after the end; nil omits a row.
@inline(never) func doubleToBytes<Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, _ rows: UnsafePointer<UnsafePointer<UInt16>>, count: Int,
    scratch: UnsafeMutablePointer<UInt16>, even: UnsafeMutablePointer<UInt8>?, odd: UnsafeMutablePointer<UInt8>?
) {
    let (evenRow, oddRow) = (scratch + 64, scratch + 64 + 1216)
    let half = WordVector(repeating: Taps.areAverages ? 64 : 0)
    let total = count &* Pixels.channels
    var start = 0
    while start < total {
        let length = min(chunk, total &- start)
        let end = length &+ 2 &* Pixels.channels &+ Pixels.block / 2
        var x = -32
        while x < end {
            penumbra_prefetch(rows[1] + (start &+ x &+ 512))
            penumbra_prefetch(rows[2] + (start &+ x &+ 512))
            penumbra_prefetch(rows[3] + (start &+ x &+ 512))
            let around = neighbours(Taps.self, rows, start &+ x)
            store(evenOutput(Taps.self, around) &+ half, evenRow + x)
            store(oddOutput(Taps.self, around) &+ half, oddRow + x)
            x &+= 32
        }
        if let even { zipToBytes(Pixels.self, Taps.self, evenRow, length, even + 2 &* start) }
        if let odd { zipToBytes(Pixels.self, Taps.self, oddRow, length, odd + 2 &* start) }
        start &+= chunk
    }
}

/// Computes the outputs of `count` low-rate values in `row`. Averages of values that are too large by a half are too large by a half
/// as well, so that those of 3 to 5 taps round here for nothing: `row` has the half already.
@inline(__always) private func zipToBytes<Pixels: Interleaving, Taps: PrefilterTaps>(
    _: Pixels.Type, _: Taps.Type, _ row: UnsafePointer<UInt16>, _ count: Int, _ out: UnsafeMutablePointer<UInt8>
) {
    let half = WordVector(repeating: Taps.areAverages ? 0 : 64)
    var x = 0
    while x < count {
        let around = neighbours(Pixels.self, Taps.self, in: row + x)
        let even = shiftedRight(evenOutput(Taps.self, around) &+ half, by: 7)
        let odd = shiftedRight(oddOutput(Taps.self, around) &+ half, by: 7)
        let target = out + 2 &* x
        #if WIDE_VECTORS
            store(narrowed(Pixels.zipLow(even, odd)), target)
            store(narrowed(Pixels.zipHigh(even, odd)), target + Pixels.block / 2)
        #else
            let (evenBytes, oddBytes) = (narrowed(even), narrowed(odd))
            store(Pixels.zipLow(evenBytes, oddBytes), target)
            store(Pixels.zipHigh(evenBytes, oddBytes), target + Pixels.block / 2)
        #endif
        x &+= Pixels.block / 2
    }
}
