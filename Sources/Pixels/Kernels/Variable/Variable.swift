import Catalogs
package import Geometry
package import Raster

/// A Gaussian whose standard deviation changes from pixel to pixel: out(p) = Σ G(σ(p))(q − p)·in(q), where σ(p) is the
/// radius times the strength at p.
package struct Variable: Sendable {
    private let radius: Double
    private let map: StrengthMap
    package let halo: Halo
    private var level = CPULevel.current

    /// - Parameter radius: the largest standard deviation in pixels, 0 to 200.
    package init(radius: Double, map: StrengthMap) {
        precondition((0...200).contains(radius), "a standard deviation is 0 to 200 px")
        (self.radius, self.map) = (radius, map)
        halo = Self.halo(radius, upTo: VariableLevels.full)
    }

    /// The same blur with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Variable {
        var copy = self
        copy.level = level
        return copy
    }

    private static func halo(_ radius: Double, upTo strength: Int) -> Halo {
        guard radius > 0, strength > 0 else { return .none }
        let reach = [4, 6].map { VariableLevels.of(radius: radius, points: $0).reach(upTo: strength) }.max() ?? 0
        return Halo(horizontal: reach, vertical: reach)
    }

    /// What is read around a rectangle of a picture with this extent: less where the blur is weak.
    package func halo(around rect: PixelRect, in extent: PixelRect) -> Halo {
        Self.halo(radius, upTo: map.most(in: rect, extent: extent))
    }

    /// Blurs into every pixel of `destination`; see ``Gaussian/render(_:light:within:into:)``.
    ///
    /// - Parameters:
    ///   - source: its tables cover the destination with the halo around what the mask may cover.
    ///   - extent: what strengths are spread over.
    package func render(
        _ source: KernelSource, extent: PixelRect, light: Light, within mask: RoundedRect? = nil,
        into destination: inout AnyRaster
    ) {
        let area = mask.map { $0.bounds(in: destination.rect) } ?? destination.rect
        source.checkCoverage(of: destination, halo: halo(around: area, in: extent), within: mask)
        let isFixed = source.raster.format == .u8 && light == .encoded
        let stack = VariableStack(
            levels: .of(radius: radius, points: isFixed ? 4 : 6), map: map, extent: extent, isFixed: isFixed,
            operations: .of(level))
        stack.render(source, light: light, within: mask, into: &destination)
    }
}
