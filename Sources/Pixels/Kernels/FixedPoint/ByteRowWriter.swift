import Catalogs
import Geometry

/// Takes finished rows of samples, and puts them where they belong.
///
/// Rows are finished in a buffer in the first-level cache, where loops may write whole vectors, and then copied: past
/// the caches when the picture is larger than they are, which saves reading each line before it is written.
final class ByteRowWriter {
    let rect: PixelRect
    let layout: PixelLayout
    let operations: RowOperations
    private let target: MutableRow<UInt8>
    private let rows: RowBuffer<UInt8>
    private let streams: Bool

    /// From this size on, rows are written past the caches: the size of a second-level cache.
    private static let streamedBytes = 4 << 20

    static func streams(_ bytes: Int) -> Bool { bytes >= streamedBytes }

    /// - Parameter target: all samples of the rectangle, rows without padding.
    init(
        _ target: MutableRow<UInt8>, rect: PixelRect, layout: PixelLayout, _ operations: RowOperations
    ) {
        self.target = target
        self.rect = rect
        self.layout = layout
        self.operations = operations
        streams = Self.streams(rect.area * layout.channels)
        rows = RowBuffer(count: 2 * Self.bufferSize(rect, layout))
    }

    private static func bufferSize(_ rect: PixelRect, _ layout: PixelLayout) -> Int {
        (rect.width * layout.channels + 256 + 63) & ~63
    }

    /// Room for a row and 192 values behind it.
    var row: MutableRow<UInt8> { rows.start }
    /// Room for another one.
    var secondRow: MutableRow<UInt8> { rows.start + rows.count / 2 }

    /// Where a row belongs, for loops that write nothing beyond its end.
    func inPlace(y: Int) -> MutableRow<UInt8> { target + (y - rect.y) * rect.width * layout.channels }

    func store(_ row: MutableRow<UInt8>, y: Int) { store(row, columns: rect.columns, y: y) }

    /// Puts a part of a row where it belongs.
    func store(_ row: MutableRow<UInt8>, columns: Range<Int>, y: Int) {
        let start = ((y - rect.y) * rect.width + columns.lowerBound - rect.x) * layout.channels
        operations.storeRow(Row(row), count: columns.count * layout.channels, streams: streams, out: target + start)
    }

    /// Makes all rows visible to other threads.
    func finish() {
        if streams { operations.endStreaming() }
    }
}
