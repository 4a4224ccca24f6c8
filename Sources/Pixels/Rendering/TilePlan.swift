import Catalogs
package import Geometry
package import JobModel

/// How the output of a chain is cut into tiles.
package struct TilePlan: Hashable, Sendable {
    package let grid: TileGrid
    /// Pixels read for one pixel written, where halos are whole: at least 1.
    package let readAmplification: Double
    /// An upper bound of what one tile takes in memory: what it reads and what it writes.
    package let tileBytes: Int

    /// What `tile: auto` may cost: 30 % more pixels are read than written.
    private static let allowedAmplification = 1.3
    /// Sides are multiples of this, so that rows of tiles start at cache lines.
    private static let step = 64
    /// Below this, the work around a tile (a task, a file, a digest) outweighs its pixels.
    private static let smallestSide = 512

    /// - Parameters:
    ///   - size: the manifest's wish. With `auto` tiles are squares with sides t ≥ (halos on both sides)/(√1.3 − 1), at
    ///     least 512, unless those exceed the budget: then the smaller squares or bands of full width that fit and
    ///     read least. An explicit size is taken as it is.
    ///   - plan: what the chain does with the picture.
    ///   - bytesPerSample: of the picture's sample format.
    ///   - memoryBudget: for one tile, in bytes. Where the halo alone exceeds it, the smallest tiles are planned;
    ///     ``tileBytes`` shows it.
    package init(_ size: TileSize, plan: ChainPlan, bytesPerSample: Int, memoryBudget: Int) {
        let cost = TileCost(plan, bytesPerSample: bytesPerSample)
        let side: TileCost.Side =
            switch size {
            case .pixels(let side): (max(1, side), max(1, side))
            case .auto: Self.automatic(cost, plan, memoryBudget: memoryBudget)
            }
        grid = TileGrid(extent: plan.output, tileWidth: side.width, tileHeight: side.height)
        readAmplification = cost.amplification((grid.tileWidth, grid.tileHeight))
        tileBytes = cost.bytes((grid.tileWidth, grid.tileHeight))
    }

    private static func automatic(_ cost: TileCost, _ plan: ChainPlan, memoryBudget: Int) -> TileCost.Side {
        let wished = cost.cut(
            (wishedSide(halo: cost.haloX, plan.scaleX), wishedSide(halo: cost.haloY, plan.scaleY)))
        if cost.bytes(wished) <= memoryBudget { return wished }
        let sizes = stride(from: step, through: max(wished.width, wished.height, step), by: step)
        let squares = sizes.map { cost.cut((min($0, wished.width), min($0, wished.height))) }
        let bands = sizes.map { cost.cut((Int.max, $0)) }
        let fitting = (squares + bands).filter { cost.bytes($0) <= memoryBudget }
        return fitting.min { cost.amplification($0) < cost.amplification($1) } ?? squares[0]
    }

    /// - Parameter scale: the halo is in pixels of the input, so many to one of the output.
    private static func wishedSide(halo: Int, _ scale: Double) -> Int {
        let side = Double(halo) / scale / (allowedAmplification.squareRoot() - 1)
        return max(smallestSide, Int((side / Double(step)).rounded(.up)) * step)
    }
}

/// What a tile of some size reads and holds.
private struct TileCost {
    typealias Side = (width: Int, height: Int)

    /// Both sides together.
    let haloX: Int
    let haloY: Int
    private let plan: ChainPlan
    private let bytesPerPixel: Int

    init(_ plan: ChainPlan, bytesPerSample: Int) {
        haloX = plan.halo.left + plan.halo.right
        haloY = plan.halo.top + plan.halo.bottom
        self.plan = plan
        bytesPerPixel = max(plan.inputLayout.channels, plan.outputLayout.channels) * bytesPerSample
    }

    /// No side longer than the output's.
    func cut(_ side: Side) -> Side {
        (max(1, min(side.width, plan.output.width)), max(1, min(side.height, plan.output.height)))
    }

    /// A tile never reads more than the input, nor the part of it that lies outside.
    private func pixelsRead(_ side: Side) -> Int {
        func read(_ side: Int, _ scale: Double, _ halo: Int, _ whole: Int) -> Int {
            min(Int((Double(side) * scale).rounded(.up)) + halo, max(whole, 1))
        }
        return read(side.width, plan.scaleX, haloX, plan.input.width)
            * read(side.height, plan.scaleY, haloY, plan.input.height)
    }

    func amplification(_ side: Side) -> Double {
        max(1, Double(pixelsRead(side)) / (Double(side.width * side.height) * plan.scaleX * plan.scaleY))
    }

    /// While a filter renders, its input and its output are held; one between two filters is no larger than the
    /// tile with all halos.
    func bytes(_ side: Side) -> Int {
        let largest = max(pixelsRead(side), side.width * side.height)
        return 2 * largest * bytesPerPixel
    }
}
