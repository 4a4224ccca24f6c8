import Catalogs
import Geometry
import JobModel
import Testing
import WorkerProtocol

/// How much the pixels of a task are at most.
@Suite struct PixelBytesTests {
    private static func probe(
        width: Int = 100, height: Int = 50, frames: Int = 1, samples: SampleFormat = .u8,
        outputs: [OutputGeometry]? = nil,
        shrinking: Shrinking? = nil, held: Int = 0
    ) -> ProbeReceipt {
        let source = ImageFacts(
            fileFormat: "png", width: width, height: height, layout: .rgb, format: samples, frames: frames)
        return ProbeReceipt(
            source: source, outputs: outputs ?? [OutputGeometry(extent: source.rect, frames: frames)],
            shrinking: shrinking, layout: .rgb, halo: Halo(horizontal: 0, vertical: 0),
            grid: TileGrid(extent: source.rect, tileWidth: 50, tileHeight: 50), tileSources: [], readAmplification: 1,
            isIdentity: false, passage: FramePassage(heldBecause: nil, bytes: held),
            cost: FrameCost(decode: 0, chain: 0, encode: 0))
    }

    @Test func `each pixel of the picture and its output counts as four samples`() {
        #expect(Self.probe().pixelBytes == 2 * 5000 * 4)
        #expect(Self.probe(samples: .u16).pixelBytes == 2 * 5000 * 4 * 2)
        #expect(Self.probe(samples: .f32).pixelBytes == 2 * 5000 * 4 * 4)
    }

    @Test func `all frames of an animation count, and what a worker holds`() {
        #expect(Self.probe(frames: 7).pixelBytes == 2 * 7 * 5000 * 4)
        #expect(Self.probe(held: 123).pixelBytes == 2 * 5000 * 4 + 123)
    }

    @Test func `the picture counts for each output, as large as in its file`() {
        let small = OutputGeometry(extent: PixelRect(x: 0, y: 0, width: 10, height: 5))
        #expect(Self.probe(outputs: [small, small, small]).pixelBytes == (3 * 5000 + 3 * 50) * 4)
        let shrinking = Shrinking(factor: 4, width: 400, height: 200)
        #expect(Self.probe(outputs: [small], shrinking: shrinking).pixelBytes == (80_000 + 50) * 4)
    }

    @Test func `a size that no file can have is no bound`() {
        #expect(Self.probe(width: 1 << 30, height: 1 << 30).pixelBytes == nil)
    }

    private static func probe(maxPixels: Int, chain: [FilterInvocation] = []) -> TaskSpec {
        .probe(
            ProbeTask(
                input: InputSpec(path: "/in.png", maxPixels: maxPixels, color: .keep), chain: chain, outputs: [],
                tile: .auto, tileMemory: 1, frameMemory: 1, digestsContent: false))
    }

    @Test func `before a probe, a picture may be as large as max_pixels allows`() {
        #expect(Self.probe(maxPixels: 1_000_000).largestPixelBytes == 16_000_000)
        #expect(Self.probe(maxPixels: .max).largestPixelBytes == nil)
        #expect(TaskSpec.compare(DigestTask(files: [DigestTask.File(path: "/in.png")])).largestPixelBytes == 0)
    }

    @Test func `a frame without a probe has as many pictures as inputs and outputs`() {
        let output = FrameTask.Output(
            OutputSpec(format: "png", save: SaveOptions()), temporaryPath: "/out/.a", name: "a.png")
        let frame = TaskSpec.frame(
            FrameTask(
                input: InputSpec(path: "/in.png", maxPixels: 1_000_000, color: .keep), chain: [],
                outputs: [output, output], tileMemory: 1, frameMemory: 1))
        #expect(frame.largestPixelBytes == 48_000_000)
    }
}
