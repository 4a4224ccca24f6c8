import Catalogs
import Geometry

/// Rows of an 8-bit source for running sums down its columns: any four at a time, wherever they lie.
///
/// Nothing of a window is kept: a row that leaves it is read, and where there is alpha premultiplied, once more.
final class SummedRows {
    private let columns: Range<Int>
    private let channels: Int
    private let segments: [ColumnSegment]
    /// What enters a window, and what leaves it; nil when all pixels are opaque.
    private let ahead: PremultipliedRows?
    private let behind: PremultipliedRows?
    private let zeroBytes: RowBuffer<UInt8>
    private let zeroWords: RowBuffer<UInt16>

    /// - Parameter isOpaque: no pixel has an alpha below full.
    init(
        _ source: ByteSource, _ columns: Range<Int>, _ axis: BoxAxis, isOpaque: Bool, _ target: ByteRowWriter
    ) {
        self.columns = columns
        channels = target.layout.channels
        segments = ColumnSegment.cut(
            columns, of: source, reading: Reading(scale: 1, before: 0, after: 0), window: axis.length + 2)
        func premultiplied() -> PremultipliedRows? {
            guard target.layout.hasAlpha, !isOpaque else { return nil }
            return PremultipliedRows(source, layout: target.layout, columns: columns, window: 2, target.operations)
        }
        ahead = premultiplied()
        behind = premultiplied()
        zeroBytes = RowBuffer(count: columns.count * target.layout.channels + 64)
        zeroWords = RowBuffer(count: columns.count * target.layout.channels + 64)
    }

    /// Calls `bytes` for each part of the columns (three at most), with the place of its first value and how many it has; or
    /// `words` once where some pixel is not opaque. What is nil is a row of zeros.
    func withRows(
        entering: Int, leaving: Int?, outside: (above: Int, below: Int)?,
        bytes: (SlidingRows<UInt8>, _ part: Int, _ start: Int, _ count: Int) -> Void,
        words: (SlidingRows<UInt16>, _ count: Int) -> Void
    ) {
        if isPlain([entering, leaving, outside?.above, outside?.below]) {
            for (part, segment) in segments.enumerated() {
                func row(_ y: Int?) -> Row<UInt8> {
                    y.map { segment.row($0, x: segment.outputs.lowerBound) } ?? Row(zeroBytes.start)
                }
                let rows = SlidingRows(
                    entering: row(entering), leaving: row(leaving), above: row(outside?.above),
                    below: row(outside?.below))
                bytes(
                    rows, part, (segment.outputs.lowerBound - columns.lowerBound) * channels,
                    segment.outputs.count * channels)
            }
        } else {
            func row(_ y: Int?, of rows: PremultipliedRows?) -> Row<UInt16> {
                y.flatMap { rows?.pixel(x: columns.lowerBound, y: $0) } ?? Row(zeroWords.start)
            }
            // What enters and what lies below are neighbours, as are what leaves and what lies above.
            let rows = SlidingRows(
                entering: row(entering, of: ahead), leaving: row(leaving, of: behind),
                above: row(outside?.above, of: behind), below: row(outside?.below, of: ahead))
            words(rows, columns.count * channels)
        }
    }

    /// True when no row up to now, from the coordinate `y` on, has a pixel that is not opaque.
    func isOpaque(from y: Int) -> Bool { ahead.map { $0.lastTranslucent < y } ?? true }

    /// Looks at every row, since ``isOpaque(from:)`` is asked of them.
    private func isPlain(_ y: [Int?]) -> Bool {
        guard let ahead else { return true }
        return y.reduce(true) { isPlain, row in row.map { ahead.isPlain($0) && isPlain } ?? isPlain }
    }
}
