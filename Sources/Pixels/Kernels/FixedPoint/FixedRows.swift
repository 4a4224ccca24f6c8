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
    private let bytePointers: WorkBuffer<UnsafePointer<UInt8>?>
    private let wordPointers: WorkBuffer<UnsafePointer<UInt16>?>

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
        bytePointers = WorkBuffer(count: window)
        wordPointers = WorkBuffer(count: window)
    }

    /// Calls one of two inner loops for the window of rows `y` (coordinates).
    ///
    /// - Parameters:
    ///   - bytes: gets the rows at `scale` times the first of the given output columns.
    ///   - words: likewise; then the columns are all.
    func withRows(
        _ y: Range<Int>, bytes: (ByteRows, Range<Int>) -> Void, words: (WordRows, Range<Int>) -> Void
    ) {
        var isPlain = true
        if let premultiplied {
            for row in y where !premultiplied.isPlain(row) { isPlain = false }
        }
        if !isPlain, let premultiplied {
            for (index, row) in y.enumerated() {
                wordPointers.base[index] = premultiplied.pixel(x: scale * outputs.lowerBound, y: row)
            }
            wordPointers.base.withMemoryRebound(to: UnsafePointer<UInt16>.self, capacity: y.count) {
                words($0, outputs)
            }
            return
        }
        for segment in segments {
            segment.point(to: scale * segment.outputs.lowerBound, rows: y, bytePointers.base)
            bytePointers.base.withMemoryRebound(to: UnsafePointer<UInt8>.self, capacity: y.count) {
                bytes($0, segment.outputs)
            }
        }
    }

    /// True when no row up to now, from the coordinate `y` on, has a pixel that is not opaque.
    func isOpaque(from y: Int) -> Bool {
        premultiplied.map { $0.lastTranslucent < y } ?? true
    }
}
