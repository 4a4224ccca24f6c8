import Arithmetic
package import Geometry
package import Raster

/// A blur along lines towards a centre, as a camera that zooms makes it.
///
/// A pixel p becomes the mean of the bilinearly interpolated input over the segment from p to c + (p − c)·(1 − amount).
/// Segments of up to 24 px are sampled at the middles of 3·(⌈length⌉ + 1) equal parts, those that run along a row or a column
/// of ⌈length⌉ + 1, all others on rays; see ``ZoomRays``.
package struct Zoom: Sendable, LevelChoosing {
    package let center: SweepCenter
    private let amount: Double
    /// To the farthest pixel of the picture.
    private let farthest: Double
    package var level = CPULevel.current

    /// - Parameters:
    ///   - amount: −2…2; 1 leads to the centre.
    ///   - extent: of the whole picture, since the density of rays depends on it.
    package init(amount: Double, center: SweepCenter, extent: PixelRect) {
        precondition(amount.magnitude <= 2, "a zoom leads as far beyond the centre, at most")
        self.amount = amount
        self.center = center
        farthest = extent.isEmpty ? 1 : max(1, center.farthestDistance(to: extent))
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

/// Rays from a centre with two samples for each pixel. Half of the farthest distance, and half of that, and so on, bound
/// octaves; in each, rays are 0.4 px apart at most, at the far ends of its paths too. Some lie on the axes and diagonals.
struct ZoomRays {
    private let center: SweepCenter
    private let amount: Double
    private let farthest: Double
    private let octaves: [Octave]
    let groupCount: Int

    /// Pixels from a ray to the next, at most: on a checkerboard the error grows from 4 of 255 to 11 with 0.5.
    private static var spacing: Double { 0.4 }
    /// On a ray.
    static var samplesPerPixel: Double { 2 }
    /// Rays that groups are made of.
    private static var raysInGroup: Int { 32 }

    /// Distances from half of one to all of it.
    struct Octave {
        let rays: Int
        fileprivate let firstGroup: Int
        /// Blocks of 2^blockBits samples are no longer than the shortest window.
        fileprivate let blockBits: Int
    }

    /// - Parameters:
    ///   - nearest: distance of a pixel that has a long path.
    ///   - farthest: of the whole picture, whatever the tile.
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
            // Paths in here are longer than that; their windows may begin some samples earlier.
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
    ///   - line: the ray's number in its octave; may lie a few beyond a turn.
    ///   - positions: distances, in samples.
    ///   - target: receives four values for each.
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
        // The centre's sample, which the loop counts from, may lie outside.
        let origin = -4 * first
        operations.zoomMeans(
            Row(samples).moved(unchecked: origin), heads: Row(room.heads.start).moved(unchecked: origin),
            tails: Row(room.tails.start).moved(unchecked: origin), blockBits: octave.blockBits, factor: 1 - amount,
            first: positions.lowerBound, count: positions.count, out: target)
    }
}
