import FilterKit

/// Which cells of a screen have pixels in a rectangle, and where each has its position in a list.
///
/// The list has little more than these cells, however wide and flat the rectangle is and however it is turned: for each
/// row of cells it knows where the rectangle begins and ends.
struct CellRange: Sendable {
    private let firstRow: Int
    /// For each row of cells, what leads from a cell's number in it to its position.
    private let offsets: [Int]
    let count: Int

    init(_ screen: Screen, _ rect: PixelRect) {
        let corners = [
            screen.corner(rect.x, rect.y), screen.corner(rect.right, rect.y),
            screen.corner(rect.right, rect.bottom), screen.corner(rect.x, rect.bottom),
        ]
        let edges = zip(corners, corners.dropFirst() + corners.prefix(1)).map { CellEdge($0, $1) }
        let rows = corners.map { Screen.floor($0.v) }
        firstRow = (rows.min() ?? 0) - 1
        var count = 0
        offsets = (firstRow...(rows.max() ?? 0) + 1).map { row in
            let ends = edges.flatMap { $0.ends(in: row) }
            guard let low = ends.min(), let high = ends.max() else { return count }
            let first = Screen.floor(low) - 1  // and one more at the end: pixels are placed in another order of sums
            defer { count += Screen.floor(high) + 2 - first }
            return count - first
        }
        self.count = count
    }

    func index(_ cell: Cell) -> Int { offsets[cell.v - firstRow] + cell.u }
}

/// A side of a turned rectangle, in cells.
private struct CellEdge {
    private let upper: (u: Double, v: Double)
    private let lower: (u: Double, v: Double)

    init(_ a: (u: Double, v: Double), _ b: (u: Double, v: Double)) { (upper, lower) = a.v < b.v ? (a, b) : (b, a) }

    /// Where the part of it begins and ends, along u, that lies in a row of cells or next to it; nothing when none does.
    func ends(in row: Int) -> [Double] {
        let (top, bottom) = (max(Double(row) - 0.01, upper.v), min(Double(row) + 1.01, lower.v))
        guard top <= bottom else { return [] }
        guard upper.v < lower.v else { return [upper.u, lower.u] }
        return [top, bottom].map { upper.u + (lower.u - upper.u) * ($0 - upper.v) / (lower.v - upper.v) }
    }
}
