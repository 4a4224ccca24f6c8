// An unsharp mask: source + amount·sign(d)·max(0, |d| − threshold), where d = source − blurred.

/// Sharpens in 8.7 fixed point. Results are clamped to 0…255 and rounded.
///
/// - Parameter threshold: the threshold in units of 8.7.
@inline(never) public func sharpenWords(
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

/// Sharpens in single precision, without clamping. NaN stays NaN.
@inline(never) public func sharpenFloats(
    _ source: UnsafePointer<Float>, blurred: UnsafePointer<Float>, amount: Float, threshold: Float, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        out[index] = source[index] + amount * excess(source[index] - blurred[index], threshold)
        index &+= 1
    }
}

/// Sharpens a plane of premultiplied colours in single precision. The part of a colour's difference that follows from alpha is
/// scaled with alpha. Only the rest is compared with the threshold. One colour therefore stays that colour.
@inline(never) public func sharpenColorFloats(
    _ source: UnsafePointer<Float>, blurred: UnsafePointer<Float>, alpha: UnsafePointer<Float>,
    blurredAlpha: UnsafePointer<Float>, amount: Float, threshold: Float, count: Int, out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        let color = alpha[index] > 0 ? source[index] / alpha[index] : 0
        let change = alpha[index] - blurredAlpha[index]
        let explained = color * change
        let own = (source[index] - blurred[index]) - explained
        out[index] = source[index] + amount * (color * excess(change, threshold) + excess(own, threshold))
        index &+= 1
    }
}

/// Sharpens words of pixels with alpha in 8.7 fixed point; see ``sharpenColorFloats``. An alpha above full becomes full, and
/// its colours are scaled down equally, so that the colour stays the same. Then all values are clamped to 0…255 and rounded.
///
/// - Parameter threshold: the threshold in units of 8.7.
@inline(never) public func sharpenPixels(
    _ source: UnsafePointer<UInt16>, blurred: UnsafePointer<UInt16>, amount: Float, threshold: Float, colors: Int,
    pixels: Int, out: UnsafeMutablePointer<UInt16>
) {
    let channels = colors &+ 1
    var index = 0
    while index < pixels {
        let start = index &* channels
        let original = Float(source[start &+ colors])
        let change = original - Float(blurred[start &+ colors])
        let alphaExcess = excess(change, threshold)
        let alpha = original + amount * alphaExcess
        let factor = alpha > 32640 ? 32640 / alpha : 1
        var channel = 0
        while channel < colors {
            let position = start &+ channel
            let own = Float(source[position])
            let color = original > 0 && threshold > 0 ? own / original : 0
            let beyond = excess(own - Float(blurred[position]) - color * change, threshold)
            out[position] = wholeWord((own + amount * (color * alphaExcess + beyond)) * factor)
            channel &+= 1
        }
        out[start &+ colors] = wholeWord(alpha * factor)
        index &+= 1
    }
}

@inline(__always) private func wholeWord(_ value: Float) -> UInt16 {
    UInt16(truncatingIfNeeded: Int32(max(0, min(32640, value)) + 0.5))
}

/// The part of a difference beyond a threshold.
@inline(__always) private func excess(_ difference: Float, _ threshold: Float) -> Float {
    let beyond = difference.magnitude - threshold
    let excess = beyond <= 0 ? 0 : beyond
    return difference < 0 ? 0 - excess : excess
}

@inline(__always)
private func sharpened(_ source: UInt16, _ blurred: UInt16, _ amount: Float, _ threshold: Float) -> Float {
    let original = Int32(source)
    return Float(original) + amount * excess(Float(original &- Int32(blurred)), threshold)
}
