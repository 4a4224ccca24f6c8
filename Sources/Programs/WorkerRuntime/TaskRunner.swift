import Digests
import Filters
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

/// Does the tasks. One file for each kind extends it.
struct TaskRunner {
    let toolbox: Toolbox
    let watch: PluginWatch
    /// The pictures of the filters that this task has made.
    let pictures = PictureTally()
    /// Of files that it opens by other names.
    let names = FileNames()

    /// The receipt of a task, or why there is none.
    func report(on spec: TaskSpec, _ lease: LeaseID) -> Report {
        do {
            let receipt = try run(spec)
            if let fault = watch.fault { throw fault }
            return .finished(lease, receipt)
        } catch {
            // With other limits, or another mask, whatever failed may have failed for that.
            return .failed(lease, TaskFailure(classing: watch.fault(behind: error) ?? error))
        }
    }

    private func run(_ spec: TaskSpec) throws -> TaskReceipt {
        switch spec {
        case .probe(let task): .probe(try probe(task))
        case .frame(let task): try renderedFrame(task)
        case .canvas(let task): .canvas(try fillCanvas(task))
        case .tile(let task): .tile(try renderTile(task))
        case .stitch(let task): .outputs([try stitch(task)], of: nil)
        case .audit(let task): .audit(try audit(task))
        case .check(let task): try check(task)
        case .preview(let task): .preview(try preview(task))
        case .compare(let task): .compare(try task.files.map(facts))
        }
    }

    /// - Parameter input: whose limits hold for pictures that filters read, too; nil where they were looked at before.
    func chain(_ invocations: [FilterInvocation], for input: InputSpec? = nil) throws -> Chain {
        let limits = DecodeLimits(maxPixels: input?.maxPixels ?? .max, scratchFolder: input?.scratchFolder)
        return try Chain(invocations, registry: toolbox.registry(watchedBy: watch, limits, pictures))
    }

    func decoder(
        _ input: InputSpec, _ color: ColorPolicy, shrink: Int = 1, pages: PageChoice? = nil, isFine: Bool = false
    ) throws -> ImageDecoder {
        let limits = DecodeLimits(maxPixels: input.maxPixels, scratchFolder: input.scratchFolder)
        return try ImageDecoder(
            path: input.path, name: names.name(of: input.path), limits: limits, color: color, shrink: shrink,
            pages: pages ?? input.pages, isFine: isFine)
    }

    func format(_ output: OutputSpec) throws -> any ImageFormat { try format(named: output.format) }

    func format(named name: String) throws -> any ImageFormat {
        guard let format = ImageFormats.named(name) else {
            throw TaskFailure(.transient, "this worker knows no '\(name)'; reinstall both programs together")
        }
        return format
    }
}

extension ImageHeader {
    var facts: ImageFacts {
        ImageFacts(
            fileFormat: formatName, width: width, height: height, layout: layout, format: sampleFormat, frames: frames)
    }
}
