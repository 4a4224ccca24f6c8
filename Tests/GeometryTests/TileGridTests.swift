import Geometry
import Testing

struct TileGridTests {
    private static let extents = [
        PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: -31, y: -7, width: 97, height: 61),
        PixelRect(x: 5, y: 0, width: 64, height: 128),
    ]

    @Test(arguments: extents, [(1, 1), (7, 3), (64, 64), (4096, 4096)])
    func `tiles cover their extent exactly once`(extent: PixelRect, side: (Int, Int)) {
        let grid = TileGrid(extent: extent, tileWidth: side.0, tileHeight: side.1)
        #expect(Coverage(of: Array(grid.tiles), in: extent) == .exact)
        #expect(Array(grid.tiles).count == grid.count)
    }

    @Test func `only the last column and row are cut`() {
        let grid = TileGrid(extent: PixelRect(x: 10, y: 20, width: 100, height: 50), tileWidth: 64, tileHeight: 32)
        #expect(
            Array(grid.tiles) == [
                PixelRect(x: 10, y: 20, width: 64, height: 32), PixelRect(x: 74, y: 20, width: 36, height: 32),
                PixelRect(x: 10, y: 52, width: 64, height: 18), PixelRect(x: 74, y: 52, width: 36, height: 18),
            ])
    }

    @Test func `an empty extent has no tiles`() {
        #expect(TileGrid(extent: .empty, tileWidth: 8, tileHeight: 8).count == 0)
    }
}

struct CoverageTests {
    private let extent = PixelRect(x: 0, y: 0, width: 4, height: 4)
    private let left = PixelRect(x: 0, y: 0, width: 2, height: 4)

    @Test func `a gap is counted in pixels`() {
        #expect(Coverage(of: [left], in: extent) == .gap(missingPixels: 8))
        #expect(Coverage(of: [], in: extent) == .gap(missingPixels: 16))
    }

    @Test func `an overlap names both rectangles`() {
        let right = PixelRect(x: 1, y: 2, width: 3, height: 2)
        #expect(Coverage(of: [right, left], in: extent) == .overlap(left, right))
    }

    @Test func `a rectangle that sticks out is named`() {
        let stray = PixelRect(x: 3, y: 3, width: 2, height: 1)
        #expect(Coverage(of: [left, stray], in: extent) == .outside(stray))
    }

    @Test func `empty rectangles do not matter`() {
        #expect(Coverage(of: [extent, PixelRect(x: 9, y: 9, width: 0, height: 3)], in: extent) == .exact)
    }
}
