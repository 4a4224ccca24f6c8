import FilterKit

/// The mean colour of each cell of a screen in what can be read of a picture.
struct CellMeans {
    let range: CellRange
    /// Colours multiplied by alpha, and alpha.
    private let sums: [SIMD4<Double>]

    /// A cell's pixels are added up row by row, whatever the tile. Cells that are cut off at the border of what can be read
    /// have no pixel in the tile.
    init(_ screen: Screen, _ tile: borrowing Tile) throws {
        let range = CellRange(screen, tile.readable)
        var sums = [SIMD4<Double>](repeating: .zero, count: range.count)
        for y in tile.readable.rows {
            try tile.checkCancellation()
            let row = screen.row(y)
            tile.read(tile.readable.columns, row: y) { x, pixel in
                sums[range.index(screen.place(x, row).cell)] += SIMD4<Double>(pixel.clampedUnderAlpha.samples)
            }
        }
        (self.range, self.sums) = (range, sums)
    }

    /// What the cells are made of, at their positions in the range; nil where there is nothing.
    func map<Result>(_ change: (SIMD3<Float>) -> Result) -> [Result?] {
        sums.map { sum in
            guard sum.w > 0 else { return nil }
            let color = SIMD3<Float>(SIMD3(sum.x, sum.y, sum.z) / sum.w)
            return change(Pixel(SIMD4(color, 1)).clamped.colors)
        }
    }
}

/// One ink's dots.
struct Dots {
    private let screen: Screen
    private let range: CellRange
    /// Nil of cells in which there is nothing.
    private let thresholds: [Float?]
    /// Of white paper.
    private let blank: Float

    /// - Parameter amount: how much of a cell the ink covers, for the cell's mean colour.
    init(_ screen: Screen, _ means: CellMeans, amount: (SIMD3<Float>) -> Float) {
        self.screen = screen
        range = means.range
        thresholds = means.map { screen.growth.threshold(covering: amount($0)) }
        blank = screen.growth.threshold(covering: amount(SIMD3(repeating: 1)))
    }

    /// Works out how much of each pixel of a row the ink covers.
    ///
    /// - Parameters:
    ///   - ink: the lane of `amounts` that is written.
    ///   - amounts: one for each column.
    func cover(_ columns: Range<Int>, row y: Int, _ ink: Int, of amounts: inout [SIMD4<Float>]) {
        let row = screen.row(y)
        for x in columns {
            let (cell, u, v) = screen.place(x, row)
            amounts[x - columns.lowerBound][ink] = screen.growth.coverage(u, v, threshold(cell, u))
        }
    }

    /// Of a dot its cell's; of a line, between those of its cell and of the nearest one along it. A line stays as wide as it is
    /// where nothing comes next.
    private func threshold(_ cell: Cell, _ u: Float) -> Float {
        guard let own = thresholds[range.index(cell)] else { return blank }
        guard screen.growth.shape == .line,
            let next = thresholds[range.index(Cell(u: u < 0 ? cell.u - 1 : cell.u + 1, v: cell.v))]
        else { return own }
        return own + (next - own) * u.magnitude
    }
}
