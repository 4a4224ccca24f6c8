import Geometry
package import JobModel
package import WorkerProtocol

/// Builds the orders of a job's tasks. Paths that an attempt writes contain its run, frame and attempt.
package struct TaskFactory: Hashable, Sendable {
    package let job: JobSpec
    private var syncs: Bool { job.durability == .file }
    /// Part of the names of temporary files. Unique on this machine.
    package let runName: String
    /// The epoch of the run's coordinator: a worker that outlived an earlier one never writes to this one's files.
    package let epoch: Int
    /// The folder for canvases and tiles, with one folder for each frame.
    package let scratchFolder: String
    package let tileMemory: Int
    package let frameMemory: Int
    /// Like in ``InputSpec``.
    private let shrink: Int?

    package init(
        job: JobSpec, runName: String, epoch: Int = 1, scratchFolder: String, tileMemory: Int, frameMemory: Int,
        shrink: Int? = nil
    ) {
        self.shrink = shrink
        self.job = job
        self.runName = runName
        self.epoch = epoch
        self.scratchFolder = scratchFolder
        self.tileMemory = tileMemory
        self.frameMemory = frameMemory
    }

    package func scratchFolder(of frame: FrameID) -> String { "\(scratchFolder)/\(frame.name)" }

    /// A path beside the final path, so that the rename stays on one file system. The leading dot hides it from globs.
    package func temporaryPath(
        of output: String, _ index: Int = 0, frame: FrameID, kind: TaskKind, attempt: Int
    ) -> String {
        let mode = kind == .stitch ? "stitch" : "frame"
        let part = index == 0 ? "" : "-\(index)"
        return
            "\(PathNames.folder(of: output) ?? "")/.penumbra-\(runName)-\(frame.name)\(part)-\(mode)-\(epoch).\(attempt)"
    }

    /// - Parameter probe: the receipt of the frame's probe. Nil if the worker has to measure the picture itself.
    package func input(_ order: FrameOrder, measuredBy probe: ProbeReceipt? = nil) -> InputSpec {
        InputSpec(
            path: order.input, bytes: order.inputBytes, maxPixels: job.maxPixels, color: job.color,
            scratchFolder: scratchFolder.isEmpty ? nil : scratchFolder, pages: order.pages, shrink: shrink,
            dpi: job.dpi, measured: probe?.measuredPicture)
    }

    /// The filters that all outputs share. With a single output, all its filters. Empty if each output is an animation,
    /// because an animation needs the picture before its filters, too.
    private func chain(_ order: FrameOrder) -> [FilterInvocation] {
        let variant = variant(order)
        if variant.outputs.count == 1 { return whole(variant.outputs[0], order) }
        return variant.isAnimated ? [] : variant.chain
    }

    /// All filters of an output.
    private func whole(_ output: JobOutput, _ order: FrameOrder) -> [FilterInvocation] {
        let chain = variant(order).chain + output.ownChain
        if case .frame(let frame) = order.pages { return chain.showing(frame: frame) }
        return chain
    }

    private func variant(_ order: FrameOrder) -> FrameVariant {
        order.variant ?? FrameVariant(chain: job.chain, outputs: job.outputs)
    }

    func filterCount(_ order: FrameOrder) -> Int {
        let variant = variant(order)
        return variant.outputs.reduce(variant.chain.count) { $0 + $1.ownChain.count }
    }

    package func outputs(_ order: FrameOrder) -> [OutputSpec] {
        let variant = variant(order)
        return zip(variant.outputs, order.formats).map { output, format in
            let rest = variant.isAnimated ? whole(output, order) : output.chain
            return OutputSpec(chain: variant.outputs.count == 1 ? [] : rest, format: format, save: output.save)
        }
    }

    /// The output of a frame that is tiled. Such a frame has no other.
    private func output(_ order: FrameOrder) -> OutputSpec { outputs(order)[0] }

    package func probe(_ order: FrameOrder) -> TaskSpec {
        .probe(
            ProbeTask(
                input: input(order), chain: chain(order), outputs: outputs(order), tile: job.tile,
                tileMemory: tileMemory,
                frameMemory: frameMemory, digestsContent: job.needsContent))
    }

    /// - Parameters:
    ///   - probe: The receipt of its probe, if it has measured the picture for this task.
    ///   - opening: Nil if the frame was probed.
    func frame(
        _ order: FrameOrder, to paths: [String?], attempt: Int, as kind: TaskKind = .frame,
        probe: ProbeReceipt? = nil, opening: FrameTask.Opening? = nil
    ) -> TaskSpec {
        let outputs = zip(outputs(order), paths).enumerated().map { index, output in
            FrameTask.Output(
                output.0,
                temporaryPath: output.1.map {
                    temporaryPath(of: $0, index, frame: order.id, kind: kind, attempt: attempt)
                }, name: output.1.map(PathNames.last) ?? "")
        }
        return .frame(
            FrameTask(
                input: input(order, measuredBy: probe), chain: chain(order), outputs: outputs, tileMemory: tileMemory,
                frameMemory: frameMemory, opening: opening, syncs: syncs))
    }

    /// Whether probes of the frame decode its picture.
    func isMeasured(_ order: FrameOrder) -> Bool {
        !ProbeTask.measuredFilters(chain(order), outputs(order)).isEmpty
    }

    /// For a task that probes and renders a frame. Nil if a task of its own has to probe it: its file is not small, the digest of its file is
    /// needed before, the picture is measured, or filters read pictures. A small file may have a large picture.
    func opening(_ order: FrameOrder, mostSeconds: Double) -> FrameTask.Opening? {
        let chains = [chain(order)] + outputs(order).map(\.chain)
        guard order.hasSmallFile, !job.needsContent, !isMeasured(order), chains.allSatisfy(\.picturePaths.isEmpty)
        else { return nil }
        return FrameTask.Opening(tile: job.tile, mostSeconds: mostSeconds)
    }

    func canvas(_ order: FrameOrder, _ probe: ProbeReceipt, attempt: Int) -> TaskSpec {
        let folder = scratchFolder(of: order.id)
        return .canvas(
            CanvasTask(
                input: input(order, measuredBy: probe), chain: chain(order), output: output(order),
                canvasPath: "\(folder)/canvas-\(epoch).\(attempt)",
                metadataPath: "\(folder)/metadata-\(epoch).\(attempt)", expected: probe.source))
    }

    func tile(_ index: Int, of order: FrameOrder, _ tiling: Tiling, attempt: Int) -> TaskSpec {
        .tile(
            TileTask(
                canvas: tiling.canvas.canvas, chain: chain(order), rect: tiling.probe.grid[index],
                tilePath: "\(scratchFolder(of: order.id))/tile-\(index)-\(epoch).\(attempt)"))
    }

    func stitch(_ order: FrameOrder, _ tiling: Tiling, to output: String, attempt: Int) -> TaskSpec {
        .stitch(
            StitchTask(
                extent: tiling.probe.extent, layout: tiling.probe.layout, format: tiling.probe.source.format,
                tiles: tiling.receipts.sorted { $0.key < $1.key }.map(\.value),
                metadataPath: tiling.canvas.metadataPath, metadataDigest: tiling.canvas.metadataDigest,
                output: self.output(order),
                temporaryPath: temporaryPath(of: output, frame: order.id, kind: .stitch, attempt: attempt),
                name: PathNames.last(of: output), syncs: syncs, shrink: tiling.probe.shrinking?.factor ?? 1,
                frames: tiling.probe.outputs[0].frames, stored: tiling.probe.source.stored))
    }

    func audit(_ order: FrameOrder, _ rendered: Rendered) -> TaskSpec {
        let source: AuditTask.Source =
            switch rendered.canvas {
            case .some(let canvas): .canvas(canvas.canvas)
            case .none: .input(input(order))
            }
        return .audit(
            AuditTask(
                source: source, chain: chain(order),
                outputs: rendered.each(of: outputs(order)).map { AuditTask.Output($0, bands: $1?.audited ?? []) },
                grid: rendered.probe.grid, tileMemory: tileMemory, frameMemory: frameMemory))
    }

    func check(_ order: FrameOrder, _ rendered: Rendered) -> TaskSpec {
        .check(
            CheckTask(
                outputs: rendered.each(of: outputs(order)).compactMap { spec, part in
                    part.map { CheckTask.Output(spec, expected: $0.receipt) }
                }))
    }
}
