import Catalogs
package import Geometry
package import Raster

/// Non-local means (A. Buades, B. Coll and J.-M. Morel, "A non-local algorithm for image denoising", 2005): it removes noise, and keeps
/// what repeats.
///
/// A pixel p becomes the mean of the pixels q of a square window around it, weighted exp(−d²/h²). The distance d² is the mean square
/// of the differences between the squares (patches) around q and around p, over their pixels and channels. The values are working
/// values, alpha included. The cost grows with the square of the window's side.
package struct NonLocalMeans: Sendable, LevelChoosing {
    private let strength: Double
    /// Pixels on each side of a patch's centre, and of the window's.
    private let patch: Int
    private let search: Int
    package var level = CPULevel.current

    /// - Parameters:
    ///   - strength: h, as a share of full intensity; above 0.
    ///   - patch: half the side of a patch, without its centre; 0 to 8.
    ///   - search: half the side of the window, without its centre; at least 1.
    package init(strength: Double, patch: Int, search: Int) {
        precondition(strength > 0 && (0...8).contains(patch) && search >= 1, "weights that fall have a width")
        (self.strength, self.patch, self.search) = (strength, patch, search)
    }

    package var halo: Halo { Halo(horizontal: patch + search, vertical: patch + search) }

    /// Filters into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        Loops(self, full: source.raster.format.full).render(source, light: light, within: mask, into: &destination)
    }

    /// The filter for one sample format.
    private struct Loops: WorkingKernel {
        let filter: NonLocalMeans
        let full: Double

        init(_ filter: NonLocalMeans, full: Double) { (self.filter, self.full) = (filter, full) }

        /// The sides of a part of the picture whose sums stay in the second-level cache. The division does not affect any pixel.
        private static let block = (width: 192, height: 64)

        func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
            for rows in area.rows.pieces(of: Self.block.height) {
                for columns in area.columns.pieces(of: Self.block.width) {
                    apply(reader, PixelRect(columns: columns, rows: rows), to: &sink)
                }
            }
        }

        /// The factor by which values are scaled, so that sums of squares are exponents to the base of 2.
        private func scale(_ channels: Int) -> Float {
            let side = Double(2 * filter.patch + 1)
            let log2e = 1.4426950408889634
            return Float((log2e / (side * side * Double(channels))).squareRoot() / (filter.strength * full))
        }

        private func apply(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
            let operations = RowOperations.of(filter.level)
            let (channels, reach) = (reader.layout.channels, filter.patch + filter.search)
            let scale = scale(channels)
            let around = area.expanded(by: filter.halo)
            let source = FloatSource(reader, columns: around.columns, operations)
            let pixels = RowRing<Float>(
                columns: around.columns, rows: around.rows, channels: 1, planes: channels,
                capacity: area.height + 2 * reach, margin: 0)
            for y in around.rows {
                source.read(y, into: pixels)
                operations.scaleFloats(pixels.whole(y), by: scale, count: pixels.wholeCount)
            }
            let sums = BlockSums(area, channels: channels)
            for dy in -filter.search...filter.search {
                for dx in -filter.search...filter.search {
                    add(pixels, dx, dy, area, channels, operations, to: sums)
                }
            }
            for (index, y) in area.rows.enumerated() {
                sink.write(sums.means(index, y: y, factor: 1 / scale, operations))
            }
        }

        /// Adds the pixel at one place of the window to the sums of all pixels.
        private func add(
            _ pixels: RowRing<Float>, _ dx: Int, _ dy: Int, _ area: PixelRect, _ channels: Int,
            _ operations: RowOperations, to sums: BlockSums
        ) {
            let (patch, side) = (filter.patch, 2 * filter.patch + 1)
            let rows = area.y - patch..<area.bottom + patch
            let left = area.x - patch
            let squares = sums.squares(rows: rows, capacity: side, columns: left..<area.right + patch)
            let list = RowList<Float>(count: side)
            for y in rows {
                operations.squareDifferences(
                    Row(pixels.pixel(x: left, y: y)), Row(pixels.pixel(x: left + dx, y: y + dy)),
                    planeStride: pixels.planeStride, channels: channels, count: area.width + 2 * patch,
                    out: squares.row(y))
                let center = y - patch
                guard center >= area.y else { continue }
                for row in 0..<side { list.set(row, Row(squares.row(center - patch + row))) }
                operations.addAlikePixels(
                    list, side: side, tap: Row(pixels.pixel(x: area.x + dx, y: center + dy)),
                    planeStride: pixels.planeStride, channels: channels, count: area.width, scratch: sums.scratch.start,
                    sums: sums.plane(0, row: center - area.y), sumStride: sums.stride)
            }
        }
    }

    /// The sums of the pixels of a block: a plane for each channel and one for the weights, row after row.
    private final class BlockSums {
        let stride: Int
        private let area: PixelRect
        private let channels: Int
        private let memory: RowBuffer<Float>
        let scratch: RowBuffer<Float>
        private var ring: RowRing<Float>?

        init(_ area: PixelRect, channels: Int) {
            (self.area, self.channels) = (area, channels)
            stride = (area.width + 47) & ~15
            memory = RowBuffer(count: stride * (channels + 1) * area.height)
            scratch = RowBuffer(count: area.width + 64)
        }

        func plane(_ plane: Int, row: Int) -> MutableRow<Float> {
            memory.start + ((channels + 1) * row + plane) * stride
        }

        /// The same ring each time.
        func squares(rows: Range<Int>, capacity: Int, columns: Range<Int>) -> RowRing<Float> {
            let ring =
                ring ?? RowRing<Float>(columns: columns, rows: rows, channels: 1, capacity: capacity, margin: 0)
            self.ring = ring
            return ring
        }

        /// The row of the result, in place of its sums.
        func means(_ row: Int, y: Int, factor: Float, _ operations: RowOperations) -> PlaneRow {
            for channel in 0..<channels {
                operations.divideFloats(
                    plane(channel, row: row), by: Row(plane(channels, row: row)), factor: factor, count: area.width)
            }
            return PlaneRow(
                plane(0, row: row), stride: stride, count: area.width, channels: channels, x: area.x, y: y, operations)
        }
    }
}
