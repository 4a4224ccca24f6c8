package import Catalogs
import Geometry
import JobModel
package import Scheduling
package import WorkerProtocol

/// Tasks that a cluster gets as one unit, stored in `shards/K.json` of a run's shared folder. An element of a job array
/// carries it out by `penumbra shard`.
package struct Shard: Hashable, Sendable, Codable {
    package struct Task: Hashable, Sendable, Codable {
        package let lease: LeaseID
        /// The limit of one attempt. The element enforces it.
        package let timeLimit: Duration
        package let spec: TaskSpec
        /// As in ``Lease``.
        package let pixelBytes: Int?
        /// The receipt of an earlier attempt at the same task. It counts only if the files have the digests that it names.
        package let earlier: TaskReceipt?

        package init(_ lease: Lease, earlier: TaskReceipt? = nil) {
            self.init(
                lease: lease.id, timeLimit: lease.timeLimit, spec: lease.spec, pixelBytes: lease.pixelBytes,
                earlier: earlier)
        }

        package init(
            lease: LeaseID, timeLimit: Duration, spec: TaskSpec, pixelBytes: Int? = nil, earlier: TaskReceipt? = nil
        ) {
            self.lease = lease
            self.timeLimit = timeLimit
            self.spec = spec
            self.pixelBytes = pixelBytes
            self.earlier = earlier
        }

        func adopting(_ earlier: TaskReceipt?) -> Task {
            Task(lease: lease, timeLimit: timeLimit, spec: spec, pixelBytes: pixelBytes, earlier: earlier)
        }

        /// The order for a worker: check the earlier outputs if there are any, and otherwise carry out the task.
        var order: TaskSpec {
            guard case .outputs(let receipts, _) = earlier else { return spec }
            return .compare(DigestTask(files: receipts.map { DigestTask.File(path: $0.path) }))
        }

        /// Whether a receipt can be the result of the task. Logs and results contain what workers reported, and may have
        /// been edited.
        func isAnswered(by receipt: TaskReceipt) -> Bool {
            receipt == earlier || spec.objection(to: receipt) == nil
        }

        /// - Parameter report: the receipt of ``order``.
        func isAsBefore(_ report: TaskReceipt) -> Bool {
            guard case .outputs(let receipts, _) = earlier, case .compare(let facts) = report else { return false }
            return facts.map { $0?.digest } == receipts.map(\.digest)
        }
    }

    /// The settings of an element's workers, which equal the coordinator's.
    package struct Workers: Hashable, Sendable, Codable {
        package let plugins: PluginConditions
        /// A worker that is silent for this time is ended.
        package let silence: Duration
        /// How they are kept from the rest of the machine.
        package let sandbox: SandboxMode
        /// Where workers create outputs that are folders.
        package let folders: [String]

        package init(plugins: PluginConditions, silence: Duration, sandbox: SandboxMode, folders: [String] = []) {
            self.plugins = plugins
            self.silence = silence
            self.sandbox = sandbox
            self.folders = folders
        }
    }

    /// Increases with each change of the stored form.
    package static let currentFormat = 3

    /// Two coordinators of a run may both believe to be the only one, and write shards with the same number. The epoch
    /// distinguishes them.
    package struct ID: Hashable, Sendable, Codable {
        package let run: String
        /// The epoch of the coordinator that wrote the shard.
        package let epoch: Int
        /// From 1, across all coordinators of the run.
        package let number: Int

        package init(run: String, epoch: Int, number: Int) {
            self.run = run
            self.epoch = epoch
            self.number = number
        }
    }

    package let format: Int
    package let id: ID
    /// The versions that the workers must have. With other versions, their pixels might differ.
    package let versions: [String: String]
    package let workers: Workers
    package let tasks: [Task]

    package init(_ id: ID, versions: [String: String], workers: Workers, tasks: [Task]) {
        format = Self.currentFormat
        self.id = id
        self.versions = versions
        self.workers = workers
        self.tasks = tasks
    }
}

extension Shard: SharedRecord {
    package static var limits: MessageLimits { .shards }

    package var isPlausible: Bool {
        id.isPlausible && StoredLimits.durations.contains(workers.silence)
            && tasks.allSatisfy { StoredLimits.durations.contains($0.timeLimit) && $0.pixelBytes ?? 0 >= 0 }
    }

    /// Whether the file's name fits the content, and the tasks write only files of the run.
    func isOf(_ folder: ShardFolder, as number: Int) -> Bool {
        id.number == number && folder.run.map { $0 == id.run } ?? true
            && tasks.allSatisfy { $0.spec.writtenFiles.allSatisfy { isOwn($0, folder) } }
    }

    /// Whether a file is in the run's scratch folder, or is a temporary file beside an output.
    private func isOwn(_ file: String, _ folder: ShardFolder) -> Bool {
        let names = PathNames.all(in: file)
        guard PathNames.isAbsolute(file), !names.contains(where: { $0 == "." || $0 == ".." }) else { return false }
        return PathNames.isBelow(file, folder.path) || PathNames.last(of: file).hasPrefix(".penumbra-\(id.run)-")
    }
}

extension Shard.ID {
    package var isPlausible: Bool { StoredLimits.counts.contains(epoch) && StoredLimits.counts.contains(number) }
}

