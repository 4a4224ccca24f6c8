import Geometry

/// Where pixels lie around a centre: distances in pixels, directions in turns.
final class PixelPlaces {
    let distances: WorkBuffer<Double>
    let turns: WorkBuffer<Double>
    private let right: WorkBuffer<Double>
    private let down: WorkBuffer<Double>
    private let center: SweepCenter
    private let operations: RowOperations
    private var count = 0

    init(_ center: SweepCenter, capacity: Int, _ operations: RowOperations) {
        self.center = center
        self.operations = operations
        distances = WorkBuffer(count: capacity)
        turns = WorkBuffer(count: capacity)
        right = WorkBuffer(count: capacity)
        down = WorkBuffer(count: capacity)
    }

    func place(columns: Range<Int>, y: Int) {
        for (index, x) in columns.enumerated() {
            right.base[index] = Double(x) - center.x
            down.base[index] = Double(y) - center.y
        }
        place(columns.count)
    }

    /// - Parameter pixels: their numbers in `area`, row by row.
    func place(_ pixels: UnsafeBufferPointer<Int32>, in area: PixelRect) {
        for (index, pixel) in pixels.enumerated() {
            let (row, column) = Int(pixel).quotientAndRemainder(dividingBy: area.width)
            right.base[index] = Double(area.x + column) - center.x
            down.base[index] = Double(area.y + row) - center.y
        }
        place(pixels.count)
    }

    private func place(_ count: Int) {
        self.count = count
        operations.placeInRings(right.base, down.base, count, distances.base, turns.base)
    }

    /// The pixels of a row whose distance is near enough: those between the first and the last one.
    func run(where isNear: (Double) -> Bool) -> Range<Int> {
        var (first, end) = (0, count)
        while first < end, !isNear(distances.base[first]) { first += 1 }
        while end > first, !isNear(distances.base[end - 1]) { end -= 1 }
        return first..<end
    }
}

/// The pixels of an area whose paths are long, sorted by the group of lines that they belong to.
struct PixelGroups {
    private let pixels: WorkBuffer<Int32>
    /// Where each group begins, and the last one ends.
    private let starts: WorkBuffer<Int>

    init<Path: SweepPath>(_ lines: Path.Lines, _ path: Path, _ area: PixelRect, _ operations: RowOperations) {
        let none: Int32 = -1
        let groups = WorkBuffer<Int32>(count: area.area)
        starts = WorkBuffer(count: lines.groupCount + 2)
        let places = PixelPlaces(path.center, capacity: area.width, operations)
        var index = 0
        for y in area.rows {
            places.place(columns: area.columns, y: y)
            for column in 0..<area.width {
                let distance = places.distances.base[column]
                if distance * path.steepness > Sweep<Path>.longestDirect {
                    let group = lines.group(distance: distance, turn: places.turns.base[column])
                    groups.base[index] = Int32(truncatingIfNeeded: group)
                    starts.base[group &+ 2] &+= 1
                } else {
                    groups.base[index] = none
                }
                index &+= 1
            }
        }
        // Counted two places further on: the next one up holds each group's start, and its end when it is filled.
        for group in 0...lines.groupCount { starts.base[group + 1] &+= starts.base[group] }
        pixels = WorkBuffer(count: area.area)
        for index in 0..<area.area where groups.base[index] >= 0 {
            let group = Int(groups.base[index]) + 1
            pixels.base[starts.base[group]] = Int32(truncatingIfNeeded: index)
            starts.base[group] &+= 1
        }
    }

    /// The numbers of a group's pixels, row by row.
    subscript(group: Int) -> UnsafeBufferPointer<Int32> {
        UnsafeBufferPointer(start: pixels.base + starts.base[group], count: starts.base[group + 1] - starts.base[group])
    }
}
