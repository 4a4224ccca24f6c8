// The loops over a tile's pixels. They are compiled in the author's module, for the author's type.

extension PointFilter {
    @inlinable public func render(_ tile: borrowing Tile) throws {
        switch tile.format {
        case .u8: try render(tile, UInt8.self)
        case .u16: try render(tile, UInt16.self)
        case .f32: try render(tile, Float.self)
        }
    }

    /// Like ``Tile/map(row:_:)``, but without a closure that copies the filter.
    @inlinable func render<Sample: StoredSample>(_ tile: borrowing Tile, _: Sample.Type) throws {
        let (columns, picture) = (tile.area.columns, tile.picture)
        for y in tile.area.rows {
            try tile.checkCancellation()
            var from = tile.source(of: columns, y).assumingMemoryBound(to: Sample.self)
            var to = tile.target(of: columns, y).assumingMemoryBound(to: Sample.self)
            for x in columns {
                pixel(Pixel(at: from, picture), x: x, y: y, in: picture).store(to: to, picture)
                from += picture.channels
                to += picture.channels
            }
        }
    }
}

extension AreaFilter {
    @inlinable public func render(_ tile: borrowing Tile) throws {
        for y in tile.area.rows {
            try tile.checkCancellation()
            for x in tile.area.columns { tile.write(pixel(x: x, y: y, of: tile), x, y) }
        }
    }
}

extension GeometryFilter {
    @inlinable public func render(_ tile: borrowing Tile) throws {
        for y in tile.area.rows {
            try tile.checkCancellation()
            for x in tile.area.columns { tile.write(pixel(x: x, y: y, of: tile), x, y) }
        }
    }
}
