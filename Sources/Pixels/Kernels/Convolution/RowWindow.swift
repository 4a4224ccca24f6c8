/// The working rows that a window sliding down a picture refers to.
///
/// A window covers neighbouring coordinates; at an edge several of them may be the same row of the raster, which is
/// held and computed once. A row is dropped when the last coordinate in the window that needs it has left, so memory
/// is bounded by the window and not by the picture.
struct RowWindow {
    /// One array for all rows, so that sums can run over them as views; the last row is all zeros.
    private(set) var values: [Double]
    /// Values in a row.
    let width: Int

    private let table: AxisTable
    private var window: Range<Int>
    /// By the raster's row: where it is held, and how many coordinates of the window refer to it (0: not held).
    private var slots: [Int32]
    private var users: [Int32]
    private var freeSlots: [Int32]
    /// A new row, before it is put into its slot.
    private var row: [Double]

    /// - Parameters:
    ///   - table: the rows' coordinates.
    ///   - height: the most coordinates that the window covers at once.
    ///   - width: values in a row.
    init(_ table: AxisTable, height: Int, width: Int) {
        let distinct = Int((table.positions.max() ?? AxisTable.transparent) + 1)
        let held = min(height, distinct)
        self.table = table
        self.width = width
        window = table.range.lowerBound..<table.range.lowerBound
        slots = [Int32](repeating: 0, count: distinct)
        users = slots
        freeSlots = (0..<Int32(held)).reversed()
        values = [Double](repeating: 0, count: (held + 1) * width)
        row = [Double](repeating: 0, count: width)
    }

    /// Where the row of `coordinate` starts in ``values``; the coordinate lies in the window.
    func start(of coordinate: Int) -> Int {
        let position = table[coordinate]
        return position < 0 ? values.count - width : Int(slots[position]) * width
    }

    /// Moves the window down to `next`, and calls `fill` with the raster's row for each row that is new.
    mutating func slide(to next: Range<Int>, fill: (_ position: Int, _ row: inout MutableSpan<Double>) -> Void) {
        for coordinate in window where !next.contains(coordinate) { release(table[coordinate]) }
        for coordinate in next where !window.contains(coordinate) { retain(table[coordinate], fill: fill) }
        window = next
    }

    private mutating func release(_ position: Int) {
        guard position >= 0 else { return }
        users[position] -= 1
        if users[position] == 0 { freeSlots.append(slots[position]) }
    }

    private mutating func retain(_ position: Int, fill: (_ position: Int, _ row: inout MutableSpan<Double>) -> Void) {
        guard position >= 0 else { return }
        users[position] += 1
        guard users[position] == 1 else { return }
        slots[position] = freeSlots.removeLast()  // there are as many slots as the window can refer to
        var target = row.mutableSpan
        fill(position, &target)
        let start = Int(slots[position]) * width
        values.replaceSubrange(start..<start + width, with: row)
    }
}
