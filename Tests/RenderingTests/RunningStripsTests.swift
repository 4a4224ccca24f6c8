import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// Discs, motion blurs, medians and resizes that keep their state from band to band.
struct RunningStripsTests {
    private static let edges = [Edge.clamp, .mirror, .transparent]
    private static let layouts: [PixelLayout] = [.gray, .grayAlpha, .rgb, .rgba]

    /// Filters of 8-bit samples: lines along an axis and oblique ones, with few samples and with running sums. Steep lines cross many
    /// columns, so that their sums move often.
    static let blurs: [ChainCase] = edges.flatMap { edge in
        func values(_ more: [String: ParameterValue] = [:]) -> [String: ParameterValue] {
            more.merging(["edge": .word(edge.rawValue)]) { $1 }
        }
        let continuous = values(["samples": .word("continuous")])
        return [
            ChainCase("disc 0.3 \(edge)", [.family("disc", .number(0.3), values())]),
            ChainCase("disc 2 \(edge)", [.family("disc", .number(2), values())]),
            ChainCase("disc 33.5 \(edge)", [.family("disc", .number(33.5), values())]),
            ChainCase("motion 6 at 90° \(edge)", [.motion(6, 90, values())]),
            ChainCase("motion 21 at 75° \(edge)", [.motion(21, 75, values())]),
            ChainCase("motion 4 at 90°, continuous \(edge)", [.motion(4, 90, continuous)]),
            ChainCase("motion 70 at 90°, continuous \(edge)", [.motion(70, 90, continuous)]),
            ChainCase("motion 3 at 40°, continuous \(edge)", [.motion(3, 40, continuous)]),
            ChainCase("motion 60 at 45°, continuous \(edge)", [.motion(60, 45, continuous)]),
            ChainCase("motion 50 at 200°, continuous \(edge)", [.motion(50, 200, continuous)]),
            ChainCase("motion 90 at -12°, continuous \(edge)", [.motion(90, -12, continuous)]),
        ]
    }

    /// With alpha, the method of a median depends on all pixels.
    static let medians: [ChainCase] = [Edge.clamp, .mirror].flatMap { edge in
        [3, 12, 60].map {
            ChainCase(
                "median \($0) \(edge)", [.family("median", .integer($0), ["edge": .word(edge.rawValue)])])
        }
    }

    static let resizes: [ChainCase] =
        [
            ("10%", "lanczos3"), ("31%", "lanczos3"), ("45%", "lanczos3"), ("101%", "lanczos3"), ("250%", "lanczos3"),
            ("7%", "box"), ("60%", "box"), ("130%", "box"),
        ].map { size, kernel in
            ChainCase("resize \(size) \(kernel)", [.resize(size, ["kernel": .word(kernel)])])
        } + [
            ChainCase("resize to 9 x 100 in light", [.resize("9x100", ["light": .word("linear")])]),
            ChainCase("thumbnail that cuts off", [.thumbnail("20x11", ["fit": .word("cover")])]),
        ]

    private static func pictures(_ layouts: [PixelLayout], _ formats: [SampleFormat]) -> [AnyRaster] {
        let rects = [
            PixelRect(x: 0, y: 0, width: 67, height: 293), PixelRect(x: -7, y: 13, width: 3, height: 41),
            PixelRect(x: 5, y: -3, width: 130, height: 1),
        ]
        return layouts.enumerated().flatMap { index, layout in
            formats.flatMap { format in
                [rects[0], rects[1 + index % 2]].map { Pattern.noise.picture($0, layout, format) }
            }
        }
    }

