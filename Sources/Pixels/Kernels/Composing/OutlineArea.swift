package import Geometry
import Raster

/// The area that an outline of straight lines encloses, and all within a distance of it.
package struct OutlineArea: Hashable, Sendable {
    private let outline: Outline
    /// The distance in pixels.
    private let reach: Double
    /// Where masks are needed: the input of the filter.
    private let input: PixelRect
    /// The pixels that may be covered.
    private let whole: PixelRect

    /// - Parameters:
    ///   - outline: has moves and lines alone. Coordinates are at most 1e9.
    ///   - reach: 0 for the outline itself.
    package init(_ outline: Outline, reach: Double, input: PixelRect) {
        (self.outline, self.input) = (outline, input)
        self.reach = min(max(reach, 0), 1e9)
        let halo = Int(self.reach.rounded(.up))
        let bounds = outline.bounds
        whole = bounds.isEmpty && halo == 0 ? bounds : bounds.expanded(by: Halo(horizontal: halo, vertical: halo))
    }

    /// The area with its border moved outwards.
    func expanded(by distance: Double) -> OutlineArea {
        OutlineArea(outline, reach: reach + distance, input: input)
    }

    /// The pixels of `area` that may be covered.
    package func bounds(in area: PixelRect) -> PixelRect {
        let shared = whole.intersection(area)
        return shared.isEmpty ? .empty : shared
    }

    /// The coverage of the rows of `area`.
    ///
    /// - Parameter margin: how far outside of the input coverage is needed. Each tile gives the same, so that the sums are in one order.
    func coverage(of area: PixelRect, margin: Halo) -> OutlineCoverage {
        OutlineCoverage(
            outline, reach: reach, frame: whole.intersection(input.expanded(by: margin)), area: area)
    }
}

/// The covered part of each pixel of some rows.
///
/// An outline covers the exact area that it encloses. With a reach, 16 lines of each row are cut with it, and what is cut on a line counts exactly.
struct OutlineCoverage {
    private let frame: PixelRect
    private let area: PixelRect
    private let reach: Double
    /// In coordinates of the frame. Without a reach.
    private var edges: [Outline.Edge] = []
    /// In coordinates of the frame. With a reach.
    private var lines: [Line] = []
    /// For each block of rows of the area, the indices of the edges, or of the lines, in it.
    private var blocks: [[Int32]] = []

    private static let blockRows = 16
    private static let linesOfRow = 16

    init(_ outline: Outline, reach: Double, frame: PixelRect, area: PixelRect) {
        (self.frame, self.area, self.reach) = (frame, area, reach)
        guard !frame.isEmpty, !area.isEmpty else { return }
        blocks = [[Int32]](repeating: [], count: (area.height + Self.blockRows - 1) / Self.blockRows)
        if reach > 0 {
            lines = Self.lines(of: outline, from: frame)
            for (index, line) in lines.enumerated() {
                list(index, from: min(line.from.y, line.to.y) - reach, to: max(line.from.y, line.to.y) + reach)
            }
        } else {
            edges = outline.edges(in: frame)
            for (index, edge) in edges.enumerated() { list(index, from: edge.top.y, to: edge.bottom.y) }
        }
    }

    /// Adds an index to the blocks of its rows.
    private mutating func list(_ index: Int, from top: Double, to bottom: Double) {
        let shift = Double(area.y - frame.y)
        let (first, last) = ((top - shift) / Double(Self.blockRows), (bottom - shift) / Double(Self.blockRows))
        guard last >= 0, first < Double(blocks.count) else { return }
        for block in Int(max(first, 0))...min(Int(min(last, 1e9)), blocks.count - 1) {
            blocks[block].append(Int32(index))
        }
    }

    /// The covered parts of the pixels of `columns` in row `y`, 0…1.
    func shares(of columns: Range<Int>, y: Int) -> (columns: Range<Int>, shares: [Double]) {
        let shown = columns.clamped(to: frame.columns)
        guard !shown.isEmpty, frame.rows.contains(y), area.rows.contains(y) else { return (shown.prefix(0), []) }
        let block = blocks[(y - area.y) / Self.blockRows]
        guard !block.isEmpty else { return (shown.prefix(0), []) }
        // The change of the covered part from each pixel to the next.
        var changes = [Double](repeating: 0, count: frame.width + 2)
        let row = y - frame.y
        if reach > 0 {
            addLines(block, to: &changes, row: row)
        } else {
            for index in block { edges[Int(index)].add(to: &changes, row: row) }
        }
        var shares: [Double] = []
        shares.reserveCapacity(shown.count)
        var covered = 0.0
        for column in 0..<shown.upperBound - frame.x {
            covered += changes[column]
            if column >= shown.lowerBound - frame.x { shares.append(Self.share(covered)) }
        }
        return (shown, shares)
    }

