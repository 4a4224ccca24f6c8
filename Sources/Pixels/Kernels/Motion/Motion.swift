import Catalogs
public import Geometry
public import Raster

/// A blur along a straight line; see ``MotionTaps``.
public struct Motion: Blur {
    private let taps: SymmetricPairs
    private let plateau: Plateau?
    public let halo: Halo
    private var level = CPULevel.current

    /// - Parameter velocity: at most 1000 pixels along each axis.
    public init(_ velocity: MotionTaps.Velocity, _ sampling: MotionTaps.Sampling) {
        precondition(max(velocity.x.magnitude, velocity.y.magnitude) <= 1000, "a line is at most 1000 px to each side")
        taps = SymmetricPairs(MotionTaps.taps(velocity, sampling))
        plateau = Plateau(taps)
        halo = Halo(horizontal: taps.reachX, vertical: taps.reachY)
    }

    /// Pairs of taps that are summed for each sample; 0 for a line along an axis, whose running sums cost the same at every
    /// length.
    package var summedPairs: Int { plateau == nil ? taps.pairs.count : 0 }

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
        source.checkCoverage(of: destination, halo: halo, within: mask)
        let operations = RowOperations.of(level)
        guard case .u8 = source.raster, light == .encoded else {
            return renderFloats(source, light, mask, operations, into: &destination)
        }
        // Where there are few taps, summing them is as fast as running sums are.
        if let plateau, plateau.reach > Self.fewTaps {
            let kernel = FixedBox(taps, plateau)
            FixedPoint.render(source, within: mask, on: level, into: &destination) { kernel.render($0, to: $1) }
        } else if let kernel = FixedSparse(taps, hasAlpha: destination.layout.hasAlpha) {
            FixedPoint.render(source, within: mask, on: level, into: &destination) { kernel.render($0, to: $1) }
        } else {
            renderFloats(source, light, mask, operations, into: &destination)
        }
    }

    private static let fewTaps = 12

    private func renderFloats(
        _ source: KernelSource, _ light: Light, _ mask: RoundedRect?, _ operations: RowOperations,
        into destination: inout AnyRaster
    ) {
        if let plateau {
            let isHorizontal = taps.reachY == 0
            FloatBox(horizontal: isHorizontal ? plateau : nil, vertical: isHorizontal ? nil : plateau, operations)
                .render(source, light: light, within: mask, into: &destination)
        } else {
            FloatSparse(taps, operations).render(source, light: light, within: mask, into: &destination)
        }
    }
}
