import Catalogs
import Filters
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

struct ChainTests {
    private let rect = PixelRect(x: 0, y: 0, width: 40, height: 30)

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `an identity chain changes no byte, colours under alpha 0 included`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let picture = Pattern.noise.picture(rect, layout, format)
        let chain = try Chain(
            [.gaussian(0), .motion(0, 45, ChainCase.expand), .gaussian(0, ["edge": .word("transparent")])],
            registry: .builtIn)
        let plan = chain.plan(input: rect, layout: layout)
        #expect(chain.isIdentity)
        #expect(plan.output == rect)
        #expect(plan.outputLayout == layout)
        #expect(plan.halo.isEmpty)
        #expect(try chain.render(rect, from: picture).hasSameBytes(as: picture))
    }

    @Test func `a chain is its filters one after another`() throws {
        let picture = Pattern.noise.picture(rect, .rgb, .u16)
        let first = try Chain([.gaussian(3, ChainCase.expand)], registry: .builtIn)
        let second = try Chain([.motion(7, 30, ["edge": .word("mirror")])], registry: .builtIn)
        let both = try Chain(
            [.gaussian(3, ChainCase.expand), .motion(7, 30, ["edge": .word("mirror")])], registry: .builtIn)
        let output = both.plan(input: rect, layout: .rgb).output
        let between = try first.render(output, from: picture)
        #expect(try both.render(output, from: picture) == second.render(output, from: between))
    }

    @Test func `expanding filters grow the plan stage by stage`() throws {
        let chain = try Chain([.gaussian(2, ChainCase.expand), .motion(5, 90, ChainCase.expand)], registry: .builtIn)
        let plan = chain.plan(input: rect, layout: .gray)
        #expect(plan.stages.map(\.input) == [rect, PixelRect(x: -6, y: -6, width: 52, height: 42)])
        #expect(plan.output == PixelRect(x: -6, y: -11, width: 52, height: 52))
        #expect(plan.stages.map(\.inputLayout) == [.gray, .grayAlpha])
        #expect(plan.outputLayout == .grayAlpha)
    }

    @Test func `only a vertical wrap keeps a chain from running while rows arrive`() throws {
        func isRowLocal(_ invocations: [FilterInvocation]) throws -> Bool {
            try Chain(invocations, registry: .builtIn).plan(input: rect, layout: .rgb).isRowLocal
        }
        #expect(try isRowLocal([]))
        #expect(try isRowLocal([.gaussian(5), .motion(5, 90, ChainCase.expand)]))
        #expect(try isRowLocal([.gaussian(x: 5, y: 0, ["edge": .word("wrap")])]))
        #expect(try !isRowLocal([.gaussian(5), .gaussian(x: 0, y: 5, ["edge": .word("wrap")])]))
    }

    @Test func `an unknown filter is an error when the chain is made`() {
        let error = #expect(throws: FilterError.self) {
            try Chain([FilterInvocation(filter: "sepia", values: [:])], registry: .builtIn)
        }
        #expect(
            error?.description
                == "unknown filter 'sepia'; there are backdrop, bilateral, box, clarity, crop, crossfade, deskew, "
                + "disc, flatten, flip, gaussian, gray-point, guided, hue, lens-blur, levels, lut, material, median, motion, "
                + "move, non-local-means, overlay, perspective, resize, rotate, run, shadows-highlights, sharpen, "
                + "spin, straighten, text, thumbnail, tone-map, trim, variable, white-balance, zoom"
        )
    }

    @Test func `measurements are those of the first filters`() throws {
        let (trim, blur) = (
            FilterInvocation(filter: "trim", values: [:], measures: .part), FilterInvocation.gaussian(2)
        )
        let part = PixelRect(x: 3, y: 4, width: 5, height: 6)
        let chain = try Chain([trim, blur], registry: .builtIn, measurements: [.part(part)])
        #expect(chain.plan(input: rect, layout: .rgb).output == part)
        let whole = try Chain([trim, .thumbnail("9")], registry: .builtIn, measurements: [.part(nil)])
        #expect(
            whole.shrinkOnLoad(width: 900, height: 900) == 8,
            "nothing is trimmed, and the thumbnail is the first filter")
        for (filters, measurements) in [([trim], []), ([blur, trim], [.part(part)])]
            as [([FilterInvocation], [Measurement])]
        {
            let error = #expect(throws: FilterError.self) {
                try Chain(filters, registry: .builtIn, measurements: measurements)
            }
            #expect(
                error?.description == "trim: measures the picture as it is in its file, and must be the first filter")
        }
    }

    @Test func `a canvas gives the same pixels as memory`() throws {
        let folder = try TemporaryFolder()
        let picture = Pattern.noise.picture(rect, .rgba, .u16)
        let header = CanvasHeader(rect: rect, layout: .rgba, format: .u16)
        let canvas = try Canvas(creating: folder.file("canvas"), header: header)
        try canvas.write(picture)
        let chain = try Chain([.gaussian(2), .motion(6, 20, ["edge": .word("wrap")])], registry: .builtIn)
        let tile = PixelRect(x: 3, y: 0, width: 20, height: 13)
        #expect(try chain.render(tile, from: canvas) == chain.render(tile, from: picture))
    }

    @Test func `an error of the source comes through`() {
        struct Broken: Error {}
        struct BrokenSource: PixelSource {
            let rect = PixelRect(x: 0, y: 0, width: 40, height: 30)
            let layout = PixelLayout.rgb
            let format = SampleFormat.u8
            func read(_ part: PixelRect) throws -> AnyRaster { throw Broken() }
        }
        #expect(throws: Broken.self) {
            try Chain([.gaussian(2)], registry: .builtIn).render(rect, from: BrokenSource())
        }
    }

    @Test func `a cancelled task stops between filters`() async throws {
        let picture = Pattern.noise.picture(rect)
        let rendering = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try Chain([.gaussian(2)], registry: .builtIn).render(picture.rect, from: picture)
        }
        await #expect(throws: CancellationError.self) { try await rendering.value }
    }

    @Test func `a filter without regions changes nothing, and does not take an animation with it`() throws {
        let none = ParameterValue.regions(RegionSet([]))
        let idle = FilterInvocation.gaussian(5, ["within": none])
        #expect(try Chain([idle], registry: .builtIn).isIdentity)
        let around = FilterInvocation.gaussian(5, ["within": none, "inverted": .boolean(true)])
        #expect(try !Chain([around], registry: .builtIn).isIdentity)
        let fade = FilterInvocation(filter: "crossfade", values: ["filters": .integer(2)])
        let faded = try Chain([idle, .gaussian(3), fade], registry: .builtIn)
        #expect(faded.frames > 1)
    }
}
