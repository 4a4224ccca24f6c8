import Catalogs
public import Geometry
public import Raster

/// An unsharp mask: what a Gaussian takes away is added to the picture once more.
///
/// With d = in − gaussian(in), of colours times alpha, the result is in + amount·sign(d)·max(0, |d| − threshold). Where alpha
/// varies, the part of d that it explains (a pixel's colour times the alpha's d) goes with the alpha's own result, and the rest is
/// compared with the threshold: a picture of one colour stays of that colour. The result is stored as ``PixelWriter`` stores it: whole numbers are kept in their range, floats are not.
public struct Sharpening: Blur {
    private var gaussian: Gaussian
    private let gain: Gain
    private var level = CPULevel.current

    /// How differences are amplified.
    struct Gain: Hashable, Sendable {
        let amount: Double
        /// As a share of full intensity.
        let threshold: Double
    }

    /// - Parameters:
    ///   - sigma: the Gaussian's standard deviation in pixels, 0 to 1000.
    ///   - amount: 0 to 10.
    ///   - threshold: smaller differences stay; a share of full intensity, 0 to 1.
    public init(sigma: Double, amount: Double, threshold: Double) {
        precondition((0...10).contains(amount) && (0...1).contains(threshold), "an amount is 0 to 10, a share 0 to 1")
        gaussian = Gaussian(radius: sigma)
        gain = Gain(amount: amount, threshold: threshold)
    }

    public var halo: Halo { gaussian.halo }

    /// The same filter with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Sharpening {
        var copy = self
        copy.level = level
        copy.gaussian = gaussian.running(on: level)
        return copy
    }

    /// See ``Gaussian/render(_:light:within:into:)``.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard case .u8 = source.raster, light == .encoded else {
            let kernel = SharpenedFloats(gaussian, gain, source.raster.format, .of(level))
            return kernel.render(source, light: light, within: mask, into: &destination)
        }
        let isOpaque = source.isOpaqueBytes(as: destination.layout, .of(level))
        FixedPoint.render(source, within: mask, on: level, into: &destination) { bytes, writer in
            SharpenedBytes(bytes, gaussian, gain, isOpaque: isOpaque, writer).render()
        }
    }
}
