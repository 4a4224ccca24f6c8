import Catalogs
import Geometry

/// The medians of a block of working values, which are sorted once; cost: of the order of the radius for each.
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
    private let places: RowBuffer<UInt32>
    private let bits: RowBuffer<UInt64>

    init(
        _ reader: PixelReader, _ area: PixelRect, radius: Int, _ operations: RowOperations
    ) {
        self.area = area
        self.radius = radius
        self.operations = operations
        read = area.expanded(by: Halo(horizontal: radius, vertical: radius))
        channels = reader.layout.channels
        rows = RankedRows(reader, read, capacity: read.height, operations)
        entries = RowBuffer(count: read.area)
        spare = RowBuffer(count: read.area)
        places = RowBuffer(count: read.area)
        bits = RowBuffer(count: read.area / 64 + 1)
    }

    /// Writes the medians' ranks: a plane after the other, row by row.
    func findMedians(into ranks: MutableRow<Int32>) {
        for plane in 0..<channels {
            fill(plane)
            operations.sortEntries(entries.start, spare: spare.start, counts: counts.start, count: read.area)
            for place in 0..<read.area {
                places[unchecked: Int(UInt32(truncatingIfNeeded: entries[unchecked: place]))] = UInt32(place)
            }
            operations.medianOfPlaces(
                Row(places.start), width: area.width, height: area.height, radius: radius, bits: bits.start,
                sorted: Row(entries.start), out: ranks + plane * area.area)
        }
    }

    private func fill(_ plane: Int) {
        var index = 0
        for y in read.rows {
            let row = rows.row(y, plane: plane)
            for column in 0..<read.width {
                // In the order of numbers without a sign.
                let rank = UInt32(bitPattern: row[unchecked: column]) ^ 0x8000_0000
                entries[unchecked: index] = UInt64(rank) << 32 | UInt64(index)
                index += 1
            }
        }
    }
}
