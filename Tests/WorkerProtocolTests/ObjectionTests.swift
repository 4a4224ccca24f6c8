import Catalogs
import Geometry
import JobModel
import Testing
import WorkerProtocol

/// What is compared before anybody acts on a receipt.
@Suite struct ObjectionTests {
    private static let digest = Digest(high: 1, low: 2)
    private static let input = InputSpec(path: "/in.png", maxPixels: 1_000_000, color: .keep)
    private static let spec = OutputSpec(format: "png", save: SaveOptions())
    private static let picture = facts()
    private static let file = FileFacts(
        stamp: FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5), digest: digest)

    private static func facts(
        _ format: String = "png", width: Int = 100, height: Int = 300, frames: Int = 1
    ) -> ImageFacts {
        ImageFacts(fileFormat: format, width: width, height: height, layout: .rgb, format: .u8, frames: frames)
    }

    private static func written(
        _ path: String = "/out/.p-frame-1.1", bytes: Int = 10, image: ImageFacts = picture,
        bands: [Range<Int>] = [0..<256, 256..<300], frames: Int = 1, shrink: Int = 1,
        encoder: String = "libpng"
    ) -> OutputReceipt {
        OutputReceipt(
            path: path, digest: digest, bytes: bytes, image: image,
            bands: bands.map { BandReceipt(rows: $0, digest: digest) },
            pixels: EncodedPixels(
                digest: digest,
                encoding: OutputEncoding(
                    encoder: encoder, layout: .rgb, samples: .u8, frames: frames, shrink: shrink, penumbra: "0.1.0")))
    }

    private static let frame = TaskSpec.frame(
        FrameTask(
            input: input, chain: [],
            outputs: [
                FrameTask.Output(spec, temporaryPath: "/out/.p-frame-1.1", name: "a.png"),
                FrameTask.Output(spec, temporaryPath: nil, name: "b.png"),
            ], tileMemory: 1, frameMemory: 1))

    private static func probed(
        source: ImageFacts = picture, pages: Int = 1, extents: [PixelRect] = [picture.rect], frames: Int = 1,
        digest: Digest? = nil, shrinking: Shrinking? = nil, halo: Int = 3,
        grid: TileGrid = TileGrid(extent: picture.rect, tileWidth: 50, tileHeight: 300),
        sources: [[PixelRect]] = [[picture.rect], [picture.rect]], amplification: Double = 1, bytes: Int = 1,
        cost: Double = 1
    ) -> TaskReceipt {
        .probe(
            ProbeReceipt(
                source: source, pages: pages,
                outputs: extents.map { OutputGeometry(extent: $0, frames: frames, contentDigest: digest) },
                shrinking: shrinking, layout: .rgb, halo: Halo(horizontal: halo, vertical: 0), grid: grid,
                tileSources: sources, readAmplification: amplification, isIdentity: false,
                passage: FramePassage(heldBecause: nil, bytes: bytes),
                cost: FrameCost(decode: cost, chain: cost, encode: cost)))
    }

    private static let probe = TaskSpec.probe(
        ProbeTask(
            input: input, chain: [], outputs: [spec], tile: .auto, tileMemory: 1, frameMemory: 1, digestsContent: false)
    )

    @Test func `what fits is believed`() {
        #expect(Self.frame.objection(to: .outputs([Self.written()], of: Self.file)) == nil)
        #expect(Self.probe.objection(to: Self.probed()) == nil)
    }

    /// Its two outputs, one of them not written this time, are probed, too.
    private static func opening(mostSeconds: Double) -> TaskSpec {
        guard case .frame(let task) = frame else { return frame }
        return .frame(
            FrameTask(
                input: input, chain: [], outputs: task.outputs, tileMemory: 1, frameMemory: 1,
                opening: FrameTask.Opening(tile: .auto, mostSeconds: mostSeconds)))
    }

    @Test func `a task that opens a frame is answered by its probe, and by outputs only if the picture is small`() {
        guard case .probe(let probe) = Self.probed(extents: [Self.picture.rect, Self.picture.rect]),
            case .probe(let ofOneOutput) = Self.probed()
        else {
            Issue.record("these are probes")
            return
        }
        // They say that the picture takes three seconds.
        func objection(_ receipt: TaskReceipt, mostSeconds: Double = 3) -> String? {
            Self.opening(mostSeconds: mostSeconds).objection(to: receipt)
        }
        #expect(objection(.opened(probe, [Self.written()], of: Self.file)) == nil)
        #expect(objection(.probe(probe)) == nil)
        #expect(objection(.probe(probe), mostSeconds: 2.9) == nil)
        #expect(
            objection(.opened(probe, [Self.written()], of: Self.file), mostSeconds: 2.9)
                == "outputs of a picture of 30000 pixels; its probe alone was asked for")
        #expect(objection(.outputs([Self.written()], of: Self.file)) == "no probe, though it was asked for")
        #expect(objection(.opened(probe, [], of: Self.file)) == "0 outputs; 1 were asked for")
        #expect(
            objection(.opened(probe, [Self.written("/out/x")], of: Self.file))
                == "the file '/out/x', which it was not to write")
        #expect(
            objection(.opened(ofOneOutput, [Self.written()], of: Self.file)) == "1 outputs; 2 were asked about")
        #expect(Self.frame.objection(to: .probe(probe)) == "the receipt of another kind of task")
        #expect(
            Self.frame.objection(to: .opened(probe, [Self.written()], of: Self.file))
                == "the receipt of another kind of task")
    }

    @Test func `a page has its place among the pages of its file`() {
        let input = InputSpec(path: "/in.tif", maxPixels: 1_000_000, color: .keep, pages: .page(4))
        let probe = TaskSpec.probe(
            ProbeTask(
                input: input, chain: [], outputs: [Self.spec], tile: .auto, tileMemory: 1, frameMemory: 1,
                digestsContent: false))
        #expect(probe.objection(to: Self.probed(pages: 5)) == nil)
        #expect(probe.objection(to: Self.probed(pages: 4)) == "page 5 of a file of 4 pages")
    }

    @Test func `a shard adds its attempt to names, and an earlier attempt has other numbers`() {
        let ofShard = TaskReceipt.outputs([Self.written("/out/.p-frame-1.1.n2-7")], of: Self.file)
        let earlier = TaskReceipt.outputs([Self.written("/out/.p-frame-3.2.n2-7")], of: Self.file)
        #expect(Self.frame.objection(to: ofShard) == nil)
        #expect(Self.frame.objection(to: ofShard, by: .earlierWorker) == nil)
        #expect(Self.frame.objection(to: earlier) != nil)
        #expect(Self.frame.objection(to: earlier, by: .earlierWorker) == nil)
    }

    @Test(
        arguments: [
            "/home/me/key", "/out/a.png", "/out/.p-frame-1.1/../key", "/out/.p-frame-1.1./x", "/out/.p-frame-1.1.", "",
            "/out/.p-frame-", "/out/.q-frame-1.1", "/elsewhere/.p-frame-1.1",
        ], [TaskSpec.Doer.workerOfThisTask, .earlierWorker])
    func `no other file is believed in`(path: String, doer: TaskSpec.Doer) {
        // An earlier worker's name may end with a dot.
        if path == "/out/.p-frame-1.1.", doer == .earlierWorker { return }
        #expect(
            Self.frame.objection(to: .outputs([Self.written(path)], of: Self.file), by: doer)
                == "the file '\(path)', which it was not to write")
    }

    private static let most = Int.max
    /// Twice as high as the picture.
    private static let tall = PixelRect(x: 0, y: 0, width: 100, height: 600)

    @Test(
        arguments: [
            [], [written(), written()], [written(bytes: 0)], [written(bytes: -1)], [written(bytes: most)],
            [written(image: facts("jpeg"))], [written(image: facts(width: most))],
            [written(image: facts(height: most))],
            [written(image: facts(width: 0))], [written(image: facts(height: 301))],
            [written(image: facts(frames: most), frames: most)],
            [written(encoder: String(repeating: "x", count: 1001))], [written(frames: 2)], [written(shrink: 3)],
            [written(bands: [])], [written(bands: [0..<256])], [written(bands: [0..<256, 256..<most])],
            [written(bands: [256..<300, 0..<256])], [written(bands: [0..<300])],
        ] as [[OutputReceipt]])
    func `an output that was not asked for is no answer`(receipts: [OutputReceipt]) {
        #expect(Self.frame.objection(to: .outputs(receipts, of: Self.file)) != nil)
    }

    @Test(
        arguments: [
            probed(source: facts(width: most)), probed(source: facts(height: -1)), probed(pages: 0),
            probed(pages: most),
            probed(extents: []), probed(extents: [picture.rect, picture.rect]), probed(frames: 0), probed(frames: most),
            probed(extents: [PixelRect(x: most, y: 0, width: 100, height: 300)]), probed(digest: digest),
            probed(shrinking: Shrinking(factor: 3, width: 1, height: 1)),
            probed(shrinking: Shrinking(factor: 2, width: most, height: most)), probed(halo: most),
            probed(grid: TileGrid(extent: PixelRect(x: 0, y: 0, width: 1, height: 1), tileWidth: 1, tileHeight: 1)),
            probed(sources: []), probed(sources: [[picture.rect], [PixelRect(x: most, y: 0, width: most, height: 1)]]),
            probed(amplification: -1), probed(amplification: 1e300), probed(bytes: -1), probed(bytes: most),
            probed(cost: -1), probed(cost: 1e300), probed(cost: 5e6), probed(cost: .nan), probed(amplification: 1e12),
            probed(pages: 65_537), probed(source: facts(width: 1 << 27, height: 1 << 27)),
            probed(grid: TileGrid(extent: tall, tileWidth: 50, tileHeight: 600)),
            probed(sources: [[picture.rect], Array(repeating: picture.rect, count: 65_537)]),
            probed(sources: [[picture.rect], [PixelRect(x: 0, y: 0, width: 1 << 27, height: 1 << 31)]]), .check,
            .outputs([], of: nil),
        ] as [TaskReceipt])
    func `what no picture can be is no answer`(receipt: TaskReceipt) {
        #expect(Self.probe.objection(to: receipt) != nil)
    }

    @Test(arguments: [
        #"{"extent":{"x":0,"y":0,"width":100,"height":300},"tileWidth":0,"tileHeight":1}"#,
        #"{"extent":{"x":0,"y":0,"width":100,"height":300},"tileWidth":50,"tileHeight":-9223372036854775808}"#,
        #"{"extent":{"x":0,"y":0,"width":-100,"height":300},"tileWidth":50,"tileHeight":300}"#,
    ]) func `a grid that cannot be does not trap`(json: String) throws {
        let grid = try FrameCodec.decode(TileGrid.self, from: Array(json.utf8))
        #expect(Self.probe.objection(to: Self.probed(grid: grid)) == "tiles that do not cover the picture")
    }

    @Test func `frames of an animation are tiled alone, or together`() {
        let animated = Self.facts(frames: 3)
        let alone = Self.probed(source: animated, frames: 3)
        #expect(Self.probe.objection(to: alone) == nil)
        let together = Self.probed(
            frames: 2, grid: TileGrid(extent: Self.tall, tileWidth: 50, tileHeight: 600))
        #expect(Self.probe.objection(to: together) == nil)
    }

    private static let stitch = TaskSpec.stitch(
        StitchTask(
            extent: picture.rect, layout: .rgb, format: .u8,
            tiles: [TileReceipt(rect: picture.rect, digest: digest, path: "/s/tile-0-1.1")],
            metadataPath: "/s/metadata-1.1", metadataDigest: digest, output: spec,
            temporaryPath: "/out/.p-stitch-1.1", name: "a.png"))

    @Test(
        arguments: [
            (frame, TaskFailure.Kind.data, nil), (frame, .transient, nil),
            (frame, .damagedTile(index: 0), "a damaged tile that it never had"),
            (stitch, .damagedTile(index: 0), nil), (stitch, .damagedTile(index: 1), "a damaged tile that it never had"),
            (stitch, .damagedTile(index: -1), "a damaged tile that it never had"),
            (frame, .damagedCanvas, "a damaged canvas that it never had"), (stitch, .damagedCanvas, nil),
            (probe, .damagedCanvas, "a damaged canvas that it never had"),
            (frame, .mismatch, "other pixels, which it was not to compare"), (stitch, .mismatch, nil),
            (frame, .plugin("gone"), "that it is in the plugin 'gone', which is not in its chain"),
        ] as [(TaskSpec, TaskFailure.Kind, String?)])
    func `a failure is one that its task can have`(task: TaskSpec, kind: TaskFailure.Kind, objection: String?) {
        #expect(task.objection(to: TaskFailure(kind, "no")) == objection)
    }

    @Test func `only a plugin of the chain is a plugin's fault`() {
        let task = TaskSpec.tile(
            TileTask(
                canvas: CanvasReference(path: "/s/canvas", rect: .empty, layout: .rgb, format: .u8),
                chain: ["grain", "gaussian"].map { FilterInvocation(filter: $0, values: [:]) }, rect: .empty,
                tilePath: "/s/tile"))
        func objection(_ name: String) -> String? {
            task.objection(to: TaskFailure(.plugin(name), "no"), plugins: ["grain", "halftone"])
        }
        #expect(objection("grain") == nil)
        #expect(objection("gaussian") != nil)
        #expect(objection("halftone") != nil)
        #expect(task.objection(toPlugins: ["grain"], nil) == nil)
        #expect(task.objection(toPlugins: [], nil) == nil)
        #expect(task.objection(toPlugins: ["grain", "evil"], nil) != nil)
    }

    @Test(arguments: [(299, false), (300, true), (30_000, true), (0, false), (-1, false), (most, false)])
    func `an audit is of the rows that were asked for`(pixels: Int, isBelieved: Bool) {
        let bands = [0..<256, 256..<300].map { BandReceipt(rows: $0, digest: Self.digest) }
        let audit = TaskSpec.audit(
            AuditTask(
                source: .input(Self.input), chain: [], outputs: [AuditTask.Output(Self.spec, bands: bands)],
                grid: TileGrid(extent: Self.picture.rect, tileWidth: 50, tileHeight: 300), tileMemory: 1,
                frameMemory: 1))
        #expect((audit.objection(to: .audit(AuditReceipt(pixels: pixels))) == nil) == isBelieved)
    }

    @Test func `an output has the size that was foretold, unless the picture has changed`() throws {
        guard case .probe(var probe) = Self.probed() else { return }
        let small = Self.written(image: Self.facts(width: 1, height: 1), bands: [0..<1])
        func objection(_ receipt: OutputReceipt, _ stamp: FileStamp = Self.file.stamp) -> String? {
            probe.objection(to: [receipt], of: FileFacts(stamp: stamp, digest: Self.digest), parts: [0])
        }
        #expect(objection(small) == nil, "nobody knows what it was")
        probe.stamp = Self.file.stamp
        #expect(objection(Self.written()) == nil)
        #expect(
            objection(small)
                == "a picture of 1×1 pixels and 1 frames; 100×300 and 1 were foretold")
        let later = FileStamp(device: 1, inode: 2, size: 3, modified: 5, changed: 5)
        #expect(objection(small, later) == nil)
    }

    @Test func `a preview shows a part of its picture`() {
        let preview = TaskSpec.preview(
            PreviewTask(
                input: Self.input, chains: [[]], output: Self.spec, others: [],
                view: PreviewTask.View(x: .pixels(0), y: .pixels(0), width: 50, height: 50), comparison: nil,
                fileFormat: "png", path: "/tmp/p.png", memory: 1))
        func shown(_ part: PixelRect, width: Int = 100, height: Int = 300) -> TaskReceipt {
            .preview(
                PreviewReceipt(
                    panels: [PreviewReceipt.Panel(part: part, width: width, height: height)], image: Self.picture))
        }
        #expect(preview.objection(to: shown(PixelRect(x: 50, y: 250, width: 50, height: 50))) == nil)
        for lie in [
            shown(PixelRect(x: 51, y: 250, width: 50, height: 50)),
            shown(PixelRect(x: -Self.most / 2, y: 0, width: 50, height: 50)),
            shown(.empty, width: 0, height: 0), shown(.empty, width: 1 << 27, height: 1 << 27),
        ] {
            #expect(preview.objection(to: lie) == "a part of impossible size")
        }
    }

    private static let trim = FilterInvocation(filter: "trim", values: [:], measures: .part)
    private static let deskew = FilterInvocation(filter: "deskew", values: [:], measures: .angle)
    private static let part = PixelRect(x: 5, y: 6, width: 20, height: 30)

    private static func measured(
        _ measurements: [Measurement], for filters: [FilterInvocation] = [trim, deskew]
    ) -> MeasuredFilters {
        MeasuredFilters(filters: filters, measurements: measurements)
    }

    private static let possible = [measured([.part(part)], for: [trim]), measured([.part(part), .angle(-1.5)])]

    /// The common chain trims, and an output is straightened, too.
    private func objection(to measured: [MeasuredFilters]?) -> String? {
        let probe = TaskSpec.probe(
            ProbeTask(
                input: Self.input, chain: [Self.trim],
                outputs: [
                    OutputSpec(
                        chain: [Self.deskew, FilterInvocation(filter: "gaussian", values: [:])], format: "png",
                        save: SaveOptions()), Self.spec,
                ], tile: .auto, tileMemory: 1, frameMemory: 1, digestsContent: false))
        guard case .probe(var receipt) = Self.probed(extents: [Self.picture.rect, Self.picture.rect]) else { return "" }
        receipt.measured = measured
        return probe.objection(to: .probe(receipt))
    }

    @Test func `measurements are for the first filters of the chains, and for all of them`() {
        #expect(objection(to: Self.possible) == nil)
        let others = "measurements for other filters"
        #expect(objection(to: nil) == others)
        #expect(objection(to: []) == others)
        #expect(objection(to: Self.possible.dropLast()) == others)
        #expect(objection(to: Self.possible.reversed()) == others)
        #expect(objection(to: [Self.possible[0], Self.measured([.part(Self.part)])]) == others)
        #expect(objection(to: [Self.possible[0], Self.measured([.angle(1), .part(nil)])]) == others)
        guard case .probe(var receipt) = Self.probed() else { return }
        receipt.measured = Self.possible
        #expect(Self.probe.objection(to: .probe(receipt)) == others, "nothing was to be measured")
    }

    @Test(
        arguments: [
            .part(PixelRect(x: 0, y: 0, width: 0, height: 3)), .part(PixelRect(x: -1, y: 0, width: 5, height: 5)),
            .part(PixelRect(x: 90, y: 0, width: 11, height: 5)), .part(PixelRect(x: .max, y: 0, width: 1, height: 1)),
        ] as [Measurement])
    func `a part lies in the picture`(part: Measurement) {
        #expect(
            objection(to: [Self.measured([part], for: [Self.trim]), Self.possible[1]]) == "an impossible measurement")
    }

    @Test(arguments: [Double.nan, .infinity, 45.1, -46])
    func `an angle is a small one`(angle: Double) {
        #expect(
            objection(to: [Self.possible[0], Self.measured([.part(nil), .angle(angle)])]) == "an impossible measurement"
        )
    }

    @Test func `a canvas has the measurements that its tiles were planned for`() {
        let input = InputSpec(
            path: "/in.png", maxPixels: 1000, color: .keep,
            measured: MeasuredPicture([Self.measured([.part(Self.part)], for: [Self.trim])], stamp: nil))
        func task(_ input: InputSpec, _ chain: [FilterInvocation]) -> TaskSpec {
            .canvas(
                CanvasTask(
                    input: input, chain: chain, output: Self.spec, canvasPath: "/s/canvas-1.1",
                    metadataPath: "/s/metadata-1.1", expected: Self.picture))
        }
        func filled(_ measurements: [Measurement]?) -> TaskReceipt {
            .canvas(
                CanvasReceipt(
                    canvas: CanvasReference(
                        path: "/s/canvas-1.1", rect: Self.picture.rect, layout: .rgb, format: .u8, cells: Self.digest,
                        measurements: measurements),
                    metadataPath: "/s/metadata-1.1", metadataDigest: Self.digest, source: Self.file))
        }
        let trimmed = task(input, [Self.trim])
        #expect(trimmed.objection(to: filled([.part(Self.part)])) == nil)
        #expect(trimmed.objection(to: filled([.part(nil)])) == "a canvas with other measurements")
        #expect(trimmed.objection(to: filled(nil)) == "a canvas with other measurements")
        #expect(task(Self.input, []).objection(to: filled(nil)) == nil)
        #expect(task(Self.input, []).objection(to: filled([.angle(1)])) == "a canvas with other measurements")
    }

    @Test func `a canvas has the metadata that texts ask for, and no other`() {
        func canvas(_ pieces: [TextTemplate.Piece]) -> TaskSpec {
            .canvas(
                CanvasTask(
                    input: Self.input,
                    chain: [FilterInvocation(filter: "text", values: ["text": .template(TextTemplate(pieces))])],
                    output: Self.spec, canvasPath: "/s/canvas-1.1", metadataPath: "/s/metadata-1.1",
                    expected: Self.picture))
        }
        func filled(_ exif: [String: String]?) -> TaskReceipt {
            .canvas(
                CanvasReceipt(
                    canvas: CanvasReference(
                        path: "/s/canvas-1.1", rect: Self.picture.rect, layout: .rgb, format: .u8, cells: Self.digest,
                        exif: exif), metadataPath: "/s/metadata-1.1", metadataDigest: Self.digest, source: Self.file))
        }
        let asking = canvas([.literal("ISO "), .exif(.iso)])
        #expect(asking.objection(to: filled(["exif.iso": "ISO 400"])) == nil)
        #expect(asking.objection(to: filled([:])) == nil)
        #expect(asking.objection(to: filled(["exif.lens": "x"])) == "metadata that were not asked for")
        #expect(
            asking.objection(to: filled(["exif.iso": String(repeating: "x", count: 1001)])) == "a text of 1001 bytes")
        #expect(canvas([.literal("a")]).objection(to: filled(["exif.iso": "x"])) != nil)
        #expect(canvas([.literal("a")]).objection(to: filled(nil)) == nil)
    }

    @Test func `canvases, tiles, and joined pictures are those of the task`() {
        let reference = CanvasReference(
            path: "/s/canvas-1.1", rect: Self.picture.rect, layout: .rgb, format: .u8, cells: Self.digest)
        let canvas = TaskSpec.canvas(
            CanvasTask(
                input: Self.input, chain: [], output: Self.spec, canvasPath: "/s/canvas-1.1",
                metadataPath: "/s/metadata-1.1", expected: Self.picture))
        func filled(_ reference: CanvasReference, _ metadata: String = "/s/metadata-1.1") -> TaskReceipt {
            .canvas(
                CanvasReceipt(
                    canvas: reference, metadataPath: metadata, metadataDigest: Self.digest, source: Self.file))
        }
        #expect(canvas.objection(to: filled(reference)) == nil)
        #expect(canvas.objection(to: filled(reference, "/etc/passwd")) != nil)
        for (path, rect, cells) in [
            ("/etc/passwd", Self.picture.rect, Self.digest), ("/s/canvas-1.1", .empty, Self.digest),
            ("/s/canvas-1.1", Self.picture.rect, nil),
        ] as [(String, PixelRect, Digest?)] {
            let other = CanvasReference(path: path, rect: rect, layout: .rgb, format: .u8, cells: cells)
            #expect(canvas.objection(to: filled(other)) != nil)
        }
        let frame = CanvasReference(
            path: "/s/canvas-1.1", rect: Self.picture.rect, layout: .rgb, format: .u8, cells: Self.digest, frame: 3)
        #expect(canvas.objection(to: filled(frame)) == "a canvas of another frame")
        let ofFrame = TaskSpec.canvas(
            CanvasTask(
                input: InputSpec(path: "/in/a.gif", maxPixels: 1000, color: .keep, pages: .page(3)), chain: [],
                output: Self.spec, canvasPath: "/s/canvas-1.1", metadataPath: "/s/metadata-1.1", expected: Self.picture)
        )
        #expect(ofFrame.objection(to: filled(frame)) == nil)
        let rect = PixelRect(x: 0, y: 0, width: 5, height: 5)
        let tile = TaskSpec.tile(TileTask(canvas: reference, chain: [], rect: rect, tilePath: "/s/tile-0-1.1"))
        func rendered(_ rect: PixelRect, _ path: String) -> TaskReceipt {
            .tile(TileReceipt(rect: rect, digest: Self.digest, path: path))
        }
        #expect(tile.objection(to: rendered(rect, "/s/tile-0-1.1")) == nil)
        #expect(tile.objection(to: rendered(rect, "/s/tile-1-1.1")) != nil)
        #expect(tile.objection(to: rendered(.empty, "/s/tile-0-1.1")) == "a tile that was not asked for")
        let stitch = TaskSpec.stitch(
            StitchTask(
                extent: Self.picture.rect, layout: .rgb, format: .u8, tiles: [], metadataPath: "/s/metadata-1.1",
                metadataDigest: Self.digest, output: Self.spec, temporaryPath: "/out/.p-stitch-1.1", name: "a.png"))
        #expect(stitch.objection(to: .outputs([Self.written("/out/.p-stitch-1.1")], of: nil)) == nil)
        #expect(stitch.objection(to: .outputs([Self.written("/out/.p-stitch-1.1")], of: Self.file)) != nil)
        let other = Self.written("/out/.p-stitch-1.1", image: Self.facts(width: 99))
        #expect(stitch.objection(to: .outputs([other], of: nil)) != nil)
    }

    @Test func `texts of receipts are as short as those of workers`() {
        let long = Self.facts(String(repeating: "x", count: 101))
        #expect(Self.probe.objection(to: Self.probed(source: long)) == "a format's name of 101 bytes")
        guard case .probe(var probe) = Self.probed() else { return }
        probe.losses = [.cmyk, .doubles]
        #expect(Self.probe.objection(to: .probe(probe)) == nil)
        probe.losses = [.cmyk, .cmyk]
        #expect(Self.probe.objection(to: .probe(probe)) == "a property of the picture that is lost twice")
        let held = ProbeReceipt(
            source: Self.picture, pages: 1, outputs: probe.outputs, shrinking: nil, layout: .rgb,
            halo: Halo(horizontal: 3, vertical: 0), grid: probe.grid, tileSources: probe.tileSources,
            readAmplification: 1, isIdentity: false,
            passage: FramePassage(heldBecause: String(repeating: "x", count: 2001), bytes: 1),
            cost: FrameCost(decode: 1, chain: 1, encode: 1))
        #expect(Self.probe.objection(to: .probe(held)) == "a reason of 2001 bytes")
    }

    @Test func `a failure says what it says in a few sentences`() throws {
        let text = String(repeating: "x", count: TaskFailure.longestMessage + 1)
        let json = #"{"kind":{"data":{}},"message":"\#(text)"}"#
        let failure = try FrameCodec.decode(TaskFailure.self, from: Array(json.utf8))
        #expect(Self.frame.objection(to: failure) == "a failure with a message of 16001 bytes")
        #expect(Self.frame.objection(to: TaskFailure(.data, text)) == nil, "it was cut where it was made")
    }

    @Test func `a worker is in each plugin once`() {
        let task = TaskSpec.tile(
            TileTask(
                canvas: CanvasReference(path: "/s/canvas", rect: .empty, layout: .rgb, format: .u8),
                chain: [FilterInvocation(filter: "grain", values: [:])], rect: .empty, tilePath: "/s/tile"))
        #expect(task.objection(toPlugins: ["grain", "grain"], nil) == "that it is in one plugin twice")
    }

    /// A worker chooses the name, and the sentence goes into a log.
    @Test func `of a long name the begin is shown`() {
        let (long, shown) = (String(repeating: "x", count: 5000), String(repeating: "x", count: 200))
        #expect(
            Self.frame.objection(to: .outputs([Self.written(long)], of: Self.file))
                == "the file '\(shown)', which it was not to write")
        #expect(
            Self.frame.objection(toPlugins: [long], nil)
                == "that it is in the plugin '\(shown)', which is not in its chain")
    }

    @Test(arguments: ["", "12", "00000000000000010000000000000002ff", "0000000000000001000000000000000g"])
    func `a digest has 32 hexadecimal digits`(text: String) {
        #expect(throws: FrameCodecError.self) {
            try FrameCodec.decode([Digest].self, from: Array("[\"\(text)\"]".utf8))
        }
    }
}
