// Between samples with straight alpha and words premultiplied by it, in 8.7 fixed point.

/// Turns samples into words: colours times alpha over 255, rounded to the nearest 1/128 of a sample.
///
/// An opaque pixel becomes its samples times 128 exactly.
@inline(never)
public func premultiply(
    _ source: UnsafePointer<UInt8>, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt16>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = UInt32(from[colors])
        var color = 0
        while color < colors {
            // ⌊(2·128·c·a + 255) / 510⌋; all values stay below 2²⁴.
            to[color] = UInt16(truncatingIfNeeded: (UInt32(from[color]) &* alpha &* 256 &+ 255) / 510)
            color &+= 1
        }
        to[colors] = UInt16(truncatingIfNeeded: alpha &* 128)
        index &+= 1
    }
}

/// Turns premultiplied words into samples: alpha is rounded first, colours are divided by the rounded alpha (over 255)
/// and rounded half up; where it is 0 they are 0.
///
/// - Parameter zero: what nothing became on the way, by rounding: words up to it are 0, so that a colour that is not in
///   the picture does not show where alpha is small.
@inline(never)
public func unpremultiply(
    _ source: UnsafePointer<UInt16>, zero: UInt16, colors: Int, pixels: Int, out: UnsafeMutablePointer<UInt8>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let (from, to) = (source + index &* channels, out + index &* channels)
        let alpha = min(255, (UInt32(from[colors]) &+ 64) / 128)
        var color = 0
        while color < colors {
            let word = from[color] <= zero ? 0 : UInt32(from[color])
            let rounded = alpha == 0 ? 0 : (word &* 510 &+ alpha &* 128) / (alpha &* 256)
            to[color] = UInt8(truncatingIfNeeded: min(255, rounded))
            color &+= 1
        }
        to[colors] = UInt8(truncatingIfNeeded: alpha)
        index &+= 1
    }
}

/// True when every pixel's last channel is 255.
@inline(never)
public func isOpaque(_ source: UnsafePointer<UInt8>, channels: Int, pixels: Int) -> Bool {
    var all: UInt8 = 255
    var index = channels &- 1
    while index < pixels &* channels {
        all &= source[index]
        index &+= channels
    }
    return all == 255
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
            store(UInt8.fixedPoint(source + x), out + x)
            x &+= 32
        }
    }
}
