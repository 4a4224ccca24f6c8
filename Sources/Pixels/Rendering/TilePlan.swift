import Catalogs
package import Geometry
package import JobModel

/// The division of a chain's output into tiles.
package struct TilePlan: Hashable, Sendable {
    package let grid: TileGrid
    /// The number of pixels that are read for one pixel that is written, without clipping at the border: at least 1.
    package let readAmplification: Double
    /// An upper bound for the memory of one tile: its input and its output.
    package let tileBytes: Int

    /// The largest read amplification of `tile: auto`: 30 % more pixels are read than written.
    private static let allowedAmplification = 1.3
    /// The unit of tile sides, so that rows of tiles start at cache lines.
    private static let step = 64
    /// The smallest side. Below it, the overhead of a tile (a task, a file, a digest) exceeds the work for its pixels.
    private static let smallestSide = 512

    /// - Parameters:
    ///   - size: the size in the manifest. With `auto`, tiles are squares with sides t ≥ (halos on both sides)/(√1.3 − 1), at
    ///     least 512. If those exceed the budget, the smaller squares or bands of full width that fit and read least are used.
    ///     If some tiles read far more than others, the smallest squares are used that read at most 30 % more in total. An
    ///     explicit size is not changed. Every tile of an animation is a frame. A filter that needs the whole picture gets one tile.
    ///   - plan: the geometry of `chain` for the picture.
    ///   - bytesPerSample: the bytes of the picture's samples.
    ///   - memoryBudget: the budget for one tile, in bytes. If the halo alone exceeds it, the smallest tiles are planned, and
    ///     ``tileBytes`` shows the excess.
    package init(_ size: TileSize, chain: Chain, plan: ChainPlan, bytesPerSample: Int, memoryBudget: Int) {
        let cost = TileCost(chain, plan, bytesPerSample: bytesPerSample)
        let side: TileCost.Side =
            switch size {
            case _ where chain.frames > 1: (plan.output.width, plan.output.height / chain.frames)
            case _ where chain.needsWhole: (max(1, plan.output.width), max(1, plan.output.height))
            case .pixels(let side): (max(1, side), max(1, side))
            case .auto: Self.automatic(cost, plan, memoryBudget: memoryBudget)
            }
        grid = TileGrid(extent: plan.output, tileWidth: side.width, tileHeight: side.height)
        readAmplification = cost.amplification((grid.tileWidth, grid.tileHeight))
        tileBytes = cost.bytes((grid.tileWidth, grid.tileHeight))
    }

    private static func automatic(_ cost: TileCost, _ plan: ChainPlan, memoryBudget: Int) -> TileCost.Side {
        let desired = cost.isEven ? desiredTile(cost, plan) : smallestSquare(cost, plan)
        if cost.bytes(desired) <= memoryBudget { return desired }
        let sizes = sides(through: max(desired.width, desired.height, step), cost)
        let squares = sizes.map { cost.cut((min($0, desired.width), min($0, desired.height))) }
        let bands = sizes.map { cost.cut((Int.max, $0)) }
        let fitting = (squares + bands).filter { cost.bytes($0) <= memoryBudget }
        return fitting.min { cost.amplification($0) < cost.amplification($1) } ?? squares[0]
    }

    /// The sides to try: all of them if a tile's cost is a formula, or a few if tiles are computed one by one.
    private static func sides(through longest: Int, _ cost: TileCost) -> [Int] {
        guard !cost.isEven else { return Array(stride(from: step, through: longest, by: step)) }
        return Array(sequence(first: step) { $0 < longest ? $0 + max(step, $0 / 4 / step * step) : nil })
    }

    private static func desiredTile(_ cost: TileCost, _ plan: ChainPlan) -> TileCost.Side {
        cost.cut((desiredSide(halo: cost.haloX, plan.scaleX), desiredSide(halo: cost.haloY, plan.scaleY)))
    }

    private static func smallestSquare(_ cost: TileCost, _ plan: ChainPlan) -> TileCost.Side {
        var side = smallestSide
        while side < max(plan.output.width, plan.output.height),
            cost.amplification(cost.cut((side, side))) > allowedAmplification
        {
            side += side / 2 / step * step
        }
        return cost.cut((side, side))
    }

    /// - Parameter scale: the number of input pixels for one output pixel, because the halo is in pixels of the input.
    private static func desiredSide(halo: Int, _ scale: Double) -> Int {
        let side = Double(halo) / scale / (allowedAmplification.squareRoot() - 1)
        return max(smallestSide, Int((side / Double(step)).rounded(.up)) * step)
    }
}

/// The number of pixels that a tile of a size reads, and its memory.
struct TileCost {
    typealias Side = (width: Int, height: Int)

    /// The halo on both sides together.
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

    /// Whether every tile reads its whole halo, except for what lies outside the picture.
    var isEven: Bool { chain.isEven }

    /// A side that is at most as long as the output's.
    func cut(_ side: Side) -> Side {
        (max(1, min(side.width, plan.output.width)), max(1, min(side.height, plan.output.height)))
    }

    /// The number of pixels that are read for one that is written, at least 1.
    func amplification(_ side: Side) -> Double {
        let tiles = isEven ? [] : someTiles(side)
        guard !tiles.isEmpty else {
            let written = Double(side.width * side.height) * plan.scaleX * plan.scaleY
            return max(1, Double(pixelsRead(side)) / written)
        }
        let read = tiles.reduce(0) { $0 + pixelsRead(for: $1) }
        return max(1, Double(read) / (Double(tiles.reduce(0) { $0 + $1.area }) * plan.scaleX * plan.scaleY))
    }

    /// While a filter renders, its input and its output are held. A picture between two filters is at most as large as the
    /// tile with all halos.
    func bytes(_ side: Side) -> Int {
        // Not all tiles are computed. A neighbour of the one that reads most may read a little more.
        let read = isEven ? pixelsRead(side) : (someTiles(side).map { pixelsRead(for: $0) }.max() ?? 0) * 17 / 16
        return 2 * max(read, side.width * side.height) * bytesPerPixel
    }

    /// A tile never reads more than the input, nor its part outside of the input.
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

    /// Tiles all over the grid, and near its border, where tiles read most and are clipped least.
    private func someTiles(_ side: Side) -> [PixelRect] {
        let grid = TileGrid(extent: plan.output, tileWidth: side.width, tileHeight: side.height)
        guard grid.count > 0 else { return [] }
        func indices(_ count: Int) -> [Int] {
            let all = [0, 1, 2, count / 4, count / 2, 3 * count / 4, count - 3, count - 2, count - 1]
            return Set(all.map { min(max($0, 0), count - 1) }).sorted()
        }
        return indices(grid.rowCount).flatMap { row in
            indices(grid.columnCount).map { grid[row * grid.columnCount + $0] }
        }
    }
}
