// Conversions between interleaved samples and planes of single precision, one plane for each channel. Every formula is that of
// PixelReader and PixelWriter, with the same precision, so that both give the same bits.

/// A sample format.
protocol PlaneSample: InterleavedValue {
    /// The value of full intensity.
    static var fullIntensity: Double { get }
    static func float(_ sample: Self) -> Float
    static func planeFloats(_ samples: Sixteen) -> FloatVector
    /// Integers are rounded half up and clamped, and are 0 for NaN. Floats stay as they are, but every NaN becomes the same one.
    static func sample(_ value: Double) -> Self
    static func samples(_ values: FloatVector) -> Sixteen
    /// Two vectors of eight.
    static func samples(_ low: DoubleVector, _ high: DoubleVector) -> Sixteen
}

extension UInt8: PlaneSample {
    @inline(__always) static var fullIntensity: Double { 255 }
    @inline(__always) static func float(_ sample: UInt8) -> Float { Float(sample) }
    @inline(__always) static func planeFloats(_ samples: SIMD16<UInt8>) -> FloatVector {
        floats(widened(samples))
    }
    @inline(__always) static func sample(_ value: Double) -> UInt8 {
        UInt8(truncatingIfNeeded: rounded(value, 255))
    }
    @inline(__always) static func samples(_ values: FloatVector) -> SIMD16<UInt8> {
        lowBytes(rounded(values, 255))
    }
    @inline(__always) static func samples(_ low: DoubleVector, _ high: DoubleVector) -> SIMD16<UInt8> {
        lowBytes(rounded(low, high, 255))
    }
}

extension UInt16: PlaneSample {
    @inline(__always) static var fullIntensity: Double { 65535 }
    @inline(__always) static func float(_ sample: UInt16) -> Float { Float(sample) }
    @inline(__always) static func planeFloats(_ samples: SIMD16<UInt16>) -> FloatVector {
        floats(widened(samples))
    }
    @inline(__always) static func sample(_ value: Double) -> UInt16 {
        UInt16(truncatingIfNeeded: rounded(value, 65535))
    }
    @inline(__always) static func samples(_ values: FloatVector) -> SIMD16<UInt16> {
        lowWords(rounded(values, 65535))
    }
    @inline(__always) static func samples(_ low: DoubleVector, _ high: DoubleVector) -> SIMD16<UInt16> {
        lowWords(rounded(low, high, 65535))
    }
}

extension Float: PlaneSample {
    @inline(__always) static var fullIntensity: Double { 1 }
    @inline(__always) static func float(_ sample: Float) -> Float { sample }
    @inline(__always) static func planeFloats(_ samples: SIMD16<Float>) -> FloatVector { samples }
    @inline(__always) static func sample(_ value: Double) -> Float {
        value.isNaN ? Float.nan : Float(value)
    }
    @inline(__always) static func samples(_ values: FloatVector) -> SIMD16<Float> { withOneNaN(values) }
    @inline(__always) static func samples(_ low: DoubleVector, _ high: DoubleVector) -> SIMD16<Float> {
        withOneNaN(FloatVector(lowHalf: singles(low), highHalf: singles(high)))
    }
}

/// The value rounded half up and clamped; 0 for NaN.
@inline(__always) private func rounded(_ value: Double, _ full: Double) -> Int32 {
    let raised = value + 0.5
    return Int32(raised >= full ? full : raised >= 1 ? raised : 0)
}

/// The same for vectors. The fraction of a float is exact, so that nothing but the value decides about the half.
@inline(__always) private func rounded(_ values: FloatVector, _ full: Float) -> WideVector {
    let clamped = smaller(larger(values, than: 0), than: full)
    let whole = wholes(clamped)
    return whole &+ ones(where: clamped - floats(whole), isAtLeast: 0.5)
}

@inline(__always) private func rounded(_ low: DoubleVector, _ high: DoubleVector, _ full: Double) -> WideVector {
    @inline(__always) func rounded(_ values: DoubleVector) -> SIMD8<UInt32> {
        wholes(smaller(cleared(values + 0.5, below: 1), than: full))
    }
    return WideVector(lowHalf: rounded(low), highHalf: rounded(high))
}

// MARK: Layouts.

/// A loop that is specialised for a layout.
private protocol PlaneLoop {
    func run<Layout: PlaneLayout>(_: Layout.Type)
}

@inline(__always) private func choose(_ channels: Int, _ loop: some PlaneLoop) {
    switch channels {
    case 1: loop.run(GrayPixels.self)
    case 2: loop.run(GrayAlphaPixels.self)
    case 3: loop.run(RGBPixels.self)
    default: loop.run(RGBAPixels.self)
    }
}

/// Two and four channels have an alpha. Colours are multiplied by it, over full intensity, if `multiplies` is set.
private struct Loading<Sample: PlaneSample>: PlaneLoop {
    let source: UnsafePointer<Sample>
    let multiplies: Bool
    let count: Int
    let planes: UnsafeMutablePointer<Float>
    let planeStride: Int

