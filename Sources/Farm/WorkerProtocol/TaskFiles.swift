import Catalogs
package import JobModel

/// A file that a task needs open. The coordinator opens it, and hands the open file to the worker with the order, because a
/// worker, which decodes foreign pictures, may be kept from opening files.
package struct TaskFile: Hashable, Sendable {
    package enum Use: String, Hashable, Sendable, Codable {
        case read
        /// Is written. An existing file of that name is emptied.
        case create
        /// Is written. The file must not exist.
        case createNew
        /// A file without a name, for a large picture that must be turned. The path is its folder's.
        case scratch
    }

    /// The bytes of the path.
    package let path: [UInt8]
    package let use: Use

    package init(_ path: String, _ use: Use) { self.init(path: Array(path.utf8), use) }

    package init(path: [UInt8], _ use: Use) {
        self.path = path
        self.use = use
    }
}

/// A file of an order, as the coordinator opened it.
package struct SentFile: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Its descriptor is the next one of those that come with the order.
        case handed
        /// It could not be opened. The code is as in `errno.h`.
        case failed(code: Int32)
    }

    package let file: TaskFile
    package let outcome: Outcome

    package init(_ file: TaskFile, _ outcome: Outcome) {
        self.file = file
        self.outcome = outcome
    }
}

/// One flat object: there are several files in each order, and a list of the bytes of a path takes longer to write and to read
/// than all the rest of the order.
extension SentFile: Codable {
    private enum Key: String, CodingKey {
        case use, path
        /// Instead of `path`, if that is not UTF-8.
        case bytes
        /// Of the failure. A file without it was handed over.
        case code
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let path = try values.decodeIfPresent(String.self, forKey: .path).map { Array($0.utf8) }
        file = TaskFile(
            path: try path ?? values.decode([UInt8].self, forKey: .bytes),
            try values.decode(TaskFile.Use.self, forKey: .use))
        outcome = try values.decodeIfPresent(Int32.self, forKey: .code).map { .failed(code: $0) } ?? .handed
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(file.use, forKey: .use)
        if let path = String(validating: file.path, as: UTF8.self) {
            try values.encode(path, forKey: .path)
        } else {
            try values.encode(file.path, forKey: .bytes)
        }
        if case .failed(let code) = outcome { try values.encode(code, forKey: .code) }
    }
}

/// An output that is a folder. The worker creates it at the source, because it can write nowhere else.
package struct FolderMove: Hashable, Sendable {
    package let source: String
    package let target: String
    /// The output's own name, by which its files are called.
    package let name: String
    package let format: FolderFormat
}

extension TaskSpec {
    /// The same task whose outputs that are folders are created in one of some folders: the one beside which, or below which the output
    /// is. An output that is in such a folder already stays there.
    ///
    /// - Returns: also which folders have to be moved afterwards.
    package func creatingFolders(in folders: [String], folderFormats: Set<String>) -> (TaskSpec, [FolderMove]) {
        var moves: [FolderMove] = []
        func source(_ target: String, _ output: OutputSpec, _ name: String) -> String {
            guard folderFormats.contains(output.format), let format = FolderFormat(rawValue: output.format),
                !folders.contains(where: { PathNames.isBelow(target, $0) })
            else { return target }
            let around = folders.filter { PathNames.isBelow(target, PathNames.folder(of: $0) ?? "/") }
            guard let folder = around.max(by: { $0.utf8.count < $1.utf8.count }) else { return target }
            let move = FolderMove(
                source: PathNames.joined(folder, PathNames.last(of: target)), target: target, name: name,
                format: format)
            moves.append(move)
            return move.source
        }
        switch self {
        case .frame(let task):
            let spec = task.mappingPaths { source($1, $0.spec, $0.name) }
            return moves.isEmpty ? (self, []) : (.frame(spec), moves)
        case .stitch(let task):
            let path = source(task.temporaryPath, task.output, task.name)
            let spec = StitchTask(
                extent: task.extent, layout: task.layout, format: task.format, tiles: task.tiles,
                metadataPath: task.metadataPath, metadataDigest: task.metadataDigest, output: task.output,
                temporaryPath: path, name: task.name, syncs: task.syncs, shrink: task.shrink, frames: task.frames,
                stored: task.stored)
            return moves.isEmpty ? (self, []) : (.stitch(spec), moves)
        case .probe, .canvas, .tile, .audit, .check, .preview, .compare: return (self, [])
        }
    }

    /// The files that the task needs open, each once. The worker opens other files by their paths: tiles, canvases and
    /// their facts that other tasks have written, of which there may be thousands, and folders.
    ///
    /// - Parameter folderFormats: The formats whose outputs are folders.
    package func files(folderFormats: Set<String>) -> [TaskFile] {
        var known: Set<TaskFile> = []
        return allFiles(folderFormats).filter { known.insert($0).inserted }
    }

    /// Whether the task reads canvases or tiles by their paths.
    package var readsScratch: Bool {
        switch self {
        case .canvas, .tile, .stitch: true
        case .audit(let task): if case .canvas = task.source { true } else { false }
        case .probe, .frame, .check, .preview, .compare: false
        }
    }

