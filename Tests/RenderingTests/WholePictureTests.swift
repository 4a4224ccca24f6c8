import Catalogs
import Filters
import Geometry
import JobModel
import Raster
import Rendering
import Synchronization
import TestSupport
import Testing

/// `run`, which needs a whole picture, in chains. The program is a closure.
struct WholePictureTests {
    private static let rect = PixelRect(x: 0, y: 0, width: 90, height: 70)

    private final class Calls: Sendable {
        let pictures = Mutex<[AnyRaster]>([])
    }

    private static let run = FilterInvocation(
        filter: "run",
        values: [
            "command": .command(ProgramCommand(program: "flop", arguments: ["-x"], sha256: "7")),
            "format": .word("tiff"),
        ])

    /// A chain whose program mirrors the rows, so that each pixel comes from somewhere else.
    private func chain(_ invocations: [FilterInvocation], _ calls: Calls = Calls()) throws -> Chain {
        let programs = ProgramSource { command, format, picture in
            #expect(command == ProgramCommand(program: "flop", arguments: ["-x"], sha256: "7"))
            #expect(format == .tiff)
            calls.pictures.withLock { $0.append(picture) }
            let chain = try Chain(
                [FilterInvocation(filter: "flip", values: ["axis": .word("vertical")])], registry: .builtIn)
            return try chain.render(picture.rect, from: picture)
        }
        return try Chain(invocations, registry: FilterRegistry(BuiltInFilters.all, programs: programs))
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a program gets the whole picture, and any part of its answer is taken`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let calls = Calls()
        let chain = try chain([Self.run], calls)
        let whole = try chain.render(Self.rect, from: picture)
        #expect(calls.pictures.withLock { $0 } == [picture])
        for part in [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 89, y: 69, width: 1, height: 1),
            PixelRect(x: 13, y: 20, width: 31, height: 7),
        ] {
            #expect(try chain.render(part, from: picture) == whole.cropped(to: part))
        }
    }

    @Test func `a program gets a picture that begins at 0, 0, wherever a filter before has put it`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let calls = Calls()
        let before: [FilterInvocation] = [.gaussian(2, ["extent": .word("expand")])]
        let chain = try chain(before + [Self.run, .gaussian(1)], calls)
        let plan = chain.plan(input: Self.rect, layout: .rgba)
        let part = PixelRect(x: -3, y: 5, width: 20, height: 9)
        let output = try chain.render(part, from: picture)
        let given = try #require(calls.pictures.withLock { $0.first })
        #expect(given.rect == PixelRect(x: 0, y: 0, width: plan.output.width, height: plan.output.height))
        #expect(output.rect == part)
        #expect(try chain.render(plan.output, from: picture).cropped(to: part) == output)
    }

    @Test func `a chain with a program is not cut into tiles, and does not stream`() throws {
        let chain = try chain([.gaussian(2), Self.run])
        let plan = chain.plan(input: Self.rect, layout: .rgb)
        #expect(chain.needsWhole && !plan.isRowLocal)
        #expect(StreamPlan(chain, plan, format: .u8, memoryBudget: 1 << 30) == nil)
        for size in [TileSize.auto, .pixels(16)] {
            let tiles = TilePlan(size, chain: chain, plan: plan, bytesPerSample: 1, memoryBudget: 1 << 10)
            #expect(Array(tiles.grid.tiles) == [Self.rect])
        }
        #expect(chain.wholeBytes(plan, .u16) == 5 * 90 * 70 * 3 * 2)
        #expect(try Chain([.gaussian(2)], registry: .builtIn).wholeBytes(plan, .u16) == 0)
    }

    @Test func `a format that cannot hold the pixels is an objection`() throws {
        func objection(_ format: String, _ layout: PixelLayout, _ samples: SampleFormat) throws -> String? {
            let values = Self.run.values.merging(["format": .word(format)]) { $1 }
            let chain = try Chain([FilterInvocation(filter: "run", values: values)], registry: .builtIn)
            return chain.objection(chain.plan(input: Self.rect, layout: layout), samples)
        }
        for layout in PixelLayout.allCases {
            for samples in SampleFormat.allCases {
                #expect(try objection("tiff", layout, samples) == nil)
                #expect((try objection("png", layout, samples) == nil) == (samples != .f32))
                #expect((try objection("ppm", layout, samples) == nil) == (samples != .f32 && !layout.hasAlpha))
            }
        }
        #expect(
            try objection("ppm", .rgba, .u8)
                == "the program 'flop': ppm has no transparency, and this picture has; write 'format: png', or 'flatten' before"
        )
        #expect(
            try objection("png", .gray, .f32)
                == "the program 'flop': png has no floating-point samples, and the filters of this picture have; write 'format: tiff'"
        )
    }

    @Test func `a program fades in like any other filter`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let fade = FilterInvocation(
            filter: "crossfade", values: ["filters": .integer(1), "duration": .number(0.1), "fps": .number(20)])
        let chain = try chain([Self.run, fade])
        #expect(chain.frames > 1 && chain.needsWhole)
        let plan = chain.plan(input: Self.rect, layout: .rgb)
        let last = PixelRect(x: 0, y: (chain.frames - 1) * 70, width: 90, height: 70)
        let flipped = try self.chain([Self.run]).render(Self.rect, from: picture)
        #expect(try chain.render(last, from: picture).translated(x: 0, y: -last.y) == flipped)
        #expect(chain.wholeBytes(plan, .u8) == 5 * 90 * 70 * 3)
    }

    @Test func `without a program there is an error, and no picture`() throws {
        let chain = try Chain([Self.run], registry: .builtIn)
        let error = #expect(throws: FilterError.self) {
            try chain.render(Self.rect, from: Pattern.noise.picture(Self.rect))
        }
        #expect(error?.description == "run: the program 'flop' cannot be run here")
    }
}
