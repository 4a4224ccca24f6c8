/// How the rows of a file lie in the upright picture: the orientation tag of TIFF and EXIF.
package enum Orientation: Int, Hashable, Sendable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case flipped = 4
    /// Rows are columns.
    case transposed = 5
    /// To be turned clockwise.
    case turnedLeft = 6
    /// Rows are columns, from the other corner.
    case transversed = 7
    /// To be turned counter-clockwise.
    case turnedRight = 8

    /// A tag that no reader knows counts as upright, as everywhere.
    package init(tag: Int) {
        self = Orientation(rawValue: tag) ?? .upright
    }

    /// True when an upright row needs one row of the file.
    package var isRowLocal: Bool { self == .upright || self == .mirrored }

    /// True when the file's width is the upright picture's height.
    package var swapsSides: Bool { rawValue >= 5 }

    /// Where the upright picture's pixels lie in a file of `width` by `height` pixels: pixel (x, y) is the file's pixel
    /// number `origin + x * right + y * down`.
    package func steps(width: Int, height: Int) -> (origin: Int, right: Int, down: Int) {
        let last = width * height - 1
        return switch self {
        case .upright: (0, 1, width)
        case .mirrored: (width - 1, -1, width)
        case .upsideDown: (last, -1, -width)
        case .flipped: (last - width + 1, 1, -width)
        case .transposed: (0, width, 1)
        case .turnedLeft: (last - width + 1, -width, 1)
        case .transversed: (last, -width, -1)
        case .turnedRight: (width - 1, width, -1)
        }
    }
}
