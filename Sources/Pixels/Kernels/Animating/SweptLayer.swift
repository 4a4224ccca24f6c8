import Catalogs
import Geometry
package import Raster

/// A picture as a blur along its way leaves it, to be laid over the picture itself while it moves.
package struct SweptLayer: Sendable {
    /// In single precision with alpha. Its rectangle begins at 0, 0.
    package let picture: AnyRaster
    /// How far it reaches beyond the picture on the left and at the top.
    package let reach: (x: Int, y: Int)

    /// Blurs along a line, continuously; what lies outside of the picture is transparent.
    ///
    /// - Parameters:
    ///   - picture: its rectangle begins at 0, 0.
    ///   - direction: of length 1, y down.
    ///   - radius: half of the line's length in pixels, at most 1000.
    package init(_ picture: AnyRaster, direction: Route.Point, radius: Double) {
        let motion = Motion(
            MotionTaps.Velocity(x: radius * direction.x, y: radius * direction.y), .continuous)
        let halo = motion.halo
        let own = picture.converted(to: .f32)
        let grown = own.rect.expanded(by: halo)
        let source = KernelSource(
            raster: own, columns: Self.table(grown.columns, halo.left, own.rect.columns),
            rows: Self.table(grown.rows, halo.top, own.rect.rows))
        var blurred = AnyRaster(zeroed: grown, layout: own.layout.addingAlpha, format: .f32)
        motion.render(source, light: .encoded, into: &blurred)
        self.picture = blurred.translated(x: -grown.x, y: -grown.y)
        reach = (halo.left, halo.top)
    }

    /// With as much more on both sides, which is transparent, as what is around it is.
    private static func table(_ grown: Range<Int>, _ halo: Int, _ own: Range<Int>) -> AxisTable {
        let range = grown.lowerBound - halo..<grown.upperBound + halo
        return AxisTable(
            range: range, positions: range.map { own.contains($0) ? Int32($0 - own.lowerBound) : AxisTable.transparent }
        )
    }
}
