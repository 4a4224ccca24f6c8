// Pixels of a row at once, from left to right. What has to be asked once, where the row lies and how samples are stored,
// is not asked for every pixel: this is the way to read and write many.

extension Tile {
    /// Hands pixels of one row of the input to `body`.
    ///
    /// - Parameters:
    ///   - columns: a part of ``readable``'s columns; one that is not ends the program.
    ///   - y: a row of ``readable``.
    @inlinable @inline(__always) public func read(
        _ columns: Range<Int>, row y: Int, _ body: (_ x: Int, _ pixel: Pixel) -> Void
    ) {
        switch format {
        case .u8: read(columns, y, UInt8.self, body)
        case .u16: read(columns, y, UInt16.self, body)
        case .f32: read(columns, y, Float.self, body)
        }
    }

    /// Sets pixels of one row of the output.
    ///
    /// - Parameters:
    ///   - columns: a part of ``area``'s columns; one that is not ends the program.
    ///   - y: a row of ``area``.
    ///   - pixel: what to write at column `x`.
    @inlinable @inline(__always) public func write(_ columns: Range<Int>, row y: Int, _ pixel: (_ x: Int) -> Pixel) {
        switch format {
        case .u8: write(columns, y, UInt8.self, pixel)
        case .u16: write(columns, y, UInt16.self, pixel)
        case .f32: write(columns, y, Float.self, pixel)
        }
    }

    /// Sets every pixel of a row of the output to what `change` makes of the input's pixel there.
    ///
    /// - Parameter y: a row of ``area``.
    @inlinable @inline(__always) public func map(row y: Int, _ change: (_ x: Int, _ pixel: Pixel) -> Pixel) {
        switch format {
        case .u8: map(y, UInt8.self, change)
        case .u16: map(y, UInt16.self, change)
        case .f32: map(y, Float.self, change)
        }
    }

    @inlinable @inline(__always) func read<Sample: StoredSample>(
        _ columns: Range<Int>, _ y: Int, _: Sample.Type, _ body: (_ x: Int, _ pixel: Pixel) -> Void
    ) {
        var from = source(of: columns, y).assumingMemoryBound(to: Sample.self)
        for x in columns {
            body(x, Pixel(at: from, picture))
            from += picture.channels
        }
    }

    @inlinable @inline(__always) func write<Sample: StoredSample>(
        _ columns: Range<Int>, _ y: Int, _: Sample.Type, _ pixel: (_ x: Int) -> Pixel
    ) {
        var to = target(of: columns, y).assumingMemoryBound(to: Sample.self)
        for x in columns {
            pixel(x).store(to: to, picture)
            to += picture.channels
        }
    }

    @inlinable @inline(__always) func map<Sample: StoredSample>(
        _ y: Int, _: Sample.Type, _ change: (_ x: Int, _ pixel: Pixel) -> Pixel
    ) {
        var from = source(of: area.columns, y).assumingMemoryBound(to: Sample.self)
        var to = target(of: area.columns, y).assumingMemoryBound(to: Sample.self)
        for x in area.columns {
            change(x, Pixel(at: from, picture)).store(to: to, picture)
            from += picture.channels
            to += picture.channels
        }
    }

    /// Where the input's pixels of some columns of a row begin.
    @inlinable func source(of columns: Range<Int>, _ y: Int) -> UnsafeMutableRawPointer {
        precondition(
            readable.rows.contains(y) && columns.lowerBound >= readable.x && columns.upperBound <= readable.right,
            "a filter reads within its halo")
        return input.address(columns.lowerBound - readable.x, y - readable.y)
    }

    /// Where the output's pixels of some columns of a row begin.
    @inlinable func target(of columns: Range<Int>, _ y: Int) -> UnsafeMutableRawPointer {
        precondition(
            area.rows.contains(y) && columns.lowerBound >= area.x && columns.upperBound <= area.right,
            "a filter writes within its tile")
        return output.address(columns.lowerBound - area.x, y - area.y)
    }
}
