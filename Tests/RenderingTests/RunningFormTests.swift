import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// Filters that keep their state from band to band give the bytes of a render of the whole, and hold no more than they promise.
struct RunningFormTests {
    static let edges = [Edge.clamp, .mirror, .transparent]
    private static let layouts: [PixelLayout] = [.gray, .grayAlpha, .rgb, .rgba]

    /// Radii of every kind of loop: few taps, one halving and many, and sums.
    static let cases: [ChainCase] = edges.flatMap { edge in
        func values(_ more: [String: ParameterValue] = [:]) -> [String: ParameterValue] {
            more.merging(["edge": .word(edge.rawValue)]) { $1 }
        }
        let linear: [String: ParameterValue] = ["light": .word("linear")]
        return [
            ChainCase("gaussian 0.7 \(edge)", [.gaussian(0.7, values())]),
            ChainCase("gaussian 2 \(edge)", [.gaussian(2, values())]),
            ChainCase("gaussian {0.5, 2.2} \(edge)", [.gaussian(x: 0.5, y: 2.2, values())]),
            ChainCase("gaussian 6 \(edge)", [.gaussian(6, values())]),
            ChainCase("gaussian 2 in light \(edge)", [.gaussian(2, values(linear))]),
            ChainCase("box 1.5 \(edge)", [.family("box", .number(1.5), values())]),
            ChainCase("box {3, 7.25} \(edge)", [.family("box", .pair(x: 3, y: 7.25), values())]),
            ChainCase("box {0, 21} \(edge)", [.family("box", .pair(x: 0, y: 21), values())]),
            ChainCase("box {12, 0} \(edge)", [.family("box", .pair(x: 12, y: 0), values())]),
            ChainCase("box 5 in light \(edge)", [.family("box", .number(5), values(linear))]),
            ChainCase("sharpen 1 \(edge)", [.family("sharpen", .number(1), values())]),
            ChainCase(
                "sharpen 7 with a threshold \(edge)",
                [.family("sharpen", .number(7), values(["threshold": .number(4), "amount": .number(3)]))]),
            ChainCase("sharpen 3 in light \(edge)", [.family("sharpen", .number(3), values(linear))]),
        ]
    }

    /// Parts one beside the other and one below the other, with hard and with soft borders.
    static let masked: [ChainCase] = edges.flatMap { edge in
        let places: [(String, [String: ParameterValue])] = [
            ("in regions", ["within": ChainCase.regions]),
            ("in soft regions", ["within": ChainCase.regions, "feather": .number(3)]),
            ("outside of regions", ["within": ChainCase.regions, "inverted": .boolean(true)]),
            ("by a picture", ["mask": ChainCase.mask]),
        ]
        return places.flatMap { name, place in
            let values = place.merging(["edge": .word(edge.rawValue)]) { $1 }
            return [
                ChainCase("gaussian 1 \(name) \(edge)", [.gaussian(1, values)]),
                ChainCase("gaussian 5 \(name) \(edge)", [.gaussian(5, values)]),
                ChainCase("box 3.5 \(name) \(edge)", [.family("box", .number(3.5), values)]),
                ChainCase("sharpen 4 \(name) \(edge)", [.family("sharpen", .number(4), values)]),
            ]
        }
    }

    private static func pictures() -> [AnyRaster] {
        let rects = [
            PixelRect(x: 0, y: 0, width: 67, height: 93), PixelRect(x: -7, y: 13, width: 3, height: 41),
            PixelRect(x: 5, y: -3, width: 130, height: 1),
        ]
        var pictures: [AnyRaster] = []
        for (index, layout) in layouts.enumerated() {
            for (number, format) in SampleFormat.allCases.enumerated() {
                pictures.append(
                    Pattern.noise.picture(rects[(index + number) % 2 == 0 ? 0 : 1 + index % 2], layout, format))
            }
        }
        // Alpha that is full everywhere, or in all rows but one: kernels choose other loops for such rows.
        let opaque = Pattern.photograph.picture(rects[0], .rgba, .u8, alpha: .opaque)
        var almost = opaque
        almost.modifyU8 { $0.samples[40 * $0.stride + 31 * 4 + 3] = 7 }
        return pictures + [opaque, almost]
    }

