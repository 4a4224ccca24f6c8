import Arithmetic
import Catalogs
import Geometry
import Raster

/// The bilateral filter of one channel by a grid in space and value (Paris and Durand, 2006). The radius costs nothing.
///
/// A Gaussian of a difference is a sum over equally spaced nodes u: exp(−(p − q)²/2s²) is proportional to the sum of
/// exp(−(p − u)²/s²)·exp(−(u − q)²/s²). So every pixel q is spread over the nodes beside it, along both axes and in value,
/// and every pixel p collects from them. The error is a share of each weight: at most 2·exp(−π²s²/2d²) if nodes are d apart.
/// So a pixel that has few similar ones around it is as exact as others. No number in a sum is negative.
///
/// Groups of ``step`` rows or columns are counted from 0, and a node lies in the middle of each. Levels, which are the nodes
/// in value, are counted from 0. So no sum depends on the area.
struct BilateralGrid: WorkingKernel {
    /// The distance of nodes in pixels.
    fileprivate let step: Int
    /// The number of nodes on each side of a group's own one that its pixels are spread over.
    fileprivate let side: Int
    /// For each node from the first to the last, the weights of a group's pixels.
    fileprivate let weights: [Float]
    /// The number of nodes that a block of 16 pixels collects from.
    fileprivate let bandNodes: Int
    /// For each place of a block's first pixel in its group, 16 weights for each of these nodes.
    fileprivate let bands: [Float]
    /// The weights of all pixels that are spread over a node, in their order, filled up by zeros to whole vectors.
    fileprivate let nodeWeights: [Float]
    /// t, as a share of full intensity.
    private let range: Double
    fileprivate let operations: RowOperations

    /// The values of levels are this share of t apart.
    private static let spacing = 0.8
    /// Values farther than this share of t from a level are not spread over it.
    private static let levelReach = 3.4

    /// - Parameters:
    ///   - radius: s, in pixels.
    ///   - range: t, as a share of full intensity.
    init(radius: Double, range: Double, _ operations: RowOperations) {
        precondition(Self.pays(radius: radius, range: range), "the number of levels is bounded")
        self.range = range
        self.operations = operations
        let step = Self.step(radius)
        let side = Self.side(radius)
        (self.step, self.side) = (step, side)
        /// The weight of a pixel that lies `pixels` after the start of a node's own group.
        func weight(_ pixels: Int) -> Float {
            let distance = (Double(pixels) - Double(step - 1) / 2) / radius
            return Float(DeterministicMath.exp(-distance * distance))
        }
        let count = 2 * side + 1
        weights = (-side...side).flatMap { node in (0..<step).map { weight($0 - node * step) } }
        let bandNodes = count + (step + 14) / step
        self.bandNodes = bandNodes
        bands = (0..<step).flatMap { first in
            (0..<bandNodes).flatMap { node in
                (first..<first + 16).map { place in
                    // The pixel's own group has the nodes from number `group` on.
                    let group = place / step
                    return (group..<group + count).contains(node) ? weight(place - (node - side) * step) : 0
                }
            }
        }
        let taps = count * step
        nodeWeights = (0..<(taps + 15) & ~15).map { $0 < taps ? weight($0 - side * step) : 0 }
    }

    /// Whether the grid is faster than the exact filter, measured on photographs and noise, with a bounded number of levels.
    static func pays(radius: Double, range: Double) -> Bool {
        radius >= 4 && range >= 0.01 && radius * radius * range >= 1
    }

    private static func step(_ radius: Double) -> Int { max(1, Int(0.85 * radius)) }

    /// Three nodes on each side, or four if pixels would miss nodes within 2.75 radii.
    private static func side(_ radius: Double) -> Int {
        3.5 * Double(step(radius)) + 0.5 >= 2.75 * radius ? 3 : 4
    }

    /// The distance in pixels that the filter reads.
    static func reach(radius: Double) -> Int { (2 * side(radius) + 1) * step(radius) - 1 }

    /// The number of levels.
    static func levelCount(range: Double) -> Int {
        Int(levelReach / spacing) + Int((1 / range + levelReach) / spacing) + 1
    }

