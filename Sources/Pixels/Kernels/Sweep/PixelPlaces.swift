import Geometry

/// Where pixels lie around a centre: distances, and directions in turns, each on a scale of its own.
final class PixelPlaces {
    private(set) var distances = WorkBuffer<Double>(count: 0)
    private(set) var turns = WorkBuffer<Double>(count: 0)
    private(set) var count = 0
    private var right = WorkBuffer<Double>(count: 0)
    private var down = WorkBuffer<Double>(count: 0)
    private let center: SweepCenter
    private let operations: RowOperations

    init(_ center: SweepCenter, _ operations: RowOperations) {
        self.center = center
        self.operations = operations
    }

    func removeAll() { count = 0 }

    func append(columns: Range<Int>, y: Int) {
        makeRoom(for: columns.count)
        for (index, x) in columns.enumerated() {
            right.base[count + index] = Double(x) - center.x
            down.base[count + index] = Double(y) - center.y
        }
        count += columns.count
    }

    /// - Parameter pixels: their numbers in `area`, row by row.
    func append(_ pixels: UnsafeBufferPointer<Int32>, in area: PixelRect) {
        makeRoom(for: pixels.count)
        for (index, pixel) in pixels.enumerated() {
            let (row, column) = Int(pixel).quotientAndRemainder(dividingBy: area.width)
            right.base[count + index] = Double(area.x + column) - center.x
            down.base[count + index] = Double(area.y + row) - center.y
        }
        count += pixels.count
    }

    private func makeRoom(for more: Int) {
        guard right.count < count + more else { return }
        let capacity = 2 * (count + more)
        func moved(_ old: WorkBuffer<Double>) -> WorkBuffer<Double> {
            let new = WorkBuffer<Double>(count: capacity)
            new.base.update(from: old.base, count: count)
            return new
        }
        (right, down) = (moved(right), moved(down))
        (distances, turns) = (WorkBuffer(count: capacity), WorkBuffer(count: capacity))
    }

    /// Finds the places of all pixels.
    func find(scaleOfDistances: Double = 1, scaleOfTurns: Double = 1) {
        operations.placeInRings(
            right.base, down.base, count, scaleOfDistances, scaleOfTurns, distances.base, turns.base)
    }
}