    private func check(_ chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        let filter = try FilterRegistry.withMask.makeFilter(chainCase.invocations[0])
        for picture in Self.pictures() {
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let stage = try #require(plan.stages.first)
            let form = try #require(
                filter.runningForm(of: stage.output, in: stage.input, stage.inputLayout, picture.format))
            let whole = try chain.render(plan.output, from: picture)
            for (incoming, outgoing) in [(16, 16), (1, 7), (5, 1), (1000, 1000)] {
                let rows = RowSource(picture, bandHeight: incoming)
                let map = filter.sourceMap(for: stage.output, in: stage.input)
                let kernel = form.make(
                    ArrivingInput(
                        extent: stage.input, layout: stage.inputLayout,
                        columns: map.columns.table { $0 - stage.input.x }, rows: map.rows.table { $0 - stage.input.y },
                        curve: .sRGB, heldRows: form.rows, next: rows.next))
                var result = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: picture.format)
                for first in stride(from: plan.output.y, to: plan.output.bottom, by: outgoing) {
                    let rows = first..<min(first + outgoing, plan.output.bottom)
                    var band = AnyRaster(
                        zeroed: PixelRect(columns: plan.output.columns, rows: rows), layout: plan.outputLayout,
                        format: picture.format)
                    try kernel.render(into: &band)
                    result.paste(band)
                }
                let bands = "bands of \(incoming) in, \(outgoing) out: \(picture.layout) \(picture.format)"
                #expect(result.hasSameBytes(as: whole), "\(bands)")
                if outgoing <= 64 { #expect(kernel.heldRows <= form.rows, "\(bands)") }
            }
        }
    }

    @Test(arguments: cases)
    func `a running form gives the bytes of a render of the whole, for every layout, format and band`(
        chainCase: ChainCase
    ) throws { try check(chainCase) }

    @Test(arguments: masked)
    func `a running form within a mask, too`(chainCase: ChainCase) throws { try check(chainCase) }

    @Test func `a chain of running filters gives the bytes of a render of the whole`() throws {
        let chain = try ChainCase(
            "a chain",
            [
                .family("sharpen", .number(5)), .gaussian(1.5, ["within": ChainCase.regions, "feather": .number(2)]),
                .family("box", .number(6), ["edge": .word("mirror")]), .gaussian(9, ChainCase.expand), .gaussian(1),
            ]
        ).make()
        for picture in Self.pictures() {
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let whole = try chain.render(plan.output, from: picture)
            for heights in [[16, 16, 16, 16, 16], [1, 3, 5, 2, 7], [900, 1, 900, 1, 900]] {
                let stream = chain.stream(
                    plan, format: picture.format, bandHeights: heights,
                    input: RowSource(picture, bandHeight: 9).next)
                var result = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: picture.format)
                while let band = try stream() { result.paste(band) }
                #expect(result.hasSameBytes(as: whole), "\(picture.layout) \(picture.format) \(heights)")
            }
        }
    }

    /// A part of the output has other first rows than the picture, and other borders of pairs of rows.
    @Test(arguments: cases.filter { $0.testDescription.hasSuffix("clamp") })
    func `a running form that begins in the middle of a picture gives the same bytes`(chainCase: ChainCase) throws {
        let crop = FilterInvocation.crop(x: 9, y: 31, width: 40, height: 45)
        let chain = try Chain(chainCase.invocations + [crop], registry: .builtIn)
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 67, height: 93), .rgba, .u8)
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
        ChainCase("gaussian 1 in regions", [.gaussian(1, ["within": ChainCase.regions])]),
        ChainCase("sharpen 9", [.family("sharpen", .number(9))]), ChainCase("gaussian 2", [.gaussian(2)]),
        ChainCase("box 4", [.family("box", .number(4))]),
    ])
    func `an error of the input ends every running form`(chainCase: ChainCase) throws {
        struct Broken: Error {}
        let chain = try chainCase.make()
        for format in SampleFormat.allCases {
            for broken in [0, 64] {
                let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 43, height: 131), .rgba, format)
                let plan = chain.plan(input: picture.rect, layout: picture.layout)
                let rows = RowSource(picture, bandHeight: 8)
                let stream = chain.stream(plan, format: picture.format, bandHeights: [8]) {
                    guard rows.given < broken else { throw Broken() }
                    return rows.next()
                }
                #expect(throws: Broken.self) { while try stream() != nil {} }
            }
        }
    }

    @Test func `the planned memory of a wide Gaussian's stream is at most a third more than that of a narrow one`()
        throws
    {
        let rect = PixelRect(x: 0, y: 0, width: 20_000, height: 30_000)
        for layout in [PixelLayout.rgb, .rgba] {
            let bytes = try [2, 300].map { radius in
                let chain = try Chain([.gaussian(radius)], registry: .builtIn)
                let plan = chain.plan(input: rect, layout: layout)
                return try #require(StreamPlan(chain, plan, format: .u8, memoryBudget: .max)).bytes
            }
            #expect(bytes[1] * 10 <= bytes[0] * 13, "\(layout) \(bytes)")
        }
    }
}
