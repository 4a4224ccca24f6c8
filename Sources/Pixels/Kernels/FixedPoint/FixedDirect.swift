import Catalogs
import Geometry
import Raster

/// A separable FIR of a small radius on 8-bit samples, row by row.
package final class FixedDirect {
    private let operations: RowOperations
    private let source: FixedRows
    private let output: PixelRect
    private let radius: Int
    private let horizontal: [UInt16]
    private let vertical: [UInt16]
    /// For the loop over pairs of rows, which takes half the centre's weight. It is even, or 65535 for one sample alone,
    /// where the last bit changes no product.
    private let verticalOfPairs: [UInt16]
    private let zero: UInt16
    private let scratch = RowBuffer<UInt16>(count: 4352)
    private let words: RowBuffer<UInt16>

    /// - Parameters: weights from the centre outwards, at most ten: there are loops for radii up to 9.
    init(
        _ bytes: ByteSource, layout: PixelLayout, output: PixelRect, horizontal: [UInt16], vertical: [UInt16],
        _ operations: RowOperations
    ) {
        let count = max(horizontal.count, vertical.count)
        self.operations = operations
        self.output = output
        radius = count - 1
        self.horizontal = horizontal + Array(repeating: 0, count: count - horizontal.count)
        self.vertical = vertical + Array(repeating: 0, count: count - vertical.count)
        verticalOfPairs = [self.vertical[0] / 2] + self.vertical.dropFirst()
        zero = UInt16(clamping: ZeroResponse.direct(horizontal: self.horizontal, vertical: self.vertical))
        source = FixedRows(
            bytes, layout: layout, outputs: output.columns,
            reading: Reading(scale: 1, before: count - 1, after: count - 1),
            window: 2 * radius + 2, operations)
        words = RowBuffer(count: output.width * layout.channels + 128)
    }

    /// Writes every pixel of the output.
    func render(to target: ByteRowWriter) {
        for y in stride(from: output.y, to: output.y + output.height, by: 2) { render(pairAt: y, to: target) }
    }

    /// Renders the row `y` and, if there is one, the next.
    private func render(pairAt y: Int, to target: ByteRowWriter) {
        let isPair = y + 1 < output.y + output.height
        source.withOpaqueRows(
            y - radius..<y + radius + 2,
            bytes: { rows, columns in
                let start = (columns.lowerBound - output.x) * source.channels
                operations.filterBytePair(
                    rows, channels: source.channels, radius: radius, vertical: verticalOfPairs, horizontal: horizontal,
                    count: columns.count * source.channels, scratch: scratch.start, first: target.inPlace(y: y) + start,
                    second: (isPair ? target.inPlace(y: y + 1) : target.row) + start)
            },
            words: { rows in
                render(rows, from: 0, y: y, to: target)
                if isPair { render(rows, from: 1, y: y + 1, to: target) }
            })
    }

    /// - Parameter first: in the list, the first row that is read.
    private func render(_ rows: borrowing RowList<UInt16>, from first: Int, y: Int, to target: ByteRowWriter) {
        let isOpaque = source.isOpaque(from: y - radius)
        operations.filterWordRow(
            rows, from: first, channels: source.channels, radius: radius, vertical: vertical, horizontal: horizontal,
            count: output.width * source.channels, scratch: scratch.start, bytes: isOpaque ? target.row : nil,
            words: isOpaque ? nil : words.start)
        if !isOpaque {
            operations.unpremultiply(
                Row(words.start), zero: zero, colors: source.channels - 1, pixels: output.width, out: target.row)
        }
        target.store(target.row, y: y)
    }
}
