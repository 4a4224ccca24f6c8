import Geometry
package import JobModel
package import WorkerProtocol

/// Writes the orders of a job's tasks. Paths that an attempt writes carry its run, frame and attempt.
package struct TaskFactory: Hashable, Sendable {
    package let job: JobSpec
    /// Names temporary files; unique on this machine.
    package let runName: String
    /// Where canvases and tiles go, one folder a frame.
    package let scratchFolder: String
    package let tileMemory: Int
    package let frameMemory: Int

    package init(job: JobSpec, runName: String, scratchFolder: String, tileMemory: Int, frameMemory: Int) {
        self.job = job
        self.runName = runName
        self.scratchFolder = scratchFolder
        self.tileMemory = tileMemory
        self.frameMemory = frameMemory
    }

    package func scratchFolder(of frame: FrameID) -> String { "\(scratchFolder)/\(frame.number)" }

    /// Beside the final path, so that the rename stays on one filesystem. The leading dot keeps globs away from it.
    package func temporaryPath(of output: String, frame: FrameID, kind: TaskKind, attempt: Int) -> String {
        let slash = output.lastIndex(of: "/") ?? output.startIndex
        let mode = kind == .stitch ? "stitch" : "frame"
        return "\(output[..<slash])/.penumbra-\(runName)-\(frame.number)-\(mode)-\(attempt)"
    }

    package func input(_ order: FrameOrder) -> InputSpec {
        InputSpec(
            path: order.input, maxPixels: job.maxPixels, color: job.color,
            scratchFolder: scratchFolder.isEmpty ? nil : scratchFolder)
    }

    package func output(_ order: FrameOrder) -> OutputSpec {
        OutputSpec(format: order.format, save: job.save)
    }

    package func probe(_ order: FrameOrder) -> TaskSpec {
        .probe(
            ProbeTask(
                input: input(order), chain: job.chain, output: output(order), tile: job.tile, tileMemory: tileMemory,
                frameMemory: frameMemory, digestsContent: job.output.needsContent))
    }

    func frame(_ order: FrameOrder, to output: String, attempt: Int) -> TaskSpec {
        .frame(
            FrameTask(
                input: input(order), chain: job.chain, output: self.output(order), tileMemory: tileMemory,
                frameMemory: frameMemory,
                temporaryPath: temporaryPath(of: output, frame: order.id, kind: .frame, attempt: attempt)))
    }

    func canvas(_ order: FrameOrder, _ probe: ProbeReceipt, attempt: Int) -> TaskSpec {
        let folder = scratchFolder(of: order.id)
        return .canvas(
            CanvasTask(
                input: input(order), chain: job.chain, output: output(order), canvasPath: "\(folder)/canvas-\(attempt)",
                metadataPath: "\(folder)/metadata-\(attempt)", expected: probe.source))
    }

    func tile(_ index: Int, of order: FrameOrder, _ tiling: Tiling, attempt: Int) -> TaskSpec {
        .tile(
            TileTask(
                canvas: tiling.canvas.canvas, chain: job.chain, rect: tiling.probe.grid[index],
                tilePath: "\(scratchFolder(of: order.id))/tile-\(index)-\(attempt)"))
    }

    func stitch(_ order: FrameOrder, _ tiling: Tiling, to output: String, attempt: Int) -> TaskSpec {
        .stitch(
            StitchTask(
                extent: tiling.probe.extent, layout: tiling.probe.layout, format: tiling.probe.source.format,
                tiles: tiling.receipts.sorted { $0.key < $1.key }.map(\.value),
                metadataPath: tiling.canvas.metadataPath, output: self.output(order),
                temporaryPath: temporaryPath(of: output, frame: order.id, kind: .stitch, attempt: attempt)))
    }

    func audit(_ order: FrameOrder, _ rendered: Rendered) -> TaskSpec {
        let source: AuditTask.Source =
            switch rendered.canvas {
            case .some(let canvas): .canvas(canvas.canvas)
            case .none: .input(input(order))
            }
        return .audit(
            AuditTask(
                source: source, chain: job.chain, output: output(order), grid: rendered.probe.grid,
                bands: rendered.audited, frameMemory: frameMemory))
    }

    func check(_ order: FrameOrder, _ rendered: Rendered) -> TaskSpec {
        .check(CheckTask(path: rendered.receipt.path, output: output(order), expected: rendered.receipt))
    }
}
