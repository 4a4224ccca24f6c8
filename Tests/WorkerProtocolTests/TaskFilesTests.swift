import Catalogs
import FoundationEssentials
import Geometry
import JobModel
import Testing
import WorkerProtocol

/// The files that a coordinator opens for a task.
@Suite struct TaskFilesTests {
    private let digest = Digest(high: 1, low: 2)
    private let facts = ImageFacts(fileFormat: "png", width: 10, height: 10, layout: .rgb, format: .u8)

    private func input(_ path: String = "/in.png", scratch: String? = "/scratch") -> InputSpec {
        InputSpec(path: path, maxPixels: 1_000_000, color: .keep, scratchFolder: scratch)
    }

    private func output(_ format: String = "png", picture: String? = nil) -> OutputSpec {
        OutputSpec(chain: picture.map { [layer($0)] } ?? [], format: format, save: SaveOptions())
    }

    private func layer(_ picture: String) -> FilterInvocation {
        FilterInvocation(filter: "layer", values: ["picture": .picture(PictureReference(path: picture))])
    }

    private func files(_ spec: TaskSpec) -> [TaskFile] { spec.files(folderFormats: ["dzi"]) }

    private var canvas: CanvasReference {
        CanvasReference(
            path: "/scratch/1/canvas", rect: PixelRect(x: 0, y: 0, width: 10, height: 10), layout: .rgb, format: .u8,
            cells: digest)
    }

    private func written(_ path: String) -> OutputReceipt {
        OutputReceipt(
            path: path, digest: digest, bytes: 10, image: facts, bands: [],
            pixels: EncodedPixels(
                digest: digest,
                encoding: OutputEncoding(
                    encoder: "libpng", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0")))
    }

    @Test func `a frame has its input, its filters' pictures, and a file for each output that is written`() {
        let task = FrameTask(
            input: input(), chain: [layer("/logo.png"), layer("/mask.png")],
            outputs: [
                .init(output(picture: "/logo.png"), temporaryPath: "/out/.a", name: "a.png"),
                .init(output(), temporaryPath: nil, name: "b.png"),
                .init(output("dzi"), temporaryPath: "/out/.c", name: "c.dzi"),
                .init(output(picture: "/other.png"), temporaryPath: "/out/.d", name: "d.png"),
            ], tileMemory: 1, frameMemory: 1)
        #expect(
            files(.frame(task)) == [
                TaskFile("/in.png", .read), TaskFile("/scratch", .scratch), TaskFile("/logo.png", .read),
                TaskFile("/mask.png", .read), TaskFile("/other.png", .read), TaskFile("/out/.a", .create),
                TaskFile("/out/.d", .create),
            ])
    }

    @Test func `an input whose name is no UTF-8 is opened by its bytes`() {
        let path: [UInt8] = [0x2f, 0xff]
        let odd = InputSpec(path: "/?", bytes: path, maxPixels: 1, color: .keep)
        let task = ProbeTask(
            input: odd, chain: [], outputs: [output(picture: "/logo.png")], tile: .auto, tileMemory: 1, frameMemory: 1,
            digestsContent: true)
        #expect(
            files(.probe(task)) == [
                TaskFile(path: path, .read), TaskFile("", .scratch), TaskFile("/logo.png", .read),
            ])
        let digests = DigestTask(files: [.init(path: "/?", bytes: path), .init(path: "/b")])
        #expect(files(.compare(digests)) == [TaskFile(path: path, .read), TaskFile("/b", .read)])
    }

    @Test func `a canvas is made with its digests and its metadata`() {
        let task = CanvasTask(
            input: input(), chain: [], output: output(), canvasPath: "/scratch/1/canvas",
            metadataPath: "/scratch/1/metadata", expected: facts)
        #expect(
            files(.canvas(task)) == [
                TaskFile("/in.png", .read), TaskFile("/scratch", .scratch), TaskFile("/scratch/1/canvas", .createNew),
                TaskFile("/scratch/1/canvas.cells", .create), TaskFile("/scratch/1/metadata", .create),
            ])
    }

