public import Geometry

/// A rectangle with rounded corners at any fraction of a pixel. It computes how much of each pixel it covers.
///
/// The pixel at column x covers x…x + 1.
public struct RoundedRect: Hashable, Sendable {
    public let left: Double
    public let top: Double
    public let right: Double
    public let bottom: Double
    public let cornerRadius: Double

    /// The number of samples per axis in a pixel that a corner cuts.
    private static let subsamples = 16

    /// - Parameter cornerRadius: it is limited to half of the shorter side.
    public init(left: Double, top: Double, width: Double, height: Double, cornerRadius: Double) {
        self.left = left
        self.top = top
        right = left + max(0, width)
        bottom = top + max(0, height)
        self.cornerRadius = max(0, min(cornerRadius, min(right - left, bottom - top) / 2))
    }

    /// The shape with each side moved outwards. Square corners stay square.
    func expanded(by distance: Double) -> RoundedRect {
        RoundedRect(
            left: left - distance, top: top - distance, width: right - left + 2 * distance,
            height: bottom - top + 2 * distance, cornerRadius: cornerRadius > 0 ? cornerRadius + distance : 0)
    }

    /// The pixels of `area` that may be covered.
    public func bounds(in area: PixelRect) -> PixelRect {
        let columns = Self.cut(left, right, to: area.columns)
        let rows = Self.cut(top, bottom, to: area.rows)
        return columns.isEmpty || rows.isEmpty ? .empty : PixelRect(columns: columns, rows: rows)
    }

    /// The pixels that touch `low`…`high`, inside `range`. No huge number is ever converted to an integer.
    private static func cut(_ low: Double, _ high: Double, to range: Range<Int>) -> Range<Int> {
        let (start, end) = (Double(range.lowerBound), Double(range.upperBound))
        let first = max(start, min(end, low)).rounded(.down)
        let last = max(first, min(end, max(start, high)).rounded(.up))
        return low < high ? Int(first)..<Int(last) : range.lowerBound..<range.lowerBound
    }

    /// The covered share of the pixel at `x`, `y`, 0…1. It is exact along straight edges. Where a corner's square touches the
    /// pixel, it is counted on 16 × 16 points of equal weight.
    public func coverage(x: Int, y: Int) -> Double {
        let (x, y) = (Double(x), Double(y))
        let width = min(x + 1, right) - max(x, left)
        let height = min(y + 1, bottom) - max(y, top)
        guard width > 0, height > 0 else { return 0 }
        return touchesCorner(x, y) ? sampledCoverage(x, y) : width * height
    }

    /// ``coverage(x:y:)`` of those columns that may be covered, in runs of equal shares.
    func coverage(of columns: Range<Int>, y: Int) -> [(columns: Range<Int>, share: Double)] {
        let shown = bounds(in: PixelRect(columns: columns, rows: y..<y + 1)).columns
        // Between the corners, all columns are alike.
        let left = (left + cornerRadius).rounded(.up), right = (right - cornerRadius).rounded(.down)
        let inner = Self.cut(left, right, to: shown)
        func single(_ columns: Range<Int>) -> [(columns: Range<Int>, share: Double)] {
            columns.map { ($0..<$0 + 1, coverage(x: $0, y: y)) }
        }
        guard let first = inner.first else { return single(shown) }
        return single(shown.lowerBound..<inner.lowerBound) + [(inner, coverage(x: first, y: y))]
            + single(inner.upperBound..<shown.upperBound)
    }

    private func touchesCorner(_ x: Double, _ y: Double) -> Bool {
        (x < left + cornerRadius || x + 1 > right - cornerRadius)
            && (y < top + cornerRadius || y + 1 > bottom - cornerRadius)
    }

    private func sampledCoverage(_ x: Double, _ y: Double) -> Double {
        let n = Self.subsamples
        var inside = 0
        for row in 0..<n {
            for column in 0..<n {
                let point = (x: x + (Double(column) + 0.5) / Double(n), y: y + (Double(row) + 0.5) / Double(n))
                if contains(point.x, point.y) { inside += 1 }
            }
        }
        return Double(inside) / Double(n * n)
    }

    private func contains(_ x: Double, _ y: Double) -> Bool {
        guard x >= left, x < right, y >= top, y < bottom else { return false }
        // The point's distance beyond the centre of its corner's circle; 0 along the straight parts.
        let dx = max(left + cornerRadius - x, x - (right - cornerRadius), 0)
        let dy = max(top + cornerRadius - y, y - (bottom - cornerRadius), 0)
        return dx * dx + dy * dy <= cornerRadius * cornerRadius
    }
}
