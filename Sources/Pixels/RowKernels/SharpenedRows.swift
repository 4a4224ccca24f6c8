// An unsharp mask: source + amount·sign(d)·max(0, |d| − threshold), where d = source − blurred.

/// In 8.7 fixed point, kept in 0…255 and rounded.
///
/// - Parameter threshold: in units of 8.7.
@inline(never)
public func sharpenWords(
    _ source: UnsafePointer<UInt16>, blurred: UnsafePointer<UInt16>, amount: Float, threshold: Float, count: Int,
    out: UnsafeMutablePointer<UInt16>
) {
    var index = 0
    while index < count {
        let value = max(0, min(32640, sharpened(source[index], blurred[index], amount, threshold)))
        out[index] = UInt16(truncatingIfNeeded: Int32(value + 0.5))
        index &+= 1
    }
}

/// In single precision, not kept in a range; NaN passes.
@inline(never)
public func sharpenFloats(
    _ source: UnsafePointer<Float>, blurred: UnsafePointer<Float>, amount: Float, threshold: Float, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        let difference = source[index] - blurred[index]
        let beyond = difference.magnitude - threshold
        let excess = beyond <= 0 ? 0 : beyond
        out[index] = source[index] + amount * (difference < 0 ? 0 - excess : excess)
        index &+= 1
    }
}

/// Words of pixels with alpha, in 8.7 fixed point. An alpha beyond full becomes full, and its colours are made smaller by as
/// much, so that they stay the colours that they are. Then all is kept in 0…255 and rounded.
///
/// - Parameter threshold: in units of 8.7.
@inline(never)
public func sharpenPixels(
    _ source: UnsafePointer<UInt16>, blurred: UnsafePointer<UInt16>, amount: Float, threshold: Float, colors: Int,
    pixels: Int, out: UnsafeMutablePointer<UInt16>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let start = index &* channels
        let alpha = sharpened(source[start &+ colors], blurred[start &+ colors], amount, threshold)
        let factor = alpha > 32640 ? 32640 / alpha : 1
        var channel = 0
        while channel < channels {
            let place = start &+ channel
            let value = sharpened(source[place], blurred[place], amount, threshold) * factor
            out[place] = UInt16(truncatingIfNeeded: Int32(max(0, min(32640, value)) + 0.5))
            channel &+= 1
        }
        index &+= 1
    }
}

@inline(__always)
private func sharpened(_ source: UInt16, _ blurred: UInt16, _ amount: Float, _ threshold: Float) -> Float {
    let original = Int32(source)
    let difference = Float(original &- Int32(blurred))
    let excess = max(0, difference.magnitude - threshold)
    return Float(original) + amount * (difference < 0 ? 0 - excess : excess)
}
