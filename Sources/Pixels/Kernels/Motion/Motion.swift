package import Geometry
package import Raster

/// A blur along a straight line; see ``MotionTaps``.
package struct Motion: Sendable {
    private let kernel: SparseFIR

    package init(_ velocity: MotionTaps.Velocity, _ sampling: MotionTaps.Sampling) {
        kernel = SparseFIR(MotionTaps.taps(velocity, sampling))
    }

    package var halo: Halo { kernel.halo }

    /// Blurs into every pixel of `destination`; see ``WorkingKernel/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect?, into destination: inout AnyRaster
    ) {
        kernel.render(source, light: light, within: mask, into: &destination)
    }
}
