package import Geometry
package import Raster

/// A blur along lines towards a centre, as a camera that zooms makes it.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the segment from p to c + (p − c)·(1 − amount).
/// Segments of up to 32 px are sampled at the middles of 2·(⌈length⌉ + 1) equal parts, longer ones on rays that are half
/// a pixel apart at most.
package struct Zoom: Sendable {
    package let center: SweepCenter
    private let amount: Double
    private var level = CPULevel.current

    /// - Parameter amount: −2…2; 1 leads to the centre.
    package init(amount: Double, center: SweepCenter) {
        precondition(amount.magnitude <= 2, "a zoom leads as far beyond the centre, at most")
        self.amount = amount
        self.center = center
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
    /// The longest path that is sampled directly, in pixels. What two samples a pixel cost grows with it; the error of rays,
    /// which is largest on noise, falls.
    static let longestDirect = 32.0

    var directRadius: Double { Self.longestDirect / amount.magnitude }

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
        _ picture: SweptPicture, _ operations: RowOperations, x: Int, y: Int, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        [center.x, center.y, amount].withUnsafeBufferPointer { center in
            guard let center = center.baseAddress else { return }
            operations.zoomDirectly(
                picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
                center, x, y, count, target)
        }
    }

    func averageOnLines(
        _ picture: SweptPicture, _ operations: RowOperations, _ area: PixelRect, into result: SweptPixels
    ) {
        let rays = ZoomRays(center, amount: amount, upTo: center.distances(to: area).upperBound)
        let groups = PixelGroups(rays, center, direct: directRadius, area, operations)
        let renderer = RayRenderer(picture, rays, center, operations)
        for group in 0..<rays.groupCount where !groups[group].isEmpty {
            let pixels = groups[group]
            renderer.render(group, pixels, in: area)
            result.store(renderer.values, at: pixels, operations)
        }
    }
}
