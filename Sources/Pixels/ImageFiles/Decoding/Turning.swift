/// Copies the rows of an upright picture out of the rows of its file.
struct Turning {
    private let orientation: Orientation
    /// Of the upright picture.
    private let width: Int
    private let pixelBytes: Int
    private let steps: (origin: Int, right: Int, down: Int)

    /// - Parameters:
    ///   - storedWidth, storedHeight: of the rows that ``copy(rows:from:into:)`` reads.
    init(_ orientation: Orientation, storedWidth: Int, storedHeight: Int, pixelBytes: Int) {
        self.orientation = orientation
        self.pixelBytes = pixelBytes
        width = orientation.swapsSides ? storedHeight : storedWidth
        steps = orientation.steps(width: storedWidth, height: storedHeight)
    }

    /// Columns that are copied together: when rows become columns, so many pages of the source are in use at once.
    private static let blockWidth = 256

    /// - Parameters:
    ///   - rows: of the upright picture.
    ///   - source: all rows of the file.
    ///   - target: `rows.count` upright rows.
    func copy(rows: Range<Int>, from source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
        for left in stride(from: 0, to: width, by: Self.blockWidth) {
            let columns = left..<min(width, left + Self.blockWidth)
            for (index, row) in rows.enumerated() {
                var from = (steps.origin + row * steps.down + left * steps.right) * pixelBytes
                var to = (index * width + left) * pixelBytes
                for _ in columns {
                    for byte in 0..<pixelBytes { target[to + byte] = source[from + byte] }
                    from += steps.right * pixelBytes
                    to += pixelBytes
                }
            }
        }
    }
}
