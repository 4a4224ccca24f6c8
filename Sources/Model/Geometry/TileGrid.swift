/// Cuts a rectangle into tiles, row by row, so that every pixel lies in exactly one.
///
/// Tiles have the grid's size except in the last column and row, which take what is left. Cutting starts at the
/// extent's own corner; pixels do not depend on that choice (invariant 1 of the design).
public struct TileGrid: Hashable, Sendable, Codable {
    public let extent: PixelRect
    public let tileWidth: Int
    public let tileHeight: Int

    /// - Precondition: both tile sides are at least 1. Sides longer than the extent are cut to it.
    public init(extent: PixelRect, tileWidth: Int, tileHeight: Int) {
        precondition(tileWidth >= 1 && tileHeight >= 1, "a tile has at least one pixel")
        self.extent = extent
        self.tileWidth = min(tileWidth, max(1, extent.width))
        self.tileHeight = min(tileHeight, max(1, extent.height))
    }

    public var columnCount: Int { (extent.width + tileWidth - 1) / tileWidth }
    public var rowCount: Int { (extent.height + tileHeight - 1) / tileHeight }
    public var count: Int { extent.isEmpty ? 0 : columnCount * rowCount }

    /// The tile at `index`, `0..<count`, in row-major order.
    public subscript(index: Int) -> PixelRect {
        precondition(index >= 0 && index < count, "no such tile")
        let (row, column) = index.quotientAndRemainder(dividingBy: columnCount)
        let cell = PixelRect(
            x: extent.x + column * tileWidth, y: extent.y + row * tileHeight, width: tileWidth, height: tileHeight)
        return cell.intersection(extent)
    }

    public var tiles: some Sequence<PixelRect> { (0..<count).lazy.map { self[$0] } }
}
