import Geometry

/// A mean over a rectangle of 16-bit samples, row by row: the means of columns in 16.4 fixed point, then along the row.
final class WordMean {
    private let columns: Range<Int>
    private let horizontal: BoxAxis
    private let vertical: BoxAxis
    private let target: WordRowWriter
    private let source: WordSource.Columns
    private let channels: Int
    private let count: Int
    /// Of the windows of all columns that are read.
    private let sums: RowBuffer<Int32>
    private let means: RowBuffer<UInt32>
    /// For rows that cannot be read in place: what enters and leaves, and those outside.
    private let copies: RowBuffer<UInt16>
    private let copyStride: Int
    private let zeros: RowBuffer<UInt16>

    /// Values before the first column's mean, which a sum along the row begins with.
    private static let lead = 64

    /// Cuts a picture so that a part's sums stay in the second-level cache. Where the cuts fall changes no pixel.
    static func parts(of columns: Range<Int>, channels: Int, reach: Int) -> [Range<Int>] {
        let width = max((1 << 14) / channels, 8 * reach)
        return stride(from: columns.lowerBound, to: columns.upperBound, by: width).map {
            $0..<min($0 + width, columns.upperBound)
        }
    }

    /// - Parameter columns: a part of the target's.
    init(
        _ words: WordSource, _ columns: Range<Int>, _ horizontal: BoxAxis, _ vertical: BoxAxis, _ target: WordRowWriter
    ) {
        self.columns = columns
        self.horizontal = horizontal
        self.vertical = vertical
        self.target = target
        channels = words.channels
        let read = columns.lowerBound - horizontal.reach..<columns.upperBound + horizontal.reach
        source = words.reading(read)
        count = read.count * channels
        sums = RowBuffer(count: count)
        means = RowBuffer(count: Self.lead + count + 64)
        copyStride = (count + 31) & ~31  // loops read whole vectors
        copies = RowBuffer(count: 4 * copyStride)
        zeros = RowBuffer(count: count)
    }

    /// Writes every pixel.
    func render() {
        let rows = target.rect.rows
        for y in rows.lowerBound - vertical.side..<rows.lowerBound + vertical.side { slide(entering: y, leaving: nil) }
        for y in rows {
            slide(entering: y + vertical.side, leaving: y == rows.lowerBound ? nil : y - vertical.side - 1, around: y)
            average(y)
        }
    }

    /// - Parameter y: the row whose window this is; nil while it is filled.
    private func slide(entering: Int, leaving: Int?, around y: Int? = nil) {
        let tail = y == nil ? 0 : vertical.tail
        let outside = y.flatMap { tail > 0 ? ($0 - vertical.side - 1, $0 + vertical.side + 1) : nil }
        let rows = SlidingRows(
            entering: row(entering, 0), leaving: row(leaving, 1), above: row(outside?.0, 2), below: row(outside?.1, 3))
        target.operations.slideSampleColumns(
            rows, weight: Float(16 * vertical.weight), tail: Float(16 * tail), count: count, sums: sums.start,
            means: means.start + Self.lead)
    }

    private func row(_ y: Int?, _ place: Int) -> Row<UInt16> {
        y.map { source.row($0, copies.start + place * copyStride) } ?? Row(zeros.start)
    }

    private func average(_ y: Int) {
        let row = means.start + Self.lead + (horizontal.reach - horizontal.side) * channels
        target.operations.averageWideAlong(
            Row(row), channels: channels, length: horizontal.length, weight: Float(horizontal.weight / 16),
            tail: Float(horizontal.tail / 16), count: columns.count * channels, words: target.row)
        target.store(columns: columns, y: y)
    }
}