    @Test func `tiles, and canvases that a task reads, are not handed over`() {
        let tile = TileTask(canvas: canvas, chain: [], rect: canvas.rect, tilePath: "/scratch/1/tile-0")
        #expect(files(.tile(tile)) == [TaskFile("/scratch/1/tile-0", .createNew)])
        let masked = TileTask(canvas: canvas, chain: [layer("/mask.png")], rect: canvas.rect, tilePath: "/t")
        #expect(
            files(.tile(masked)) == [
                TaskFile("", .scratch), TaskFile("/mask.png", .read), TaskFile("/t", .createNew),
            ])
        func stitch(_ format: String) -> TaskSpec {
            .stitch(
                StitchTask(
                    extent: canvas.rect, layout: .rgb, format: .u8,
                    tiles: (0..<1000).map {
                        TileReceipt(rect: canvas.rect, digest: digest, path: "/scratch/1/tile-\($0)")
                    },
                    metadataPath: "/scratch/1/metadata", metadataDigest: digest, output: output(format),
                    temporaryPath: "/out/.a", name: "a"))
        }
        #expect(files(stitch("png")) == [TaskFile("/out/.a", .create)])
        #expect(files(stitch("dzi")) == [])
        let profile = SaveOptions(color: OutputColor(.profile(PictureReference(path: "/inks/a.icc"))))
        #expect(
            files(
                .stitch(
                    StitchTask(
                        extent: canvas.rect, layout: .rgb, format: .u8, tiles: [], metadataPath: "/m",
                        metadataDigest: digest, output: OutputSpec(format: "tiff", save: profile),
                        temporaryPath: "/out/.a", name: "a"))) == [
                    TaskFile("/inks/a.icc", .read), TaskFile("/out/.a", .create),
                ])
    }

    @Test func `an audit reads the input again, or the canvas`() {
        func audit(_ source: AuditTask.Source) -> TaskSpec {
            .audit(
                AuditTask(
                    source: source, chain: [], outputs: [.init(output(picture: "/mask.png"), bands: [])],
                    grid: TileGrid(extent: canvas.rect, tileWidth: 5, tileHeight: 5), tileMemory: 1, frameMemory: 1))
        }
        #expect(
            files(audit(.input(input()))) == [
                TaskFile("/in.png", .read), TaskFile("/scratch", .scratch), TaskFile("/mask.png", .read),
            ])
        #expect(files(audit(.canvas(canvas))) == [TaskFile("", .scratch), TaskFile("/mask.png", .read)])
    }

    @Test func `a check reads what was written, but for folders`() {
        let task = CheckTask(outputs: [
            .init(output(), expected: written("/out/.a")), .init(output("dzi"), expected: written("/out/.c")),
        ])
        #expect(files(.check(task)) == [TaskFile("", .scratch), TaskFile("/out/.a", .read)])
    }

    @Test func `a preview reads the pictures of all its chains, and the font of its labels`() {
        let task = PreviewTask(
            input: input(scratch: nil), chains: [[layer("/a.png")], [layer("/b.png")]], output: output(),
            others: [output(picture: "/c.png")],
            view: PreviewTask.View(x: .percent(50), y: .percent(50), width: 10, height: 10), comparison: .side,
            labels: PreviewTask.Labels(texts: [], font: PictureReference(path: "/font.ttf")),
            fileFormat: "png", path: "/preview.png", memory: 1)
        #expect(
            files(.preview(task)) == [
                TaskFile("/in.png", .read), TaskFile("", .scratch), TaskFile("/a.png", .read),
                TaskFile("/b.png", .read), TaskFile("/c.png", .read), TaskFile("/font.ttf", .read),
                TaskFile("/preview.png", .create),
            ])
    }

    private func frame(_ outputs: [(format: String, path: String)]) -> TaskSpec {
        .frame(
            FrameTask(
                input: InputSpec(path: "/in.png", maxPixels: 1, color: .keep), chain: [],
                outputs: outputs.map {
                    FrameTask.Output(
                        OutputSpec(format: $0.format, save: SaveOptions()), temporaryPath: $0.path, name: "a")
                }, tileMemory: 1, frameMemory: 1))
    }

    @Test
    func
        `an output that is a folder is created in the folder beside which it will be, and other outputs where they were`()
    {
        let task = frame([("dzi", "/out/sub/.a"), ("png", "/out/.b"), ("dzi", "/out/large/.c")])
        let folders = ["/out/.penumbra-1-folders", "/out/large/.penumbra-1-folders", "/other/.penumbra-1-folders"]
        let (spec, moves) = task.creatingFolders(in: folders, folderFormats: ["dzi"])
        #expect(
            spec
                == frame([
                    ("dzi", "/out/.penumbra-1-folders/.a"), ("png", "/out/.b"),
                    ("dzi", "/out/large/.penumbra-1-folders/.c"),
                ]))
        #expect(moves.map(\.source) == ["/out/.penumbra-1-folders/.a", "/out/large/.penumbra-1-folders/.c"])
        #expect(moves.map(\.target) == ["/out/sub/.a", "/out/large/.c"])
    }

    @Test func `an output that is in such a folder already, or beside none, stays`() {
        let task = frame([("dzi", "/run/scratch/1/a.dzi"), ("dzi", "/elsewhere/.b")])
        let (spec, moves) = task.creatingFolders(in: ["/run/scratch"], folderFormats: ["dzi"])
        #expect(spec == task)
        #expect(moves.isEmpty)
    }

    @Test func `an order may have more files than one message carries`() {
        let task = DigestTask(files: (0..<1000).map { .init(path: "/\($0)") })
        #expect(files(.compare(task)).count == 1000)
    }

    @Test func `an order comes back with its files`() throws {
        let sent = [
            SentFile(TaskFile(path: [0xff, 0], .createNew), .handed),
            SentFile(TaskFile("/scratch", .scratch), .failed(code: 28)),
        ]
        let order = Order.start(LeaseID(3), .compare(DigestTask(files: [])), sent)
        var buffer = FrameBuffer()
        buffer.append(try FrameCodec.encode(order))
        let body = try #require(try buffer.next())
        #expect(try FrameCodec.decode(Order.self, from: body) == order)
    }

    @Test func `a path is a text in an order, unless it is not UTF-8`() throws {
        func json(_ file: SentFile) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(file), as: UTF8.self)
        }
        #expect(try json(SentFile(TaskFile("/a ü", .read), .handed)) == #"{"path":"/a ü","use":"read"}"#)
        #expect(
            try json(SentFile(TaskFile(path: [0x2f, 0xff], .create), .failed(code: 13)))
                == #"{"bytes":[47,255],"code":13,"use":"create"}"#)
    }

    @Test func `two paths that look the same stay two paths`() throws {
        let composed = TaskFile("/\u{e9}", .read)
        let decomposed = TaskFile("/e\u{301}", .read)
        let sent = [SentFile(composed, .handed), SentFile(decomposed, .handed)]
        let order = Order.start(LeaseID(1), .compare(DigestTask(files: [])), sent)
        var buffer = FrameBuffer()
        buffer.append(try FrameCodec.encode(order))
        let body = try #require(try buffer.next())
        #expect(try FrameCodec.decode(Order.self, from: body) == order)
        #expect(composed != decomposed)
    }
}
