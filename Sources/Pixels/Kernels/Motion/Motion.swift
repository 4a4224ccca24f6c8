import Catalogs
public import Geometry
public import Raster

/// A blur along a straight line; see ``MotionTaps``.
public struct Motion: Sendable {
    private let taps: SymmetricPairs
    public let halo: Halo
    private var level = CPULevel.current

    public init(_ velocity: MotionTaps.Velocity, _ sampling: MotionTaps.Sampling) {
        taps = SymmetricPairs(MotionTaps.taps(velocity, sampling))
        halo = Halo(horizontal: taps.reachX, vertical: taps.reachY)
    }

    /// The same blur with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Motion {
        var copy = self
        copy.level = level
        return copy
    }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    ///
    /// - Parameters:
    ///   - source: its tables cover the destination, and with the halo that part of it which the mask may cover.
    ///   - mask: where to blur; pixels that it does not cover keep their bytes. Nil is everywhere.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        let operations = RowOperations.of(level)
        if let box = FloatBox(taps, operations) {
            box.render(source, light: light, within: mask, into: &destination)
        } else if case .u8 = source.raster, light == .encoded,
            let kernel = FixedSparse(taps, hasAlpha: destination.layout.hasAlpha)
        {
            FixedPoint.render(source, within: mask, on: level, into: &destination) { kernel.render($0, to: $1) }
        } else {
            FloatSparse(taps, operations).render(source, light: light, within: mask, into: &destination)
        }
    }
}
