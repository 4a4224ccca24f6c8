import Geometry

/// Squares of pixels, and the least strength in each of them. They are the same for every tile, so that a decision for a block
/// does not depend on a tile.
struct StrengthBlocks {
    static let side = 64

    /// The numbers of the blocks of a rectangle. Block 0 begins at coordinate 0.
    let columns: Range<Int>
    let rows: Range<Int>
    /// The blocks around them that are known.
    private let margin: Int
    /// The least strength of each block, row by row, margins included.
    private let least: [Int]

    /// - Parameter reach: the largest distance at which strengths matter to the rectangle.
    init(_ rect: PixelRect, reach: Int, _ map: StrengthMap, extent: PixelRect, _ places: StrengthPlaces) {
        columns = Self.blocks(rect.columns)
        rows = Self.blocks(rect.rows)
        margin = Self.distance(reach)
        var least: [Int] = []
        for row in rows.lowerBound - margin..<rows.upperBound + margin {
            for column in columns.lowerBound - margin..<columns.upperBound + margin {
                let block = PixelRect(
                    x: column * Self.side, y: row * Self.side, width: Self.side, height: Self.side)
                least.append(map.least(in: places.bounds(of: block), extent: extent))
            }
        }
        self.least = least
    }

    private static func blocks(_ range: Range<Int>) -> Range<Int> {
        Self.block(range.lowerBound)..<Self.block(range.upperBound - 1) + 1
    }

    /// The number of the block with a coordinate.
    static func block(_ coordinate: Int) -> Int { coordinate >> 6 }

    /// The number of blocks that a distance reaches into.
    private static func distance(_ reach: Int) -> Int { (reach + side - 1) / side }

    /// The coordinates of a block.
    static func coordinates(_ block: Int) -> Range<Int> { block * side..<(block + 1) * side }

    /// For each block, row by row, whether any strength in it or within reach of it is less than this.
    func haveLess(than strength: Int, within reach: Int) -> [Bool] {
        let distance = Self.distance(reach)
        precondition(distance <= margin, "a block knows all strengths that matter")
        let width = columns.count + 2 * margin
        let first = margin - distance
        let rowsHave = (0..<rows.count + 2 * margin).map { row in
            (0..<columns.count).map { column in
                let start = row * width + first + column
                return least[start...start + 2 * distance].contains { $0 < strength }
            }
        }
        return (0..<rows.count).flatMap { row in
            (0..<columns.count).map { column in
                (first + row...first + row + 2 * distance).contains { rowsHave[$0][column] }
            }
        }
    }
}