    /// The factor by which values are scaled, the reach of a level, and the scaled values of the levels.
    fileprivate func levels(full: Double) -> (scale: Float, limit: Float, levels: [Float]) {
        let root = 1.4426950408889634.squareRoot()
        let beyond = Int(Self.levelReach / Self.spacing)
        let levels = (-beyond..<Self.levelCount(range: range) - beyond).map { Float(Double($0) * Self.spacing * root) }
        return (Float(root / (range * full)), Float(Self.levelReach * root), levels)
    }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        // Strips whose sums stay in the caches, unless most of their time went to the pixels beside them.
        let fitting = (1 << 15) / Self.levelCount(range: range)
        for strip in area.columns.pieces(of: min(2048, max(256, 4 * step * side, fitting))) {
            BilateralGridPass(self, reader, PixelRect(columns: strip, rows: area.rows)).run(to: &sink)
        }
    }
}

/// A strip of columns, from the top down.
private final class BilateralGridPass {
    private let grid: BilateralGrid
    private let area: PixelRect
    private let source: FloatSource
    private let operations: RowOperations
    /// The factor by which values are scaled, so that the square of a difference is the exponent to the base of 2.
    private let scale: Float
    /// Scaled values that are as far from a level are not spread over it.
    private let limit: Float
    /// The scaled values of the levels.
    private let levels: [Float]
    private let groups: Range<Int>
    /// The groups of columns.
    private let places: Range<Int>

    /// The scaled values of the picture.
    private let pixels: RowRing<Float>
    /// Rows of nodes, at every column. Each level has two planes: sums of weights · values, and of weights.
    private let spread: RowRing<Float>
    /// The same after spreading and collecting along the row.
    private let blurred: RowRing<Float>
    /// For the rows of a group, sums of weights · values, and of weights.
    private let sums: RowRing<Float>
    /// For each row of nodes that is held, the levels that anything was spread over.
    private var touched: [[Bool]]

    private let ranges: RowBuffer<Float>
    private let scratch: RowBuffer<Float>
    private let nodes: RowBuffer<Float>
    private let rowList: RowList<Float>
    private let nodeList: MutableRowList<Float>
    private let sumList: MutableRowList<Float>

    init(_ grid: BilateralGrid, _ reader: PixelReader, _ area: PixelRect) {
        self.grid = grid
        self.area = area
        operations = grid.operations
        let (step, side) = (grid.step, grid.side)
        (scale, limit, levels) = grid.levels(full: reader.source.raster.format.full)
        groups = area.rows.groups(of: step)
        places = area.columns.groups(of: step)
        let nodeRows = groups.expanded(by: side)
        let columns = places.expanded(by: 2 * side).numbers(step)
        let rows = groups.expanded(by: 2 * side).numbers(step)
        source = FloatSource(reader, columns: columns, operations)
        let count = 2 * side + 1
        pixels = RowRing(columns: columns, rows: rows, channels: 1, capacity: count * step, margin: 0)
        spread = RowRing(
            columns: columns, rows: nodeRows, channels: 1, planes: 2 * levels.count, capacity: count, margin: 0)
        blurred = RowRing(
            columns: places.numbers(step), rows: nodeRows, channels: 1, planes: 2 * levels.count, capacity: count,
            margin: 0)
        sums = RowRing(
            columns: places.numbers(step), rows: 0..<step, channels: 1, planes: 2, capacity: step, margin: 0)
        touched = Array(repeating: Array(repeating: false, count: levels.count), count: count)
        ranges = RowBuffer(count: 2 * (columns.count / 16 + 1))
        scratch = RowBuffer(count: 32 * step)
        // The last block may reach beyond the last group: nodes there are 0, and so are their weights for pixels inside.
        nodes = RowBuffer(count: places.count + grid.bandNodes + 15 / step)
        rowList = RowList(count: step)
        nodeList = MutableRowList(count: count)
        sumList = MutableRowList(count: step)
    }

    func run(to sink: inout some WorkingRowSink) {
        for group in groups.expanded(by: 2 * grid.side) {
            spreadRows(of: group)
            let node = group - grid.side
            if spread.rows.contains(node) { blur(node) }
            if groups.contains(node - grid.side) { collect(node - grid.side, to: &sink) }
        }
    }

