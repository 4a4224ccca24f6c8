import Catalogs
import Digests
import Geometry
package import JobModel
package import Raster

/// Computes a digest for every 256 rows of an output that arrives in bands from the top down.
///
/// The bands may have any height, because digests depend only on the rows' bytes.
package struct BandDigests: ~Copyable {
    /// The number of rows of a digest. It is small enough that a mismatch is located well, and large enough that a gigapixel
    /// picture has only a few hundred digests.
    package static let rows = 256

    private var finished: [Digest] = []
    private var current = DigestStream()
    private var rowsInCurrent = 0

    package init() {}

    /// Adds the next rows: complete rows in the output's format.
    package mutating func append(_ band: AnyRaster) { append(band, rows: band.rect.rows) }

    /// Adds some rows of a raster, in its coordinates.
    package mutating func append(_ band: AnyRaster, rows: Range<Int>) {
        precondition(rows.clamped(to: band.rect.rows) == rows, "rows lie in their raster")
        let rowBytes = band.rect.width * band.layout.channels * band.format.bytes
        band.withBytes { bytes in
            var row = rows.lowerBound - band.rect.y
            while row < rows.upperBound - band.rect.y {
                let count = min(Self.rows - rowsInCurrent, rows.upperBound - band.rect.y - row)
                add(bytes.extracting(row * rowBytes..<(row + count) * rowBytes), rows: count)
                row += count
            }
        }
    }

    /// The digests from the top down. The last one may cover fewer rows.
    package consuming func finish() -> [Digest] { rowsInCurrent == 0 ? finished : finished + [current.digest()] }

    private mutating func add(_ bytes: RawSpan, rows count: Int) {
        current.update(bytes)
        rowsInCurrent += count
        guard rowsInCurrent == Self.rows else { return }
        finished.append(current.digest())
        current = DigestStream()
        rowsInCurrent = 0
    }
}
