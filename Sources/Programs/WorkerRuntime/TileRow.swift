import Geometry
import Raster
import Rendering

/// Renders bands of a chain's output tile by tile, so that memory is bounded by a tile and a row of them.
struct TileRow<Source: PixelSource> {
    let chain: Chain
    let source: Source

    /// Renders every part of `band` that a tile of `grid` covers. The tiles may reach beyond the band.
    func render(_ band: PixelRect, over grid: TileGrid) throws -> AnyRaster {
        let plan = chain.plan(input: source.rect, layout: source.layout)
        var result = AnyRaster(zeroed: band, layout: plan.outputLayout, format: source.format)
        for tile in grid.tiles {
            let part = tile.intersection(band)
            if !part.isEmpty { result.paste(try chain.render(part, from: source)) }
        }
        return result
    }
}

extension TileGrid {
    /// The row of tiles that holds `row`, as one rectangle.
    func rowOfTiles(holding row: Int) -> PixelRect {
        let top = extent.y + (row - extent.y) / tileHeight * tileHeight
        return PixelRect(columns: extent.columns, rows: top..<min(top + tileHeight, extent.bottom))
    }

    /// The same tiles moved up and left by half their size, so that their borders run through this grid's tiles.
    var shiftedByHalf: TileGrid {
        let (dx, dy) = (tileWidth / 2, tileHeight / 2)
        return TileGrid(
            extent: PixelRect(
                x: extent.x - dx, y: extent.y - dy, width: extent.width + dx, height: extent.height + dy),
            tileWidth: tileWidth, tileHeight: tileHeight)
    }
}
