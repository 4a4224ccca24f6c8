import Catalogs

/// Working values (see ``PixelReader``) in single precision, a plane for each channel, at any coordinate.
final class FloatSource {
    let reader: PixelReader
    let columnCore: Range<Int>
    let rowCore: Range<Int>
    private var row: [Double]

    /// - Parameter width: the most columns that are read at once.
    init(_ reader: PixelReader, width: Int) {
        self.reader = reader
        columnCore = reader.source.columns.core
        rowCore = reader.source.rows.core
        row = Array(repeating: 0, count: width * reader.layout.channels)
    }

    /// Reads a row of a ring that has a plane for each channel, and fills its margins.
    func read(_ y: Int, into ring: RowRing<Float>) {
        let channels = reader.layout.channels
        let columns = ring.columns.clamped(to: reader.source.columns.range)
        let position = reader.source.rows[min(max(y, rowCore.lowerBound), rowCore.upperBound - 1)]
        let count = columns.count * channels
        if count != row.count { row = Array(repeating: 0, count: count) }
        if position >= 0 {
            var values = row.mutableSpan
            reader.read(columns: columns, atPosition: position, into: &values)
        } else {
            for index in row.indices { row[index] = 0 }
        }
        for channel in 0..<channels {
            let plane = ring.row(y) + channel * ring.planeStride
            for index in 0..<columns.count { plane[index] = Float(row[index * channels + channel]) }
        }
        ring.pad(y)
    }
}

/// Hands rows with a plane for each channel to a sink.
final class FloatRowWriter {
    private let channels: Int
    private var row: [Double]

    init(width: Int, channels: Int) {
        self.channels = channels
        row = Array(repeating: 0, count: width * channels)
    }

    /// - Parameters:
    ///   - planes: the first pixel of the first plane.
    ///   - count: pixels, as many as the width.
    func write(
        _ planes: UnsafePointer<Float>, stride: Int, count: Int, x: Int, y: Int, to sink: inout some WorkingRowSink
    ) {
        for channel in 0..<channels {
            let plane = planes + channel * stride
            for index in 0..<count { row[index * channels + channel] = Double(plane[index]) }
        }
        let values = row
        sink.write(values.span, x: x, y: y)
    }
}
