import Catalogs
import Geometry
import Raster
import Rendering
import TestSupport
import Testing

/// A stream gives the chain's own pixels, whatever the bands that come in and go out.
struct FilterStreamTests {
    private static let pictures = [
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 43, height: 131), .rgba, .u8),
        Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 31, height: 83), .rgb, .u16),
        Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 5, height: 97), .gray, .f32),
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 9, height: 1), .rgb, .u8),
    ]

    private func check(_ chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        for picture in Self.pictures {
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            // A thumbnail that has nothing to cut chooses nothing.
            #expect(plan.isRowLocal == !chainCase.needsLastRowsFirst || chainCase.choosesWhatToKeep)
            guard plan.isRowLocal, !plan.output.isEmpty else { continue }
            let whole = try chain.render(plan.output, from: picture)
            for (incoming, outgoing) in [(1, 16), (64, 1), (7, 5), (500, 33), (3, 500), (64, 11)] {
                let rows = RowSource(picture, bandHeight: incoming)
                let stream = chain.stream(
                    plan, format: picture.format, bandHeights: plan.stages.map { _ in outgoing },
                    input: rows.next)
                let result = try collect(stream, plan, picture.format)
                #expect(result.hasSameBytes(as: whole), "bands of \(incoming) in, \(outgoing) out")
                #expect(rows.isAtEnd)
            }
        }
    }

    private func collect(_ stream: () throws -> AnyRaster?, _ plan: ChainPlan, _ format: SampleFormat) throws
        -> AnyRaster
    {
        var result = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: format)
        var next = plan.output.y
        while let band = try stream() {
            #expect(band.rect.y == next)
            next = band.rect.bottom
            result.paste(band)
        }
        #expect(next == plan.output.bottom)
        return result
    }

    @Test(arguments: ChainCase.single)
    func `a stream gives the pixels of the whole picture`(chainCase: ChainCase) throws {
        try check(chainCase)
    }

    @Test(arguments: ChainCase.several + ChainCase.geometry)
    func `streams of chains too`(chainCase: ChainCase) throws {
        try check(chainCase)
    }

    @Test func `a chain without filters passes the input on`() throws {
        let picture = Self.pictures[0]
        let chain = try Chain([.gaussian(0)], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let stream = chain.stream(plan, format: .u8, bandHeights: [], input: RowSource(picture, bandHeight: 9).next)
        #expect(try collect(stream, plan, .u8).hasSameBytes(as: picture))
    }

    /// In these pictures, a filter that keeps its state halves many rows. One picture is wider than the parts of a render of the whole.
    @Test(arguments: [
        ChainCase("gaussian 20", [.gaussian(20)]),
        ChainCase("gaussian 75 mirror", [.gaussian(75, ["edge": .word("mirror")])]),
        ChainCase("gaussian 6 transparent", [.gaussian(6, ["edge": .word("transparent")])]),
        ChainCase("gaussian {0, 12}", [.gaussian(x: 0, y: 12)]),
        ChainCase("box 40", [.family("box", .number(40))]),
        ChainCase("box {7.5, 90.25} mirror", [.family("box", .pair(x: 7.5, y: 90.25), ["edge": .word("mirror")])]),
    ])
    func `a filter that keeps its state gives the pixels of the whole picture`(chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        for picture in [
            Pattern.photograph.picture(PixelRect(x: 3, y: -5, width: 301, height: 611), .rgb, .u8),
            Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 33_001, height: 37), .rgba, .u8),
            Pattern.noise.picture(PixelRect(x: 0, y: 7, width: 97, height: 405), .grayAlpha, .u16),
        ] {
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let whole = try chain.render(plan.output, from: picture)
            for (incoming, outgoing) in [(64, 64), (10, 33), (500, 1)] {
                let rows = RowSource(picture, bandHeight: incoming)
                let stream = chain.stream(plan, format: picture.format, bandHeights: [outgoing], input: rows.next)
                #expect(try collect(stream, plan, picture.format).hasSameBytes(as: whole))
                let forgetful = chain.stream(
                    plan, format: picture.format, bandHeights: [outgoing + 7], remembers: false,
                    input: RowSource(picture, bandHeight: incoming).next)
                #expect(try collect(forgetful, plan, picture.format).hasSameBytes(as: whole))
            }
        }
    }

    @Test(arguments: [
        ChainCase("gaussian 3", [.gaussian(3)]), ChainCase("gaussian 40", [.gaussian(40)]),
        ChainCase("box 40", [.family("box", .number(40))]),
    ])
    func `an error in the middle of a picture ends a stream that keeps its state`(chainCase: ChainCase) throws {
        struct Broken: Error {}
        let chain = try chainCase.make()
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 43, height: 331), .rgb, format)
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let rows = RowSource(picture, bandHeight: 8)
            let stream = chain.stream(plan, format: picture.format, bandHeights: [8]) {
                guard rows.given < 288 else { throw Broken() }
                return rows.next()
            }
            #expect(throws: Broken.self) { while try stream() != nil {} }
            #expect(rows.given == 288)
        }
    }

    @Test func `a stream of a wide picture reads no more rows than its first band needs, and has the same pixels`()
        throws
    {
        // Wider than the parts of a render of the whole.
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 22_001, height: 300), .rgb, .u8)
        let chain = try Chain([.gaussian(8)], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let whole = try chain.render(plan.output, from: picture)
        let rows = RowSource(picture, bandHeight: 1)
        let stream = chain.stream(plan, format: .u8, bandHeights: [1], input: rows.next)
        // Eight rows are filtered at once, at a quarter of the rate.
        #expect(try stream() != nil && rows.given <= plan.halo.bottom + 32)
        let again = chain.stream(plan, format: .u8, bandHeights: [50], input: RowSource(picture, bandHeight: 7).next)
        #expect(try collect(again, plan, .u8).hasSameBytes(as: whole))
    }

    @Test func `the planned memory of a Gaussian's stream does not grow with its radius`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 20_000, height: 30_000)
        for format in SampleFormat.allCases {
            let bytes = try [20, 300].map { radius in
                let chain = try Chain([.gaussian(radius)], registry: .builtIn)
                let plan = chain.plan(input: rect, layout: .rgb)
                return try #require(StreamPlan(chain, plan, format: format, memoryBudget: .max)).bytes
            }
            #expect(bytes[1] * 10 <= bytes[0] * 13, "\(format)")
        }
    }

    @Test func `a stream of 600 megapixels holds a few megabytes, and one of a narrow picture takes 64 rows at once`()
        throws
    {
        let chain = try Chain([.gaussian(50)], registry: .builtIn)
        func plan(width: Int) throws -> StreamPlan {
            let plan = chain.plan(input: PixelRect(x: 0, y: 0, width: width, height: 24_500), layout: .rgb)
            return try #require(StreamPlan(chain, plan, format: .u8, memoryBudget: .max))
        }
        let wide = try plan(width: 24_500)
        #expect((wide.arrivingRows, wide.bandHeights) == (16, [16]))
        #expect(wide.bytes < 24 << 20)
        let narrow = try plan(width: 5_000)
        #expect((narrow.arrivingRows, narrow.bandHeights) == (64, [64]))
    }

    @Test func `a stream that follows another one gets the rows of its bands at once, and counts them`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 5_000, height: 5_000)
        let trunk = try Chain([.family("disc", .number(100))], registry: .builtIn)
        let source = try #require(
            StreamPlan(trunk, trunk.plan(input: rect, layout: .rgb), format: .u16, memoryBudget: .max))
        let branch = try Chain([.gaussian(1)], registry: .builtIn)
        let plan = branch.plan(input: rect, layout: .rgb)
        let alone = try #require(StreamPlan(branch, plan, format: .u8, memoryBudget: .max))
        let after = try #require(StreamPlan(branch, plan, format: .u8, source: source, memoryBudget: .max))
        #expect(source.bandHeights[0] > 64 && after.arrivingRows == source.bandHeights[0])
        #expect(after.bytes - alone.bytes == 4 * (after.arrivingRows - alone.arrivingRows) * 15_000)
    }

    @Test func `a stream reads no further than its band needs`() throws {
        let picture = Self.pictures[0]
        let chain = try Chain([.gaussian(1)], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let rows = RowSource(picture, bandHeight: 1)
        let stream = chain.stream(plan, format: .u8, bandHeights: [10], input: rows.next)
        for band in 1...5 {
            _ = try stream()
            #expect(rows.given <= 10 * band + plan.halo.bottom)
        }
    }

    @Test func `an error of the input comes through`() throws {
        struct Broken: Error {}
        let chain = try Chain([.gaussian(2), .motion(3, 90)], registry: .builtIn)
        let plan = chain.plan(input: Self.pictures[0].rect, layout: .rgba)
        let stream = chain.stream(plan, format: .u8, bandHeights: [10, 3]) { throw Broken() }
        #expect(throws: Broken.self) { try stream() }
    }

    @Test func `bands grow with the halo, and shrink with the budget`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 1000, height: 1_000_000)
        func plan(_ radius: Double, _ budget: Int) throws -> StreamPlan? {
            let chain = try Chain([.family("disc", .number(radius))], registry: .builtIn)
            // Discs of 8-bit samples keep their state.
            return StreamPlan(chain, chain.plan(input: rect, layout: .rgb), format: .u16, memoryBudget: budget)
        }
        #expect(try plan(1, .max)?.bandHeights == [64])
        let large = try #require(try plan(100, .max))
        #expect(large.bandHeights[0] > 64)
        let small = try #require(try plan(100, large.bytes - 1))
        #expect(small.bandHeights[0] < large.bandHeights[0] && small.bytes < large.bytes)
        #expect(try plan(20, 100_000) == nil)
    }
}