    /// Sums are rounded. Pixels that are covered as a whole, or not at all, are copied and not blended.
    private static func share(_ covered: Double) -> Double {
        let part = abs(covered)
        return part > 1 - 1e-9 ? 1 : part < 1e-9 ? 0 : part
    }

    // MARK: With a reach

    private struct Line {
        let from: Outline.Point
        let to: Outline.Point
    }

    private static func lines(of outline: Outline, from frame: PixelRect) -> [Line] {
        var lines: [Line] = []
        func relative(_ point: Outline.Point) -> Outline.Point {
            Outline.Point(point.x - Double(frame.x), point.y - Double(frame.y))
        }
        var (start, here) = (Outline.Point(0, 0), Outline.Point(0, 0))
        for step in outline.steps {
            switch step {
            case .move(let end):
                if start != here { lines.append(Line(from: here, to: start)) }
                start = relative(end)
                here = start
            case .line(let end), .quadratic(_, let end), .cubic(_, _, let end):
                lines.append(Line(from: here, to: relative(end)))
                here = relative(end)
            }
        }
        if start != here { lines.append(Line(from: here, to: start)) }
        return lines
    }

    private func addLines(_ block: [Int32], to changes: inout [Double], row: Int) {
        let width = Double(frame.width)
        for line in 0..<Self.linesOfRow {
            let y = Double(row) + (Double(line) + 0.5) / Double(Self.linesOfRow)
            var covered: Double?
            for run in runs(block, at: y) {
                // Runs come from the left to the right, and may overlap.
                let (left, right) = (max(run.left, covered ?? 0, 0), min(run.right, width))
                guard left < right else { continue }
                Self.step(at: left, by: 1 / Double(Self.linesOfRow), &changes)
                Self.step(at: right, by: -1 / Double(Self.linesOfRow), &changes)
                covered = right
            }
        }
    }

    /// Everything to the right of `x` is covered more.
    private static func step(at x: Double, by amount: Double, _ changes: inout [Double]) {
        let column = Int(x)
        let share = x - Double(column)
        changes[column] += amount * (1 - share)
        changes[column + 1] += amount * share
    }

    private struct Run {
        let left: Double
        let right: Double
    }

    /// What a horizontal line has of the area, from the left to the right.
    private func runs(_ block: [Int32], at y: Double) -> [Run] {
        var runs: [Run] = []
        var crossings: [(x: Double, direction: Int)] = []
        for index in block {
            let line = lines[Int(index)]
            if let run = near(line, at: y) { runs.append(run) }
            guard (line.from.y <= y) != (line.to.y <= y) else { continue }
            let x = line.from.x + (line.to.x - line.from.x) * ((y - line.from.y) / (line.to.y - line.from.y))
            crossings.append((x, line.from.y < line.to.y ? 1 : -1))
        }
        crossings.sort { $0.x < $1.x || $0.x == $1.x && $0.direction > $1.direction }
        var (winding, left) = (0, 0.0)
        for crossing in crossings {
            if winding == 0 { left = crossing.x }
            winding += crossing.direction
            if winding == 0, left < crossing.x { runs.append(Run(left: left, right: crossing.x)) }
        }
        return runs.sorted { $0.left < $1.left || $0.left == $1.left && $0.right < $1.right }
    }

    /// What a horizontal line has of everything that is near a straight one. That is a convex shape: a rectangle between two discs.
    private func near(_ line: Line, at y: Double) -> Run? {
        var (left, right) = (Double.infinity, -Double.infinity)
        func include(_ x: Double) { (left, right) = (min(left, x), max(right, x)) }
        for end in [line.from, line.to] {
            let square = reach * reach - (y - end.y) * (y - end.y)
            guard square >= 0 else { continue }
            include(end.x - square.squareRoot())
            include(end.x + square.squareRoot())
        }
        let (dx, dy) = (line.to.x - line.from.x, line.to.y - line.from.y)
        let length = (dx * dx + dy * dy).squareRoot()
        if length > 0 {
            let (nx, ny) = (-dy / length * reach, dx / length * reach)
            for side in [1.0, -1] {
                let (x, top, bottom) = (line.from.x + side * nx, line.from.y + side * ny, line.to.y + side * ny)
                guard (top <= y) != (bottom <= y) else { continue }
                include(x + dx * ((y - top) / (bottom - top)))
            }
        }
        return left < right ? Run(left: left, right: right) : nil
    }
}
