import Catalogs
import Geometry

/// What a tile of some size reads and holds.
struct TileCost {
    typealias Side = (width: Int, height: Int)

    /// Both sides together.
    let haloX: Int
    let haloY: Int
    private let chain: Chain
    private let plan: ChainPlan
    private let bytesPerPixel: Int

    init(_ chain: Chain, _ plan: ChainPlan, bytesPerSample: Int) {
        haloX = plan.halo.left + plan.halo.right
        haloY = plan.halo.top + plan.halo.bottom
        self.chain = chain
        self.plan = plan
        bytesPerPixel = max(plan.inputLayout.channels, plan.outputLayout.channels) * bytesPerSample
    }

    /// Whether every tile reads its halo, but for what lies outside the picture.
    var isEven: Bool { chain.isEven }

    /// No side longer than the output's.
    func cut(_ side: Side) -> Side {
        (max(1, min(side.width, plan.output.width)), max(1, min(side.height, plan.output.height)))
    }

    /// Pixels that are read for one that is written, at least 1.
    func amplification(_ side: Side) -> Double {
        let tiles = isEven ? [] : someTiles(side)
        guard !tiles.isEmpty else {
            let written = Double(side.width * side.height) * plan.scaleX * plan.scaleY
            return max(1, Double(pixelsRead(side)) / written)
        }
        let read = tiles.reduce(0) { $0 + pixelsRead(for: $1) }
        return max(1, Double(read) / (Double(tiles.reduce(0) { $0 + $1.area }) * plan.scaleX * plan.scaleY))
    }

    /// While a filter renders, its input and its output are held; one between two filters is no larger than the
    /// tile with all halos.
    func bytes(_ side: Side) -> Int {
        // Not all tiles are asked; a neighbour of the one that reads most may read a little more.
        let read = isEven ? pixelsRead(side) : (someTiles(side).map { pixelsRead(for: $0) }.max() ?? 0) * 17 / 16
        return 2 * max(read, side.width * side.height) * bytesPerPixel
    }

    /// A tile never reads more than the input, nor the part of it that lies outside.
    private func pixelsRead(_ side: Side) -> Int {
        func read(_ side: Int, _ scale: Double, _ halo: Int, _ whole: Int) -> Int {
            min(Int((Double(side) * scale).rounded(.up)) + halo, max(whole, 1))
        }
        return read(side.width, plan.scaleX, haloX, plan.input.width)
            * read(side.height, plan.scaleY, haloY, plan.input.height)
    }

    private func pixelsRead(for tile: PixelRect) -> Int {
        let read = chain.regionOfInterest(for: tile, in: plan).reduce(0) { $0 + $1.area }
        return min(read, plan.input.area)
    }

    /// Tiles all over the grid, and near its border, where most is read and least of it lies outside the picture.
    private func someTiles(_ side: Side) -> [PixelRect] {
        let grid = TileGrid(extent: plan.output, tileWidth: side.width, tileHeight: side.height)
        guard grid.count > 0 else { return [] }
        func places(_ count: Int) -> [Int] {
            let all = [0, 1, 2, count / 4, count / 2, 3 * count / 4, count - 3, count - 2, count - 1]
            return Set(all.map { min(max($0, 0), count - 1) }).sorted()
        }
        return places(grid.rowCount).flatMap { row in
            places(grid.columnCount).map { grid[row * grid.columnCount + $0] }
        }
    }
}
