// A separable FIR for small radii on premultiplied words, row by row. The vertical weighted sum goes to a buffer in the
// first-level cache, the horizontal sum to the output. The radius is a constant of each specialisation, so that the sums are
// unrolled.

protocol Radius {
    static var value: Int { get }
}

enum Radius0: Radius { static var value: Int { @inline(__always) get { 0 } } }
enum Radius1: Radius { static var value: Int { @inline(__always) get { 1 } } }
enum Radius2: Radius { static var value: Int { @inline(__always) get { 2 } } }
enum Radius3: Radius { static var value: Int { @inline(__always) get { 3 } } }
enum Radius4: Radius { static var value: Int { @inline(__always) get { 4 } } }
enum Radius5: Radius { static var value: Int { @inline(__always) get { 5 } } }
enum Radius6: Radius { static var value: Int { @inline(__always) get { 6 } } }
enum Radius7: Radius { static var value: Int { @inline(__always) get { 7 } } }
enum Radius8: Radius { static var value: Int { @inline(__always) get { 8 } } }
enum Radius9: Radius { static var value: Int { @inline(__always) get { 9 } } }

/// The number of values of a chunk with its margins, in the first-level cache.
private let chunk = 4096

/// Filters vertically over a window of rows: `count` values from `start` on, in 8.7 fixed point.
///
/// - Parameters:
///   - rows: 2·radius + 1 rows, readable up to 127 values after the last one.
///   - weights: radius + 1 multiples of 1/65536, from the centre outwards.
///   - out: writable up to 127 values after the end.
@inline(__always) private func filterWindow<Vertical: Radius>(
    _: Vertical.Type, _ rows: UnsafePointer<UnsafePointer<UInt16>>, _ weights: UnsafePointer<UInt16>, start: Int,
    count: Int, out: UnsafeMutablePointer<UInt16>
) {
    let radius = Vertical.value
    let bias = WordVector(repeating: truncationBias(radius))
    var x = 0
    while x < count {
        // Four vectors are computed at once and stored at the end, so that weights and addresses are loaded once for all.
        let position = start &+ x
        let center = rows[radius] + position
        let weight = weights[0]
        var a = highProduct(load(center), weight) &+ bias
        var b = highProduct(load(center + 32), weight) &+ bias
        var c = highProduct(load(center + 64), weight) &+ bias
        var d = highProduct(load(center + 96), weight) &+ bias
        var k = 1
        while k <= radius {
            let (p, q) = (rows[radius &- k] + position, rows[radius &+ k] + position)
            let weight = weights[k]
            a &+= highProduct(load(p) &+ load(q), weight)
            b &+= highProduct(load(p + 32) &+ load(q + 32), weight)
            c &+= highProduct(load(p + 64) &+ load(q + 64), weight)
            d &+= highProduct(load(p + 96) &+ load(q + 96), weight)
            k &+= 1
        }
        store(a, out + x)
        store(b, out + x + 32)
        store(c, out + x + 64)
        store(d, out + x + 96)
        x &+= 128
    }
}

/// The weighted sum of 32 values along a row.
@inline(__always) private func sumAlong<Pixels: Interleaving, Horizontal: Radius>(
    _: Pixels.Type, _: Horizontal.Type, _ row: UnsafePointer<UInt16>, _ weights: UnsafePointer<UInt16>,
    _ bias: WordVector
) -> WordVector {
    var sum = highProduct(load(row), weights[0]) &+ bias
    var k = 1
    while k <= Horizontal.value {
        let offset = k &* Pixels.channels
        sum &+= highProduct(load(row - offset) &+ load(row + offset), weights[k])
        k &+= 1
    }
    return sum
}

/// Filters one row along both axes.
///
/// - Parameters:
///   - rows: 2·radius + 1 rows at the first output pixel, readable from the radius before (in pixels) up to the radius and 160
///     values after the end.
///   - count: the number of output values.
///   - scratch: 4352 values.
///   - bytes: receives samples. If it is nil, `words` receives 8.7 fixed point. Both are writable up to 64 values after the
///     end.
@inline(never) func filterDirect<Pixels: Interleaving, Both: Radius>(
    _: Pixels.Type, _: Both.Type, _ rows: UnsafePointer<UnsafePointer<UInt16>>, vertical: UnsafePointer<UInt16>,
    horizontal: UnsafePointer<UInt16>, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    bytes: UnsafeMutablePointer<UInt8>?, words: UnsafeMutablePointer<UInt16>?
) {
    let halo = Both.value &* Pixels.channels
    let lead = (halo &+ 31) & ~31
    let row = UnsafePointer(scratch + lead)
    let bias = WordVector(repeating: truncationBias(Both.value))
    @inline(__always) func sum(_ x: Int) -> WordVector { sumAlong(Pixels.self, Both.self, row + x, horizontal, bias) }
    let length = (chunk &- lead &- halo) & ~63
    var start = 0
    while start < count {
        let part = min(length, count &- start)
        filterWindow(Both.self, rows, vertical, start: start &- lead, count: part &+ lead &+ halo, out: scratch)
        var x = 0
        if let words {
            while x < part {
                store(sum(x), words + (start &+ x))
                x &+= 32
            }
        } else if let bytes {
            while x < part {
                let (a, b) = (roundedToBytes(sum(x)), roundedToBytes(sum(x &+ 32)))
                store(a, bytes + (start &+ x))
                store(b, bytes + (start &+ x &+ 32))
                x &+= 64
            }
        }
        start &+= length
    }
}
