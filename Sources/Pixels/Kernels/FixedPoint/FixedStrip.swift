import Catalogs
import Geometry

/// The rows of one strip of columns of 8-bit samples, widened to 16 bits, as a window slides down.
final class FixedStrip {
    /// Room for a row of results in 8.7 fixed point.
    let words: UnsafeMutablePointer<UInt16>
    private let source: ByteSource
    private let reachY: Int
    private let strip: Range<Int>
    private let shift: Int
    private let operations: RowOperations
    private let premultiplied: PremultipliedRows?
    private let ring: RowRing<UInt16>
    private let bytes: WorkBuffer<UInt8>
    private let wordMemory: WorkBuffer<UInt16>
    /// Of each pair: values to the right, and rows down.
    private let offsets: [(values: Int, rows: Int)]
    private let pointers: WorkBuffer<UnsafePointer<UInt16>?>

    /// - Parameter shift: 7 for 8.7 fixed point, or 0; pixels with alpha are always in fixed point.
    convenience init(
        _ source: ByteSource, taps: SymmetricPairs, strip: Range<Int>, shift: Int, _ target: ByteRowWriter
    ) {
        self.init(
            source, reach: (taps.reachX, taps.reachY), pairs: taps.pairs, strip: strip, shift: shift, target)
    }

    /// - Parameters:
    ///   - reach: pixels that are read on each side of the strip, and rows above and below.
    ///   - pairs: for ``window(_:)``.
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
        bytes = WorkBuffer(count: columns.count * source.channels + 64)
        wordMemory = WorkBuffer(count: strip.count * layout.channels + 192)
        words = wordMemory.base
        offsets = pairs.map { ($0.dx * layout.channels, $0.dy) }
        pointers = WorkBuffer(count: 2 * pairs.count + 1)
    }

    /// Makes the rows around `y`, and answers where the strip's pixels are seen in them.
    func window(_ y: Int) -> (center: UnsafePointer<UInt16>, pairs: WordRows) {
        makeRows(through: y + reachY)
        let lead = (strip.lowerBound - ring.columns.lowerBound) * ring.channels
        var index = 0
        for offset in offsets {
            pointers.base[index] = UnsafePointer(ring.rowInside(y &+ offset.rows) + (lead &+ offset.values))
            pointers.base[index &+ 1] = UnsafePointer(ring.rowInside(y &- offset.rows) + (lead &- offset.values))
            index &+= 2
        }
        let pairs = UnsafeRawPointer(pointers.base).assumingMemoryBound(to: UnsafePointer<UInt16>.self)
        return (UnsafePointer(ring.rowInside(y) + lead), pairs)
    }

    /// The row at `y`, from the strip's first column on; it is one of the latest.
    func row(_ y: Int) -> UnsafePointer<UInt16> { UnsafePointer(ring.pixel(x: strip.lowerBound, y: y)) }

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
        if !isInPlace { source.copy(ring.columns, position: position, to: bytes.base) }
        let from =
            isInPlace ? source.inPlace(x: ring.columns.lowerBound, position: position) : UnsafePointer(bytes.base)
        operations.widenBytes(from, ring.columns.count * ring.channels, shift, row)
    }
}