    /// Spreads the rows of a group over the nodes above and below.
    private func spreadRows(of group: Int) {
        let (step, side) = (grid.step, grid.side)
        for y in group * step..<(group + 1) * step {
            source.read(y, into: pixels)
            operations.scaleFloats(pixels.whole(y), by: scale, count: pixels.wholeCount)
            rowList.set(y - group * step, Row(pixels.row(y)))
        }
        let width = pixels.columns.count
        operations.rangesOfBlocks(rowList, rowCount: step, count: width, ranges: ranges.start)
        let reached = (group - side..<group + side + 1).clamped(to: spread.rows)
        if reached.upperBound == group + side + 1 { clear(group + side) }
        if group == spread.rows.lowerBound - side { for node in reached { clear(node) } }
        grid.weights.withRow { weights in
            for (index, level) in levels.enumerated() {
                for node in reached { nodeList.set(node - reached.lowerBound, spread.plane(2 * index, y: node)) }
                let isTouched = operations.spreadToNodes(
                    rowList, rowCount: step, weights: weights + (reached.lowerBound - group + side) * grid.step,
                    weightStride: grid.step, level: level, limit: limit, ranges: Row(ranges.start), count: width,
                    scratch: scratch.start, nodes: nodeList, nodeCount: reached.count, planeStride: spread.planeStride)
                if isTouched { for node in reached { touched[slot(node)][index] = true } }
            }
        }
    }

    private func slot(_ node: Int) -> Int { (node - spread.rows.lowerBound) % touched.count }

    private func clear(_ node: Int) {
        spread.whole(node).update(repeating: 0, count: spread.wholeCount)
        for index in levels.indices { touched[slot(node)][index] = false }
    }

    /// Spreads and collects along a row of nodes.
    private func blur(_ node: Int) {
        let count = places.count + 2 * grid.side
        for index in levels.indices {
            for plane in [2 * index, 2 * index + 1] {
                let target = blurred.plane(plane, y: node)
                guard touched[slot(node)][index] else {
                    target.update(repeating: 0, count: blurred.planeStride - blurred.lead)
                    continue
                }
                operations.sumAtNodes(
                    Row(spread.plane(plane, y: node)), step: grid.step, weights: grid.nodeWeights, count: count,
                    out: nodes.start)
                operations.collectAlongRow(
                    Row(nodes.start), nodeCount: grid.bandNodes, bands: grid.bands, step: grid.step,
                    count: blurred.columns.count, out: target)
            }
        }
    }

    /// Writes the pixels of a group, from the nodes above and below.
    private func collect(_ group: Int, to sink: inout some WorkingRowSink) {
        let first = group * grid.step
        let rows = (first..<first + grid.step).clamped(to: area.rows)
        let offset = area.x - pixels.columns.lowerBound - 2 * grid.side * grid.step
        let width = offset + area.width
        for (index, y) in rows.enumerated() {
            rowList.set(index, Row(pixels.pixel(x: blurred.columns.lowerBound, y: y)))
            sumList.set(index, sums.row(index))
            sums.whole(index).update(repeating: 0, count: sums.wholeCount)
        }
        operations.rangesOfBlocks(rowList, rowCount: rows.count, count: width, ranges: ranges.start)
        grid.weights.withRow { weights in
            for (index, level) in levels.enumerated() {
                for node in group - grid.side...group + grid.side {
                    nodeList.set(node - group + grid.side, blurred.plane(2 * index, y: node))
                }
                operations.collectFromNodes(
                    rowList, rowCount: rows.count, weights: weights + (rows.lowerBound - first),
                    weightStride: grid.step, level: level, limit: limit, ranges: Row(ranges.start), count: width,
                    nodes: nodeList, nodeCount: 2 * grid.side + 1, planeStride: blurred.planeStride, sums: sumList,
                    sumStride: sums.planeStride)
            }
        }
        for (index, y) in rows.enumerated() {
            let values = sums.row(index) + offset
            operations.divideFloats(
                values, by: Row(sums.plane(1, y: index)) + offset, factor: 1 / scale, count: area.width)
            sink.write(
                PlaneRow(
                    values, stride: sums.planeStride, count: area.width, channels: 1, x: area.x, y: y, operations))
        }
    }
}

extension Range<Int> {
    /// The groups of `count` numbers, counted from 0, that hold any of these numbers.
    fileprivate func groups(of count: Int) -> Range<Int> {
        func group(_ number: Int) -> Int { number >= 0 ? number / count : (number + 1) / count - 1 }
        return isEmpty ? 0..<0 : group(lowerBound)..<group(upperBound - 1) + 1
    }

    /// The numbers in these groups.
    fileprivate func numbers(_ count: Int) -> Range<Int> { lowerBound * count..<upperBound * count }

    fileprivate func expanded(by count: Int) -> Range<Int> { lowerBound - count..<upperBound + count }
}
