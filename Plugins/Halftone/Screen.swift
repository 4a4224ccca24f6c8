import FilterKit

/// One ink's grid of cells: turned, and hung up at the whole picture's origin.
struct Screen: Sendable {
    let growth: DotGrowth
    /// How far the pixels that decide about one of them are from it: those of its cell, and of the next one along a line.
    let reach: Halo
    /// What a pixel to the right adds to the position in the grid.
    private let (cos, sin): (Double, Double)

    /// - Parameters:
    ///   - size: the side of a cell, in pixels.
    ///   - degrees: counter-clockwise.
    ///   - border: width of the dots' borders, in pixels.
    init(_ shape: DotShape, size: Double, degrees: Double, border: Double) {
        let turn = DeterministicMath.sinCos(degrees: degrees)
        (cos, sin) = (turn.cos / size, turn.sin / size)
        let (across, down) = (turn.cos.magnitude * size, turn.sin.magnitude * size)
        let along = shape == .line ? 1.5 : 1
        reach = Halo(
            horizontal: Int((along * across + down).rounded(.up)), vertical: Int((along * down + across).rounded(.up)))
        // Pixels lie at so few positions of such a cell that the dots' areas are reckoned for these.
        let isRegular = turn.cos * turn.sin == 0 && size == size.rounded() && size < 64
        growth = DotGrowth(shape, border: border / size, samples: isRegular ? Int(size) : 64)
    }

    /// Where a row of pixels begins, in cells; the middles of its pixels are meant.
    func row(_ y: Int) -> (u: Double, v: Double) {
        let down = Double(y) + 0.5
        return (0.5 * cos - down * sin, 0.5 * sin + down * cos)
    }

    /// Where the upper left corner of a pixel lies, in cells.
    func corner(_ x: Int, _ y: Int) -> (u: Double, v: Double) {
        (Double(x) * cos - Double(y) * sin, Double(x) * sin + Double(y) * cos)
    }

    /// The cell at a column of a row, and the position in it, −½…½ from its middle.
    func place(_ x: Int, _ row: (u: Double, v: Double)) -> (cell: Cell, u: Float, v: Float) {
        let (u, v) = (row.u + Double(x) * cos, row.v + Double(x) * sin)
        let cell = Cell(u: Self.floor(u), v: Self.floor(v))
        return (cell, Float(u - Double(cell.u) - 0.5), Float(v - Double(cell.v) - 0.5))
    }

    static func floor(_ number: Double) -> Int {
        let whole = Int(number)
        return number < Double(whole) ? whole - 1 : whole
    }
}

/// The number of a cell along each axis of its screen.
struct Cell: Hashable, Sendable {
    let u: Int
    let v: Int
}
