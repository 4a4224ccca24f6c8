/// What an inner loop reads around its outputs.
struct Reading {
    /// Source pixels from one output pixel to the next: 1 or 2.
    let scale: Int
    /// Source pixels before `scale` times the output, and behind it.
    let before: Int
    let after: Int
    /// Values that vectors read beyond those, on either side.
    static let slack = 192
}

/// A part of the output's columns whose source rows are all read in the same way.
final class ColumnSegment {
    let outputs: Range<Int>
    private let source: ByteSource
    /// Nil when rows are read in place.
    private let copies: CopiedRows?

    private init(_ outputs: Range<Int>, _ source: ByteSource, copying: Reading?, window: Int) {
        self.outputs = outputs
        self.source = source
        copies = copying.map { reading in
            let columns =
                reading.scale * outputs.lowerBound - reading.before..<reading.scale * (outputs.upperBound - 1)
                + reading.after + 1
            return CopiedRows(columns, of: source, capacity: window)
        }
    }

    /// Cuts `outputs` into a middle part that can be read in place and what is left of it on both sides.
    static func cut(_ outputs: Range<Int>, of source: ByteSource, reading: Reading, window: Int) -> [ColumnSegment] {
        let run = source.inPlaceColumns
        let first = (run.lowerBound + reading.before).dividedRoundingUp(by: reading.scale)
        let end = (run.upperBound - reading.after).dividedRoundingDown(by: reading.scale)
        let middle = max(first, outputs.lowerBound)..<max(first, outputs.lowerBound, min(end, outputs.upperBound))
        guard middle.count >= 64 else { return [ColumnSegment(outputs, source, copying: reading, window: window)] }
        return [
            ColumnSegment(outputs.lowerBound..<middle.lowerBound, source, copying: reading, window: window),
            ColumnSegment(middle, source, copying: nil, window: window),
            ColumnSegment(middle.upperBound..<outputs.upperBound, source, copying: reading, window: window),
        ].filter { !$0.outputs.isEmpty }
    }

    /// The column `x` of the row at the coordinate `y`; of copies the latest few are held.
    func row(_ y: Int, x: Int) -> Row<UInt8> {
        guard let copies else { return source.row(y, inPlace: x) }
        if !copies.holds(y) { copies.fill(y, from: source) }
        return copies.row(y, x: x, source.channels)
    }

    /// Points to the column `x` of each of the rows `y` (coordinates).
    func point(to x: Int, rows y: Range<Int>, _ list: borrowing RowList<UInt8>) {
        guard let copies else { return source.point(to: x, rows: y, list) }
        var index = 0
        for row in y {
            if !copies.holds(row) {
                copies.fill(row, from: source)
            }
            list.set(index, copies.row(row, x: x, source.channels))
            index &+= 1
        }
    }
}

/// The latest rows of a few columns, copied when they are first asked for.
final class CopiedRows {
    let columns: Range<Int>
    private let memory: RowBuffer<UInt8>
    private let stride: Int
    private let mask: Int
    private let held: RowBuffer<Int>
    private let offsets: RowBuffer<Int>

    init(_ columns: Range<Int>, of source: ByteSource, capacity: Int) {
        self.columns = columns
        offsets = source.offsets(of: columns)
        var count = 1
        while count < capacity { count *= 2 }
        stride = (columns.count * source.channels + 2 * Reading.slack + 63) & ~63
        mask = count - 1
        held = RowBuffer(count: count)
        for slot in 0..<count { held[slot] = Int.min }
        memory = RowBuffer(count: stride * count)
    }

    @inline(__always)
    private func row(_ y: Int) -> MutableRow<UInt8> {
        memory.start.moved(unchecked: Reading.slack &+ (y & mask) &* stride)
    }

    /// The column `x` of a row that is held.
    @inline(__always)
    func row(_ y: Int, x: Int, _ channels: Int) -> Row<UInt8> {
        Row(row(y).moved(unchecked: (x &- columns.lowerBound) &* channels))
    }

    @inline(__always)
    func holds(_ y: Int) -> Bool { held[unchecked: y & mask] == y }

    func fill(_ y: Int, from source: ByteSource) {
        source.copy(
            Row(offsets.start), count: columns.count, position: source.position(ofRow: y), to: row(y))
        held[y & mask] = y
    }
}

extension Int {
    fileprivate func dividedRoundingDown(by divisor: Int) -> Int { divisor == 2 ? self >> 1 : self }
    fileprivate func dividedRoundingUp(by divisor: Int) -> Int { divisor == 2 ? (self + 1) >> 1 : self }
}
