import Catalogs
import Geometry

/// Medians of 3 × 3 and 5 × 5 opaque 8-bit pixels, two rows at a time. Rows are looked at while they are in the cache: whether all
/// of a large picture is opaque takes a quarter as long as its medians.
final class NetworkMedian {
    private let radius: Int
    private let target: RowWriter<UInt8>
    private let source: FixedRows
    private let scratch = RowBuffer<UInt8>(count: Median.scratchValues)

    init(_ bytes: ByteSource, radius: Int, _ target: RowWriter<UInt8>) {
        self.radius = radius
        self.target = target
        source = FixedRows(
            bytes, layout: target.layout, outputs: target.rect.columns,
            reading: Reading(scale: 1, before: radius, after: radius), window: 2 * radius + 2, target.operations)
    }

    /// Returns false as soon as a pixel is not opaque. Then some rows are not written.
    func render() -> Bool {
        let rows = target.rect.rows
        var isOpaque = true
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: 2) where isOpaque {
            // The median is written in place, like a direct FIR: to write a row twice would take longer.
            let first = target.inPlace(y: y)
            let second = y + 1 < rows.upperBound ? target.inPlace(y: y + 1) : target.row
            source.withRows(
                y - radius..<y + radius + 2,
                bytes: { rows, columns in
                    let start = (columns.lowerBound - target.rect.x) * source.channels
                    target.operations.medianOfBytes(
                        rows, radius: radius, channels: source.channels, count: columns.count * source.channels,
                        streams: target.streams, scratch: scratch.start, first: first + start, second: second + start)
                },
                words: { _ in isOpaque = false })
        }
        return isOpaque
    }
}

/// Medians of 3 × 3 and 5 × 5 pixels of 16-bit samples, two rows at a time.
final class WordMedian {
    private let radius: Int
    private let target: RowWriter<UInt16>
    private let source: WordSource.Columns
    private let ring: RowRing<UInt16>
    private let window: RowList<UInt16>
    private let scratch = RowBuffer<UInt16>(count: Median.scratchValues)

    init(_ words: WordSource, radius: Int, _ target: RowWriter<UInt16>) {
        self.radius = radius
        self.target = target
        let read = target.rect.expanded(by: Halo(horizontal: radius, vertical: radius))
        source = words.reading(read.columns)
        ring = RowRing(
            columns: read.columns, rows: read.rows, channels: words.channels, capacity: 2 * radius + 2, margin: 0)
        window = RowList(count: 2 * radius + 2)
    }

    func render() {
        let rows = target.rect.rows
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: 2) {
            for (index, row) in (y - radius..<y + radius + 2).enumerated() {
                while ring.lacks(row) {
                    source.copy(ring.next, to: ring.row(ring.next))
                    ring.next += 1
                }
                window.set(index, Row(ring.pixel(x: target.rect.x, y: row)))
            }
            let first = target.inPlace(y: y)
            let second = y + 1 < rows.upperBound ? target.inPlace(y: y + 1) : target.row
            target.operations.medianOfWords(
                window, radius: radius, channels: ring.channels, count: target.rect.width * ring.channels,
                streams: target.streams, scratch: scratch.start, first: first, second: second)
        }
    }
}