extension Catalog {
    /// The versions of everything that makes pixels and files: programs, codecs, plugins, and each filter's rendering.
    package var componentVersions: [String: String] {
        versions.merging(filters.map { ("rendering of \($0.name)", "\($0.renderingVersion)") }) { version, _ in version
        }
    }
}

/// The differences between a shard's versions and those of the workers.
package struct VersionDifference: Hashable, Sendable {
    private let parts: [String]

    /// Nil if there are none.
    package init?(wanted: [String: String], found: [String: String]) {
        parts = Set(wanted.keys).union(found.keys).sorted().filter { wanted[$0] != found[$0] }.map { name in
            "\(name) \(found[name] ?? "missing") instead of \(wanted[name] ?? "none")"
        }
        if parts.isEmpty { return nil }
    }

    /// The end of a message.
    package var words: String { parts.joined(separator: ", ") }
}

/// How a task ended on an element.
package struct TaskEnd: Hashable, Sendable, Codable {
    package enum Outcome: Hashable, Sendable, Codable {
        case done(TaskReceipt)
        case failed(TaskFailure)
        /// The worker died, in the code of these plugins.
        case died(Death, inPlugins: [String])
    }

    package let lease: LeaseID
    package let outcome: Outcome

    package init(_ lease: LeaseID, _ outcome: Outcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// A line of an attempt's log, `results/K.EPOCH-ATTEMPT.log`. The log tells about an attempt that never ends.
package enum AttemptLine: Hashable, Sendable, Codable {
    case begun(LeaseID)
    case ended(TaskEnd)
}

/// The result of an attempt at a shard: `results/K.EPOCH.ATTEMPT.json`, which appears complete or not at all.
package struct ShardResult: Hashable, Sendable, Codable {
    package let shard: Shard.ID
    package let attempt: String
    /// The element, as messages name it: `element 12_3 on n2`.
    package let location: String
    package let ends: [TaskEnd]
    /// Why the location can do nothing, or nothing more. Nil if all is well.
    package let refusal: String?
    /// What kept the element's workers from the rest of its node. Nil if it started none.
    package let sandbox: SandboxReport?

    /// These names are stored.
    private enum CodingKeys: String, CodingKey {
        case shard, attempt, ends, refusal, sandbox
        case location = "place"
    }

    package init(
        shard: Shard.ID, attempt: String, location: String, ends: [TaskEnd], refusal: String? = nil,
        sandbox: SandboxReport? = nil
    ) {
        self.shard = shard
        self.attempt = attempt
        self.location = location
        self.ends = ends
        // It may name the versions of many programs.
        self.refusal = refusal?.prefix(bytes: StoredLimits.sentence)
        self.sandbox = sandbox
    }
}

extension AttemptLine: SharedRecord {
    /// Its lease is only looked up.
    package var isPlausible: Bool { if case .ended(let end) = self { end.isPlausible } else { true } }
}

extension ShardResult: SharedRecord {
    package static var limits: MessageLimits { .results }

    package var isPlausible: Bool {
        shard.isPlausible && [attempt, location].allSatisfy { $0.utf8.count <= StoredLimits.name }
            && refusal?.utf8.count ?? 0 <= StoredLimits.sentence && ends.allSatisfy(\.isPlausible)
            && sandbox?.objection == nil
    }
}

extension TaskEnd {
    /// Receipts and names of plugins are compared with the task.
    fileprivate var isPlausible: Bool {
        let words =
            switch outcome {
            case .done: [String]()
            case .failed(let failure): [failure.message]
            case .died(let death, _): [death.lastWords, death.manner.foreignWords]
            }
        return words.allSatisfy { $0.utf8.count <= StoredLimits.sentence }
    }
}

/// Each attempt writes files with names of its own, so that two attempts that run at the same time never touch each other's
/// files.
extension TaskSpec {
    /// The same task with file names that end with the attempt's name. Outputs are synced, because another machine
    /// publishes them.
    package func written(by attempt: String) -> TaskSpec { renamingWritten { "\($0).\(attempt)" } }

    /// The same task without the names of written files. Tasks that are equal in this form make the same pixels.
    package var withoutNames: TaskSpec { renamingWritten { _ in "" } }

    /// The files that a worker writes for the task.
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
            .frame(task.mappingPaths { name($1) }.synced)
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
                    frames: task.frames,
                    stored: task.stored))
        case .probe, .audit, .check, .preview, .compare: self
        }
    }
}

extension FrameTask {
    fileprivate var synced: FrameTask {
        var task = self
        task.syncs = true
        return task
    }
}

extension TaskReceipt {
    /// A file that the task has written, and its size if the receipt has it.
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
        case .outputs(let receipts, _), .opened(_, let receipts, _):
            receipts.map { File(path: $0.path, bytes: $0.bytes) }
        case .probe, .audit, .check, .preview, .compare: []
        }
    }
}

extension CanvasReference {
    /// An impossible rectangle gives a size that no file has.
    fileprivate var bytes: Int {
        [rect.height, layout.channels, format.bytes].reduce(rect.width) { product, factor in
            let (bytes, isTooMuch) = product.multipliedReportingOverflow(by: factor)
            return isTooMuch ? -1 : bytes
        }
    }
}
