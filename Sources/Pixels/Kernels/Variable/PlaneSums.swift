/// Weighted sums of rows, a plane of single precision for each channel.
final class PlaneSums {
    private let columns: Range<Int>
    private var rows = 0..<0
    private let channels: Int
    private let operations: RowOperations
    /// Of each pixel.
    private let strengths: WorkBuffer<UInt16>
    private let sums: WorkBuffer<Float>
    private let weights: WorkBuffer<Float>
    /// What each strength weighs of the rows that come.
    private let table = WorkBuffer<Float>(count: VariableLevels.full + 1)

    /// - Parameter height: of the highest part.
    init(_ columns: Range<Int>, height: Int, channels: Int, _ operations: RowOperations) {
        (self.columns, self.channels, self.operations) = (columns, channels, operations)
        strengths = WorkBuffer(count: columns.count * height)
        sums = WorkBuffer(count: columns.count * height * channels)
        weights = WorkBuffer(count: columns.count)
    }

    /// Begins a part, from nothing.
    func begin(rows: Range<Int>) {
        self.rows = rows
        sums.base.update(repeating: 0, count: rows.count * columns.count * channels)
    }

    /// Those of a row, to be filled in first.
    func strengths(_ y: Int) -> UnsafeMutablePointer<UInt16> {
        strengths.base + (y - rows.lowerBound) * columns.count
    }

    /// The rows that come are those of a node.
    func take(_ levels: VariableLevels, _ node: Int, strengths: ClosedRange<Int>, scale: Float) {
        levels.fill(table.base, node: node, strengths: strengths, scale: scale)
    }

    func add(_ planes: PlaneRow) {
        let left = planes.x - columns.lowerBound
        operations.lookUpWeights(strengths(planes.y) + left, UnsafePointer(table.base), planes.count, weights.base)
        for channel in 0..<channels {
            operations.addWeighted(
                UnsafePointer(planes.plane(channel)), UnsafePointer(weights.base), planes.count,
                sum(channel, planes.y) + left)
        }
    }

    private func sum(_ channel: Int, _ y: Int) -> UnsafeMutablePointer<Float> {
        sums.base + ((y - rows.lowerBound) * channels + channel) * columns.count
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
            let planes = WorkBuffer<Float>(count: row.count)
            for index in 0..<row.count {
                planes.base[index % sums.channels * count + index / sums.channels] = Float(row[index])
            }
            sums.add(
                PlaneRow(
                    planes.base, stride: count, count: count, channels: sums.channels, x: x, y: y, sums.operations))
        }
    }
}
