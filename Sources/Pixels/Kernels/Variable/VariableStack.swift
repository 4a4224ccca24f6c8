import Catalogs
import Geometry
import Raster

/// Sums the nodes of a picture's strengths, each where it has a weight.
struct VariableStack: WorkingKernel {
    let levels: VariableLevels
    let map: StrengthMap
    let extent: PixelRect
    let places: StrengthPlaces
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
    private let blocks: StrengthBlocks
    /// The ranges of the strengths of rows, and of blocks.
    private var rows: [ClosedRange<Int>] = []
    private var strengths: [ClosedRange<Int>?] = []
    private let sums: PlaneSums
    private let own: OwnRows

    init(_ stack: VariableStack, _ reader: PixelReader, _ rect: PixelRect, _ sums: PlaneSums) {
        (self.stack, self.reader, self.rect, self.sums) = (stack, reader, rect, sums)
        own = OwnRows(reader, rect, stack.operations)
        sums.begin(rows: rect.rows)
        let columns = StrengthRows(stack.map, columns: rect.columns, extent: stack.extent)
        for y in rect.rows { columns.fill(sums.strengths(y), y: y) }
        let most = stack.map.most(in: rect, extent: stack.extent)
        blocks = StrengthBlocks(
            rect, reach: stack.levels.reach(upTo: most), stack.map, extent: stack.extent, stack.places)
        measure()
        addAll()
    }

    private func measure() {
        strengths = Array(repeating: nil, count: blocks.rows.count * blocks.columns.count)
        for y in rect.rows {
            let row = sums.strengths(y)
            var whole: ClosedRange<Int>?
            let first = (StrengthBlocks.block(y) - blocks.rows.lowerBound) * blocks.columns.count
            for (index, block) in blocks.columns.enumerated() {
                let columns = StrengthBlocks.coordinates(block).clamped(to: rect.columns)
                var (lowest, highest) = (UInt16.max, UInt16(0))
                for x in columns {
                    lowest = min(lowest, row[unchecked: x - rect.x])
                    highest = max(highest, row[unchecked: x - rect.x])
                }
                let range = Int(lowest)...Int(highest)
                strengths[first + index] = strengths[first + index].map { $0.union(range) } ?? range
                whole = whole.map { $0.union(range) } ?? range
            }
            rows.append(whole ?? 0...0)
        }
    }

    private func addAll() {
        let all = rows.dropFirst().reduce(rows[0]) { $0.union($1) }
        for node in stack.levels.sigmas.indices where stack.levels.supports[node].overlaps(all) {
            let support = stack.levels.supports[node]
            let needs = strengths.map { $0?.overlaps(support) ?? false }
            let reach = stack.levels.reach(of: node)
            // The lowest node is no blur.
            let isUneven =
                node == 0
                ? needs.map { _ in false }
                : blocks.haveLess(than: stack.levels.fullWeight(node), within: reach)
            addPlain(node, all, areas(support, reach, zip(needs, isUneven).map { $0 && !$1 }))
            addWeighted(node, all, areas(support, reach, zip(needs, isUneven).map { $0 && $1 }))
        }
    }

    /// Adds a node's Gaussian.
    private func addPlain(_ node: Int, _ strengths: ClosedRange<Int>, _ areas: [NodeArea]) {
        guard !areas.isEmpty else { return }
        let designs = stack.levels.designs(node)
        let fixedPoint = stack.isFixed ? designs.fixedPoint : nil
        sums.take(stack.levels, node, strengths: strengths, scale: fixedPoint == nil ? 1 : 1 / Float(128))
        for area in areas {
            sums.columns = area.columns
            if let fixedPoint {
                FixedLevel(reader, fixedPoint, stack.operations).addRows(of: area.rect, to: sums)
            } else {
                var sink = sums.sink
                FloatPyramid(horizontal: designs.floating, vertical: designs.floating, stack.operations)
                    .apply(reader, area: area.rect, to: &sink)
            }
        }
    }

    /// Adds a node's Gaussian of weighted pixels, divided by that of the weights.
    private func addWeighted(_ node: Int, _ strengths: ClosedRange<Int>, _ areas: [NodeArea]) {
        guard !areas.isEmpty else { return }
        let design = stack.levels.designs(node).floating
        sums.take(stack.levels, node, strengths: strengths, scale: 1)
        let table = RowBuffer<Float>(count: VariableLevels.full + 1)
        stack.levels.fillPixelWeights(table.start, node: node)
        let pixelWeights = Row(table.start)
        let pyramid = FloatPyramid(horizontal: design, vertical: design, stack.operations)
        for area in areas {
            sums.columns = area.columns
            // Beyond a transparent edge, pixels differ from those of the border, and their strengths do not.
            let run = pyramid.run(
                reader.source.columns.numbered(with: stack.places.columns),
                reader.source.rows.numbered(with: stack.places.rows), planes: reader.layout.channels + 1,
                area: area.rect
            ) { columns in
                FloatSource(
                    reader, columns: columns,
                    weights: StrengthWeights(
                        stack.map, extent: stack.extent, stack.places, columns: columns, table: pixelWeights),
                    stack.operations)
            }
            for y in area.rect.rows { sums.addQuotients(run.row(y), own) }
        }
    }

