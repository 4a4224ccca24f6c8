package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// What an output rectangle needs of a filter's input, and how to gather it into one raster.
///
/// The needed pixels are the product of the needed columns and rows: one rectangle, or up to four where `wrap` needs
/// opposite sides of the input.
package struct SourceMap: Hashable, Sendable {
    package let columns: AxisMap
    package let rows: AxisMap

    /// - Parameters:
    ///   - needed: the coordinates that a kernel will ask for; they may lie outside `input`.
    ///   - input: the extent of the filter's input.
    package init(needed: PixelRect, input: PixelRect, edge: Edge) {
        columns = AxisMap(needed: needed.columns, input: input.columns, edge: edge)
        rows = AxisMap(needed: needed.rows, input: input.rows, edge: edge)
    }

    /// The rectangles of the input that are read: disjoint, inside the input, row by row.
    package var rects: [PixelRect] {
        rows.intervals.flatMap { rows in columns.intervals.map { PixelRect(columns: $0, rows: rows) } }
    }

    /// Reads every rectangle and puts them together as the tables expect it.
    ///
    /// - Parameter curve: of the filter's input.
    package func gather(
        layout: PixelLayout, format: SampleFormat, curve: TransferCurve = .sRGB, read: (PixelRect) throws -> AnyRaster
    ) rethrows -> KernelSource {
        let rects = rects
        if rects.count == 1 {  // nothing to put together
            return KernelSource(
                raster: try read(rects[0]), columns: columns.table, rows: rows.table, curve: curve)
        }
        let whole = PixelRect(x: 0, y: 0, width: columns.count, height: rows.count)
        var raster = AnyRaster(zeroed: whole, layout: layout, format: format)
        for rect in rects {
            let (x, y) = (columns.offset(of: rect.columns), rows.offset(of: rect.rows))
            raster.paste(try read(rect).translated(x: x - rect.x, y: y - rect.y))
        }
        return KernelSource(raster: raster, columns: columns.table, rows: rows.table, curve: curve)
    }
}
