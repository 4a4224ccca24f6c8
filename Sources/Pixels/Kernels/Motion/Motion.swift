public import Geometry
public import Raster

/// A blur along a straight line; see ``MotionTaps``.
public struct Motion: Sendable {
    private let kernel: SparseFIR

    public init(_ velocity: MotionTaps.Velocity, _ sampling: MotionTaps.Sampling) {
        kernel = SparseFIR(MotionTaps.taps(velocity, sampling))
    }

    /// The same blur with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Motion { self }

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
