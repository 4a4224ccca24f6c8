package import Geometry
package import Raster

/// A Gaussian blur with a standard deviation for each axis.
package struct Gaussian: Sendable {
    private let kernel: SeparableFIR

    /// - Parameters: standard deviations in pixels, at least 0; 0 leaves its axis alone.
    package init(sigmaX: Double, sigmaY: Double) {
        kernel = SeparableFIR(horizontal: .gaussian(sigma: sigmaX), vertical: .gaussian(sigma: sigmaY))
    }

    package var halo: Halo { kernel.halo }

    /// Blurs into every pixel of `destination`; see ``WorkingKernel/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect?, into destination: inout AnyRaster
    ) {
        kernel.render(source, light: light, within: mask, into: &destination)
    }
}
