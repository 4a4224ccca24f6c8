/// A rectangle of whole pixels: `x..<x + width` by `y..<y + height`, y growing downwards.
///
/// Coordinates are those of the whole, oriented first input of a chain, so a rectangle may start at a negative
/// coordinate (a filter that expands grows to the left and upwards too). Width and height are never negative;
/// a rectangle with one of them zero is empty, wherever it lies.
public struct PixelRect: Hashable, Sendable, Codable {
    public let x: Int
    public let y: Int
    public let width: Int
    public let height: Int

    /// - Precondition: `width` and `height` are not negative.
    public init(x: Int, y: Int, width: Int, height: Int) {
        precondition(width >= 0 && height >= 0, "a rectangle has no negative side")
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// A rectangle from half-open column and row ranges.
    public init(columns: Range<Int>, rows: Range<Int>) {
        self.init(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    public static let empty = PixelRect(x: 0, y: 0, width: 0, height: 0)

    @inlinable public var columns: Range<Int> { x..<x + width }
    @inlinable public var rows: Range<Int> { y..<y + height }
    @inlinable public var right: Int { x + width }
    @inlinable public var bottom: Int { y + height }
    @inlinable public var isEmpty: Bool { width == 0 || height == 0 }
    @inlinable public var area: Int { width * height }
}

extension PixelRect {
    @inlinable public func contains(_ other: PixelRect) -> Bool {
        other.isEmpty || (x <= other.x && y <= other.y && right >= other.right && bottom >= other.bottom)
    }

    @inlinable public func contains(x column: Int, y row: Int) -> Bool {
        columns.contains(column) && rows.contains(row)
    }

    /// The common part, or an empty rectangle.
    public func intersection(_ other: PixelRect) -> PixelRect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        let right = min(self.right, other.right)
        let bottom = min(self.bottom, other.bottom)
        guard left < right, top < bottom else { return .empty }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The smallest rectangle that holds both; an empty one adds nothing.
    public func union(_ other: PixelRect) -> PixelRect {
        if isEmpty { return other }
        if other.isEmpty { return self }
        return PixelRect(
            columns: min(x, other.x)..<max(right, other.right), rows: min(y, other.y)..<max(bottom, other.bottom))
    }

    /// Grown by `halo` on each side.
    public func expanded(by halo: Halo) -> PixelRect {
        PixelRect(columns: (x - halo.left)..<(right + halo.right), rows: (y - halo.top)..<(bottom + halo.bottom))
    }

    public func translated(x dx: Int, y dy: Int) -> PixelRect {
        PixelRect(x: x + dx, y: y + dy, width: width, height: height)
    }
}

extension PixelRect: CustomStringConvertible {
    public var description: String { "\(width)×\(height) at \(x),\(y)" }
}

extension Range<Int> {
    package func moved(by offset: Int) -> Range<Int> { lowerBound + offset..<upperBound + offset }
}
