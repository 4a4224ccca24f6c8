import Catalogs
import Geometry
import Raster

/// A separable FIR of a small radius on 8-bit samples, row by row.
package struct FixedDirect {
    private let operations: RowOperations
    private let source: FixedRows
    private let output: PixelRect
    private let radius: Int
    private let horizontal: [UInt16]
    private let vertical: [UInt16]
    private let zero: UInt16
    private let scratch = WorkBuffer<UInt16>(count: 4352)
    private let words: WorkBuffer<UInt16>

    /// The largest radius that there is a loop for.
    package static let largestRadius = 9

    /// - Parameters: weights from the centre outwards, at most ``largestRadius`` + 1.
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
        zero = UInt16(clamping: ZeroResponse.direct(horizontal: self.horizontal, vertical: self.vertical))
        source = FixedRows(
            bytes, layout: layout, outputs: output.columns,
            reading: Reading(scale: 1, before: count - 1, after: count - 1),
            window: 2 * radius + 1, operations)
        words = WorkBuffer(count: output.width * layout.channels + 128)
    }

    /// Writes every pixel of the output.
    func render(to target: ByteRowWriter) {
        vertical.withUnsafeBufferPointer { vertical in
            horizontal.withUnsafeBufferPointer { horizontal in
                guard let vertical = vertical.baseAddress, let horizontal = horizontal.baseAddress else { return }
                for y in output.rows {
                    // What vectors write beyond the row's end is the start of the next one, which comes later.
                    if let row = target.inPlace(y: y) {
                        render(y, vertical, horizontal, to: row)
                    } else {
                        render(y, vertical, horizontal, to: target.row)
                        target.store(target.row, y: y)
                    }
                }
            }
        }
    }

    private func render(
        _ y: Int, _ vertical: UnsafePointer<UInt16>, _ horizontal: UnsafePointer<UInt16>,
        to target: UnsafeMutablePointer<UInt8>
    ) {
        let channels = source.channels
        let scratch = scratch.base
        source.withRows(
            y - radius..<y + radius + 1,
            bytes: { rows, columns in
                let (start, count) = ((columns.lowerBound - output.x) * channels, columns.count * channels)
                let isOpaque = source.isOpaque(from: y - radius)
                operations.filterByteRow(
                    rows, channels, radius, vertical, horizontal, count, scratch, isOpaque ? target + start : nil,
                    isOpaque ? nil : words.base + start)
            },
            words: { rows, columns in
                let isOpaque = source.isOpaque(from: y - radius)
                operations.filterWordRow(
                    rows, channels, radius, vertical, horizontal, columns.count * channels, scratch,
                    isOpaque ? target : nil, isOpaque ? nil : words.base)
            })
        if !source.isOpaque(from: y - radius) {
            operations.unpremultiply(words.base, zero, channels - 1, output.width, target)
        }
    }
}
