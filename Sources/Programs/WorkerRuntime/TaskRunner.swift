import Catalogs
import Digests
import FileAccess
import Filters
import Geometry
import Glibc
import ImageFiles
import JobModel
import Kernels
import Raster
import Rendering
import Synchronization
import WorkerProtocol

/// Does the tasks. Extensions in other files do one group of kinds each.
struct TaskRunner {
    let toolbox: Toolbox
    let watch: PluginWatch
    /// Opens the task's files.
    let opener: FileOpener
    /// Runs the programs of this task's filters.
    let programs: ProgramRunner
    /// The pictures of this task's filters.
    let pictures = PictureTally()
    /// The names, in messages, of files that it opens by other names.
    let names = FileNames()
    /// What is known of the clips that this task opens.
    let clips = ClipAnswers()

    /// The receipt of a task, or the reason why there is none.
    func report(on spec: TaskSpec, _ lease: LeaseID) -> Report {
        do {
            let receipt = try run(spec)
            if let fault = watch.fault { throw fault }
            return .finished(lease, receipt)
        } catch {
            // If a plugin has changed limits or the umask, it may be the cause of any failure.
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

    /// - Parameters:
    ///   - input: Its limits also apply to pictures that filters read. Nil if they were inspected before.
    ///   - measurements: Those of the input for the first filters.
    func chain(
        _ invocations: [FilterInvocation], for input: InputSpec? = nil, _ measurements: [Measurement] = []
    ) throws -> Chain {
        let limits = DecodeLimits(maxPixels: input?.maxPixels ?? .max, scratchFolder: input?.scratchFolder)
        return try Chain(
            invocations, registry: toolbox.registry(watchedBy: watch, opener, limits, pictures, programs.source),
            measurements: measurements)
    }

    func decoder(
        _ input: InputSpec, _ color: ColorPolicy, keepsCMYK: Bool = false, shrink: Int = 1,
        pages: PageChoice? = nil, samples: SampleFormat? = nil, hdr: HDRPolicy = .refuse
    ) throws -> ImageDecoder {
        let limits = DecodeLimits(maxPixels: input.maxPixels, scratchFolder: input.scratchFolder)
        return try ImageDecoder(
            path: input.path, name: names.name(of: input.path), openedBy: opener, limits: limits, color: color,
            keepsCMYK: keepsCMYK, shrink: shrink, pages: pages ?? input.pages, samples: samples, dpi: input.dpi,
            hdr: hdr, clips: TaskClips(program: toolbox.video, answers: clips))
    }

    /// A way of an input's pixels to its outputs.
    ///
    /// - Parameters:
    ///   - frameMemory: The bytes for the rows of one frame that are held at once, and for pictures of filters.
    ///   - tileMemory: The bytes for tiles of a picture that is held.
    func rendering(
        _ input: OpenedInput, _ branches: [Int], frameMemory: Int, tileMemory: Int, isShifted: Bool = false
    ) -> FrameRendering {
        FrameRendering(
            input, branches, frameMemory: frameMemory, pictures: pictures.bytes, tileMemory: tileMemory,
            cancellation: toolbox.cancellation, isShifted: isShifted)
    }
}

extension ImageFormats {
    /// The format that a task names.
    static func inTask(_ name: String) throws(TaskFailure) -> any ImageFormat {
        guard let format = named(name) else {
            throw TaskFailure(.transient, "this worker knows no '\(name)'; reinstall both programs together")
        }
        return format
    }
}

extension OutputSpec {
    /// The format as this output's file has it.
    var imageFormat: any ImageFormat {
        get throws(TaskFailure) { try ImageFormats.inTask(format).fitted(to: save.values) }
    }
}

extension ImageHeader {
    var facts: ImageFacts {
        ImageFacts(
            fileFormat: formatName, width: width, height: height, layout: layout, format: sampleFormat, frames: frames,
            stored: storedSamples == sampleFormat ? nil : storedSamples)
    }
}

extension TaskRunner {
    /// - Parameter inputs: The task's input, opened for its outputs.
    func renderFrame(_ task: FrameTask, _ inputs: [OpenedInput]) throws -> [OutputReceipt] {
        var receipts: [Int: OutputReceipt] = [:]
        for input in inputs {
            let wanted = input.branches.indices.filter { task.outputs[input.branches[$0].index].temporaryPath != nil }
            guard !wanted.isEmpty else { continue }
            let rendering = rendering(input, wanted, frameMemory: task.frameMemory, tileMemory: task.tileMemory)
            let written = try rendering { branch, rows in
                let output = task.outputs[branch.index]
                return (
                    branch.index,
                    try write(
                        rows, name: output.name, frames: branch.frames, output: branch.spec,
                        metadata: input.decoder.metadata.showing(branch.whole),
                        clip: input.clip, shrink: input.shrinking?.factor ?? 1, syncs: task.syncs,
                        to: output.temporaryPath ?? "")
                )
            }
            for (index, receipt) in written { receipts[index] = receipt }
        }
        return receipts.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension ImageMetadata {
    /// The metadata with the times of the frames that a chain makes.
    func showing(_ chain: Chain) -> ImageMetadata {
        guard let timeline = chain.timeline else { return self }
        var metadata = self
        metadata.animation = chain.frames == 1 ? nil : Animation(timeline)
        return metadata
    }
}

extension PixelRect {
    /// The first of several frames, which lie one below the other.
    func first(of frames: Int) -> PixelRect { PixelRect(x: x, y: y, width: width, height: height / frames) }
}

extension TaskRunner {
    /// Works with an input. Fails if the input is not the same file with the same bytes afterwards.
    func reading<Result>(_ input: InputSpec, _ body: (InputSpec, SourceFile) throws -> Result) throws -> Result {
        let source = try SourceFile(input.path, bytes: input.bytes, openedBy: opener)
        var spec = input
        // Measurements are of the file that was measured, and of no other.
        if spec.measured?.stamp.map(source.isUntouched) != true { spec.measured = nil }
        // Libraries take paths as text.
        if input.bytes != nil {
            spec.path = source.openName
            names.note(source.openName, input.path)
        }
        do {
            let result = try body(spec, source)
            if source.hasChanged { throw Self.changed(source) }
            guard source.isOpen else { throw ImageFileError(path: source.path, opening: EBADF) }
            return result
        } catch {
            if let fault = watch.fault(behind: error, lost: !source.isOpen) { throw TaskFailure(classing: fault) }
            // Half of an old picture and half of a new one look like damage.
            if source.hasChanged { throw Self.changed(source) }
            let failure = TaskFailure(classing: error)
            // The file belongs to this attempt alone, for example a picture that is turned in a file.
            let kind = failure.kind == .damagedCanvas ? .transient : failure.kind
            throw TaskFailure(kind, failure.message.replacing(source.openName, with: input.path))
        }
    }

    private static func changed(_ source: SourceFile) -> TaskFailure {
        TaskFailure(.transient, "\(source.path): was changed or removed while it was read")
    }

    func renderedFrame(_ task: FrameTask) throws -> TaskReceipt {
        try reading(task.input) { input, source in
            var task = task
            task.input = input
            guard let question = task.probe else {
                let facts = try source.facts()
                return .outputs(try renderFrame(task, try open(task)), of: facts)
            }
            let inputs = try open(task)
            let probe = try receipt(of: question, inputs, source)
            guard task.renders(probe) else { return .probe(probe) }
            let facts = try source.facts()
            return .opened(probe, try renderFrame(task, inputs), of: facts)
        }
    }

    private func open(_ task: FrameTask) throws -> [OpenedInput] {
        let outputs = task.outputs.map(\.spec)
        try refuseClip(task.input, for: outputs)
        return try open(task.input, task.chain, for: outputs)
    }

    /// Nil if nothing exists there.
    func facts(_ file: DigestTask.File) throws -> FileFacts? {
        do {
            if FolderFacts.isFolder(file.path) { return try FolderFacts.read(file.path) }
            return try SourceFile(file.path, bytes: file.bytes, openedBy: opener).facts()
        } catch let error as ImageFileError where error.kind == .missing {
            return nil
        }
    }
}

/// The names, in messages, of files that a task opens by other names.
final class FileNames: Sendable {
    private let names = Mutex<[String: String]>([:])

    func note(_ openName: String, _ name: String) { names.withLock { $0[openName] = name } }

    func name(of path: String) -> String { names.withLock { $0[path] ?? path } }
}

/// An output that is a folder.
enum FolderFacts {
    static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The stamp stays empty: the coordinator computes it from all files.
    static func read(_ path: String) throws -> FileFacts {
        let tree = try TreeDigest(ofFolderAt: path)
        return FileFacts(
            stamp: FileStamp(device: 0, inode: 0, size: tree.bytes, modified: 0, changed: 0), digest: tree.digest)
    }
}

/// Whether the result of this process's present task is still needed. A process does one task at a time.
final class TaskCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// The unfinished work is not needed any more.
    func cancel() { flag.store(true, ordering: .relaxed) }

    /// Another task begins.
    func reset() { flag.store(false, ordering: .relaxed) }
}
