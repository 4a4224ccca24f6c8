import Geometry

/// The pixels of an area whose paths are averaged on rays, sorted by the group of rays that they belong to.
struct PixelGroups: ~Copyable {
    private let pixels: RowBuffer<Int32>
    /// Where each group begins, and the last one ends.
    private let starts: RowBuffer<Int>

    init(_ rays: ZoomRays, _ path: some SweepPath, _ area: PixelRect, _ operations: RowOperations) {
        precondition(
            area.area <= Int32.max && rays.groupCount < Int32.max, "pixels and groups are counted in 32 bits")
        let none: Int32 = -1
        let groups = RowBuffer<Int32>(count: area.area)
        starts = RowBuffer(count: rays.groupCount + 2)
        let places = PixelPlaces(path.center, operations)
        var index = 0
        for y in area.rows {
            places.removeAll()
            places.append(columns: area.columns, y: y)
            places.find()
            let short = path.directColumns(y: y)
            for column in 0..<area.width {
                if short.contains(area.x + column) {
                    groups[unchecked: index] = none
                } else {
                    let group = rays.group(
                        distance: places.distances[unchecked: column], turn: places.turns[unchecked: column])
                    groups[unchecked: index] = Int32(group)
                    starts[group &+ 2] &+= 1
                }
                index &+= 1
            }
        }
        // Counted two places further on: the next one up holds each group's start, and its end when it is filled.
        for group in 0...rays.groupCount { starts[group + 1] &+= starts[group] }
        pixels = RowBuffer(count: area.area)
        for index in 0..<area.area where groups[unchecked: index] >= 0 {
            let group = Int(groups[unchecked: index]) + 1
            pixels[unchecked: starts[unchecked: group]] = Int32(index)
            starts[unchecked: group] &+= 1
        }
    }

    /// The numbers of a group's pixels, row by row.
    subscript(group: Int) -> PixelGroup {
        let start = starts[group]
        return PixelGroup(numbers: Row(pixels.start + start), count: starts[group + 1] - start)
    }
}

/// The numbers of some pixels; lent for a call.
struct PixelGroup {
    let numbers: Row<Int32>
    let count: Int
}
