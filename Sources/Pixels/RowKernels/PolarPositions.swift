// The polar coordinates of pixels around a centre, computed with + − × ÷ √ only.

/// For `count` pixels, computes the distance from a centre, and the direction from it in turns, each times a scale. The
/// direction is 0 to the right, ¼ downwards, below 1, and within 1e-10.
///
/// - Parameters:
///   - right, down: the position relative to the centre, in pixels.
@inline(never) public func placeInRings(
    right: UnsafePointer<Double>, down: UnsafePointer<Double>, count: Int, scaleOfDistances: Double,
    scaleOfTurns: Double, distances: UnsafeMutablePointer<Double>, turns: UnsafeMutablePointer<Double>
) {
    var index = 0
    while index < count {
        let (x, y) = (right[index], down[index])
        distances[index] = (x * x + y * y).squareRoot() * scaleOfDistances
        turns[index] = turn(x, y) * scaleOfTurns
        index &+= 1
    }
}

/// The direction of (x, y): by the arc tangent within an eighth of a turn of an axis, then moved to the right octant.
@inline(__always) private func turn(_ x: Double, _ y: Double) -> Double {
    let (across, down) = (x < 0 ? -x : x, y < 0 ? -y : y)
    let isSteep = down > across
    let (low, high) = (isSteep ? across : down, isSteep ? down : across)
    // The arc tangent of t ≤ 1 is that of (t − 1)/(t + 1) plus an eighth of a turn. This is used in half of the cases, so that
    // the series needs few terms.
    let isWide = low > high * 0.41421356237309503
    let top = isWide ? low - high : low
    let bottom = isWide ? low + high : high
    let t = bottom > 0 ? top / bottom : 0
    let octant = arcTangent(t) * 0.15915494309189535 + (isWide ? 0.125 : 0)
    let quadrant = isSteep ? 0.25 - octant : octant
    let half = x < 0 ? 0.5 - quadrant : quadrant
    let whole = y < 0 ? 1 - half : half
    return whole >= 1 ? 0 : whole
}

/// The arc tangent for |t| ≤ √2 − 1, by the Taylor series up to t²¹. The remainder is below 1e-10.
@inline(__always) private func arcTangent(_ t: Double) -> Double {
    let s = t * t
    var sum = 1.0 / 21
    sum = 1.0 / 19 - s * sum
    sum = 1.0 / 17 - s * sum
    sum = 1.0 / 15 - s * sum
    sum = 1.0 / 13 - s * sum
    sum = 1.0 / 11 - s * sum
    sum = 1.0 / 9 - s * sum
    sum = 1.0 / 7 - s * sum
    sum = 1.0 / 5 - s * sum
    sum = 1.0 / 3 - s * sum
    return t * (1 - s * sum)
}

/// Stores pixels in 16 bits at their positions: each value times `scale`, rounded and clamped.
///
/// With alpha, colours are premultiplied. Cubic interpolation may give an alpha above full. It becomes full, and its colours
/// are scaled down equally, so that the colour stays the same.
///
/// - Parameters:
///   - values: four values for each pixel.
///   - pixels: the positions in `out`, which has `channels` values for each; with 2 and 4 channels the last is an alpha.
///   - full: full alpha, on the scale of the values.
@inline(never) public func scatterWords(
    _ values: UnsafePointer<Float>, at pixels: UnsafePointer<Int32>, count: Int, channels: Int, scale: Float,
    full: Float, out: UnsafeMutablePointer<UInt16>
) {
    var index = 0
    while index < count {
        let (from, target) = (values + 4 &* index, out + Int(pixels[index]) &* channels)
        let factor = wordScale(from, channels, scale, full)
        var channel = 0
        while channel < channels {
            target[channel] = word(from[channel] * factor)
            channel &+= 1
        }
        index &+= 1
    }
}

/// The same for adjacent pixels.
@inline(never) public func packWords(
    _ values: UnsafePointer<Float>, count: Int, channels: Int, scale: Float, full: Float,
    out: UnsafeMutablePointer<UInt16>
) {
    @inline(__always) func pack(_ channels: Int) {
        var index = 0
        while index < count {
            let from = values + 4 &* index
            let factor = wordScale(from, channels, scale, full)
            var channel = 0
            while channel < channels {
                out[index &* channels &+ channel] = word(from[channel] * factor)
                channel &+= 1
            }
            index &+= 1
        }
    }
    switch channels {
    case 1: pack(1)
    case 2: pack(2)
    case 3: pack(3)
    default: pack(4)
    }
}

/// The factor of a pixel.
@inline(__always)
private func wordScale(_ pixel: UnsafePointer<Float>, _ channels: Int, _ scale: Float, _ full: Float) -> Float {
    guard channels & 1 == 0 else { return scale }
    let alpha = pixel[channels &- 1]
    return alpha > full ? scale * (full / alpha) : scale
}

@inline(__always) private func word(_ value: Float) -> UInt16 {
    let raised = value + 0.5
    return UInt16(truncatingIfNeeded: Int32(raised >= 65535 ? 65535 : raised >= 0 ? raised : 0))
}
