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
    private let zeros: WorkBuffer<UInt16>
    private let bytePointers = WorkBuffer<UnsafePointer<UInt8>?>(count: 4)
    private let wordPointers = WorkBuffer<UnsafePointer<UInt16>?>(count: 4)

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
        zeros = WorkBuffer(count: columns.count * target.layout.channels + 64)
    }

    /// Calls `bytes` for each part of the columns (three at most), with the place of its first value and how many it has; or
    /// `words` once where some pixel is not opaque.
    ///
    /// - Parameter y: what enters the window, what leaves it, the rows above and below it; nil is a row of zeros.
    func withRows(
        _ y: [Int?], bytes: (ByteRows, _ part: Int, _ start: Int, _ count: Int) -> Void,
        words: (WordRows, _ count: Int) -> Void
    ) {
        if isPlain(y) { withBytes(y, bytes) } else { withWords(y, words) }
    }

    /// True when no row up to now, from the coordinate `y` on, has a pixel that is not opaque.
    func isOpaque(from y: Int) -> Bool { ahead.map { $0.lastTranslucent < y } ?? true }

    /// Looks at every row, since ``isOpaque(from:)`` is asked of them.
    private func isPlain(_ y: [Int?]) -> Bool {
        guard let ahead else { return true }
        return y.reduce(true) { isPlain, row in row.map { ahead.isPlain($0) && isPlain } ?? isPlain }
    }

    private func withBytes(_ y: [Int?], _ body: (ByteRows, Int, Int, Int) -> Void) {
        let zeros = UnsafeRawPointer(zeros.base).assumingMemoryBound(to: UInt8.self)
        for (part, segment) in segments.enumerated() {
            for (index, row) in y.enumerated() {
                bytePointers.base[index] = zeros
                guard let row else { continue }
                segment.point(to: segment.outputs.lowerBound, rows: row..<row + 1, bytePointers.base + index)
            }
            bytePointers.base.withMemoryRebound(to: UnsafePointer<UInt8>.self, capacity: 4) {
                body(
                    $0, part, (segment.outputs.lowerBound - columns.lowerBound) * channels,
                    segment.outputs.count * channels)
            }
        }
    }

    private func withWords(_ y: [Int?], _ body: (WordRows, Int) -> Void) {
        for (index, row) in y.enumerated() {
            // What enters and what lies below are neighbours, as are what leaves and what lies above.
            let rows = index == 0 || index == 3 ? ahead : behind
            wordPointers.base[index] =
                row.flatMap { row in rows?.pixel(x: columns.lowerBound, y: row) } ?? UnsafePointer(zeros.base)
        }
        wordPointers.base.withMemoryRebound(to: UnsafePointer<UInt16>.self, capacity: 4) {
            body($0, columns.count * channels)
        }
    }
}
