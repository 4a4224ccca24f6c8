package import Geometry

/// Where the strengths of a picture's pixels are found, also beyond its edges: a pixel that an edge repeats has the strength
/// of the original.
package struct StrengthPlaces: Sendable {
    /// For each coordinate, the coordinate whose strength it has.
    let columns: AxisTable
    let rows: AxisTable

    /// The coordinates around those of a source that the bounds of whole blocks need.
    private static let margin = 2 * StrengthBlocks.side

    /// - Parameters:
    ///   - source: the pixels that a blur reads.
    ///   - place: returns the coordinate, of this range if the edge repeats the picture, whose strength a coordinate has.
    package init(of source: KernelSource, in extent: PixelRect, place: (_ coordinate: Int, _ range: Range<Int>) -> Int)
    {
        func table(_ known: Range<Int>, _ range: Range<Int>) -> AxisTable {
            let around = known.lowerBound - Self.margin..<known.upperBound + Self.margin
            return AxisTable(range: around, positions: around.map { Int32(place($0, range)) })
        }
        columns = table(source.columns.range, extent.columns)
        rows = table(source.rows.range, extent.rows)
    }

    /// For a source that repeats the pixels of the picture's border.
    package init(clamping extent: PixelRect, of source: KernelSource) {
        self.init(of: source, in: extent) { min(max($0, $1.lowerBound), $1.upperBound - 1) }
    }

    /// The smallest rectangle that has the places of another one.
    func bounds(of rect: PixelRect) -> PixelRect {
        func bounds(_ table: AxisTable, _ range: Range<Int>) -> Range<Int> {
            var (low, high) = (Int.max, Int.min)
            for coordinate in range {
                low = min(low, table[coordinate])
                high = max(high, table[coordinate])
            }
            return low..<high + 1
        }
        return PixelRect(columns: bounds(columns, rect.columns), rows: bounds(rows, rect.rows))
    }
}

extension AxisTable {
    /// Numbers for its coordinates. Neighbours have the same number if they have equal entries here and in another table.
    ///
    /// - Precondition: the other table covers this one.
    func numbered(with other: AxisTable) -> AxisTable {
        var number: Int32 = 0
        let numbers = range.map { coordinate -> Int32 in
            if coordinate > range.lowerBound {
                let last = coordinate - 1
                if self[coordinate] != self[last] || other[coordinate] != other[last] { number += 1 }
            }
            return number
        }
        return AxisTable(range: range, positions: numbers)
    }
}