    private func allFiles(_ folders: Set<String>) -> [TaskFile] {
        switch self {
        case .probe(let task): task.input.files + pictures(task.chain, task.outputs) + profiles(task.outputs)
        case .frame(let task):
            task.input.files + pictures(task.chain, task.outputs.map(\.spec)) + profiles(task.outputs.map(\.spec))
                + task.outputs.compactMap { output in
                    output.temporaryPath.flatMap { created($0, output.spec, folders) }
                }
        case .canvas(let task):
            task.input.files + pictures(task.chain, [task.output]) + profiles([task.output]) + [
                TaskFile(task.canvasPath, .createNew), TaskFile(task.cellsPath, .create),
                TaskFile(task.metadataPath, .create),
            ]
        case .tile(let task):
            tiled(task)
        case .stitch(let task):
            profiles([task.output]) + [created(task.temporaryPath, task.output, folders)].compactMap(\.self)
        case .audit(let task): audited(task)
        case .check(let task):
            [TaskFile("", .scratch)]
                + task.outputs.filter { !folders.contains($0.spec.format) }.map { TaskFile($0.expected.path, .read) }
        case .preview(let task):
            task.input.files + task.chains.flatMap { pictures($0, []) } + pictures([], [task.output] + task.others)
                + (task.labels.map { [TaskFile($0.font.path, .read)] } ?? []) + [TaskFile(task.path, .create)]
        case .compare(let task): task.files.map { TaskFile(path: $0.bytes ?? Array($0.path.utf8), .read) }
        }
    }

    private func tiled(_ task: TileTask) -> [TaskFile] {
        let pictures = pictures(task.chain, [])
        return Self.scratch(for: pictures) + pictures + [TaskFile(task.tilePath, .createNew)]
    }

    private func audited(_ task: AuditTask) -> [TaskFile] {
        let (pictures, profiles) = (pictures(task.chain, task.outputs.map(\.spec)), profiles(task.outputs.map(\.spec)))
        return switch task.source {
        case .input(let input): input.files + pictures + profiles
        case .canvas: Self.scratch(for: pictures) + pictures + profiles
        }
    }

    /// The pictures that filters read.
    private func pictures(_ chain: [FilterInvocation], _ outputs: [OutputSpec]) -> [TaskFile] {
        (chain + outputs.flatMap(\.chain)).picturePaths.map { TaskFile($0, .read) }
    }

    /// The colour profiles of outputs.
    private func profiles(_ outputs: [OutputSpec]) -> [TaskFile] {
        Set(outputs.flatMap(\.save.profilePaths)).sorted().map { TaskFile($0, .read) }
    }

    /// A picture of a filter may be large, and may have to be turned.
    private static func scratch(for pictures: [TaskFile]) -> [TaskFile] {
        pictures.isEmpty ? [] : [TaskFile("", .scratch)]
    }

    private func created(_ path: String, _ output: OutputSpec, _ folders: Set<String>) -> TaskFile? {
        folders.contains(output.format) ? nil : TaskFile(path, .create)
    }
}

extension TaskReceipt {
    /// False if the task has only read a header, or taken digests.
    package var readsPixels: Bool {
        switch self {
        case .probe, .compare: false
        case .canvas, .tile, .outputs, .opened, .audit, .check, .preview: true
        }
    }

    /// Whether a task with this receipt has written no file that is needed.
    package var writesNothing: Bool {
        switch self {
        case .probe, .audit, .check, .compare: true
        case .canvas, .tile, .outputs, .opened, .preview: false
        }
    }

    /// The same receipt after folders were moved.
    package func after(_ moves: [FolderMove]) -> TaskReceipt {
        guard !moves.isEmpty else { return self }
        let targets = Dictionary(moves.map { ($0.source, $0.target) }) { first, _ in first }
        func moved(_ outputs: [OutputReceipt]) -> [OutputReceipt] {
            outputs.map {
                OutputReceipt(
                    path: targets[$0.path] ?? $0.path, digest: $0.digest, bytes: $0.bytes, image: $0.image,
                    bands: $0.bands, pixels: $0.pixels)
            }
        }
        return switch self {
        case .outputs(let outputs, let source): .outputs(moved(outputs), of: source)
        case .opened(let probe, let outputs, let source): .opened(probe, moved(outputs), of: source)
        case .probe, .canvas, .tile, .audit, .check, .preview, .compare: self
        }
    }
}

extension InputSpec {
    fileprivate var files: [TaskFile] {
        [TaskFile(path: bytes ?? Array(path.utf8), .read), TaskFile(scratchFolder ?? "", .scratch)]
    }
}

extension CanvasTask {
    /// The path for the digests of the canvas's cells, beside it.
    package var cellsPath: String { CanvasReference.cellsPath(of: canvasPath) }
}

extension CanvasReference {
    /// The path of the digests of its cells.
    package static func cellsPath(of canvas: String) -> String { "\(canvas).cells" }
}
