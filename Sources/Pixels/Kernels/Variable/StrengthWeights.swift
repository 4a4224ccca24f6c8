import Geometry

/// The weights of pixels in a blur of one standard deviation: what is hardly blurred itself does not spread into the blur.
final class StrengthWeights {
    private let map: StrengthRows
    private let rows: AxisTable
    private let count: Int
    private let table: Row<Float>
    private let strengths: RowBuffer<UInt16>
    private let weights: RowBuffer<Float>

    /// - Parameters:
    ///   - columns: the columns whose weights are wanted.
    ///   - table: the weight of each strength. It must outlive these weights.
    init(
        _ map: StrengthMap, extent: PixelRect, _ places: StrengthPlaces, columns: Range<Int>, table: Row<Float>
    ) {
        self.map = StrengthRows(map, columns: columns.map { places.columns[$0] }, extent: extent)
        (rows, count, self.table) = (places.rows, columns.count, table)
        strengths = RowBuffer(count: columns.count)
        weights = RowBuffer(count: columns.count)
    }

    /// Multiplies the values of a row of a ring, and writes the weights into its last plane.
    func apply(to ring: RowRing<Float>, _ y: Int) {
        map.fill(strengths.start, y: rows[y])
        let planes = (0..<ring.planes).map { ring.plane($0, y: y) }
        precondition(planes.allSatisfy { $0.count >= count }, "a plane has all columns")
        for x in 0..<count { weights[unchecked: x] = table[unchecked: Int(strengths[unchecked: x])] }
        for plane in planes.dropLast() {
            for x in 0..<count {
                let weight = weights[unchecked: x]
                // A value that is infinite or no number must not pass a weight of 0.
                plane[unchecked: x] = weight == 0 ? 0 : plane[unchecked: x] * weight
            }
        }
        planes[ring.planes - 1].update(from: Row(weights.start), count: count)
    }
}
