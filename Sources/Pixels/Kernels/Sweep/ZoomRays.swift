import Arithmetic
import Geometry

/// Rays from a centre with a sample for each pixel. In every octave of the distance they are half a pixel apart at its
/// far end.
struct ZoomRays {
    private let center: SweepCenter
    private let amount: Double
    private let octaves: [Octave]
    let groupCount: Int

    /// Pixels from a ray to the next, at most.
    private static var spacing: Double { 0.5 }
    /// Rays that groups are made of.
    private static var raysInGroup: Int { 32 }

    /// Distances from 2ⁿ to 2ⁿ⁺¹.
    struct Octave {
        let rays: Int
        fileprivate let firstGroup: Int
        /// Blocks of 2^blockBits samples are no longer than the shortest window.
        fileprivate let blockBits: Int
    }

    init(_ center: SweepCenter, amount: Double, upTo distance: Double) {
        self.center = center
        self.amount = amount
        var octaves: [Octave] = []
        var groups = 0
        for octave in 0...Self.octave(distance) {
            let near = Double(1 << octave)
            let rays = max(256, Int((4 * Double.pi * near / Self.spacing).rounded(.up)))
            // Paths in here are longer than that; their windows may begin a sample earlier.
            let shortest = max(Zoom.longestDirect, near * amount.magnitude) - 4
            var bits = 0
            while Double(2 << bits) <= shortest { bits += 1 }
            octaves.append(Octave(rays: rays, firstGroup: groups, blockBits: bits))
            groups += (rays - 1) / Self.raysInGroup + 1
        }
        self.octaves = octaves
        groupCount = groups
    }

    private static func octave(_ distance: Double) -> Int { max(0, Int(distance.exponent)) }

    private func octave(distance: Double) -> Octave { octaves[min(Self.octave(distance), octaves.count - 1)] }

    func group(distance: Double, turn: Double) -> Int {
        let octave = octave(distance: distance)
        return octave.firstGroup + Int(turn * Double(octave.rays)) / Self.raysInGroup
    }

    func octave(ofGroup group: Int) -> Octave {
        octaves[(octaves.firstIndex { $0.firstGroup > group } ?? octaves.count) - 1]
    }

    /// Writes the means on a ray.
    ///
    /// - Parameters:
    ///   - line: the ray's number in its octave; may lie a few beyond a turn.
    ///   - positions: distances, in pixels.
    ///   - target: receives four values for each.
    func average(
        _ picture: SweptPicture, _ operations: RowOperations, _ octave: Octave, line: Int, positions: Range<Int>,
        _ room: LineRoom, into target: UnsafeMutablePointer<Float>
    ) {
        let ends = [positions.lowerBound, positions.upperBound - 1].flatMap { [Double($0), Double($0) * (1 - amount)] }
        let first = Int((ends.min() ?? 0).rounded(.down)) - 1
        let count = Int((ends.max() ?? 0).rounded(.up)) + 2 - first
        room.reserve(count)
        let samples = room.samples.base
        let direction = DeterministicMath.sinCos(
            degrees: 360 * Double(line.modulo(octave.rays)) / Double(octave.rays))
        [center.x, center.y].withUnsafeBufferPointer { center in
            guard let center = center.baseAddress else { return }
            operations.sampleRay(
                picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
                center, direction.cos, direction.sin, first, count, samples)
        }
        let length = 1 << octave.blockBits
        operations.sumBlocks(samples, count, first & (length - 1), length, room.heads.base, room.tails.base)
        let origin = -4 * first
        operations.zoomMeans(
            samples + origin, room.heads.base + origin, room.tails.base + origin, octave.blockBits, 1 - amount,
            positions.lowerBound, positions.count, target)
    }
}
