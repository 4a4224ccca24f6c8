import Catalogs
import Filters
import Geometry
import Kernels
import Raster

/// The rows of a filter's input that are still needed, while they come from the top down.
///
/// Row y lies at y modulo the height of one raster, so that no row moves while the window slides; the raster grows until
/// it holds the longest window.
struct RowWindow {
    private let extent: PixelRect
    private let curve: TransferCurve
    private var ring: AnyRaster
    /// The rows that are held, in coordinates of the input.
    private(set) var held: Range<Int>

    /// - Parameter extent: of the whole input.
    init(of extent: PixelRect, layout: PixelLayout, format: SampleFormat, curve: TransferCurve = .sRGB) {
        self.extent = extent
        self.curve = curve
        ring = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: extent.width, height: 0), layout: layout, format: format)
        held = extent.y..<extent.y
    }

    /// Adds the next rows: whole ones, right below those that came before.
    mutating func append(_ band: AnyRaster) {
        precondition(
            band.rect.y == held.upperBound && band.rect.columns == extent.columns, "rows come from the top down")
        makeRoom(for: held.count + band.rect.height)
        for rows in pieces(of: band.rect.rows) { ring.copyRows(rows, of: band, to: slot(rows.lowerBound)) }
        held = held.lowerBound..<band.rect.bottom
    }

    /// Forgets the rows above `row`, those among them that are still to come as soon as they come.
    mutating func drop(before row: Int) {
        held = min(max(held.lowerBound, row), held.upperBound)..<held.upperBound
    }

    /// What `map` asks for, which must be held. The raster is lent: it has to be gone before the next ``append(_:)``, or
    /// all of it is copied.
    func source(_ map: SourceMap) -> KernelSource {
        precondition(
            map.rows.intervals.allSatisfy { held.lowerBound <= $0.lowerBound && $0.upperBound <= held.upperBound },
            "a window holds what is read")
        return KernelSource(
            raster: ring, columns: map.columns.table { $0 - extent.x }, rows: map.rows.table(placing: slot),
            curve: curve)
    }

    private var capacity: Int { ring.rect.height }

    private func slot(_ row: Int) -> Int { (row - extent.y) % capacity }

    /// Rows that lie in the ring side by side.
    private func pieces(of rows: Range<Int>) -> [Range<Int>] {
        guard !rows.isEmpty else { return [] }
        let cut = min(rows.upperBound, rows.lowerBound + capacity - slot(rows.lowerBound))
        return [rows.lowerBound..<cut, cut..<rows.upperBound].filter { !$0.isEmpty }
    }

    private mutating func makeRoom(for count: Int) {
        guard count > capacity else { return }
        let old = self
        ring = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: extent.width, height: count), layout: ring.layout,
            format: ring.format)
        for row in held { ring.copyRows(old.slot(row)..<old.slot(row) + 1, of: old.ring, to: slot(row)) }
    }
}
