/// The shape of a screen's dots.
///
/// A dot is where ``distance(_:_:)`` is below a threshold: it grows with the threshold from the middle of its cell until it
/// fills it.
enum DotShape: String, CaseIterable, Sendable {
    /// Circles, which overlap in dark tones.
    case round
    /// Circles in light tones, a chess board in the middle, circles of paper in dark tones.
    case euclidean
    /// Squares on their corners; a chess board in the middle.
    case diamond
    /// Squares with a frame of paper.
    case square
    /// Lines along the screen's angle.
    case line

    /// How far a place of the cell is from the middle of the dot, in cells; of `euclidean` it is no true distance, but
    /// as steep where dots have a quarter of the area.
    ///
    /// - Parameters: from the middle, −½…½.
    func distance(_ u: Float, _ v: Float) -> Float {
        switch self {
        case .round: (u * u + v * v).squareRoot()
        case .euclidean: (Self.wave(u) + Self.wave(v) + 2) * 0.15915494  // 1/2π
        case .diamond: (u.magnitude + v.magnitude) * 0.70710678
        case .square: max(u.magnitude, v.magnitude)
        case .line: v.magnitude
        }
    }

    /// The largest distance in a cell, rounded up; the smallest is 0.
    var farthest: Float {
        switch self {
        case .round, .diamond: 0.7072
        case .euclidean: 0.6367
        case .square, .line: 0.5001
        }
    }

    /// −cos 2πx, nearly: a cubic from −1 at 0 to 1 at ±½.
    private static func wave(_ x: Float) -> Float {
        let a = 4 * x.magnitude - 1
        return a * (3 - a * a) / 2
    }
}
