import Catalogs
public import Geometry
public import Raster

/// A mean over a disc, as a lens out of focus makes it: each pixel weighs as much as the disc covers of it. Its cost
/// grows with the radius.
public struct Disc: Blur {
    private let weights: DiscWeights
    private var level = CPULevel.current

    /// - Parameter radius: the disc is 2·radius + 1 pixels wide; 0 to 200.
    public init(radius: Double) {
        precondition((0...200).contains(radius), "a disc's radius is 0 to 200 px")
        weights = DiscWeights(radius: radius)
    }

    public var halo: Halo { Halo(horizontal: weights.reach, vertical: weights.reach) }

    /// The same blur with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Disc {
        var copy = self
        copy.level = level
        return copy
    }

    /// See ``Gaussian/render(_:light:within:into:)``.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard case .u8 = source.raster, light == .encoded else {
            return FloatDisc(weights, .of(level)).render(source, light: light, within: mask, into: &destination)
        }
        FixedPoint.render(source, within: mask, on: level, into: &destination) { bytes, writer in
            let strips = FixedDisc.strips(
                of: writer.rect.columns, channels: writer.layout.channels, reach: weights.reach)
            for strip in strips { FixedDisc(bytes, weights, strip, writer).render() }
        }
    }
}