    /// The rectangles in which a node has weights, in some of the blocks.
    private func areas(_ support: ClosedRange<Int>, _ reach: Int, _ wanted: [Bool]) -> [NodeArea] {
        // For each row of blocks, the columns of its wanted blocks.
        let columns = (0..<blocks.rows.count).map { row in
            blocks.columns.enumerated().reduce(into: [Range<Int>]()) { runs, block in
                guard wanted[row * blocks.columns.count + block.offset] else { return }
                let own = StrengthBlocks.coordinates(block.element).clamped(to: rect.columns)
                if let last = runs.last, last.upperBound == own.lowerBound {
                    runs[runs.count - 1] = last.lowerBound..<own.upperBound
                } else {
                    runs.append(own)
                }
            }
        }
        func columnsOfRow(_ y: Int) -> [Range<Int>] { columns[StrengthBlocks.block(y) - blocks.rows.lowerBound] }
        var runs: [Range<Int>] = []
        for (index, strengths) in rows.enumerated() where strengths.overlaps(support) {
            let y = rect.y + index
            guard !columnsOfRow(y).isEmpty else { continue }
            // Rendering the gap between two runs costs less than starting again.
            if let last = runs.last, y - last.upperBound <= reach {
                runs[runs.count - 1] = last.lowerBound..<y + 1
            } else {
                runs.append(y..<y + 1)
            }
        }
        return runs.map { NodeArea(rows: $0, columns: $0.map(columnsOfRow)) }
    }

    func write(to sink: inout some WorkingRowSink) {
        for y in rect.rows { sink.write(sums.row(y)) }
    }
}

/// Rows of a part, and the columns of each of them to which a node is added.
private struct NodeArea {
    let rect: PixelRect
    let columns: NodeColumns

    /// - Precondition: some row has columns.
    init(rows: Range<Int>, columns: [[Range<Int>]]) {
        let starts = columns.compactMap(\.first?.lowerBound)
        let ends = columns.compactMap(\.last?.upperBound)
        rect = PixelRect(columns: (starts.min() ?? 0)..<(ends.max() ?? 0), rows: rows)
        self.columns = NodeColumns(first: rows.lowerBound, runs: columns)
    }
}

/// The columns of some rows to which a node is added.
struct NodeColumns {
    private let first: Int
    private let runs: [[Range<Int>]]

    /// - Parameters:
    ///   - first: the first row.
    ///   - runs: the columns of each row from the first one on.
    init(first: Int, runs: [[Range<Int>]]) { (self.first, self.runs) = (first, runs) }

    /// The columns of a row.
    subscript(y: Int) -> [Range<Int>] { runs[y - first] }
}

/// The unblurred rows of a part.
final class OwnRows {
    private let source: FloatSource
    private let ring: RowRing<Float>
    private var y: Int?

    init(_ reader: PixelReader, _ rect: PixelRect, _ operations: RowOperations) {
        source = FloatSource(reader, columns: rect.columns, operations)
        ring = RowRing(
            columns: rect.columns, rows: rect.rows, channels: 1, planes: reader.layout.channels, capacity: 1, margin: 0)
    }

    /// The values of a channel from a column on, until another row is asked for.
    func plane(_ channel: Int, x: Int, y: Int) -> Row<Float> {
        if self.y != y {
            source.read(y, into: ring)
            self.y = y
        }
        return Row(ring.plane(channel, y: y) + (x - ring.columns.lowerBound))
    }
}

extension ClosedRange<Int> {
    fileprivate func union(_ other: ClosedRange) -> ClosedRange {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}

/// Weighted sums of rows, a plane of single precision for each channel.
final class PlaneSums {
    private let whole: Range<Int>
    private var rows = 0..<0
    /// The columns to which the next rows are added.
    var columns = NodeColumns(first: 0, runs: [])
    private let channels: Int
    private let operations: RowOperations
    /// The strength of each pixel.
    private let strengths: RowBuffer<UInt16>
    private let sums: RowBuffer<Float>
    private let weights: RowBuffer<Float>
    private let missing: RowBuffer<Float>
    /// The weight of the current node for each strength.
    private let table = RowBuffer<Float>(count: VariableLevels.full + 1)

    /// - Parameter height: the height of the highest part.
    init(_ columns: Range<Int>, height: Int, channels: Int, _ operations: RowOperations) {
        (whole, self.channels, self.operations) = (columns, channels, operations)
        strengths = RowBuffer(count: columns.count * height)
        sums = RowBuffer(count: columns.count * height * channels)
        weights = RowBuffer(count: columns.count)
        missing = RowBuffer(count: columns.count)
    }

    /// Starts a part with sums of 0.
    func begin(rows: Range<Int>) {
        self.rows = rows
        sums.start.update(repeating: 0, count: rows.count * whole.count * channels)
    }

    /// The strengths of a row, which the caller fills in first.
    func strengths(_ y: Int) -> MutableRow<UInt16> { strengths.start + (y - rows.lowerBound) * whole.count }

