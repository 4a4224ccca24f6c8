package import Geometry
package import Raster

/// A blur along lines towards a centre, as a camera that zooms makes it.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the segment from p to c + (p − c)·(1 − amount).
/// Segments of up to 24 px are sampled at the middles of 3·(⌈length⌉ + 1) equal parts, those that run along a row or a column
/// of ⌈length⌉ + 1, all others on rays; see ``ZoomRays``.
package struct Zoom: Sendable {
    package let center: SweepCenter
    private let amount: Double
    /// To the farthest pixel of the picture.
    private let farthest: Double
    private var level = CPULevel.current

    /// - Parameters:
    ///   - amount: −2…2; 1 leads to the centre.
    ///   - extent: of the whole picture, since the density of rays depends on it.
    package init(amount: Double, center: SweepCenter, extent: PixelRect) {
        precondition(amount.magnitude <= 2, "a zoom leads as far beyond the centre, at most")
        self.amount = amount
        self.center = center
        farthest = extent.isEmpty ? 1 : max(1, center.farthestDistance(to: extent))
    }

    /// The same blur with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Zoom {
        var copy = self
        copy.level = level
        return copy
    }

    /// Blurs into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, within: mask) { needed(for: $0) }
        Sweep(self, RowOperations.of(level)).render(source, light: light, within: mask, into: &destination)
    }
}

extension Zoom: SweepPath {
    /// The longest path that is sampled directly in any direction, in pixels. What three samples a pixel cost grows with it;
    /// the error of rays, which is largest on noise, falls.
    static let longestDirect = 24.0

    var directRadius: Double { Self.longestDirect / amount.magnitude }

    func isStraight(_ right: Double, _ down: Double) -> Bool {
        min(right.magnitude, down.magnitude) * amount.magnitude < SweepDrift.least
    }

    func turns(in area: PixelRect) -> [Double] { [] }

    package func needed(for area: PixelRect) -> PixelRect {
        guard !area.isEmpty else { return area }
        func range(_ own: Range<Int>, _ center: Double) -> Range<Int> {
            let ends = [own.lowerBound, own.upperBound - 1].map { center + (Double($0) - center) * (1 - amount) }
            let first = (ends.min() ?? 0).rounded(.down)
            return min(own.lowerBound, Int(first))..<max(own.upperBound, Int((ends.max() ?? 0).rounded(.up)) + 1)
        }
        return PixelRect(columns: range(area.columns, center.x), rows: range(area.rows, center.y))
            .expanded(by: margin)
    }

    /// What lines read around a pixel lies as far from the path's other end, times the scale between the two.
    private var margin: Halo {
        let side = Int((3 * max(1, (1 - amount).magnitude)).rounded(.up)) + 1
        return Halo(horizontal: side, vertical: side)
    }

    func averageDirectly(
        _ picture: SweptPicture, _ operations: RowOperations, turns: [Double], x: Int, y: Int, count: Int,
        into target: MutableRow<Float>
    ) {
        operations.zoomDirectly(
            picture, center: [center.x, center.y, amount, Self.longestDirect], x: x, y: y, count: count, out: target)
    }

    func averageOnLines(
        _ picture: SweptPicture, _ operations: RowOperations, _ area: PixelRect, into result: SweptPixels
    ) {
        let rays = ZoomRays(center, amount: amount, from: directRadius, upTo: farthest)
        let groups = PixelGroups(rays, self, area, operations)
        let renderer = RayRenderer(picture, rays, center, operations)
        for group in 0..<rays.groupCount {
            let pixels = groups[group]
            guard pixels.count > 0 else { continue }
            renderer.render(group, pixels, in: area)
            result.store(renderer.values, at: pixels, operations)
        }
    }
}
