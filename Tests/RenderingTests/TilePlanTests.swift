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
        let chain = try Chain(invocations, registry: .builtIn).plan(input: input ?? scan, layout: .rgb)
        return TilePlan(size, plan: chain, bytesPerSample: 1, memoryBudget: budget)
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
        // Halo 84: 2·84/(√1.3 − 1) = 1198.9, so 1216.
        let plan = try plan([.gaussian(12)])
        #expect(plan.grid.tileWidth == 1216)
        #expect(plan.grid.tileHeight == 1216)
        #expect(plan.tileBytes == 2 * 1384 * 1384 * 3)
    }

    @Test func `a blur along one axis needs long tiles along that axis alone`() throws {
        let plan = try plan([.gaussian(x: 40, y: 0)])
        #expect(plan.grid.tileWidth == 4672)
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
}
