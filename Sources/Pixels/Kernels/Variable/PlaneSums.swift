/// Weighted sums of rows, a plane of single precision for each channel.
final class PlaneSums {
    private let columns: Range<Int>
    private var rows = 0..<0
    private let channels: Int
    private let operations: RowOperations
    /// Of each pixel.
    private let strengths: RowBuffer<UInt16>
    private let sums: RowBuffer<Float>
    private let weights: RowBuffer<Float>
    /// What each strength weighs of the rows that come.
    private let table = RowBuffer<Float>(count: VariableLevels.full + 1)

    /// - Parameter height: of the highest part.
    init(_ columns: Range<Int>, height: Int, channels: Int, _ operations: RowOperations) {
        (self.columns, self.channels, self.operations) = (columns, channels, operations)
        strengths = RowBuffer(count: columns.count * height)
        sums = RowBuffer(count: columns.count * height * channels)
        weights = RowBuffer(count: columns.count)
    }

    /// Begins a part, from nothing.
    func begin(rows: Range<Int>) {
        self.rows = rows
        sums.start.update(repeating: 0, count: rows.count * columns.count * channels)
    }

    /// Those of a row, to be filled in first.
    func strengths(_ y: Int) -> MutableRow<UInt16> {
        strengths.start + (y - rows.lowerBound) * columns.count
    }

    /// The rows that come are those of a node.
    func take(_ levels: VariableLevels, _ node: Int, strengths: ClosedRange<Int>, scale: Float) {
        levels.fill(table.start, node: node, strengths: strengths, scale: scale)
    }

    func add(_ planes: PlaneRow) {
        let left = planes.x - columns.lowerBound
        operations.lookUpWeights(
            Row(strengths(planes.y) + left), table: Row(table.start), count: planes.count, out: weights.start)
        for channel in 0..<channels {
            operations.addWeighted(
                Row(planes.plane(channel)), weights: Row(weights.start), count: planes.count,
                to: sum(channel, planes.y) + left)
        }
    }

    private func sum(_ channel: Int, _ y: Int) -> MutableRow<Float> {
        sums.start + ((y - rows.lowerBound) * channels + channel) * columns.count
    }

    func row(_ y: Int) -> PlaneRow {
        PlaneRow(
            sum(0, y), stride: columns.count, count: columns.count, channels: channels, x: columns.lowerBound, y: y,
            operations)
    }

    var sink: Sink { Sink(sums: self) }

    /// The door for kernels of working values.
    struct Sink: WorkingRowSink {
        let sums: PlaneSums

        mutating func write(_ planes: PlaneRow) { sums.add(planes) }

        mutating func write(_ row: Span<Double>, x: Int, y: Int) {
            let count = row.count / sums.channels
            let planes = RowBuffer<Float>(count: row.count)
            for index in 0..<row.count {
                planes[index % sums.channels * count + index / sums.channels] = Float(row[index])
            }
            sums.add(
                PlaneRow(
                    planes.start, stride: count, count: count, channels: sums.channels, x: x, y: y, sums.operations))
        }
    }
}
