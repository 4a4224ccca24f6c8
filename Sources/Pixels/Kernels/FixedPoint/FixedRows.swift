import Catalogs
import Geometry

/// The rows of an 8-bit source for an inner loop: samples where all rows of a window are opaque, else premultiplied
/// words.
final class FixedRows {
    let channels: Int
    private let source: ByteSource
    private let segments: [ColumnSegment]
    private let outputs: Range<Int>
    private let scale: Int
    /// Nil when pixels have no alpha.
    private let premultiplied: PremultipliedRows?
    private let byteRows: RowList<UInt8>
    private let wordRows: RowList<UInt16>

    /// - Parameters:
    ///   - outputs: the columns that the loop writes.
    ///   - window: rows that it reads at once.
    init(
        _ source: ByteSource, layout: PixelLayout, outputs: Range<Int>, reading: Reading, window: Int,
        _ operations: RowOperations
    ) {
        self.source = source
        self.outputs = outputs
        channels = layout.channels
        scale = reading.scale
        segments = ColumnSegment.cut(outputs, of: source, reading: reading, window: window)
        let read =
            reading.scale * outputs.lowerBound - reading.before..<reading.scale * (outputs.upperBound - 1)
            + reading.after + 1
        premultiplied =
            layout.hasAlpha
            ? PremultipliedRows(source, layout: layout, columns: read, window: window, operations) : nil
        byteRows = RowList(count: window)
        wordRows = RowList(count: window)
    }

    /// Calls one of two inner loops for the window of rows `y` (coordinates).
    ///
    /// - Parameters:
    ///   - bytes: gets the rows at `scale` times the first of the given output columns.
    ///   - words: gets them at `scale` times the first output column.
    func withRows(
        _ y: Range<Int>, bytes: (borrowing RowList<UInt8>, Range<Int>) -> Void,
        words: (borrowing RowList<UInt16>) -> Void
    ) {
        if isPlain(y) { withBytes(y, bytes) } else { withWords(y, words) }
    }

    /// Likewise, with samples only where all pixels that the window reads are opaque.
    func withOpaqueRows(
        _ y: Range<Int>, bytes: (borrowing RowList<UInt8>, Range<Int>) -> Void,
        words: (borrowing RowList<UInt16>) -> Void
    ) {
        if isPlain(y), isOpaque(from: y.lowerBound) { withBytes(y, bytes) } else { withWords(y, words) }
    }

    /// Looks at every row, since ``isOpaque(from:)`` is asked of them.
    private func isPlain(_ y: Range<Int>) -> Bool {
        guard let premultiplied else { return true }
        return y.reduce(true) { premultiplied.isPlain($1) && $0 }
    }

    private func withBytes(_ y: Range<Int>, _ body: (borrowing RowList<UInt8>, Range<Int>) -> Void) {
        for segment in segments {
            segment.point(to: scale * segment.outputs.lowerBound, rows: y, byteRows)
            body(byteRows, segment.outputs)
        }
    }

    private func withWords(_ y: Range<Int>, _ body: (borrowing RowList<UInt16>) -> Void) {
        guard let premultiplied else { return }
        for (index, row) in y.enumerated() {
            wordRows.set(index, premultiplied.pixel(x: scale * outputs.lowerBound, y: row))
        }
        body(wordRows)
    }

    /// True when no row up to now, from the coordinate `y` on, has a pixel that is not opaque.
    func isOpaque(from y: Int) -> Bool {
        premultiplied.map { $0.lastTranslucent < y } ?? true
    }
}
