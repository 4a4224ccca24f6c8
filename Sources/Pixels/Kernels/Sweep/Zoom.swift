import Arithmetic
package import Geometry
package import Raster

/// A blur along lines towards a centre, like a zooming camera.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the segment from p to c + (p − c)·(1 − amount).
///
/// - Segments of up to 24 px are sampled at the middles of 3·(⌈length⌉ + 1) equal parts.
/// - Segments along a row or a column are sampled at those of ⌈length⌉ + 1 parts.
/// - All other segments are averaged on rays; see ``ZoomRays``.
package struct Zoom: Sendable, LevelChoosing {
    package let center: SweepCenter
    private let amount: Double
    /// The distance to the farthest pixel of the picture.
    private let farthest: Double
    package var level = CPULevel.current

    /// - Parameters:
    ///   - amount: −2…2; with 1 paths end at the centre.
    ///   - extent: the extent of the whole picture, which determines the density of rays.
    package init(amount: Double, center: SweepCenter, extent: PixelRect) {
        precondition(amount.magnitude <= 2, "a zoom leads as far beyond the centre, at most")
        self.amount = amount
        self.center = center
        farthest = extent.isEmpty ? 1 : max(1, center.farthestDistance(to: extent))
    }

    /// Blurs into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, within: mask) { needed(for: $0) }
        Sweep(self, RowOperations.of(level)).render(source, light: light, within: mask, into: &destination)
    }
}

extension Zoom: SweepPath {
    /// The longest path that is sampled directly in every direction, in pixels. The cost of three samples a pixel grows with
    /// the length. The error of rays, which is largest for noise, falls with it.
    static let longestDirect = 24.0

    var directRadius: Double { Self.longestDirect / amount.magnitude }

    func isStraight(_ right: Double, _ down: Double) -> Bool {
        min(right.magnitude, down.magnitude) * amount.magnitude < SweepCenter.leastDrift
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

    /// The pixels that lines read around a path's end: the margin around the pixel, times the scale between the two ends.
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

/// Rays from a centre with two samples for each pixel. Octaves are bounded by half of the farthest distance, a quarter of it,
/// and so on. In each octave, rays are at most 0.4 px apart, also at the far ends of its paths. Some rays lie on the axes and
/// diagonals.
struct ZoomRays {
    private let center: SweepCenter
    private let amount: Double
    private let farthest: Double
    private let octaves: [Octave]
    let groupCount: Int

    /// The largest distance of neighbouring rays in pixels. With 0.5, the error on a checkerboard grows from 4 of 255 to 11.
    private static var spacing: Double { 0.4 }
    /// The number of samples along a ray for each pixel.
    static var samplesPerPixel: Double { 2 }
    /// The number of rays in a group.
    private static var raysInGroup: Int { 32 }

    /// The distances from half of a bound to the bound.
    struct Octave {
        let rays: Int
        fileprivate let firstGroup: Int
        /// The logarithm of the block size: blocks of 2^blockBits samples are no longer than the shortest window.
        fileprivate let blockBits: Int
    }

    /// - Parameters:
    ///   - nearest: the distance of a pixel with a long path.
    ///   - farthest: the farthest distance in the whole picture, whatever the tile.
    init(_ center: SweepCenter, amount: Double, from nearest: Double, upTo farthest: Double) {
        self.center = center
        self.amount = amount
        self.farthest = farthest
        var octaves: [Octave] = []
        var groups = 0
        var far = farthest
        repeat {
            let reach = far * max(1, (1 - amount).magnitude)
            let eighth = max(32, (Double.pi / 4 * reach / Self.spacing).rounded(.up))
            let rays = 8 * Int(eighth)
            // Paths in this octave are longer than that. Their windows may begin some samples earlier.
            let shortest = Self.samplesPerPixel * max(Zoom.longestDirect, far / 2 * amount.magnitude) - 6
            var bits = 0
            while Double(2 << bits) <= shortest { bits += 1 }
            octaves.append(Octave(rays: rays, firstGroup: groups, blockBits: bits))
            groups += (rays - 1) / Self.raysInGroup + 1
            far /= 2
        } while far >= nearest
        self.octaves = octaves
        groupCount = groups
    }

    func group(distance: Double, turn: Double) -> Int {
        let octave = octaves[max(0, min(Int((farthest / distance).exponent), octaves.count - 1))]
        return octave.firstGroup + Int(turn * Double(octave.rays)) / Self.raysInGroup
    }

    func octave(ofGroup group: Int) -> Octave {
        octaves[(octaves.firstIndex { $0.firstGroup > group } ?? octaves.count) - 1]
    }

    /// Writes the means on a ray.
    ///
    /// - Parameters:
    ///   - line: the ray's number in its octave; it may lie a few beyond a turn.
    ///   - positions: distances, in samples.
    ///   - target: receives four values for each position.
    func average(
        _ picture: SweptPicture, _ operations: RowOperations, _ octave: Octave, line: Int, positions: Range<Int>,
        _ room: LineRoom, into target: MutableRow<Float>
    ) {
        let ends = [positions.lowerBound, positions.upperBound - 1].flatMap { [Double($0), Double($0) * (1 - amount)] }
        let first = Int((ends.min() ?? 0).rounded(.down)) - 1
        let count = Int((ends.max() ?? 0).rounded(.up)) + 2 - first
        room.reserve(count)
        let samples = room.samples.start
        let direction = DeterministicMath.sinCos(degrees: 360 * Double(line.modulo(octave.rays)) / Double(octave.rays))
        operations.sampleRay(
            picture, center: [center.x, center.y], stepX: direction.cos / Self.samplesPerPixel,
            stepY: direction.sin / Self.samplesPerPixel, first: first, count: count, out: samples)
        let length = 1 << octave.blockBits
        operations.sumBlocks(
            Row(samples), count: count, phase: first & (length - 1), length: length, heads: room.heads.start,
            tails: room.tails.start)
        // The centre's sample, from which the loop counts, may lie outside.
        let origin = -4 * first
        operations.zoomMeans(
            Row(samples).moved(unchecked: origin), heads: Row(room.heads.start).moved(unchecked: origin),
            tails: Row(room.tails.start).moved(unchecked: origin), blockBits: octave.blockBits, factor: 1 - amount,
            first: positions.lowerBound, count: positions.count, out: target)
    }
}
