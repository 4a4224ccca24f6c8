/// What a filter sees outside its input. The one place of these rules.
package enum Edge: String, Hashable, Sendable, CaseIterable {
    /// The nearest pixel of the input: a a | a b c | c c.
    case clamp
    /// The input mirrored at its border, the border's pixel twice: b a | a b c | c b (libvips' MIRROR, OpenCV's
    /// BORDER_REFLECT).
    case mirror
    /// The input again: b c | a b c | a b.
    case wrap
    /// Nothing: black, with alpha 0.
    case transparent

    /// The coordinate inside `range` whose pixel is seen at `coordinate`; nil where nothing is.
    ///
    /// Coordinates are those of the whole picture, so that all tiles see the same.
    package func resolve(_ coordinate: Int, in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        guard !range.contains(coordinate) else { return coordinate }
        switch self {
        case .clamp: return min(max(coordinate, range.lowerBound), range.upperBound - 1)
        case .mirror:
            let place = Self.modulo(coordinate - range.lowerBound, 2 * range.count)
            return range.lowerBound + min(place, 2 * range.count - 1 - place)
        case .wrap: return range.lowerBound + Self.modulo(coordinate - range.lowerBound, range.count)
        case .transparent: return nil
        }
    }

    /// The remainder with the divisor's sign.
    private static func modulo(_ value: Int, _ divisor: Int) -> Int {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
