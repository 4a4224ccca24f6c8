import Catalogs

/// The rows of a source whose pixels have, or get, an alpha: premultiplied words in 8.7 fixed point, made when asked
/// for. Rows of opaque pixels need none of it: their samples as they are give the same results.
final class PremultipliedRows {
    let channels: Int
    private let source: ByteSource
    private let operations: RowOperations
    private let columns: Range<Int>
    private let addsAlpha: Bool
    /// Where a column has nothing, no row is opaque.
    private let hasGaps: Bool
    private let ring: RowRing<UInt16>
    private var held: [Int]
    private let bytes: RowBuffer<UInt8>
    /// The last coordinate seen so far whose row is not opaque.
    private(set) var lastTranslucent = Int.min

    private static let margin = 16

    /// - Parameters:
    ///   - layout: the layout that is worked in, with an alpha.
    ///   - columns: what the kernel reads, but for 16 pixels and a few vectors.
    ///   - window: rows that are needed at the same time.
    init(_ source: ByteSource, layout: PixelLayout, columns: Range<Int>, window: Int, _ operations: RowOperations) {
        self.source = source
        self.operations = operations
        self.columns = columns.lowerBound - Self.margin..<columns.upperBound + Self.margin
        channels = layout.channels
        addsAlpha = layout.channels > source.channels
        hasGaps = !self.columns.allSatisfy { source.isThere($0) }
        var capacity = 1
        while capacity < window { capacity *= 2 }
        ring = RowRing(
            columns: self.columns, rows: 0..<capacity, channels: layout.channels, capacity: capacity, margin: 0)
        held = Array(repeating: Int.min, count: capacity)
        bytes = RowBuffer(count: self.columns.count * (source.channels + layout.channels) + 64)
    }

    /// True when a row's samples can stand for its premultiplied words. Remembers rows that are not opaque.
    func isPlain(_ y: Int) -> Bool {
        let position = source.position(ofRow: y)
        let isOpaque = position < 0 || addsAlpha || source.isOpaque(position, operations)
        if !isOpaque || position < 0 || hasGaps {
            // The last row stands for all below it.
            lastTranslucent = y >= source.rowCore.upperBound - 1 ? Int.max : max(lastTranslucent, y)
        }
        return isOpaque && !addsAlpha
    }

    /// The pixel at the column `x` of the row at the coordinate `y`.
    func pixel(x: Int, y: Int) -> Row<UInt16> {
        let slot = y & (held.count - 1)
        if held[slot] != y {
            fill(ring.row(slot), y)
            held[slot] = y
        }
        return Row(ring.pixel(x: x, y: slot))
    }

    private func fill(_ row: MutableRow<UInt16>, _ y: Int) {
        let position = source.position(ofRow: y)
        let own = bytes.start
        source.copy(columns, position: position, to: own)
        guard addsAlpha else {
            return operations.premultiply(Row(own), colors: channels - 1, pixels: columns.count, out: row)
        }
        let target = own + columns.count * source.channels
        for (index, x) in columns.enumerated() {
            let isThere = position >= 0 && source.isThere(x)
            for color in 0..<source.channels {
                target[unchecked: index * channels + color] = own[unchecked: index * source.channels + color]
            }
            target[unchecked: index * channels + source.channels] = isThere ? 255 : 0
        }
        operations.premultiply(Row(target), colors: channels - 1, pixels: columns.count, out: row)
    }
}
