/// How much of a vignette is at a position: 0 inside of an ellipse, 1 outside of a larger one, smooth between.
struct Falloff {
    /// The centre, and what a pixel adds to the distance from it along each axis.
    private let (x, y): (Float, Float)
    private let (perColumn, perRow): (Float, Float)
    private let inner: Float
    private let perDistance: Float

    /// - Parameters:
    ///   - x, y: the centre, in pixels.
    ///   - across, down: the half-axes of the ellipse at distance 1, in pixels.
    ///   - inner, outer: distances where the shares 0 and 1 are reached. They are kept at least a pixel apart, so that a
    ///     hard border has no stairs.
    init(x: Double, y: Double, across: Double, down: Double, inner: Double, outer: Double) {
        let pixel = 1 / min(across, down)
        let width = max(outer - inner, pixel)
        (self.x, self.y) = (Float(x - 0.5), Float(y - 0.5))  // of a pixel, the middle counts
        (perColumn, perRow) = (Float(1 / across), Float(1 / down))
        self.inner = Float(outer - width)
        perDistance = Float(1 / width)
    }

    /// What a row adds to the square of the distance.
    func row(_ y: Int) -> Float {
        let distance = (Float(y) - self.y) * perRow
        return distance * distance
    }

    /// The share at a column of a row.
    func share(_ x: Int, _ row: Float) -> Float {
        let distance = (Float(x) - self.x) * perColumn
        let position = ((distance * distance + row).squareRoot() - inner) * perDistance
        if position <= 0 { return 0 }
        return position < 1 ? position * position * (3 - 2 * position) : 1
    }
}
