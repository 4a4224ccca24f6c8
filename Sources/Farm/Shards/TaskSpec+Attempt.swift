import Catalogs
import Geometry
package import WorkerProtocol

/// An attempt writes under names of its own: one that was given up and lives on, or runs twice, never touches another's.
extension TaskSpec {
    /// The same with names that end with the attempt's. Outputs are synced: another machine publishes them.
    package func written(by attempt: String) -> TaskSpec { renamingWritten { "\($0).\(attempt)" } }

    /// The same whoever writes it: tasks that are equal so make the same pixels.
    package var withoutNames: TaskSpec { renamingWritten { _ in "" } }

    /// The files that a worker writes for it.
    var writtenFiles: [String] {
        switch self {
        case .frame(let task): task.outputs.compactMap(\.temporaryPath)
        case .canvas(let task): [task.canvasPath, task.metadataPath]
        case .tile(let task): [task.tilePath]
        case .stitch(let task): [task.temporaryPath]
        case .preview(let task): [task.path]
        case .probe, .audit, .check, .compare: []
        }
    }

    private func renamingWritten(_ name: (String) -> String) -> TaskSpec {
        switch self {
        case .frame(let task):
            .frame(
                FrameTask(
                    input: task.input, chain: task.chain,
                    outputs: task.outputs.map {
                        FrameTask.Output($0.spec, temporaryPath: $0.temporaryPath.map(name), name: $0.name)
                    }, tileMemory: task.tileMemory, frameMemory: task.frameMemory, syncs: true))
        case .canvas(let task):
            .canvas(
                CanvasTask(
                    input: task.input, chain: task.chain, output: task.output, canvasPath: name(task.canvasPath),
                    metadataPath: name(task.metadataPath), expected: task.expected))
        case .tile(let task):
            .tile(TileTask(canvas: task.canvas, chain: task.chain, rect: task.rect, tilePath: name(task.tilePath)))
        case .stitch(let task):
            .stitch(
                StitchTask(
                    extent: task.extent, layout: task.layout, format: task.format, tiles: task.tiles,
                    metadataPath: task.metadataPath, metadataDigest: task.metadataDigest, output: task.output,
                    temporaryPath: name(task.temporaryPath), name: task.name, syncs: true, shrink: task.shrink,
                    frames: task.frames))
        case .probe, .audit, .check, .preview, .compare: self
        }
    }
}

extension TaskReceipt {
    /// A file that the task has written, and its size where the receipt tells it.
    package struct File: Hashable, Sendable {
        package let path: String
        package let bytes: Int?
    }

    package var files: [File] {
        switch self {
        case .canvas(let receipt):
            [
                File(path: receipt.canvas.path, bytes: receipt.canvas.bytes),
                File(path: receipt.metadataPath, bytes: nil),
            ]
        case .tile(let receipt): [File(path: receipt.path, bytes: nil)]
        case .outputs(let receipts, _): receipts.map { File(path: $0.path, bytes: $0.bytes) }
        case .probe, .audit, .check, .preview, .compare: []
        }
    }
}

extension CanvasReference {
    /// No file has as many as an impossible rectangle would take.
    fileprivate var bytes: Int {
        [rect.height, layout.channels, format.bytes].reduce(rect.width) { product, factor in
            let (bytes, isTooMuch) = product.multipliedReportingOverflow(by: factor)
            return isTooMuch ? -1 : bytes
        }
    }
}
