import Geometry

/// The pixels of an area whose paths are averaged on rays, sorted by the group of rays that they belong to.
struct PixelGroups {
    private let pixels: WorkBuffer<Int32>
    /// Where each group begins, and the last one ends.
    private let starts: WorkBuffer<Int>

    init(_ rays: ZoomRays, _ path: some SweepPath, _ area: PixelRect, _ operations: RowOperations) {
        precondition(
            area.area <= Int32.max && rays.groupCount < Int32.max, "pixels and groups are counted in 32 bits")
        let none: Int32 = -1
        let groups = WorkBuffer<Int32>(count: area.area)
        starts = WorkBuffer(count: rays.groupCount + 2)
        let places = PixelPlaces(path.center, operations)
        var index = 0
        for y in area.rows {
            places.removeAll()
            places.append(columns: area.columns, y: y)
            places.find()
            let short = path.directColumns(y: y)
            for column in 0..<area.width {
                if short.contains(area.x + column) {
                    groups.base[index] = none
                } else {
                    let group = rays.group(distance: places.distances.base[column], turn: places.turns.base[column])
                    groups.base[index] = Int32(group)
                    starts.base[group &+ 2] &+= 1
                }
                index &+= 1
            }
        }
        // Counted two places further on: the next one up holds each group's start, and its end when it is filled.
        for group in 0...rays.groupCount { starts.base[group + 1] &+= starts.base[group] }
        pixels = WorkBuffer(count: area.area)
        for index in 0..<area.area where groups.base[index] >= 0 {
            let group = Int(groups.base[index]) + 1
            pixels.base[starts.base[group]] = Int32(index)
            starts.base[group] &+= 1
        }
    }

    /// The numbers of a group's pixels, row by row.
    subscript(group: Int) -> UnsafeBufferPointer<Int32> {
        UnsafeBufferPointer(start: pixels.base + starts.base[group], count: starts.base[group + 1] - starts.base[group])
    }
}
