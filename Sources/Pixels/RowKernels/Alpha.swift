// Conversions between samples with straight alpha and premultiplied words in 8.7 fixed point.
//
// Quotients are computed in single precision and truncated. The truncation is exact: numerators of intensities up to full are
// integers below 2²⁴, and a fractional quotient differs from the next integer by more than its rounding error.

/// Converts samples into words: colours times alpha over 255, rounded to the nearest 1/128 of a sample.
///
/// An opaque pixel becomes exactly its samples times 128.
///
/// - Parameter colors: 1 or 3.
@inline(never) public func premultiply(
    _ source: UnsafePointer<UInt8>, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt16>
) {
    if colors == 1 {
        premultiply(GrayAlphaPixels.self, source, pixels, out)
    } else {
        premultiply(RGBAPixels.self, source, pixels, out)
    }
}

@inline(__always) private func premultiply<Layout: PlaneLayout>(
    _: Layout.Type, _ source: UnsafePointer<UInt8>, _ pixels: Int, _ out: UnsafeMutablePointer<UInt16>
) {
    let channels = Layout.channels
    var index = 0
    while index &+ 16 <= pixels {
        let samples = UInt8.split(source + index &* channels, channels: channels)
        let alphas = channels == 2 ? samples.b : samples.d
        let alpha = floats(widened(alphas))
        @inline(__always) func words(_ color: SIMD16<UInt8>) -> SIMD16<UInt16> {
            lowWords(wholes((floats(widened(color)) * alpha * 128 + 127) / 255))
        }
        let alphaWords = lowWords(widened(alphas) &* 128)
        let first = words(samples.a)
        UInt16.interleave(
            channels == 2
                ? SixteenPixels(a: first, b: alphaWords, c: first, d: first)
                : SixteenPixels(a: first, b: words(samples.b), c: words(samples.c), d: alphaWords),
            channels: channels, out + index &* channels)
        index &+= 16
    }
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = Float(from[channels &- 1])
        var color = 0
        while color < channels &- 1 {
            // ⌊128·c·a/255 + ½⌋ = ⌊(128·c·a + 127)/255⌋, because the numerator is an integer.
            to[color] = UInt16(truncatingIfNeeded: Int32((Float(from[color]) * alpha * 128 + 127) / 255))
            color &+= 1
        }
        to[channels &- 1] = UInt16(from[channels &- 1]) &* 128
        index &+= 1
    }
}

/// Converts premultiplied words into samples. Alpha is rounded first. Colours are divided by the rounded alpha (over 255) and
/// rounded half up; they are 0 if alpha is 0.
///
/// - Parameters:
///   - zero: the largest word that a black pixel may become by rounding errors. Words up to it count as 0, so that no false
///     colour is visible where alpha is small.
///   - colors: 1 or 3.
@inline(never) public func unpremultiply(
    _ source: UnsafePointer<UInt16>, zero: UInt16, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt8>
) {
    if colors == 1 {
        unpremultiply(GrayAlphaPixels.self, source, zero, pixels, out)
    } else {
        unpremultiply(RGBAPixels.self, source, zero, pixels, out)
    }
}

@inline(__always) private func unpremultiply<Layout: PlaneLayout>(
    _: Layout.Type, _ source: UnsafePointer<UInt16>, _ zero: UInt16, _ pixels: Int, _ out: UnsafeMutablePointer<UInt8>
) {
    let channels = Layout.channels
    let most = Float(zero)
    var index = 0
    while index &+ 16 <= pixels {
        let words = UInt16.split(source + index &* channels, channels: channels)
        // Up to words of full intensity, all values are integers below 2²⁴, so nothing but the division rounds. Larger words
        // give quotients above 255, which are clamped.
        let rounded = wholes((floats(widened(channels == 2 ? words.b : words.d)) + 64) / 128)
        let alpha = smaller(floats(rounded), than: 255)
        let (half, divisor) = (alpha * 128, larger(alpha, than: 1) * 256)
        @inline(__always) func samples(_ words: SIMD16<UInt16>) -> SIMD16<UInt8> {
            let word = floats(widened(words))
            let color = cleared(cleared(word, where: word, isAtMost: most), where: alpha, isAtMost: 0)
            return lowBytes(wholes(smaller((color * 510 + half) / divisor, than: 255)))
        }
        let first = samples(words.a)
        let alphas = lowBytes(wholes(alpha))
        UInt8.interleave(
            channels == 2
                ? SixteenPixels(a: first, b: alphas, c: first, d: first)
                : SixteenPixels(a: first, b: samples(words.b), c: samples(words.c), d: alphas),
            channels: channels, out + index &* channels)
        index &+= 16
    }
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = min(255, (Int32(from[channels &- 1]) &+ 64) / 128)
        let (half, divisor) = (alpha &* 128, Float(max(1, alpha) &* 256))
        var color = 0
        while color < channels &- 1 {
            let word = from[color] <= zero || alpha == 0 ? 0 : Int32(from[color])
            let quotient = Int32(Float(word &* 510 &+ half) / divisor)
            to[color] = UInt8(truncatingIfNeeded: min(255, alpha == 0 ? 0 : quotient))
            color &+= 1
        }
        to[channels &- 1] = UInt8(truncatingIfNeeded: alpha)
        index &+= 1
    }
}

/// Whether the last channel of every pixel is 255, for 2 or 4 channels.
@inline(never) public func isOpaque(_ source: UnsafePointer<UInt8>, channels: Int, pixels: Int) -> Bool {
    // Eight values hold whole pixels, so that alpha is always in the same bytes. The other bytes are ignored.
    let bytes = UnsafeRawPointer(source)
    let count = pixels &* channels
    var all = UInt64.max
    var index = 0
    while index &+ 8 <= count {
        all &= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        index &+= 8
    }
    let alphas: UInt64 = channels == 4 ? 0xFF00_0000_FF00_0000 : 0xFF00_FF00_FF00_FF00
    var isOpaque = UInt64(littleEndian: all) & alphas == alphas
    index &+= channels &- 1
    while index < count {
        isOpaque = isOpaque && source[index] == 255
        index &+= channels
    }
    return isOpaque
}

/// Converts samples to words, shifted left by 7 (8.7 fixed point) or 0. Up to 31 values after the end, `out` must be writable
/// and `source` readable.
@inline(never)
public func widenBytes(_ source: UnsafePointer<UInt8>, count: Int, shift: Int, out: UnsafeMutablePointer<UInt16>) {
    var x = 0
    if shift == 0 {
        while x < count {
            store(widened(load(source + x)), out + x)
            x &+= 32
        }
    } else {
        while x < count {
            store(shiftedLeft(widened(load(source + x)), by: 7), out + x)
            x &+= 32
        }
    }
}
