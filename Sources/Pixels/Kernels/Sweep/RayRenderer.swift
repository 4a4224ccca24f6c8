import Geometry

/// Renders groups of pixels with long paths to a centre. It computes the means on the rays around the pixels, then
/// interpolates each pixel between its rays.
final class RayRenderer {
    /// Four values for each pixel of the latest group.
    private(set) var values = RowBuffer<Float>(count: 0)

    private let picture: SweptPicture
    private let rays: ZoomRays
    private let locations: PixelPositions
    private let operations: RowOperations
    private let room = LineRoom()
    private var means = RowBuffer<Float>(count: 0)

    init(_ picture: SweptPicture, _ rays: ZoomRays, _ center: SweepCenter, _ operations: RowOperations) {
        self.picture = picture
        self.rays = rays
        self.operations = operations
        locations = PixelPositions(center, operations)
    }

    /// - Parameter pixels: the group's pixels, by their numbers in the area; at least one.
    func render(_ group: Int, _ pixels: PixelGroup, in area: PixelRect) {
        if values.count < 4 * pixels.count { values = RowBuffer(count: 5 * pixels.count) }
        let octave = rays.octave(ofGroup: group)
        locations.removeAll()
        locations.append(pixels, in: area)
        locations.find(scaleOfDistances: ZoomRays.samplesPerPixel, scaleOfTurns: Double(octave.rays))
        let (across, along) = (locations.range(locations.turns), locations.range(locations.distances))
        // Cubic interpolation reads one ray before and two after. Along a ray, it reads a sample and the next one.
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
            across: Row(locations.turns.start), along: Row(locations.distances.start), count: locations.count,
            out: values.start)
    }
}

/// The pixels of an area whose paths are averaged on rays, sorted by their groups of rays.
struct PixelGroups: ~Copyable {
    private let pixels: RowBuffer<Int32>
    /// The start of each group, and the end of the last one.
    private let starts: RowBuffer<Int>

    init(_ rays: ZoomRays, _ path: some SweepPath, _ area: PixelRect, _ operations: RowOperations) {
        precondition(area.area <= Int32.max && rays.groupCount < Int32.max, "pixels and groups are counted in 32 bits")
        let none: Int32 = -1
        let groups = RowBuffer<Int32>(count: area.area)
        // ThreadSanitizer does not compile if a stored property is changed in place here (Swift 6.3).
        let starts = RowBuffer<Int>(count: rays.groupCount + 2)
        let locations = PixelPositions(path.center, operations)
        var index = 0
        for y in area.rows {
            locations.removeAll()
            locations.append(columns: area.columns, y: y)
            locations.find()
            let short = path.directColumns(y: y)
            for column in 0..<area.width {
                if short.contains(area.x + column) {
                    groups[unchecked: index] = none
                } else {
                    let group = rays.group(
                        distance: locations.distances[unchecked: column], turn: locations.turns[unchecked: column])
                    groups[unchecked: index] = Int32(group)
                    starts[group &+ 2] &+= 1
                }
                index &+= 1
            }
        }
        // Counts are stored two positions higher. The position after a group then holds the group's start, and its end after
        // filling.
        for group in 0...rays.groupCount { starts[group + 1] &+= starts[group] }
        pixels = RowBuffer(count: area.area)
        for index in 0..<area.area where groups[unchecked: index] >= 0 {
            let group = Int(groups[unchecked: index]) + 1
            pixels[unchecked: starts[unchecked: group]] = Int32(index)
            starts[unchecked: group] &+= 1
        }
        self.starts = starts
    }

    /// The numbers of a group's pixels, row by row.
    subscript(group: Int) -> PixelGroup {
        let start = starts[group]
        return PixelGroup(numbers: Row(pixels.start + start), count: starts[group + 1] - start)
    }
}

/// The numbers of some pixels, valid during a call.
struct PixelGroup {
    let numbers: Row<Int32>
    let count: Int
}

/// The positions of pixels around a centre: distances, and directions in turns, each with its own scale.
final class PixelPositions {
    private(set) var distances = RowBuffer<Double>(count: 0)
    private(set) var turns = RowBuffer<Double>(count: 0)
    private(set) var count = 0
    private var right = RowBuffer<Double>(count: 0)
    private var down = RowBuffer<Double>(count: 0)
    private let center: SweepCenter
    private let operations: RowOperations

    init(_ center: SweepCenter, _ operations: RowOperations) {
        self.center = center
        self.operations = operations
    }

    func removeAll() { count = 0 }

    func append(columns: Range<Int>, y: Int) {
        makeRoom(for: columns.count)
        let (right, down) = (right.start + count, down.start + count)
        for (index, x) in columns.enumerated() {
            right[unchecked: index] = Double(x) - center.x
            down[unchecked: index] = Double(y) - center.y
        }
        count += columns.count
    }

    /// - Parameter pixels: the pixels' numbers in `area`, row by row.
    func append(_ pixels: PixelGroup, in area: PixelRect) {
        makeRoom(for: pixels.count)
        let (right, down) = (right.start + count, down.start + count)
        for index in 0..<pixels.count {
            let (row, column) = Int(pixels.numbers[unchecked: index]).quotientAndRemainder(dividingBy: area.width)
            right[unchecked: index] = Double(area.x + column) - center.x
            down[unchecked: index] = Double(area.y + row) - center.y
        }
        count += pixels.count
    }

    private func makeRoom(for more: Int) {
        guard right.count < count + more else { return }
        let capacity = 2 * (count + more)
        func grow(_ buffer: inout RowBuffer<Double>) {
            let larger = RowBuffer<Double>(count: capacity)
            larger.start.update(from: Row(buffer.start), count: count)
            buffer = larger
        }
        grow(&right)
        grow(&down)
        distances = RowBuffer(count: capacity)
        turns = RowBuffer(count: capacity)
    }

    /// Computes the positions of all pixels.
    func find(scaleOfDistances: Double = 1, scaleOfTurns: Double = 1) {
        operations.placeInRings(
            right: Row(right.start), down: Row(down.start), count: count, scaleOfDistances: scaleOfDistances,
            scaleOfTurns: scaleOfTurns, distances: distances.start, turns: turns.start)
    }

    /// The range of the values in a buffer; there must be at least one pixel.
    func range(_ values: borrowing RowBuffer<Double>) -> (least: Double, greatest: Double) {
        precondition(count <= values.count, "every pixel has a number")
        var (least, greatest) = (values[0], values[0])
        for index in 1..<max(1, count) {
            least = min(least, values[unchecked: index])
            greatest = max(greatest, values[unchecked: index])
        }
        return (least, greatest)
    }
}
