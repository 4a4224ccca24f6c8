import Catalogs
import Geometry
import JobModel
import Rendering
import TestSupport
import Testing

struct TilePlanTests {
    private static let gigabyte = 1 << 30
    private let scan = PixelRect(x: 0, y: 0, width: 30_000, height: 20_000)

    private func plan(
        _ invocations: [FilterInvocation], _ size: TileSize = .auto, input: PixelRect? = nil, budget: Int = gigabyte
    ) throws -> TilePlan {
        let chain = try Chain(invocations, registry: .builtIn)
        let plan = chain.plan(input: input ?? scan, layout: .rgb)
        return TilePlan(size, chain: chain, plan: plan, bytesPerSample: 1, memoryBudget: budget)
    }

    @Test(arguments: [0, 1, 5, 12, 40, 100, 200])
    func `an automatic tile reads at most 30 % more than it writes`(radius: Double) throws {
        let plan = try plan([.gaussian(radius)], budget: 8 * Self.gigabyte)
        #expect(plan.readAmplification <= 1.3)
        #expect(plan.readAmplification >= 1)
        #expect(plan.grid.tileWidth >= 512)
        #expect(plan.grid.tileWidth % 64 == 0)
    }

    @Test func `the side follows from the halo`() throws {
        // Halo 83: 2·83/(√1.3 − 1) = 1184.6, so 1216.
        let plan = try plan([.gaussian(12)])
        #expect(plan.grid.tileWidth == 1216)
        #expect(plan.grid.tileHeight == 1216)
        #expect(plan.tileBytes == 2 * 1382 * 1382 * 3)
    }

    @Test func `a blur along one axis needs long tiles along that axis alone`() throws {
        let plan = try plan([.gaussian(x: 40, y: 0)])
        #expect(plan.grid.tileWidth == 3136)
        #expect(plan.grid.tileHeight == 512)
    }

    @Test func `a small picture is one tile`() throws {
        let plan = try plan([.gaussian(12)], input: PixelRect(x: 0, y: 0, width: 640, height: 480))
        #expect(plan.grid.count == 1)
        #expect(plan.readAmplification == 1)
    }

    @Test func `what exceeds the budget becomes bands of full width when those read less`() throws {
        // Squares that fit would read more than twice of what they write; bands need no halo to the sides.
        let strip = PixelRect(x: 0, y: 0, width: 8000, height: 60_000)
        let plan = try plan([.gaussian(200)], input: strip, budget: 300 << 20)
        #expect(plan.grid.tileWidth == strip.width)
        #expect(plan.tileBytes <= 300 << 20)
        #expect(plan.readAmplification < 1.9)
    }

    @Test(arguments: [40 << 20, 200 << 20, 1 << 30])
    func `no tile exceeds a budget that any tile can keep`(budget: Int) throws {
        for radius in [1, 40, 100] as [Double] {
            #expect(try plan([.gaussian(radius)], budget: budget).tileBytes <= budget)
        }
    }

    @Test func `a hopeless budget gets the smallest tiles, and shows it`() throws {
        let plan = try plan([.gaussian(1000)], budget: 1000)
        #expect(plan.grid.tileWidth == 64)
        #expect(plan.tileBytes > 1000)
    }

    @Test func `an explicit size is taken as it is, cut to the output`() throws {
        #expect(try plan([.gaussian(12)], .pixels(100)).grid.tileWidth == 100)
        let small = try plan([], .pixels(100), input: PixelRect(x: 0, y: 0, width: 30, height: 200))
        #expect(small.grid.tileWidth == 30)
        #expect(small.grid.tileHeight == 100)
        #expect(try plan([], .pixels(0)).grid.tileWidth == 1)
    }

    @Test func `the grid covers the grown output`() throws {
        let plan = try plan([.gaussian(12, ChainCase.expand)])
        #expect(plan.grid.extent == scan.expanded(by: Halo(horizontal: 36, vertical: 36)))
    }

    @Test(arguments: [
        [FilterInvocation.spin(0.5)], [.spin(10)], [.zoom(5)], [.zoom(20)], [.zoom(-40), .gaussian(3)],
    ])
    func `tiles that read more far from a centre keep a budget, and read less than their halos say`(
        chain: [FilterInvocation]
    ) throws {
        let budget = 512 << 20
        let plan = try plan(chain, budget: budget)
        #expect(plan.tileBytes <= budget)
        #expect(plan.readAmplification <= 3)
        let stages = try Chain(chain, registry: .builtIn)
        let geometry = stages.plan(input: scan, layout: .rgb)
        for tile in plan.grid.tiles {
            let read = stages.regionOfInterest(for: tile, in: geometry).reduce(0) { $0 + $1.area }
            #expect(2 * read * 3 <= plan.tileBytes)
        }
    }

    @Test func `a spin reads what its tiles sweep, and the whole circle only where it turns that far`() throws {
        let chain = try Chain([.spin(10)], registry: .builtIn)
        let geometry = chain.plan(input: scan, layout: .rgb)
        let middle = PixelRect(x: 14_900, y: 9_900, width: 200, height: 200)
        let near = try #require(chain.regionOfInterest(for: middle, in: geometry).first)
        #expect(near.width <= 230 && near.height <= 230)
        let right = PixelRect(x: 29_800, y: 9_900, width: 200, height: 200)
        let far = try #require(chain.regionOfInterest(for: right, in: geometry).first)
        #expect(far.width <= 270 && far.height <= 2_850)
        let turn = try Chain([.spin(360)], registry: .builtIn)
        #expect(turn.regionOfInterest(for: right, in: geometry).first?.height == 20_000)
    }

    @Test func `a stream holds the rows that its bands sweep`() throws {
        for (filter, rows) in [(FilterInvocation.spin(1), 1100), (.zoom(5), 1300)] {
            let chain = try Chain([filter], registry: .builtIn)
            let plan = chain.plan(input: scan, layout: .rgb)
            let stream = try #require(StreamPlan(chain, plan, format: .u8, memoryBudget: Self.gigabyte))
            #expect(stream.bytes <= rows * 30_000 * 3, "\(filter.filter): \(stream.bytes / 90_000) rows")
        }
    }
}