    private func check(_ chainCase: ChainCase, _ pictures: [AnyRaster]) throws {
        let chain = try chainCase.make()
        let filter = try FilterRegistry.builtIn.makeFilter(chainCase.invocations[0])
        for picture in pictures {
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let stage = try #require(plan.stages.first)
            let form = filter.runningForm(of: stage.output, in: stage.input, stage.inputLayout, picture.format)
            #expect(form != nil, "\(picture.layout) \(picture.format)")
            let whole = try chain.render(plan.output, from: picture)
            for (incoming, outgoing) in [(16, 16), (1, 7), (5, 1), (1000, 1000)] {
                let rows = RowSource(picture, bandHeight: incoming)
                let stream = chain.stream(plan, format: picture.format, bandHeights: [outgoing], input: rows.next)
                var result = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: picture.format)
                while let band = try stream() { result.paste(band) }
                #expect(
                    result.hasSameBytes(as: whole),
                    "bands of \(incoming) in, \(outgoing) out: \(picture.layout) \(picture.format)")
                #expect(rows.isAtEnd)
            }
        }
    }

    @Test(arguments: blurs)
    func `a disc or a motion blur keeps its state from band to band, and gives the bytes of a render of the whole`(
        chainCase: ChainCase
    ) throws {
        // Alpha that is full everywhere, or in all rows but one: kernels choose other loops for such rows.
        let opaque = Pattern.photograph.picture(
            PixelRect(x: 0, y: 0, width: 67, height: 93), .rgba, .u8, alpha: .opaque)
        var almost = opaque
        almost.modifyU8 { $0.samples[40 * $0.stride + 31 * 4 + 3] = 7 }
        try check(chainCase, Self.pictures(Self.layouts, [.u8]) + [opaque, almost])
    }

    @Test(arguments: medians)
    func
        `a median of large squares keeps its histograms from band to band, and gives the bytes of a render of the whole`(
            chainCase: ChainCase
        ) throws
    {
        try check(chainCase, Self.pictures([.gray, .rgb], [.u8]))
    }

    @Test(arguments: resizes)
    func `a resize keeps its rows from band to band, and gives the bytes of a render of the whole`(
        chainCase: ChainCase
    ) throws {
        try check(chainCase, Self.pictures(Self.layouts, SampleFormat.allCases))
    }

    /// A part of the output has other first rows than the picture.
    @Test(arguments: blurs + medians + resizes)
    func `a stream that begins in the middle of a picture gives the same bytes`(chainCase: ChainCase) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 67, height: 293), .rgb, .u8)
        let first = try chainCase.make()
        let height = first.plan(input: picture.rect, layout: picture.layout).output.height
        let crop = FilterInvocation.crop(
            x: 1, y: Double(height / 3), width: 4, height: Double(max(1, height / 2)))
        let chain = try Chain(chainCase.invocations + [crop], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let whole = try chain.render(plan.output, from: picture)
        let stream = chain.stream(
            plan, format: picture.format, bandHeights: plan.stages.map { _ in 3 },
            input: RowSource(picture, bandHeight: 4).next)
        var result = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: picture.format)
        while let band = try stream() { result.paste(band) }
        #expect(result.hasSameBytes(as: whole))
    }

    @Test(arguments: [
        ChainCase("disc 20", [.family("disc", .number(20))]),
        ChainCase("motion 40 at 60°", [.motion(40, 60, ["samples": .word("continuous")])]),
        ChainCase("motion 40 at 90°", [.motion(40, 90, ["samples": .word("continuous")])]),
        ChainCase("median 9", [.family("median", .integer(9))]),
        ChainCase("resize 10%", [.resize("10%")]),
        ChainCase("resize 90%", [.resize("90%")]),
    ])
    func `an error of the input ends a stream of strips or of a resize`(chainCase: ChainCase) throws {
        struct Broken: Error {}
        let chain = try chainCase.make()
        for broken in [0, 64] {
            let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 43, height: 131), .rgb, .u8)
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let rows = RowSource(picture, bandHeight: 8)
            let stream = chain.stream(plan, format: picture.format, bandHeights: [8]) {
                guard rows.given < broken else { throw Broken() }
                return rows.next()
            }
            #expect(throws: Broken.self) { while try stream() != nil {} }
        }
    }

    @Test func `strips of very wide pictures keep no state, so that their memory stays that of a window`() throws {
        func plan(_ width: Int, _ invocation: FilterInvocation) throws -> StreamPlan {
            let chain = try Chain([invocation], registry: .builtIn)
            let plan = chain.plan(input: PixelRect(x: 0, y: 0, width: width, height: 9_000), layout: .rgb)
            return try #require(StreamPlan(chain, plan, format: .u8, memoryBudget: .max))
        }
        for invocation in [
            .family("disc", .number(100)), .family("median", .integer(50)), .motion(100, 90),
            .motion(100, 30, ["samples": .word("continuous")]),
        ] as [FilterInvocation] {
            #expect(try plan(4_000, invocation).bytes < 40 << 20)
            #expect(try plan(100_000, invocation).bytes < 256 << 20)
        }
    }

    @Test func `a resize that shrinks much needs less memory than the rows that its kernel covers`() throws {
        let chain = try Chain([.resize("2%")], registry: .builtIn)
        let plan = chain.plan(input: PixelRect(x: 0, y: 0, width: 20_000, height: 20_000), layout: .rgb)
        let stream = try #require(StreamPlan(chain, plan, format: .u8, memoryBudget: .max))
        // The kernel covers 300 rows.
        #expect(stream.bytes < 300 * 60_000)
    }
}
