import Geometry

/// Where pixels lie around a centre: distances, and directions in turns, each on a scale of its own.
final class PixelPlaces {
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

    /// - Parameter pixels: their numbers in `area`, row by row.
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

    /// Finds the places of all pixels.
    func find(scaleOfDistances: Double = 1, scaleOfTurns: Double = 1) {
        operations.placeInRings(
            right: Row(right.start), down: Row(down.start), count: count, scaleOfDistances: scaleOfDistances,
            scaleOfTurns: scaleOfTurns, distances: distances.start, turns: turns.start)
    }

    /// Of the pixels' numbers in a buffer; there is one at least.
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
