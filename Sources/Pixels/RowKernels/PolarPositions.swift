// Where pixels lie around a centre, by + − × ÷ √ alone.

/// For `count` pixels their distance from a centre, and their direction from it in turns: 0 to the right, ¼ downwards,
/// below 1, within 1e-10; each times a scale.
///
/// - Parameters:
///   - right, down: of the centre, in pixels.
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

/// The direction of (x, y): within an eighth of a turn of an axis by the arc tangent, then to the right octant.
@inline(__always) private func turn(_ x: Double, _ y: Double) -> Double {
    let (across, down) = (x < 0 ? -x : x, y < 0 ? -y : y)
    let isSteep = down > across
    let (low, high) = (isSteep ? across : down, isSteep ? down : across)
    // The arc tangent of t ≤ 1 is that of (t − 1)/(t + 1) and an eighth of a turn: in half of the cases, so that the
    // series has few terms.
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

/// For |t| ≤ √2 − 1, by the Taylor series up to t²¹: what is left out is below 1e-10.
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

/// Puts values where they belong, in 16 bits: each times `scale`, rounded and cut to their range.
///
/// With alpha, colours are premultiplied. Cubics carry an alpha beyond full; it becomes full, and its colours are made smaller
/// by as much, so that they stay the colours that they are.
///
/// - Parameters:
///   - values: four for each pixel.
///   - pixels: their positions in `out`, which has `channels` values for each; 2 and 4 end with an alpha.
///   - full: of an alpha, in values.
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

/// Likewise, of pixels side by side.
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

/// What a pixel is multiplied by.
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