    /// Sets the node of the next rows.
    func take(_ levels: VariableLevels, _ node: Int, strengths: ClosedRange<Int>, scale: Float) {
        levels.fill(table.start, node: node, strengths: strengths, scale: scale)
    }

    func add(_ planes: PlaneRow) {
        for columns in columns(of: planes) {
            lookUpWeights(planes.y, columns)
            for channel in 0..<channels {
                operations.addWeighted(
                    Row(planes.plane(channel) + (columns.lowerBound - planes.x)), weights: Row(weights.start),
                    count: columns.count, to: sum(channel, planes.y) + (columns.lowerBound - whole.lowerBound))
            }
        }
    }

    /// The columns to which these values are added. Wide rows arrive in parts.
    private func columns(of planes: PlaneRow) -> [Range<Int>] {
        let part = planes.x..<planes.x + planes.count
        return columns[planes.y].map { $0.clamped(to: part) }.filter { !$0.isEmpty }
    }

    private func lookUpWeights(_ y: Int, _ columns: Range<Int>) {
        operations.lookUpWeights(
            Row(strengths(y) + (columns.lowerBound - whole.lowerBound)), table: Row(table.start), count: columns.count,
            out: weights.start)
    }

    /// The least sum of weights that pixels are divided by. Where less is found, sums would lose their precision.
    private static let leastSum: Float = 1 / 256

    /// Adds sums of weighted pixels, each divided by the sum of the weights, which is in the last plane.
    ///
    /// - Parameter own: what stands for the rest where the sum is too small.
    func addQuotients(_ planes: PlaneRow, _ own: OwnRows) {
        for columns in columns(of: planes) {
            lookUpWeights(planes.y, columns)
            let start = columns.lowerBound - planes.x
            let isComplete = divideWeights(by: planes.plane(channels) + start, count: columns.count)
            for channel in 0..<channels {
                let sum = sum(channel, planes.y) + (columns.lowerBound - whole.lowerBound)
                operations.addWeighted(
                    Row(planes.plane(channel) + start), weights: Row(weights.start), count: columns.count, to: sum)
                if isComplete { continue }
                operations.addWeighted(
                    own.plane(channel, x: columns.lowerBound, y: planes.y), weights: Row(missing.start),
                    count: columns.count, to: sum)
            }
        }
    }

    /// Divides the weights of pixels by sums, and finds the weights of the pixels themselves where a sum is too small.
    ///
    /// - Returns: whether no sum is.
    private func divideWeights(by sums: MutableRow<Float>, count: Int) -> Bool {
        let (weights, missing) = (weights.start, missing.start)
        precondition(count <= sums.count && count <= weights.count, "every pixel has its sum")
        var least = Float.infinity
        for x in 0..<count {
            least = min(least, sums[unchecked: x])
            weights[unchecked: x] /= max(sums[unchecked: x], Self.leastSum)
        }
        guard least < Self.leastSum else { return true }
        for x in 0..<count {
            missing[unchecked: x] = weights[unchecked: x] * max(0, Self.leastSum - sums[unchecked: x])
        }
        return false
    }

    private func sum(_ channel: Int, _ y: Int) -> MutableRow<Float> {
        sums.start + ((y - rows.lowerBound) * channels + channel) * whole.count
    }

    func row(_ y: Int) -> PlaneRow {
        PlaneRow(
            sum(0, y), stride: whole.count, count: whole.count, channels: channels, x: whole.lowerBound, y: y,
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
///
/// Integers give a little more than 0 for 0. Where there is alpha, that becomes 0 again: divided by a small alpha, it would be a colour.
struct FixedLevel {
    private let reader: PixelReader
    private let design: AxisDesign<UInt16>
    private let operations: RowOperations

    init(_ reader: PixelReader, _ design: AxisDesign<UInt16>, _ operations: RowOperations) {
        (self.reader, self.design, self.operations) = (reader, design, operations)
    }

    private static func clear(_ values: MutableRow<Float>, upTo most: Float, count: Int) {
        precondition(count <= values.count, "each value is in the row")
        for index in 0..<count where values[unchecked: index] <= most { values[unchecked: index] = 0 }
    }

    /// Adds 128 times the working values.
    func addRows(of rect: PixelRect, to sums: PlaneSums) {
        let channels = reader.layout.channels
        let planes = RowBuffer<Float>(count: rect.width * channels)
        reader.source.withBytes(columns: rect.columns) { bytes in
            for part in FixedPyramid.parts(of: rect, channels: channels, reach: design.reach) {
                let pyramid = FixedPyramid(
                    bytes, layout: reader.layout, output: part, horizontal: design, vertical: design, operations)
                let zero = Float(pyramid.zero)
                pyramid.renderWords(rect.rows) { y, words in
                    operations.loadWordPlanes(
                        words, channels: channels, multiplies: false, count: part.width, planes: planes.start,
                        planeStride: part.width)
                    if reader.layout.hasAlpha { Self.clear(planes.start, upTo: zero, count: part.width * channels) }
                    sums.add(
                        PlaneRow(
                            planes.start, stride: part.width, count: part.width, channels: channels, x: part.x, y: y,
                            operations))
                }
            }
        }
    }
}