    @inline(__always) func run<Layout: PlaneLayout>(_: Layout.Type) {
        var index = 0
        while index &+ 16 <= count {
            let pixels = Sample.split(source + index &* Layout.channels, channels: Layout.channels)
            switch Layout.channels {
            case 1: put(Sample.planeFloats(pixels.a), 0, index)
            case 2:
                let alpha = Sample.planeFloats(pixels.b)
                put(multiplied(Sample.planeFloats(pixels.a), alpha), 0, index)
                put(alpha, 1, index)
            case 3:
                put(Sample.planeFloats(pixels.a), 0, index)
                put(Sample.planeFloats(pixels.b), 1, index)
                put(Sample.planeFloats(pixels.c), 2, index)
            default:
                let alpha = Sample.planeFloats(pixels.d)
                put(multiplied(Sample.planeFloats(pixels.a), alpha), 0, index)
                put(multiplied(Sample.planeFloats(pixels.b), alpha), 1, index)
                put(multiplied(Sample.planeFloats(pixels.c), alpha), 2, index)
                put(alpha, 3, index)
            }
            index &+= 16
        }
        while index < count {
            let pixel = source + index &* Layout.channels
            let alpha = Double(Sample.float(pixel[Layout.channels &- 1]))
            var channel = 0
            while channel < Layout.channels {
                let isColor = Layout.hasAlpha && multiplies && channel < Layout.channels &- 1
                let value = Sample.float(pixel[channel])
                planes[channel &* planeStride &+ index] =
                    isColor ? Float(Double(value) * alpha / Sample.fullIntensity) : value
                channel &+= 1
            }
            index &+= 1
        }
    }

    @inline(__always) private func put(_ values: FloatVector, _ channel: Int, _ index: Int) {
        storeFloats(values, planes + (channel &* planeStride &+ index))
    }

    @inline(__always) private func multiplied(_ color: FloatVector, _ alpha: FloatVector) -> FloatVector {
        guard multiplies else { return color }
        @inline(__always) func product(_ color: SIMD8<Float>, _ alpha: SIMD8<Float>) -> SIMD8<Float> {
            singles(doubles(color) * doubles(alpha) / Sample.fullIntensity)
        }
        return FloatVector(
            lowHalf: product(color.lowHalf, alpha.lowHalf), highHalf: product(color.highHalf, alpha.highHalf))
    }
}

/// Two and four channels have an alpha, by which colours are divided, times full intensity. Where alpha is 0, colours are 0.
private struct Storing<Sample: PlaneSample>: PlaneLoop {
    let planes: UnsafePointer<Float>
    let planeStride: Int
    let count: Int
    let out: UnsafeMutablePointer<Sample>

    @inline(__always) func run<Layout: PlaneLayout>(_: Layout.Type) {
        @inline(__always) func put(_ pixels: SixteenPixels<Sample.Sixteen>, _ target: UnsafeMutablePointer<Sample>) {
            Sample.interleave(pixels, channels: Layout.channels, target)
        }
        var index = 0
        while index &+ 16 <= count {
            let target = out + index &* Layout.channels
            switch Layout.channels {
            case 1:
                let a = Sample.samples(plane(0, index))
                put(SixteenPixels(a: a, b: a, c: a, d: a), target)
            case 2:
                let alpha = plane(1, index)
                let a = divided(plane(0, index), alpha)
                put(SixteenPixels(a: a, b: Sample.samples(alpha), c: a, d: a), target)
            case 3:
                let a = Sample.samples(plane(0, index))
                let (b, c) = (Sample.samples(plane(1, index)), Sample.samples(plane(2, index)))
                put(SixteenPixels(a: a, b: b, c: c, d: a), target)
            default:
                let alpha = plane(3, index)
                put(
                    SixteenPixels(
                        a: divided(plane(0, index), alpha), b: divided(plane(1, index), alpha),
                        c: divided(plane(2, index), alpha), d: Sample.samples(alpha)), target)
            }
            index &+= 16
        }
        while index < count {
            let target = out + index &* Layout.channels
            let alpha = Double(planes[(Layout.channels &- 1) &* planeStride &+ index])
            var channel = 0
            while channel < Layout.channels {
                let isColor = Layout.hasAlpha && channel < Layout.channels &- 1
                let value = Double(planes[channel &* planeStride &+ index])
                target[channel] = Sample.sample(
                    !isColor ? value : alpha == 0 ? 0 : value * Sample.fullIntensity / alpha)
                channel &+= 1
            }
            index &+= 1
        }
    }

    @inline(__always) private func plane(_ channel: Int, _ index: Int) -> FloatVector {
        loadFloats(planes + (channel &* planeStride &+ index))
    }

    @inline(__always) private func divided(_ color: FloatVector, _ alpha: FloatVector) -> Sample.Sixteen {
        @inline(__always) func quotient(_ color: SIMD8<Float>, _ alpha: SIMD8<Float>) -> DoubleVector {
            let divisor = doubles(alpha)
            return cleared(doubles(color) * Sample.fullIntensity / divisor, whereZero: divisor)
        }
        return Sample.samples(quotient(color.lowHalf, alpha.lowHalf), quotient(color.highHalf, alpha.highHalf))
    }
}

