import CShuffles

/// The layout of interleaved pixels, as a constant of a specialisation.
protocol PlaneLayout {
    static var channels: Int { get }
    static var hasAlpha: Bool { get }
}

enum GrayPixels: PlaneLayout {
    static var channels: Int { @inline(__always) get { 1 } }
    static var hasAlpha: Bool { @inline(__always) get { false } }
}

enum GrayAlphaPixels: PlaneLayout {
    static var channels: Int { @inline(__always) get { 2 } }
    static var hasAlpha: Bool { @inline(__always) get { true } }
}

enum RGBPixels: PlaneLayout {
    static var channels: Int { @inline(__always) get { 3 } }
    static var hasAlpha: Bool { @inline(__always) get { false } }
}

enum RGBAPixels: PlaneLayout {
    static var channels: Int { @inline(__always) get { 4 } }
    static var hasAlpha: Bool { @inline(__always) get { true } }
}

/// The channels of 16 pixels, a vector each. What a layout lacks is not used.
struct SixteenPixels<Vector> {
    var a: Vector
    var b: Vector
    var c: Vector
    var d: Vector
}

/// Values that are split into channels, and interleaved, by `CShuffles`.
///
/// The protocol inherits none with witnesses (such as `SIMDScalar`): the code that finds them would be shared with other modules.
protocol InterleavedValue {
    /// A vector of 16 values.
    associatedtype Sixteen: BitwiseCopyable
    /// Splits 16 pixels into their channels.
    static func split(_ source: UnsafePointer<Self>, channels: Int) -> SixteenPixels<Sixteen>
    /// Interleaves the channels of 16 pixels.
    static func interleave(_ pixels: SixteenPixels<Sixteen>, channels: Int, _ target: UnsafeMutablePointer<Self>)
}

extension InterleavedValue {
    /// 16 pixels of one channel.
    @inline(__always) fileprivate static func single(_ source: UnsafePointer<Self>) -> SixteenPixels<Sixteen> {
        let values = UnsafeRawPointer(source).loadUnaligned(as: Sixteen.self)
        return SixteenPixels(a: values, b: values, c: values, d: values)
    }

    @inline(__always) fileprivate static func put(_ values: Sixteen, _ target: UnsafeMutablePointer<Self>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: Sixteen.self)
    }
}

extension UInt8: InterleavedValue {
    @inline(__always) static func split(_ source: UnsafePointer<UInt8>, channels: Int) -> SixteenPixels<SIMD16<UInt8>> {
        let pixels: penumbra_byte_pixels
        switch channels {
        case 1: return single(source)
        case 2: pixels = penumbra_load_bytes2(source)
        case 3: pixels = penumbra_load_bytes3(source)
        default: pixels = penumbra_load_bytes4(source)
        }
        return SixteenPixels(a: pixels.a, b: pixels.b, c: pixels.c, d: pixels.d)
    }

    @inline(__always)
    static func interleave(_ pixels: SixteenPixels<SIMD16<UInt8>>, channels: Int, _ target: UnsafeMutablePointer<UInt8>)
    {
        let bytes = penumbra_byte_pixels(a: pixels.a, b: pixels.b, c: pixels.c, d: pixels.d)
        switch channels {
        case 1: put(pixels.a, target)
        case 2: penumbra_store_bytes2(bytes, target)
        case 3: penumbra_store_bytes3(bytes, target)
        default: penumbra_store_bytes4(bytes, target)
        }
    }
}

extension UInt16: InterleavedValue {
    @inline(__always) static func split(_ source: UnsafePointer<UInt16>, channels: Int) -> SixteenPixels<SIMD16<UInt16>>
    {
        @inline(__always) func eight(_ source: UnsafePointer<UInt16>) -> penumbra_word_pixels {
            switch channels {
            case 2: penumbra_load_words2(source)
            case 3: penumbra_load_words3(source)
            default: penumbra_load_words4(source)
            }
        }
        if channels == 1 { return single(source) }
        let (low, high) = (eight(source), eight(source + 8 &* channels))
        return SixteenPixels(
            a: SIMD16(lowHalf: low.a, highHalf: high.a), b: SIMD16(lowHalf: low.b, highHalf: high.b),
            c: SIMD16(lowHalf: low.c, highHalf: high.c), d: SIMD16(lowHalf: low.d, highHalf: high.d))
    }

    @inline(__always)
    static func interleave(
        _ pixels: SixteenPixels<SIMD16<UInt16>>, channels: Int, _ target: UnsafeMutablePointer<UInt16>
    ) {
        @inline(__always) func write(_ pixels: penumbra_word_pixels, _ target: UnsafeMutablePointer<UInt16>) {
            switch channels {
            case 2: penumbra_store_words2(pixels, target)
            case 3: penumbra_store_words3(pixels, target)
            default: penumbra_store_words4(pixels, target)
            }
        }
        if channels == 1 { return put(pixels.a, target) }
        write(
            penumbra_word_pixels(a: pixels.a.lowHalf, b: pixels.b.lowHalf, c: pixels.c.lowHalf, d: pixels.d.lowHalf),
            target)
        write(
            penumbra_word_pixels(
                a: pixels.a.highHalf, b: pixels.b.highHalf, c: pixels.c.highHalf, d: pixels.d.highHalf),
            target + 8 &* channels)
    }
}

extension Float: InterleavedValue {
    @inline(__always) static func split(_ source: UnsafePointer<Float>, channels: Int) -> SixteenPixels<SIMD16<Float>> {
        @inline(__always) func four(_ index: Int) -> penumbra_float_pixels {
            let source = source + 4 &* index &* channels
            return switch channels {
            case 2: penumbra_load_floats2(source)
            case 3: penumbra_load_floats3(source)
            default: penumbra_load_floats4(source)
            }
        }
        @inline(__always) func joined(
            _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float>, _ d: SIMD4<Float>
        ) -> SIMD16<Float> {
            SIMD16(lowHalf: SIMD8(lowHalf: a, highHalf: b), highHalf: SIMD8(lowHalf: c, highHalf: d))
        }
        if channels == 1 { return single(source) }
        let (p, q, r, s) = (four(0), four(1), four(2), four(3))
        return SixteenPixels(
            a: joined(p.a, q.a, r.a, s.a), b: joined(p.b, q.b, r.b, s.b), c: joined(p.c, q.c, r.c, s.c),
            d: joined(p.d, q.d, r.d, s.d))
    }

    @inline(__always)
    static func interleave(_ pixels: SixteenPixels<SIMD16<Float>>, channels: Int, _ target: UnsafeMutablePointer<Float>)
    {
        @inline(__always) func write(_ index: Int, quarter: (SIMD16<Float>) -> SIMD4<Float>) {
            let target = target + 4 &* index &* channels
            let four = penumbra_float_pixels(
                a: quarter(pixels.a), b: quarter(pixels.b), c: quarter(pixels.c), d: quarter(pixels.d))
            switch channels {
            case 2: penumbra_store_floats2(four, target)
            case 3: penumbra_store_floats3(four, target)
            default: penumbra_store_floats4(four, target)
            }
        }
        if channels == 1 { return put(pixels.a, target) }
        write(0) { $0.lowHalf.lowHalf }
        write(1) { $0.lowHalf.highHalf }
        write(2) { $0.highHalf.lowHalf }
        write(3) { $0.highHalf.highHalf }
    }
}
