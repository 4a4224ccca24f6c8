public import Geometry
public import Raster

/// A Gaussian blur with a standard deviation for each axis.
public struct Gaussian: Sendable {
    private let kernel: SeparableFIR

    /// - Parameters: standard deviations in pixels, at least 0; 0 leaves its axis alone.
    public init(sigmaX: Double, sigmaY: Double) {
        kernel = SeparableFIR(horizontal: .gaussian(sigma: sigmaX), vertical: .gaussian(sigma: sigmaY))
    }

    public var halo: Halo { kernel.halo }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    ///
    /// - Parameters:
    ///   - source: its tables cover the destination, and with the halo that part of it which the mask may cover.
    ///   - mask: where to blur; pixels that it does not cover keep their bytes. Nil is everywhere.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        kernel.render(source, light: light, within: mask, into: &destination)
    }
}
