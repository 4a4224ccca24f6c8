import Arithmetic
import Catalogs
public import Geometry
public import Raster

/// A Gaussian blur with a standard deviation for each axis. Its cost does not grow with the standard deviations.
public struct Gaussian: Blur, LevelChoosing {
    let fixedX: AxisDesign<UInt16>
    let fixedY: AxisDesign<UInt16>
    let floatingX: AxisDesign<Float>
    let floatingY: AxisDesign<Float>
    public let halo: Halo
    package var level = CPULevel.current

    /// - Parameters: standard deviations in pixels, 0 to 1000; 0 leaves its axis unchanged.
    public init(sigmaX: Double, sigmaY: Double) {
        precondition((0...1000).contains(sigmaX) && (0...1000).contains(sigmaY), "a standard deviation is 0 to 1000 px")
        fixedX = .fixedPoint(sigma: sigmaX)
        fixedY = sigmaX == sigmaY ? fixedX : .fixedPoint(sigma: sigmaY)
        floatingX = .floating(sigma: sigmaX)
        floatingY = sigmaX == sigmaY ? floatingX : .floating(sigma: sigmaY)
        halo = Halo(horizontal: max(fixedX.reach, floatingX.reach), vertical: max(fixedY.reach, floatingY.reach))
    }

    /// The same standard deviation along both axes, in pixels.
    public init(radius: Double) { self.init(sigmaX: radius, sigmaY: radius) }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    ///
    /// - Parameters:
    ///   - source: a source whose tables cover the destination, and the halo of the part that the mask may cover. Halving
    ///     keeps even coordinates, so the same pixels at other coordinates may round differently, within the bound.
    ///   - mask: the area to blur; pixels outside of it keep their bytes. Nil is everywhere.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard case .u8 = source.raster, light == .encoded, isSameRate else {
            let kernel = FloatPyramid(horizontal: floatingX, vertical: floatingY, .of(level))
            return kernel.render(source, light: light, within: mask, into: &destination)
        }
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            if fixedX.prefilters.isEmpty {
                FixedDirect(
                    bytes, layout: writer.layout, output: writer.rect, horizontal: fixedX.weights,
                    vertical: fixedY.weights, writer.operations
                ).render(to: writer)
            } else {
                let channels = writer.layout.channels
                for part in FixedPyramid.parts(of: writer.rect, channels: channels, reach: fixedX.reach) {
                    FixedPyramid(
                        bytes, layout: writer.layout, output: part, horizontal: fixedX, vertical: fixedY,
                        writer.operations
                    ).render(to: writer)
                }
            }
        }
    }

    /// Whether both axes are halved equally, which the loops for 8-bit samples need.
    private var isSameRate: Bool { fixedX.prefilters == fixedY.prefilters }
}

extension SymmetricTaps {
    /// The reach of a Gaussian in standard deviations. The weights beyond it sum to 2.1e-5, so that the truncation changes a
    /// pixel by at most 2.8 of 65535 in two dimensions.
    static let gaussianReach = 4.25

    /// The weights exp(−k²/2σ²) at the whole numbers −R…R, R = ⌈4.25·σ⌉, divided by their sum.
    ///
    /// - Parameter sigma: the standard deviation in pixels, at least 0; 0 gives the one weight 1.
    public static func gaussian(sigma: Double) -> SymmetricTaps {
        SymmetricTaps(half: gaussian(sigma: sigma, radius: Int((gaussianReach * sigma).rounded(.up))))
    }

    /// The same for a given R, from the centre outwards.
    static func gaussian(sigma: Double, radius: Int) -> [Double] {
        precondition(sigma >= 0 && sigma.isFinite, "a standard deviation is a length")
        guard sigma > 0, radius > 0 else { return [1] }
        let tail = (1...radius).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = 1 + 2 * tail.reversed().reduce(0, +)  // the smallest first, for accuracy
        return [1 / sum] + tail.map { $0 / sum }
    }
}