// MARK: Functions that other modules call.

/// Writes a plane for each channel.
///
/// - Parameters:
///   - multiplies: whether colours are multiplied by alpha, over full intensity. Two and four channels have an alpha.
///   - count: the number of pixels. Nothing is read or written beyond them.
///   - planeStride: the number of values from one plane to the next.
@inline(never) public func loadBytePlanes(
    _ source: UnsafePointer<UInt8>, channels: Int, multiplies: Bool, count: Int, planes: UnsafeMutablePointer<Float>,
    planeStride: Int
) {
    choose(
        channels,
        Loading(source: source, multiplies: multiplies, count: count, planes: planes, planeStride: planeStride))
}

/// See ``loadBytePlanes(_:channels:multiplies:count:planes:planeStride:)``.
@inline(never) public func loadWordPlanes(
    _ source: UnsafePointer<UInt16>, channels: Int, multiplies: Bool, count: Int, planes: UnsafeMutablePointer<Float>,
    planeStride: Int
) {
    choose(
        channels,
        Loading(source: source, multiplies: multiplies, count: count, planes: planes, planeStride: planeStride))
}

/// See ``loadBytePlanes(_:channels:multiplies:count:planes:planeStride:)``.
@inline(never) public func loadFloatPlanes(
    _ source: UnsafePointer<Float>, channels: Int, multiplies: Bool, count: Int, planes: UnsafeMutablePointer<Float>,
    planeStride: Int
) {
    choose(
        channels,
        Loading(source: source, multiplies: multiplies, count: count, planes: planes, planeStride: planeStride))
}

/// Interleaves planes. Two and four channels have an alpha: colours times full intensity are divided by it, and are 0 where it is 0.
/// The plane of alpha is rounded before, as it will be stored. Only values above full intensity stay.
///
/// Integers are rounded half up and clamped, and are 0 for NaN. Floats are not clamped, and every NaN becomes the same NaN.
///
/// - Parameters: as for ``loadBytePlanes(_:channels:multiplies:count:planes:planeStride:)``.
@inline(never) public func storeBytePlanes(
    _ planes: UnsafePointer<Float>, planeStride: Int, channels: Int, count: Int, out: UnsafeMutablePointer<UInt8>
) {
    choose(channels, Storing(planes: planes, planeStride: planeStride, count: count, out: out))
}

/// See ``storeBytePlanes(_:planeStride:channels:count:out:)``.
@inline(never) public func storeWordPlanes(
    _ planes: UnsafePointer<Float>, planeStride: Int, channels: Int, count: Int, out: UnsafeMutablePointer<UInt16>
) {
    choose(channels, Storing(planes: planes, planeStride: planeStride, count: count, out: out))
}

/// See ``storeBytePlanes(_:planeStride:channels:count:out:)``.
@inline(never) public func storeFloatPlanes(
    _ planes: UnsafePointer<Float>, planeStride: Int, channels: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    choose(channels, Storing(planes: planes, planeStride: planeStride, count: count, out: out))
}

/// plane[i] = table[source[i·channels]].
@inline(__always) private func lookUp<Sample: FixedWidthInteger>(
    _ source: UnsafePointer<Sample>, _ channels: Int, _ table: UnsafePointer<Double>, _ count: Int,
    _ plane: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        plane[index] = Float(table[Int(truncatingIfNeeded: source[index &* channels])])
        index &+= 1
    }
}

@inline(never) public func lookUpBytePlane(
    _ source: UnsafePointer<UInt8>, channels: Int, table: UnsafePointer<Double>, count: Int,
    plane: UnsafeMutablePointer<Float>
) {
    lookUp(source, channels, table, count, plane)
}

@inline(never) public func lookUpWordPlane(
    _ source: UnsafePointer<UInt16>, channels: Int, table: UnsafePointer<Double>, count: Int,
    plane: UnsafeMutablePointer<Float>
) {
    lookUp(source, channels, table, count, plane)
}

/// Rounds an alpha plane in place, as it will be stored. Values above `full` stay, so that colours are divided by them; they
/// are clamped when they are stored.
@inline(never) public func roundPlane(_ plane: UnsafeMutablePointer<Float>, full: Float, count: Int) {
    var index = 0
    while index < count {
        let value = plane[index]
        plane[index] = value > full ? value : Float(rounded(Double(value), Double(full)))
        index &+= 1
    }
}

/// out[i·channels] = table[plane[i] · 257 rounded to 16 bits].
@inline(never) public func lookUpBytes(
    _ plane: UnsafePointer<Float>, table: UnsafePointer<UInt8>, channels: Int, count: Int,
    out: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    while index < count {
        out[index &* channels] = table[Int(rounded(Double(plane[index]) * 257, 65535))]
        index &+= 1
    }
}
