import Catalogs
import Geometry
import Raster

extension KernelSource {
    /// True when the samples are bytes and can stand for premultiplied pixels in `layout`.
    func isOpaqueBytes(as layout: PixelLayout, _ operations: RowOperations) -> Bool {
        guard case .u8(let raster) = raster else { return false }
        guard layout.hasAlpha else { return true }
        guard raster.layout == layout, !columns.positions.contains(AxisTable.transparent),
            !rows.positions.contains(AxisTable.transparent)
        else { return false }
        var isOpaque = false
        raster.samples.withRow {
            isOpaque = operations.isOpaque($0, channels: layout.channels, pixels: raster.rect.area)
        }
        return isOpaque
    }
}
