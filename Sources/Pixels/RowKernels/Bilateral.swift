// The bilateral filter in single precision: weights fall with the distance and with the difference of the values.

/// Sixteen neighbouring values of a plane.
typealias Lanes = SIMD16<Float>

@inline(__always) private func load(_ source: UnsafePointer<Float>) -> Lanes {
    UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always) private func store(_ values: Lanes, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: values, as: Lanes.self)
}

/// 2 to the power of values up to 0. Values below −126, and NaN, count as −126. The relative error is at most 3e-6.
///
/// x = n + f with |f| ≤ ½. A minimax polynomial gives 2^f, then n is added to the exponent's bits.
@inline(__always) func exp2(_ x: Lanes) -> Lanes {
    // 1.5·2²³: adding it rounds to an integer, which is then in the low bits of the sum.
    let magic = Lanes(repeating: 12_582_912)
    let shifted = larger(x, than: -126) + magic
    let f = larger(x, than: -126) - (shifted - magic)
    var power = f * 0.009570101276040077 + 0.05591785907745361
    power = power * f + 0.240247443318367
    power = power * f + 0.6931217908859253
    power = power * f + 0.9999992847442627
    return scaled(power, byPowerIn: shifted)
}

/// A loop that is specialised for a number of channels.
protocol Channels {
    static var count: Int { get }
}

enum One: Channels { static var count: Int { @inline(__always) get { 1 } } }
enum Two: Channels { static var count: Int { @inline(__always) get { 2 } } }
enum Three: Channels { static var count: Int { @inline(__always) get { 3 } } }
enum Four: Channels { static var count: Int { @inline(__always) get { 4 } } }

/// The means of the window's pixels, with weights 2^(space − ‖difference‖²).
///
/// - Parameters:
///   - taps: the position of each pixel of the window for the first output pixel, in the first plane; readable up to 15 values
///     after the last one.
///   - space: for each tap, the base-2 logarithm of its spatial weight.
///   - center: the first output pixel itself, readable in the same way.
///   - planeStride: the number of values from one plane to the next.
///   - scale: the factor of the results.
///   - out: `channels` planes, `outStride` values apart, writable up to 15 values after the end.
@inline(never) public func bilateralRow(
    taps: UnsafePointer<UnsafePointer<Float>>, space: UnsafePointer<Float>, tapCount: Int,
    center: UnsafePointer<Float>, planeStride: Int, channels: Int, scale: Float, count: Int,
    out: UnsafeMutablePointer<Float>, outStride: Int
) {
    @inline(__always) func run<C: Channels>(_: C.Type) {
        filter(C.self, taps, space, tapCount, center, planeStride, scale, count, out, outStride)
    }
    switch channels {
    case 1: run(One.self)
    case 2: run(Two.self)
    case 3: run(Three.self)
    default: run(Four.self)
    }
}

@inline(never) private func filter<C: Channels>(
    _: C.Type, _ taps: UnsafePointer<UnsafePointer<Float>>, _ space: UnsafePointer<Float>, _ tapCount: Int,
    _ center: UnsafePointer<Float>, _ planeStride: Int, _ scale: Float, _ count: Int,
    _ out: UnsafeMutablePointer<Float>, _ outStride: Int
) {
    let (second, third, fourth) = (planeStride, 2 &* planeStride, 3 &* planeStride)
    var x = 0
    while x < count {
        let own = center + x
        let a = load(own)
        let b = C.count > 1 ? load(own + second) : .zero
        let c = C.count > 2 ? load(own + third) : .zero
        let d = C.count > 3 ? load(own + fourth) : .zero
        var (weights, sumA, sumB, sumC, sumD) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
        var k = 0
        while k < tapCount {
            let tap = taps[k] + x
            let p = load(tap)
            let q = C.count > 1 ? load(tap + second) : .zero
            let r = C.count > 2 ? load(tap + third) : .zero
            let s = C.count > 3 ? load(tap + fourth) : .zero
            var distance = (p - a) * (p - a)
            if C.count > 1 { distance += (q - b) * (q - b) }
            if C.count > 2 { distance += (r - c) * (r - c) }
            if C.count > 3 { distance += (s - d) * (s - d) }
            let weight = exp2(space[k] - distance)
            weights += weight
            sumA += p * weight
            if C.count > 1 { sumB += q * weight }
            if C.count > 2 { sumC += r * weight }
            if C.count > 3 { sumD += s * weight }
            k &+= 1
        }
        // The centre weighs 1, so the sum of the weights is never 0.
        let factor = scale / weights
        let target = out + x
        store(sumA * factor, target)
        if C.count > 1 { store(sumB * factor, target + outStride) }
        if C.count > 2 { store(sumC * factor, target + 2 &* outStride) }
        if C.count > 3 { store(sumD * factor, target + 3 &* outStride) }
        x &+= 16
    }
}

/// row[i] *= factor.
@inline(never) public func scaleFloats(_ row: UnsafeMutablePointer<Float>, by factor: Float, count: Int) {
    var index = 0
    while index < count {
        row[index] *= factor
        index &+= 1
    }
}
