import Catalogs
import Geometry
import Raster

/// Sums the nodes of a picture's strengths, each where it has a weight.
struct VariableStack: WorkingKernel {
    let levels: VariableLevels
    let map: StrengthMap
    let extent: PixelRect
    /// Whether samples have 8 bits, and wide Gaussians are computed with integers.
    let isFixed: Bool
    let operations: RowOperations

    var halo: Halo {
        let reach = levels.reach(upTo: VariableLevels.full)
        return Halo(horizontal: reach, vertical: reach)
    }

    /// The largest size of the sums of a part, in bytes.
    private static let budget = 32 << 20

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let row = area.width * reader.layout.channels * MemoryLayout<Float>.size
        // A lower part would read more rows outside of it than inside.
        let height = min(max(Self.budget / row, halo.top, 64), area.height)
        let sums = PlaneSums(area.columns, height: height, channels: reader.layout.channels, operations)
        for y in stride(from: area.y, to: area.bottom, by: height) {
            let rect = PixelRect(columns: area.columns, rows: y..<min(y + height, area.bottom))
            VariablePart(self, reader, rect, sums).write(to: &sink)
        }
    }
}

/// A part of a picture while its nodes are summed, from the lowest to the highest. A pixel's sum does not depend on the nodes
/// that other pixels need.
private final class VariablePart {
    private let stack: VariableStack
    private let reader: PixelReader
    private let rect: PixelRect
    /// The ranges of the strengths of rows, and of blocks of columns.
    private var rows: [ClosedRange<Int>] = []
    private var blocks: [ClosedRange<Int>] = []
    private let sums: PlaneSums

    private static let block = 64

    init(_ stack: VariableStack, _ reader: PixelReader, _ rect: PixelRect, _ sums: PlaneSums) {
        (self.stack, self.reader, self.rect, self.sums) = (stack, reader, rect, sums)
        sums.begin(rows: rect.rows)
        measure()
        addAll()
    }

    private func measure() {
        let starts = Array(stride(from: 0, to: rect.width, by: Self.block))
        var (least, most) = ([Int](repeating: .max, count: starts.count), [Int](repeating: 0, count: starts.count))
        let map = StrengthRows(stack.map, columns: rect.columns, extent: stack.extent)
        for y in rect.rows {
            let row = sums.strengths(y)
            map.fill(row, y: y)
            var (low, high) = (Int.max, 0)
            for (block, start) in starts.enumerated() {
                var (lowest, highest) = (row[unchecked: start], row[unchecked: start])
                for x in start..<min(start + Self.block, rect.width) {
                    lowest = min(lowest, row[unchecked: x])
                    highest = max(highest, row[unchecked: x])
                }
                (low, high) = (min(low, Int(lowest)), max(high, Int(highest)))
                (least[block], most[block]) = (min(least[block], Int(lowest)), max(most[block], Int(highest)))
            }
            rows.append(low...high)
        }
        blocks = zip(least, most).map { $0...$1 }
    }

    private func addAll() {
        let all = (rows.map(\.lowerBound).min() ?? 0)...(rows.map(\.upperBound).max() ?? 0)
        for node in stack.levels.sigmas.indices where stack.levels.supports[node].overlaps(all) {
            let designs = stack.levels.designs(node)
            let fixedPoint = stack.isFixed ? designs.fixedPoint : nil
            let scale = fixedPoint == nil ? 1 : 1 / Float(128)
            sums.take(stack.levels, node, strengths: all, scale: scale)
            for rect in parts(of: node, reach: designs.floating.reach) {
                if let fixedPoint {
                    FixedLevel(reader, fixedPoint, stack.operations).addRows(of: rect, to: sums)
                } else {
                    var sink = sums.sink
                    FloatPyramid(horizontal: designs.floating, vertical: designs.floating, stack.operations)
                        .apply(reader, area: rect, to: &sink)
                }
            }
        }
    }

    /// The rectangles in which a node has weights.
    private func parts(of node: Int, reach: Int) -> [PixelRect] {
        let support = stack.levels.supports[node]
        guard let left = blocks.firstIndex(where: support.overlaps),
            let right = blocks.lastIndex(where: support.overlaps)
        else { return [] }
        let columns = rect.x + left * Self.block..<min(rect.x + (right + 1) * Self.block, rect.right)
        var runs: [Range<Int>] = []
        for (index, strengths) in rows.enumerated() where strengths.overlaps(support) {
            let y = rect.y + index
            // Rendering the gap between two runs costs less than starting again.
            if let last = runs.last, y - last.upperBound <= reach {
                runs[runs.count - 1] = last.lowerBound..<y + 1
            } else {
                runs.append(y..<y + 1)
            }
        }
        return runs.map { PixelRect(columns: columns, rows: $0) }
    }

    func write(to sink: inout some WorkingRowSink) {
        for y in rect.rows { sink.write(sums.row(y)) }
    }
}

/// Weighted sums of rows, a plane of single precision for each channel.
final class PlaneSums {
    private let columns: Range<Int>
    private var rows = 0..<0
    private let channels: Int
    private let operations: RowOperations
    /// The strength of each pixel.
    private let strengths: RowBuffer<UInt16>
    private let sums: RowBuffer<Float>
    private let weights: RowBuffer<Float>
    /// The weight of the current node for each strength.
    private let table = RowBuffer<Float>(count: VariableLevels.full + 1)

    /// - Parameter height: the height of the highest part.
    init(_ columns: Range<Int>, height: Int, channels: Int, _ operations: RowOperations) {
        (self.columns, self.channels, self.operations) = (columns, channels, operations)
        strengths = RowBuffer(count: columns.count * height)
        sums = RowBuffer(count: columns.count * height * channels)
        weights = RowBuffer(count: columns.count)
    }

    /// Starts a part with sums of 0.
    func begin(rows: Range<Int>) {
        self.rows = rows
        sums.start.update(repeating: 0, count: rows.count * columns.count * channels)
    }

    /// The strengths of a row, which the caller fills in first.
    func strengths(_ y: Int) -> MutableRow<UInt16> { strengths.start + (y - rows.lowerBound) * columns.count }

    /// Sets the node of the next rows.
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

    /// The sink for kernels of working values.
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

/// A wide Gaussian of 8-bit samples, computed with integers. It returns rows before they are rounded to 8 bits.
struct FixedLevel {
    private let reader: PixelReader
    private let design: AxisDesign<UInt16>
    private let operations: RowOperations

    init(_ reader: PixelReader, _ design: AxisDesign<UInt16>, _ operations: RowOperations) {
        (self.reader, self.design, self.operations) = (reader, design, operations)
    }

    /// Adds 128 times the working values.
    func addRows(of rect: PixelRect, to sums: PlaneSums) {
        let channels = reader.layout.channels
        let planes = RowBuffer<Float>(count: rect.width * channels)
        reader.source.withBytes(columns: rect.columns) { bytes in
            for part in FixedPyramid.parts(of: rect, channels: channels, reach: design.reach) {
                FixedPyramid(
                    bytes, layout: reader.layout, output: part, horizontal: design, vertical: design, operations
                ).renderWords { y, words in
                    operations.loadWordPlanes(
                        words, channels: channels, multiplies: false, count: part.width, planes: planes.start,
                        planeStride: part.width)
                    sums.add(
                        PlaneRow(
                            planes.start, stride: part.width, count: part.width, channels: channels, x: part.x, y: y,
                            operations))
                }
            }
        }
    }
}
