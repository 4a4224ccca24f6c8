// Tone mapping. `ToneMapping` of `Kernels` defines the curves.
//
// Bytes have a table. Words and floats are computed, eight pixels at a time, in double precision: the products of a row of floats
// span 60 orders of magnitude.

/// Replaces each byte by that of a table, in the row of the brightest channel of its pixel.
///
/// - Parameters:
///   - channels: 1 to 4. Two and four have an alpha. Where it is 0, colours become 0.
///   - table: 256 rows of 256 bytes.
@inline(never) public func mapByteTones(
    _ pixels: UnsafeMutablePointer<UInt8>, channels: Int, table: UnsafePointer<UInt8>, count: Int
) {
    let hasAlpha = channels & 1 == 0
    var pixel = pixels
    let end = pixels + count &* channels
    while pixel < end {
        if hasAlpha && pixel[channels &- 1] == 0 {
            pixel[0] = 0
            if channels == 4 {
                pixel[1] = 0
                pixel[2] = 0
            }
        } else if channels < 3 {
            pixel[0] = table[Int(pixel[0]) &* 257]
        } else {
            let (red, green, blue) = (Int(pixel[0]), Int(pixel[1]), Int(pixel[2]))
            let larger = red > green ? red : green
            let row = table + (larger > blue ? larger : blue) &* 256
            pixel[0] = row[red]
            pixel[1] = row[green]
            pixel[2] = row[blue]
        }
        pixel += channels
    }
}

/// The factors of light by one curve. All numbers are multiples of the display's light but for those of PQ.
private protocol LightFactors {
    init(_ numbers: UnsafePointer<Double>)
    /// - Parameter light: from 0 to the peak. Where it is brighter the result is not used.
    func factor(_ light: DoubleVector) -> DoubleVector
}

private struct HableFactors: LightFactors {
    let white: Double

    @inline(__always) init(_ numbers: UnsafePointer<Double>) { white = numbers[0] }

    @inline(__always) func factor(_ x: DoubleVector) -> DoubleVector {
        let (a, b, c, d, e, f) = (0.15, 0.50, 0.10, 0.20, 0.02, 0.30)
        let above: DoubleVector = a * (f - e) * x + b * (c * f - e)
        let below: DoubleVector = x * (a * x + b) + d * f
        return above / (white * f * below)
    }
}

private struct ReinhardFactors: LightFactors {
    let share: Double

    @inline(__always) init(_ numbers: UnsafePointer<Double>) { share = numbers[0] }

    @inline(__always) func factor(_ light: DoubleVector) -> DoubleVector { (1 + light * share) / (1 + light) }
}

private struct PQFactors: LightFactors {
    /// The light from which on the curve bends.
    let knee: Double
    /// The display's light as a share of PQ's.
    let target: Double
    /// PQ values. The start of the spline is a share of the peak's, and so is its end.
    let peak: Double
    let start: Double
    let end: Double

    @inline(__always) init(_ numbers: UnsafePointer<Double>) {
        (knee, target, peak, start, end) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    }

    private static var m1: Double { @inline(__always) get { 1305.0 / 8192 } }
    private static var m2: Double { @inline(__always) get { 2523.0 / 32 } }
    private static var c1: Double { @inline(__always) get { 107.0 / 128 } }
    private static var c2: Double { @inline(__always) get { 2413.0 / 128 } }
    private static var c3: Double { @inline(__always) get { 2392.0 / 128 } }

    @inline(__always) func factor(_ light: DoubleVector) -> DoubleVector {
        let bent = larger(light, DoubleVector(repeating: knee))
        let root = power(bent * target, Self.m1)
        let (above, below): (DoubleVector, DoubleVector) = (Self.c1 + Self.c2 * root, 1 + Self.c3 * root)
        let stored = power(above / below, Self.m2)
        let t = (stored / peak - start) / (1 - start)
        let (square, cube) = (t * t, t * t * t)
        // The compiler needs the terms apart.
        let (first, last): (DoubleVector, DoubleVector) = (2 * cube - 3 * square + 1, 3 * square - 2 * cube)
        let slope: DoubleVector = cube - 2 * square + t
        let value: DoubleVector = first * start + slope * (1 - start) + last * end
        let mapped = power(value * peak, 1 / Self.m2)
        let (rise, fall): (DoubleVector, DoubleVector) = (mapped - Self.c1, Self.c2 - Self.c3 * mapped)
        let result = power(rise / fall, 1 / Self.m1) / (target * bent)
        return chosen(DoubleVector(repeating: 1), where: light, isAtMost: DoubleVector(repeating: knee), else: result)
    }
}

private struct ToneChange<Curve: LightFactors>: PixelChange {
    /// From the input's light to multiples of the display's.
    let scale: Double
    /// The light that becomes full intensity.
    let peak: Double
    let curve: Curve

    @inline(__always) init(_ numbers: UnsafePointer<Double>) {
        (scale, peak, curve) = (numbers[0], numbers[1], Curve(numbers + 2))
    }

