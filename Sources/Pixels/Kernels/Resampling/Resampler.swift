import Catalogs
import Geometry
package import Raster
import Synchronization

/// A change of size, in single precision: down the columns first, which leaves few rows to go along.
///
/// Colours are premultiplied by alpha. A pixel depends on its place alone, so tiles have the bytes of the whole picture.
package struct Resampler: Sendable {
    package let horizontal: AxisResampling
    package let vertical: AxisResampling
    private let operations = RowOperations.of(.current)
    private let tables: ResamplingTables

    /// - Parameter tables: shared by the resamplers of all parts of a picture.
    package init(
        horizontal: AxisResampling, vertical: AxisResampling, _ tables: ResamplingTables = ResamplingTables()
    ) {
        self.horizontal = horizontal
        self.vertical = vertical
        self.tables = tables
    }

    /// Writes every pixel of `destination`.
    ///
    /// - Parameters:
    ///   - source: its tables cover what ``AxisResampling/needed(_:)`` says.
    ///   - corner: coordinates of the input pixel that output pixel (0, 0) begins with.
    ///   - shift: output pixel of the change of size that lies at the destination's coordinates (0, 0).
    package func render(
        _ source: KernelSource, corner: (x: Int, y: Int), shift: (x: Int, y: Int), light: Light,
        into destination: inout AnyRaster
    ) {
        let rect = destination.rect
        guard !rect.isEmpty else { return }
        let reader = PixelReader(source, layout: destination.layout, light: light)
        var sink = PixelWriter(destination.take(), like: reader)
        let columns = tables.taps(of: horizontal, rect.columns.moved(by: shift.x))
        let pass = Pass(
            reader: reader, operations: operations, columns: columns,
            read: columns.read.moved(by: corner.x), count: rect.width)
        let rows = rect.rows.map { vertical.taps(at: $0 + shift.y) }
        pass.run(rows, corner.y, to: rect.y, x: rect.x, &sink)
        destination = sink.raster
    }
}

/// The taps of neighbouring output columns, as the loop over a row takes them.
private final class ColumnTaps: Sendable {
    /// The input pixels that are read.
    let read: Range<Int>
    /// From the first of those.
    let starts: [Int32]
    let counts: [Int32]
    let weights: [Float]
    let stride: Int

    init(_ axis: AxisResampling, _ columns: Range<Int>) {
        let taps = columns.map { axis.taps(at: $0) }
        let first = taps.map(\.start).min() ?? 0
        read = first..<(taps.map(\.range.upperBound).max() ?? first)
        let stride = taps.map(\.weights.count).max() ?? 0
        self.stride = stride
        starts = taps.map { Int32($0.start - first) }
        counts = taps.map { Int32($0.weights.count) }
        weights = taps.flatMap { $0.weights + Array(repeating: 0, count: stride - $0.weights.count) }
    }
}

/// Keeps the taps of the columns that were asked for last: all bands of a picture ask for the same.
package final class ResamplingTables: Sendable {
    private struct Entry {
        let axis: AxisResampling
        let columns: Range<Int>
        let taps: ColumnTaps
    }

    private let latest = Mutex<Entry?>(nil)

    package init() {}

    fileprivate func taps(of axis: AxisResampling, _ columns: Range<Int>) -> ColumnTaps {
        latest.withLock { latest in
            if let latest, latest.axis == axis, latest.columns == columns { return latest.taps }
            let taps = ColumnTaps(axis, columns)
            latest = Entry(axis: axis, columns: columns, taps: taps)
            return taps
        }
    }
}

/// One rectangle's way through both axes.
private struct Pass {
    let reader: PixelReader
    let operations: RowOperations
    let columns: ColumnTaps
    /// Coordinates of the input's columns.
    let read: Range<Int>
    /// Columns of the output.
    let count: Int

    func run(
        _ rows: [AxisResampling.Taps], _ corner: Int, to y: Int, x: Int, _ sink: inout some WorkingRowSink
    ) {
        let channels = reader.layout.channels
        let first = (rows.map(\.start).min() ?? 0) + corner
        let end = (rows.map(\.range.upperBound).max() ?? 0) + corner
        let source = FloatSource(reader, columns: read, operations)
        let tallest = rows.map(\.weights.count).max() ?? 1
        let ring = RowRing<Float>(
            columns: read, rows: first..<end, channels: 1, planes: channels, capacity: tallest, margin: 0)
        let sums = RowBuffer<Float>(count: read.count + 64)
        let results = PlaneBuffer(x..<x + count, channels: channels)
        let list = RowList<Float>(count: tallest)
        for (index, taps) in rows.enumerated() {
            while ring.lacks(taps.range.upperBound - 1 + corner) {
                source.read(ring.next, into: ring)
                ring.next += 1
            }
            for channel in 0..<channels {
                for k in taps.weights.indices { list.set(k, Row(ring.plane(channel, y: taps.start + k + corner))) }
                operations.sumFloatRows(
                    list, rowCount: taps.weights.count, weights: taps.weights, count: read.count, out: sums.start)
                operations.resampleRow(
                    Row(sums.start), starts: columns.starts, counts: columns.counts, weights: columns.weights,
                    stride: columns.stride, count: count, out: results.plane(channel))
            }
            sink.write(results.row(y + index, operations))
        }
    }
}
