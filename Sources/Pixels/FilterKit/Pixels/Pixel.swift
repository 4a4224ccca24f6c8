/// One pixel on a scale where 1 is full intensity: 0…1 in pictures of integers, any number in pictures of floats.
///
/// In a gray picture red, green and blue are equal. Of a filter's result, the luminance is stored.
@frozen public struct Pixel: Hashable, Sendable {
    /// Red, green, blue, alpha.
    public var samples: SIMD4<Float>

    @inlinable public init(_ samples: SIMD4<Float>) { self.samples = samples }

    @inlinable public init(red: Float, green: Float, blue: Float, alpha: Float = 1) {
        samples = SIMD4(red, green, blue, alpha)
    }

    /// A completely transparent pixel.
    @inlinable public static var clear: Pixel { Pixel(SIMD4(repeating: 0)) }

    @inlinable public var red: Float {
        get { samples.x }
        set { samples.x = newValue }
    }
    @inlinable public var green: Float {
        get { samples.y }
        set { samples.y = newValue }
    }
    @inlinable public var blue: Float {
        get { samples.z }
        set { samples.z = newValue }
    }
    /// The alpha; 1 in pictures without alpha.
    @inlinable public var alpha: Float {
        get { samples.w }
        set { samples.w = newValue }
    }

    /// Red, green and blue.
    @inlinable public var colors: SIMD3<Float> {
        get { SIMD3(samples.x, samples.y, samples.z) }
        set { samples = SIMD4(newValue.x, newValue.y, newValue.z, samples.w) }
    }

    /// The pixel with samples clamped to 0…1; NaN becomes 0. Use it for colours that are not premultiplied, as in a
    /// ``PointFilter``.
    @inlinable public var clamped: Pixel {
        let positive = samples.replacing(with: 0, where: .!(samples .> 0))
        return Pixel(positive.replacing(with: 1, where: positive .> 1))
    }

    /// The same as ``clamped``, for premultiplied colours, as in area, tile and geometry filters.
    ///
    /// In pictures of floats alpha may lie beyond 0…1, with colours premultiplied by it. The colours are divided by it,
    /// clamped, and multiplied by the clamped alpha. A pixel whose colours lie in 0…alpha does not change.
    @inlinable public var clampedUnderAlpha: Pixel {
        guard alpha > 0 else { return .clear }  // NaN is not above 0
        if alpha <= 1, all((colors .>= 0) .& (colors .<= alpha)) { return self }  // false if a colour is NaN
        let straight = Pixel(SIMD4(colors / alpha, alpha)).clamped
        return Pixel(SIMD4(straight.colors * straight.alpha, straight.alpha))
    }

    /// The luminance with the weights of ITU-R BT.709. It is exact if all three colours are equal.
    @inlinable public var luminance: Float {
        if samples.x == samples.y, samples.y == samples.z { return samples.x }
        return 0.2126 * samples.x + 0.7152 * samples.y + 0.0722 * samples.z
    }
}
