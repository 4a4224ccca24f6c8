import Geometry

/// Renders groups of pixels with long paths to a centre: the means on the rays around them, then each pixel between its
/// rays.
final class RayRenderer {
    /// Four for each pixel of the group that was rendered last.
    private(set) var values = RowBuffer<Float>(count: 0)

    private let picture: SweptPicture
    private let rays: ZoomRays
    private let places: PixelPlaces
    private let operations: RowOperations
    private let room = LineRoom()
    private var means = RowBuffer<Float>(count: 0)

    init(_ picture: SweptPicture, _ rays: ZoomRays, _ center: SweepCenter, _ operations: RowOperations) {
        self.picture = picture
        self.rays = rays
        self.operations = operations
        places = PixelPlaces(center, operations)
    }

    /// - Parameter pixels: the group's, by their numbers in the area; at least one.
    func render(_ group: Int, _ pixels: PixelGroup, in area: PixelRect) {
        if values.count < 4 * pixels.count { values = RowBuffer(count: 5 * pixels.count) }
        let octave = rays.octave(ofGroup: group)
        places.removeAll()
        places.append(pixels, in: area)
        places.find(scaleOfDistances: ZoomRays.samplesPerPixel, scaleOfTurns: Double(octave.rays))
        let (across, along) = (places.range(places.turns), places.range(places.distances))
        // A cubic reads a line before and two behind; along a line, a sample and the next one.
        let used = Int(across.least) - 1..<Int(across.greatest) + 3
        let positions = Int(along.least)..<Int(along.greatest) + 2
        let stride = 4 * positions.count
        if means.count < stride * used.count { means = RowBuffer(count: stride * used.count * 5 / 4) }
        for line in used {
            rays.average(
                picture, operations, octave, line: line, positions: positions, room,
                into: means.start + (line - used.lowerBound) * stride)
        }
        operations.interpolateLines(
            Row(means.start), stride: stride, firstLine: used.lowerBound, firstSample: positions.lowerBound,
            across: Row(places.turns.start), along: Row(places.distances.start), count: places.count, out: values.start)
    }
}
