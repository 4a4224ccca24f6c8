import Catalogs
import Geometry

/// The rows of one strip of columns of 8-bit samples, widened to 16 bits, as a window slides down.
final class FixedStrip {
    /// Room for a row of results in 8.7 fixed point.
    var words: MutableRow<UInt16> { wordMemory.start }
    private let source: ByteSource
    private let reachY: Int
    private let strip: Range<Int>
    private let shift: Int
    let operations: RowOperations
    private let premultiplied: PremultipliedRows?
    private let ring: RowRing<UInt16>
    private let bytes: RowBuffer<UInt8>
    private let wordMemory: RowBuffer<UInt16>
    /// Of each pair: values to the right, and rows down.
    private let offsets: [(values: Int, rows: Int)]
    /// Where the strip's pixels are seen in the window that was made last.
    let pairs: RowList<UInt16>

    /// - Parameter shift: 7 for 8.7 fixed point, or 0; pixels with alpha are always in fixed point.
    convenience init(
        _ source: ByteSource, taps: SymmetricPairs, strip: Range<Int>, shift: Int, _ target: ByteRowWriter
    ) {
        self.init(
            source, reach: (taps.reachX, taps.reachY), pairs: taps.pairs, strip: strip, shift: shift, target)
    }

    /// - Parameters:
    ///   - reach: pixels that are read on each side of the strip, and rows above and below.
    ///   - pairs: for ``makeWindow(_:)``.
    init(
        _ source: ByteSource, reach: (x: Int, y: Int), pairs: [SymmetricPairs.Pair] = [], strip: Range<Int>,
        shift: Int, _ target: ByteRowWriter
    ) {
        let columns = strip.lowerBound - reach.x..<strip.upperBound + reach.x
        let rows = target.rect.rows
        let layout = target.layout
        self.source = source
        reachY = reach.y
        self.strip = strip
        self.shift = shift
        operations = target.operations
        premultiplied =
            layout.hasAlpha
            ? PremultipliedRows(source, layout: layout, columns: columns, window: 1, target.operations) : nil
        ring = RowRing(
            columns: columns, rows: rows.lowerBound - reach.y..<rows.upperBound + reach.y,
            channels: layout.channels, capacity: 2 * reach.y + 2, margin: 0)
        bytes = RowBuffer(count: columns.count * source.channels + 64)
        wordMemory = RowBuffer(count: strip.count * layout.channels + 192)
        offsets = pairs.map { ($0.dx * layout.channels, $0.dy) }
        self.pairs = RowList(count: 2 * pairs.count + 1)
    }

    /// Makes the rows around `y` and points ``pairs`` to them. Answers where the strip's pixels lie in the row itself.
    func makeWindow(_ y: Int) -> Row<UInt16> {
        makeRows(through: y + reachY)
        let lead = (strip.lowerBound - ring.columns.lowerBound) * ring.channels
        var index = 0
        for offset in offsets {
            pairs.set(index, Row(ring.rowInside(y &+ offset.rows).moved(unchecked: lead &+ offset.values)))
            pairs.set(index &+ 1, Row(ring.rowInside(y &- offset.rows).moved(unchecked: lead &- offset.values)))
            index &+= 2
        }
        return Row(ring.rowInside(y) + lead)
    }

    /// The row at `y`, from the strip's first column on; it is one of the latest.
    func row(_ y: Int) -> Row<UInt16> { Row(ring.pixel(x: strip.lowerBound, y: y)) }

    func makeRows(through y: Int) {
        while ring.lacks(y) {
            fill(ring.next)
            ring.next += 1
        }
    }

    func isOpaque(from y: Int) -> Bool { premultiplied.map { $0.lastTranslucent < y } ?? true }

    private func fill(_ y: Int) {
        let row = ring.row(y)
        if let premultiplied, !premultiplied.isPlain(y) {
            let from = premultiplied.pixel(x: ring.columns.lowerBound, y: y)
            return row.update(from: from, count: ring.columns.count * ring.channels)
        }
        let position = source.position(ofRow: y)
        let isInPlace = position >= 0 && source.isSafeInPlace(ring.columns)
        if !isInPlace { source.copy(ring.columns, position: position, to: bytes.start) }
        let from =
            isInPlace ? source.inPlace(x: ring.columns.lowerBound, position: position) : Row(bytes.start)
        operations.widenBytes(from, count: ring.columns.count * ring.channels, shift: shift, out: row)
    }
}
