import Geometry
import Kernels
import Raster

/// The edges that fast loops and slow twins read alike, as rules from a coordinate and a length to a position.
enum TwinEdges {
    /// Clamp, mirror, wrap and transparent.
    static let all: [@Sendable (Int, Int) -> Int32] = [
        { Int32(min(max($0, 0), $1 - 1)) },
        { x, count in
            let place = ((x % (2 * count)) + 2 * count) % (2 * count)
            return Int32(place < count ? place : 2 * count - 1 - place)
        },
        { Int32((($0 % $1) + $1) % $1) },
        { $0 >= 0 && $0 < $1 ? Int32($0) : -1 },
    ]
}

extension KernelSource {
    /// A picture with tables that reach as far beyond it as a halo.
    init(_ picture: AnyRaster, _ halo: Halo, _ edge: (Int, Int) -> Int32) {
        func table(_ range: Range<Int>, _ reach: Int) -> AxisTable {
            let needed = range.lowerBound - reach..<range.upperBound + reach
            return AxisTable(range: needed, positions: needed.map { edge($0 - range.lowerBound, range.count) })
        }
        self.init(
            raster: picture, columns: table(picture.rect.columns, halo.left),
            rows: table(picture.rect.rows, halo.top))
    }
}

extension AxisTable {
    /// The position at a coordinate, or at the table's nearest one.
    subscript(clamp coordinate: Int) -> Int { self[min(max(coordinate, range.lowerBound), range.upperBound - 1)] }
}
