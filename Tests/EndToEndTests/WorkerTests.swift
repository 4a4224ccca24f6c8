import Catalogs
import Foundation
import Geometry
import JobModel
import Testing
import WorkerProtocol

/// A real worker process, given orders by hand.
@Suite(.serialized) struct WorkerTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("a.png", width: 90, height: 60)
    }

    private let chain = [FilterInvocation(filter: "gaussian", values: ["radius": .number(3)])]
    private let output = OutputSpec(format: "png", save: SaveOptions())

    private func path(_ name: String) -> String { "\(workspace.path)/\(name)" }

    private var input: InputSpec { InputSpec(path: path("a.png"), maxPixels: 1_000_000, color: .keep) }

    private var facts: ImageFacts {
        ImageFacts(fileFormat: "png", width: 90, height: 60, layout: .rgb, format: .u8)
    }

    /// Fills a canvas and renders two tiles of it.
    private func tiles(_ worker: WorkerConversation) throws -> (CanvasReceipt, [TileReceipt]) {
        let canvas = CanvasTask(
            input: input, chain: [], output: output, canvasPath: path("canvas"), metadataPath: path("metadata"),
            expected: facts)
        guard case .finished(_, .canvas(let filled)) = try worker.ask(.canvas(canvas)) else { throw Unexpected() }
        let grid = TileGrid(extent: facts.rect, tileWidth: 50, tileHeight: 60)
        let receipts = try grid.tiles.enumerated().map { index, rect in
            let task = TileTask(canvas: filled.canvas, chain: chain, rect: rect, tilePath: path("tile-\(index)"))
            guard case .finished(_, .tile(let receipt)) = try worker.ask(.tile(task)) else { throw Unexpected() }
            return receipt
        }
        return (filled, receipts)
    }

    private struct Unexpected: Error {}

    private func stitch(_ canvas: CanvasReceipt, _ tiles: [TileReceipt]) -> TaskSpec {
        .stitch(
            StitchTask(
                extent: facts.rect, layout: .rgb, format: .u8, tiles: tiles, metadataPath: canvas.metadataPath,
                metadataDigest: canvas.metadataDigest,
                output: output, temporaryPath: path("out.png"), name: "out.png"))
    }

    @Test func `a bit that flips in a tile file is found by the stitch, which names the tile`() throws {
        let worker = try WorkerConversation(in: workspace)
        let (canvas, receipts) = try tiles(worker)
        var bytes = try workspace.read("tile-1")
        bytes[1000] ^= 4
        try workspace.write(bytes, to: "tile-1")
        guard case .failed(_, let failure) = try worker.ask(stitch(canvas, receipts)) else { throw Unexpected() }
        #expect(failure.kind == .damagedTile(index: 1))
        #expect(failure.message == "the tile 40×60 at 50,0 does not hold the pixels that were rendered")
        #expect(!workspace.exists("out.png"))
    }

    @Test func `a tile file that was cut or is gone is found by the stitch`() throws {
        let worker = try WorkerConversation(in: workspace)
        let (canvas, receipts) = try tiles(worker)
        try workspace.write(try workspace.read("tile-0").dropLast(), to: "tile-0")
        guard case .failed(_, let cut) = try worker.ask(stitch(canvas, receipts)) else { throw Unexpected() }
        #expect(cut.kind == .damagedTile(index: 0))
        try FileManager.default.removeItem(atPath: path("tile-0"))
        guard case .failed(_, let gone) = try worker.ask(stitch(canvas, receipts)) else { throw Unexpected() }
        #expect(gone.kind == .damagedTile(index: 0))
    }

    @Test func `the stitch refuses gaps and overlaps`() throws {
        let worker = try WorkerConversation(in: workspace)
        let (canvas, receipts) = try tiles(worker)
        guard case .failed(_, let gap) = try worker.ask(stitch(canvas, [receipts[0]])) else { throw Unexpected() }
        #expect(gap == TaskFailure(.mismatch, "the tiles leave 2400 pixels out"))
        guard case .failed(_, let overlap) = try worker.ask(stitch(canvas, receipts + [receipts[0]])) else {
            throw Unexpected()
        }
        #expect(overlap == TaskFailure(.mismatch, "the tiles 50×60 at 0,0 and 50×60 at 0,0 overlap"))
    }

    @Test func `an audit finds a band that is not what was rendered`() throws {
        let worker = try WorkerConversation(in: workspace)
        let task = FrameTask(
            input: input, chain: chain, outputs: [.init(output, temporaryPath: path("out.png"), name: "out.png")],
            tileMemory: 1 << 28,
            frameMemory: 1 << 28)
        guard case .finished(_, .outputs(let receipts, _)) = try worker.ask(.frame(task)) else { throw Unexpected() }
        let receipt = receipts[0]
        let grid = TileGrid(extent: facts.rect, tileWidth: 40, tileHeight: 40)
        func audit(_ bands: [BandReceipt]) throws -> Report {
            try worker.ask(
                .audit(
                    AuditTask(
                        source: .input(input), chain: chain, outputs: [.init(output, bands: bands)], grid: grid,
                        tileMemory: 1 << 28, frameMemory: 1 << 30)))
        }
        guard case .finished(_, .audit(let audited)) = try audit(receipt.bands) else { throw Unexpected() }
        #expect(audited.pixels == 90 * 60)
        let lie = BandReceipt(rows: 0..<60, digest: Digest(high: 1, low: 1))
        guard case .failed(_, let failure) = try audit([lie]) else { throw Unexpected() }
        #expect(failure == TaskFailure(.mismatch, "rows 0–59 came out different when they were rendered again"))
    }

    @Test func `a task that probes its frame, too, renders it only if it is small`() throws {
        let worker = try WorkerConversation(in: workspace)
        func ask(mostSeconds: Double?, _ name: String) throws -> TaskReceipt {
            let task = FrameTask(
                input: input, chain: chain, outputs: [.init(output, temporaryPath: path(name), name: name)],
                tileMemory: 1 << 28, frameMemory: 1 << 28,
                opening: mostSeconds.map { FrameTask.Opening(tile: .auto, mostSeconds: $0) })
            guard case .finished(_, let receipt) = try worker.ask(.frame(task)) else { throw Unexpected() }
            return receipt
        }
        let question = ProbeTask(
            input: input, chain: chain, outputs: [output], tile: .auto, tileMemory: 1 << 28, frameMemory: 1 << 28,
            digestsContent: false)
        guard case .finished(_, .probe(let asked)) = try worker.ask(.probe(question)),
            case .outputs(let apart, let source) = try ask(mostSeconds: nil, "apart.png"),
            case .opened(let probe, let together, let read) = try ask(mostSeconds: 10, "together.png"),
            case .probe(let alone) = try ask(mostSeconds: 0, "alone.png")
        else { throw Unexpected() }
        #expect(probe == asked && alone == asked)
        #expect(read == source)
        #expect(together[0].digest == apart[0].digest && together[0].bands == apart[0].bands)
        #expect(
            try Data(contentsOf: URL(filePath: path("together.png")))
                == Data(contentsOf: URL(filePath: path("apart.png"))))
        #expect(FileManager.default.contents(atPath: path("alone.png"))?.isEmpty ?? true)
    }

    @Test func `a check finds a file that does not decode to what was rendered`() throws {
        let worker = try WorkerConversation(in: workspace)
        let task = FrameTask(
            input: input, chain: chain, outputs: [.init(output, temporaryPath: path("out.png"), name: "out.png")],
            tileMemory: 1 << 28,
            frameMemory: 1 << 28)
        guard case .finished(_, .outputs(let receipts, _)) = try worker.ask(.frame(task)) else { throw Unexpected() }
        let receipt = receipts[0]
        let check = TaskSpec.check(CheckTask(outputs: [.init(output, expected: receipt)]))
        guard case .finished(_, .check) = try worker.ask(check) else { throw Unexpected() }
        try FileManager.default.removeItem(atPath: path("out.png"))
        try FileManager.default.copyItem(atPath: path("a.png"), toPath: path("out.png"))
        guard case .failed(_, let failure) = try worker.ask(check) else { throw Unexpected() }
        #expect(failure == TaskFailure(.mismatch, "the written file does not hold the bytes that were written"))
        // An encoder that lies: the bytes are those that it wrote, and decode to other pixels.
        guard
            case .finished(_, .compare(let files)) = try worker.ask(
                .compare(DigestTask(files: [.init(path: path("out.png"))]))),
            let found = files[0]
        else { throw Unexpected() }
        let lie = OutputReceipt(
            path: receipt.path, digest: found.digest, bytes: found.stamp.size, image: receipt.image,
            bands: receipt.bands, pixels: receipt.pixels)
        let lying = TaskSpec.check(CheckTask(outputs: [.init(output, expected: lie)]))
        guard case .failed(_, let second) = try worker.ask(lying) else { throw Unexpected() }
        #expect(second == TaskFailure(.mismatch, "the written file does not decode to the pixels that were rendered"))
    }
}
