import Catalogs
import Geometry

/// Medians of working values of every sample format and light. Values are compared as integers.
struct FloatMedian: WorkingKernel {
    private let radius: Int
    private let operations: RowOperations

    init(radius: Int, _ operations: RowOperations) {
        self.radius = radius
        self.operations = operations
    }

    var halo: Halo { Halo(horizontal: radius, vertical: radius) }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        if radius <= Median.networkRadius {
            for strip in area.columns.strips(rows: 4 * radius + 4, margin: radius) {
                applyNetwork(reader, PixelRect(columns: strip, rows: area.rows), to: &sink)
            }
        } else {
            let side = max(Self.smallestBlock, 2 * radius)
            for block in TileGrid(extent: area, tileWidth: side, tileHeight: side).tiles {
                applySorted(reader, block, to: &sink)
            }
        }
    }

    /// The smallest side of a block that is sorted at once. A block is at least as large as its margins.
    private static let smallestBlock = 160

    private func applyNetwork(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let rows = RankedRows(reader, area.expanded(by: halo), capacity: 2 * radius + 2, operations)
        let stride = (area.width + 63) & ~31
        let result = RowBuffer<Int32>(count: 2 * stride * channels)
        let scratch = RowBuffer<Int32>(count: Median.scratchValues)
        for y in Swift.stride(from: area.y, to: area.bottom, by: 2) {
            let window = y - radius..<y + radius + 2
            for plane in 0..<channels {
                let first = result.start + plane * stride
                rows.setWindow(window, x: area.x, plane: plane)
                operations.medianOfRanks(
                    rows.window, radius: radius, channels: 1, count: area.width,
                    scratch: scratch.start, first: first, second: first + channels * stride)
            }
            write(result.start, stride, area, y, channels, to: &sink)
            if y + 1 < area.bottom {
                write(result.start + channels * stride, stride, area, y + 1, channels, to: &sink)
            }
        }
    }

    private func applySorted(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let stride = area.width
        let result = RowBuffer<Int32>(count: area.area * channels)
        SortedBlock(reader, area, radius: radius, operations).findMedians(into: result.start)
        for (row, y) in area.rows.enumerated() {
            write(result.start + row * stride, area.area, area, y, channels, to: &sink)
        }
    }

    /// Writes a row of ranks, whose planes are `stride` values apart.
    private func write(
        _ ranks: MutableRow<Int32>, _ stride: Int, _ area: PixelRect, _ y: Int, _ channels: Int,
        to sink: inout some WorkingRowSink
    ) {
        for plane in 0..<channels { operations.unrankFloats(ranks + plane * stride, count: area.width) }
        sink.write(
            PlaneRow(
                ranks.bits(as: Float.self), stride: stride, count: area.width, channels: channels, x: area.x, y: y,
                operations))
    }
}

/// Rows of working values as ranks, a plane for each channel, for a window that slides down.
final class RankedRows {
    private let source: FloatSource
    private let ring: RowRing<Float>
    private let operations: RowOperations
    /// The rows of the latest call of ``setWindow(_:x:plane:)``.
    let window: RowList<Int32>

    /// - Parameter area: the area that is read.
    init(_ reader: PixelReader, _ area: PixelRect, capacity: Int, _ operations: RowOperations) {
        self.operations = operations
        source = FloatSource(reader, columns: area.columns, operations)
        ring = RowRing(
            columns: area.columns, rows: area.rows, channels: 1, planes: reader.layout.channels, capacity: capacity,
            margin: 0)
        window = RowList(count: capacity)
    }

    /// The row at `y`: the first column of a plane.
    func row(_ y: Int, plane: Int) -> Row<Int32> {
        makeRows(through: y)
        return Row(ring.plane(plane, y: y).bits(as: Int32.self))
    }

    /// Sets ``window`` to some rows at the column `x`.
    func setWindow(_ rows: Range<Int>, x: Int, plane: Int) {
        for (index, y) in rows.enumerated() {
            window.set(index, row(y, plane: plane) + (x - ring.columns.lowerBound))
        }
    }

    private func makeRows(through y: Int) {
        while ring.lacks(y) {
            source.read(ring.next, into: ring)
            operations.rankFloats(ring.whole(ring.next), count: ring.wholeCount)
            ring.next += 1
        }
    }
}

/// The medians of a block of working values, which are sorted once. The cost per pixel is proportional to the radius.
final class SortedBlock {
    private let area: PixelRect
    private let read: PixelRect
    private let radius: Int
    private let channels: Int
    private let rows: RankedRows
    private let operations: RowOperations
    private let entries: RowBuffer<UInt64>
    private let spare: RowBuffer<UInt64>
    private let counts = RowBuffer<Int>(count: 256)
    private let positions: RowBuffer<UInt32>
    private let bits: RowBuffer<UInt64>

    init(_ reader: PixelReader, _ area: PixelRect, radius: Int, _ operations: RowOperations) {
        self.area = area
        self.radius = radius
        self.operations = operations
        read = area.expanded(by: Halo(horizontal: radius, vertical: radius))
        channels = reader.layout.channels
        rows = RankedRows(reader, read, capacity: read.height, operations)
        entries = RowBuffer(count: read.area)
        spare = RowBuffer(count: read.area)
        positions = RowBuffer(count: read.area)
        bits = RowBuffer(count: read.area / 64 + 1)
    }

    /// Writes the medians' ranks, one plane after the other, row by row.
    func findMedians(into ranks: MutableRow<Int32>) {
        for plane in 0..<channels {
            fill(plane)
            operations.sortEntries(entries.start, spare: spare.start, counts: counts.start, count: read.area)
            for position in 0..<read.area {
                positions[unchecked: Int(UInt32(truncatingIfNeeded: entries[unchecked: position]))] = UInt32(position)
            }
            operations.medianOfPositions(
                Row(positions.start), width: area.width, height: area.height, radius: radius, bits: bits.start,
                sorted: Row(entries.start), out: ranks + plane * area.area)
        }
    }

    private func fill(_ plane: Int) {
        var index = 0
        for y in read.rows {
            let row = rows.row(y, plane: plane)
            for column in 0..<read.width {
                // Ranks sort as unsigned integers.
                let rank = UInt32(bitPattern: row[unchecked: column]) ^ 0x8000_0000
                entries[unchecked: index] = UInt64(rank) << 32 | UInt64(index)
                index += 1
            }
        }
    }
}
