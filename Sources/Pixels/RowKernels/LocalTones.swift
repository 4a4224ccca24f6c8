// Changes of tone that depend on the brightness around a pixel, on planes of premultiplied values in single precision.
//
// Vectors read and write up to 15 values after the last pixel of a plane.

/// 2 to the power of a value from −125 to 127. The relative error is below 3e-7.
@inline(__always) private func exponential(_ x: FloatVector) -> FloatVector {
    // 1.5·2²³: adding it rounds to an integer, which is then in the low bits of the sum.
    let magic = FloatVector(repeating: 12_582_912)
    let shifted = x + magic
    let r = (x - (shifted - magic)) * 0.6931472
    var power = r * (1 / 5040.0) + 1 / 720.0
    power = power * r + 1 / 120.0
    power = power * r + 1 / 24.0
    power = power * r + 1 / 6.0
    power = power * r + 0.5
    power = power * r + 1
    power = power * r + 1
    return scaled(power, byPowerIn: shifted)
}

/// The logarithm to the base of 2 of a positive, normal number.
@inline(__always) private func logarithm(_ x: FloatVector) -> FloatVector {
    let parts = binaryParts(x)
    // ln m = 2·artanh((m − 1)/(m + 1)); the rest of the series is below 4e-10.
    let t = (parts.mantissa - 1) / (parts.mantissa + 1)
    let square = t * t
    var series = square * (1 / 9.0) + 1 / 7.0
    series = series * square + 1 / 5.0
    series = series * square + 1 / 3.0
    series = series * square + 1
    return parts.exponent + t * series * 2.88539
}

/// Brightens what lies in the dark or in the light: colours become their power with the exponent
/// 2^−(shadows·max(0, 1 − 2·B) + highlights·max(0, 2·B − 1)), where B is the brightness around.
///
/// - Parameters:
///   - planes: colours premultiplied by alpha, on the scale of the samples; an alpha follows if there is one.
///   - full: the value of full intensity.
///   - brightness: shares of full intensity; NaN where it is not known, and the pixel's own luma counts.
@inline(never) public func brightenPlanes(
    _ planes: UnsafeMutablePointer<Float>, planeStride: Int, colors: Int, hasAlpha: Bool, full: Float,
    brightness: UnsafePointer<Float>, shadows: Float, highlights: Float, count: Int
) {
    var index = 0
    while index < count {
        let alpha = hasAlpha ? loadFloats(planes + (colors &* planeStride &+ index)) : FloatVector(repeating: full)
        let around = known(
            loadFloats(brightness + index), else: luma(planes + index, planeStride, colors) / alpha)
        let stops =
            shadows * larger(1 - 2 * around, than: 0) + highlights * larger(2 * around - 1, than: 0)
        let exponent = exponential(larger(smaller(0 - stops, than: 16), than: -16))
        var channel = 0
        while channel < colors {
            let plane = planes + (channel &* planeStride &+ index)
            let value = loadFloats(plane)
            let share = value / alpha
            // Powers beyond these count as them: 2^±125 is far beyond every sample.
            let power = exponential(larger(smaller(exponent * logarithm(share), than: 125), than: -125)) * alpha
            // Where nothing is to change, not even the last bit does.
            let moved = chosen(value, where: stops, equals: .zero, else: finite(stops, then: power, else: value))
            storeFloats(normal(share, then: moved, else: value), plane)
            channel &+= 1
        }
        index &+= 16
    }
}

/// Adds the difference between a pixel's luma Y and the brightness around to all channels, times the amount and 4·Y·(1 − Y).
///
/// - Parameters:
///   - limits: whether colours are cut off at 0 and at alpha.
///   - others: as for
///     ``brightenPlanes(_:planeStride:colors:hasAlpha:full:brightness:shadows:highlights:count:)``.
@inline(never) public func addContrast(
    _ planes: UnsafeMutablePointer<Float>, planeStride: Int, colors: Int, hasAlpha: Bool, full: Float,
    brightness: UnsafePointer<Float>, amount: Float, limits: Bool, count: Int
) {
    var index = 0
    while index < count {
        let alpha = hasAlpha ? loadFloats(planes + (colors &* planeStride &+ index)) : FloatVector(repeating: full)
        let luma = luma(planes + index, planeStride, colors) / alpha
        let around = known(loadFloats(brightness + index), else: luma)
        let difference = amount * larger(4 * luma * (1 - luma), than: 0) * (luma - around) * alpha
        var channel = 0
        while channel < colors {
            let plane = planes + (channel &* planeStride &+ index)
            let value = loadFloats(plane)
            let sum = value + difference
            let limited = limits ? smaller(larger(sum, than: 0), alpha) : sum
            storeFloats(finite(difference, then: limited, else: value), plane)
            channel &+= 1
        }
        index &+= 16
    }
}

/// The luma (Rec. 709) of three planes, or the only plane, times a factor.
@inline(never) public func writeLuma(
    _ planes: UnsafePointer<Float>, planeStride: Int, colors: Int, factor: Float, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        storeFloats(luma(planes + index, planeStride, colors) * factor, out + index)
        index &+= 16
    }
}

@inline(__always)
private func luma(_ planes: UnsafePointer<Float>, _ planeStride: Int, _ colors: Int) -> FloatVector {
    guard colors > 1 else { return loadFloats(planes) }
    let (red, green, blue) = (
        loadFloats(planes), loadFloats(planes + planeStride), loadFloats(planes + 2 &* planeStride)
    )
    return red * 0.2126 + green * 0.7152 + blue * 0.0722
}

/// A value, or the other one where it is NaN.
@inline(__always) private func known(_ x: FloatVector, else other: FloatVector) -> FloatVector {
    chosen(x, where: x, equals: x, else: other)
}

/// `then` where a value is finite. (Infinity and NaN times 0 are NaN.)
@inline(__always)
private func finite(_ x: FloatVector, then: FloatVector, else other: FloatVector) -> FloatVector {
    chosen(then, where: x * 0, equals: .zero, else: other)
}

/// `then` where a value is positive, normal and finite.
@inline(__always)
private func normal(_ x: FloatVector, then: FloatVector, else other: FloatVector) -> FloatVector {
    chosen(
        then, where: smaller(larger(x, than: .leastNormalMagnitude), than: .greatestFiniteMagnitude), equals: x,
        else: other)
}
