// Between samples with straight alpha and words premultiplied by it, in 8.7 fixed point.
//
// Quotients are taken in single precision and cut: numerators are whole numbers below 2²⁴, and the distance of a quotient
// that is not whole from the next whole number is more than its rounding error, so the cut is exact.

/// Turns samples into words: colours times alpha over 255, rounded to the nearest 1/128 of a sample.
///
/// An opaque pixel becomes its samples times 128 exactly.
@inline(never) public func premultiply(
    _ source: UnsafePointer<UInt8>, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt16>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = Float(from[colors])
        var color = 0
        while color < colors {
            // ⌊128·c·a/255 + ½⌋ = ⌊(128·c·a + 127)/255⌋, since the numerator is a whole number.
            to[color] = UInt16(truncatingIfNeeded: Int32((Float(from[color]) * alpha * 128 + 127) / 255))
            color &+= 1
        }
        to[colors] = UInt16(from[colors]) &* 128
        index &+= 1
    }
}

/// Turns premultiplied words into samples: alpha is rounded first, colours are divided by the rounded alpha (over 255)
/// and rounded half up; where it is 0 they are 0.
///
/// - Parameter zero: what nothing became on the way, by rounding: words up to it are 0, so that a colour that is not in
///   the picture does not show where alpha is small.
@inline(never) public func unpremultiply(
    _ source: UnsafePointer<UInt16>, zero: UInt16, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt8>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = min(255, (Int32(from[colors]) &+ 64) / 128)
        let (half, divisor) = (alpha &* 128, Float(max(1, alpha) &* 256))
        var color = 0
        while color < colors {
            let word = from[color] <= zero || alpha == 0 ? 0 : Int32(from[color])
            let quotient = Int32(Float(word &* 510 &+ half) / divisor)
            to[color] = UInt8(truncatingIfNeeded: min(255, alpha == 0 ? 0 : quotient))
            color &+= 1
        }
        to[colors] = UInt8(truncatingIfNeeded: alpha)
        index &+= 1
    }
}

/// True when every pixel's last channel is 255, for 2 or 4 channels.
@inline(never) public func isOpaque(_ source: UnsafePointer<UInt8>, channels: Int, pixels: Int) -> Bool {
    // Eight values at a time hold whole pixels, so that an alpha is always in the same bytes; the others are not looked at.
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

/// Samples as words, shifted to the left by 7 (8.7 fixed point) or 0. `out` is writable, and `source` readable, to 31
/// values behind.
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
