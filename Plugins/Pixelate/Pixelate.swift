public import FilterKit

/// `pixelate`: squares of one colour, the mean of what was there. With `within` it makes a part of a picture unreadable.
///
/// The squares lie on a grid that starts at the whole picture's origin, wherever tiles and regions lie; those that
/// straddle a region's border have the mean of all their pixels. What lies outside of the picture counts for nothing,
/// and so do pixels with a sample that is infinite or no number. Colours weigh by their alpha.
struct Pixelate: TileFilter {
    static let size = Parameter(integer: "size", 1...2000, fallback: 16, unit: "px", "Sets the side of a square")

    static let description = FilterDescription(
        name: "pixelate", version: "1.0.0", summary: "Draws squares of one colour, to make details unreadable",
        renderingVersion: 2, parameters: [size])

    private let size: Int

    init(_ values: FilterValues) { size = values[Self.size] }

    var isIdentity: Bool { size == 1 }

    var halo: Halo { Halo(horizontal: size - 1, vertical: size - 1) }

    func render(_ tile: borrowing Tile) throws {
        for y in blocks(tile.area.rows) {
            try tile.checkCancellation()
            for x in blocks(tile.area.columns) {
                let block = PixelRect(x: x, y: y, width: size, height: size)
                let mean = mean(of: block.intersection(tile.picture.extent), tile)
                let visible = block.intersection(tile.area)
                for row in visible.rows { tile.write(visible.columns, row: row) { _ in mean } }
            }
        }
    }

    /// Where the blocks begin that have a part in `range`.
    private func blocks(_ range: Range<Int>) -> StrideTo<Int> {
        let remainder = range.lowerBound % size
        return stride(
            from: range.lowerBound - (remainder < 0 ? remainder + size : remainder), to: range.upperBound, by: size)
    }

    /// In double precision: a large block has millions of pixels.
    private func mean(of block: PixelRect, _ tile: borrowing Tile) -> Pixel {
        var sum = SIMD4<Double>.zero
        var count = 0.0
        for y in block.rows {
            tile.read(block.columns, row: y) { _, pixel in
                guard pixel.samples - pixel.samples == .zero else { return }  // true of finite numbers alone
                sum += SIMD4<Double>(pixel.samples)
                count += 1
            }
        }
        return count > 0 ? Pixel(SIMD4<Float>(sum / count)) : .clear
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? {
    Plugin.export(Pixelate.self, to: host)
}