    @inline(__always)
    func change<Layout: PlaneLayout, Sample: PlaneSample>(_: Layout.Type, _ pixels: UnsafeMutablePointer<Sample>) {
        let samples = Sample.split(pixels, channels: Layout.channels)
        let alpha = Sample.planeFloats(Layout.channels == 2 ? samples.b : samples.d)
        let red = Sample.planeFloats(samples.a)
        if Layout.channels < 3 {
            let low = mapped(Layout.self, Sample.self, (red.lowHalf, red.lowHalf, red.lowHalf), alpha.lowHalf)
            let high = mapped(Layout.self, Sample.self, (red.highHalf, red.highHalf, red.highHalf), alpha.highHalf)
            let result = Sample.samples(low.red, high.red)
            Sample.interleave(
                SixteenPixels(a: result, b: samples.b, c: result, d: samples.d), channels: Layout.channels, pixels)
        } else {
            let (green, blue) = (Sample.planeFloats(samples.b), Sample.planeFloats(samples.c))
            let low = mapped(Layout.self, Sample.self, (red.lowHalf, green.lowHalf, blue.lowHalf), alpha.lowHalf)
            let high = mapped(Layout.self, Sample.self, (red.highHalf, green.highHalf, blue.highHalf), alpha.highHalf)
            Sample.interleave(
                SixteenPixels(
                    a: Sample.samples(low.red, high.red), b: Sample.samples(low.green, high.green),
                    c: Sample.samples(low.blue, high.blue), d: samples.d), channels: Layout.channels, pixels)
        }
    }

    /// The mapped colours of eight pixels on the scale of the samples; gray has one.
    @inline(__always) private func mapped<Layout: PlaneLayout, Sample: PlaneSample>(
        _: Layout.Type, _: Sample.Type, _ colors: (SIMD8<Float>, SIMD8<Float>, SIMD8<Float>), _ alpha: SIMD8<Float>
    ) -> (red: DoubleVector, green: DoubleVector, blue: DoubleVector) {
        let isGray = Layout.channels < 3
        let full = Sample.fullIntensity
        @inline(__always) func light(_ stored: SIMD8<Float>) -> DoubleVector { decoded(doubles(stored) * (1 / full)) }
        let red = light(colors.0)
        let (green, blue) = isGray ? (red, red) : (light(colors.1), light(colors.2))
        let brightest = (isGray ? red : larger(larger(red, green), blue)) * scale
        let within = curve.factor(smaller(larger(brightest, .zero), than: peak))
        let factor =
            chosen(within, where: brightest, isLess: DoubleVector(repeating: peak), else: 1 / brightest) * scale
        @inline(__always) func stored(_ light: DoubleVector) -> DoubleVector {
            let value = encoded(light * factor) * full
            return Layout.hasAlpha ? cleared(value, whereZero: doubles(alpha)) : value
        }
        let first = stored(red)
        return isGray ? (first, first, first) : (first, stored(green), stored(blue))
    }
}

/// The light of a value that is stored by the curve of sRGB. NaN and minus infinity count as 0, and more than 10³⁰ as that.
@inline(__always) private func decoded(_ stored: DoubleVector) -> DoubleVector {
    let infinite = DoubleVector(repeating: -.infinity)
    // Beyond this bound the light is, too.
    let size = smaller(magnitude(stored), than: 1e13)
    let bent = power(larger((size + 0.055) / 1.055, DoubleVector(repeating: 0.05)), 2.4)
    let light = smaller(
        chosen(size / 12.92, where: size, isAtMost: DoubleVector(repeating: 0.04045), else: bent), than: 1e30)
    return chosen(withSign(of: stored, light), where: infinite, isLess: stored, else: .zero)
}

/// The stored value of light by the curve of sRGB.
@inline(__always) private func encoded(_ light: DoubleVector) -> DoubleVector {
    let size = magnitude(light)
    let bent = 1.055 * power(larger(size, DoubleVector(repeating: 0.003)), 1 / 2.4) - 0.055
    return withSign(
        of: light, chosen(size * 12.92, where: size, isAtMost: DoubleVector(repeating: 0.0031308), else: bent))
}

/// Maps the light of words that are stored by the curve of sRGB.
///
/// - Parameters:
///   - channels: 1 to 4. Two and four have an alpha. Where it is 0, colours become 0.
///   - curve: 0 is Hable's, 1 is Reinhard's, and 2 is that of BT.2390.
///   - numbers: the scale from the input's light to multiples of the display's and the peak in these multiples. Then what Hable's
///     curve is divided by; or one over the square of the peak, for Reinhard's; or for BT.2390 the knee, the display's light as a
///     share of PQ's, the PQ value of the peak, and the spline's start and end as shares of that.
///   - scratch: room for 16 pixels.
@inline(never) public func mapWordTones(
    _ pixels: UnsafeMutablePointer<UInt16>, channels: Int, curve: Int, numbers: UnsafePointer<Double>, count: Int,
    scratch: UnsafeMutablePointer<UInt16>
) {
    mapTones(pixels, channels, curve, numbers, count, scratch)
}

/// See ``mapWordTones(_:channels:curve:numbers:count:scratch:)``.
@inline(never) public func mapFloatTones(
    _ pixels: UnsafeMutablePointer<Float>, channels: Int, curve: Int, numbers: UnsafePointer<Double>, count: Int,
    scratch: UnsafeMutablePointer<Float>
) {
    mapTones(pixels, channels, curve, numbers, count, scratch)
}

@inline(__always) private func mapTones<Sample: PlaneSample>(
    _ pixels: UnsafeMutablePointer<Sample>, _ channels: Int, _ curve: Int, _ numbers: UnsafePointer<Double>,
    _ count: Int, _ scratch: UnsafeMutablePointer<Sample>
) {
    switch curve {
    case 0: changePixels(pixels, channels, count, scratch, ToneChange<HableFactors>(numbers))
    case 1: changePixels(pixels, channels, count, scratch, ToneChange<ReinhardFactors>(numbers))
    default: changePixels(pixels, channels, count, scratch, ToneChange<PQFactors>(numbers))
    }
}
