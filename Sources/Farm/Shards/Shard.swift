package import Catalogs
import Geometry
import JobModel
package import Scheduling
package import WorkerProtocol

/// Tasks that are handed to a cluster as one unit: what `shards/K.json` of a run's shared folder holds. An element of a job
/// array does it, by `penumbra shard`.
package struct Shard: Hashable, Sendable, Codable {
    package struct Task: Hashable, Sendable, Codable {
        package let lease: LeaseID
        /// Of one try, which is looked at where it is done.
        package let timeLimit: Duration
        package let spec: TaskSpec
        /// What an earlier attempt at the same made of it. Counts where the files' bytes are what it says.
        package let earlier: TaskReceipt?

        package init(_ lease: Lease, earlier: TaskReceipt? = nil) {
            self.init(lease: lease.id, timeLimit: lease.timeLimit, spec: lease.spec, earlier: earlier)
        }

        package init(lease: LeaseID, timeLimit: Duration, spec: TaskSpec, earlier: TaskReceipt? = nil) {
            self.lease = lease
            self.timeLimit = timeLimit
            self.spec = spec
            self.earlier = earlier
        }

        func adopting(_ earlier: TaskReceipt?) -> Task {
            Task(lease: lease, timeLimit: timeLimit, spec: spec, earlier: earlier)
        }

        /// What a worker does: it looks at what is there, or makes it.
        var order: TaskSpec {
            guard case .outputs(let receipts, _) = earlier else { return spec }
            return .compare(DigestTask(files: receipts.map { DigestTask.File(path: $0.path) }))
        }

        /// Whether this can be what the task came to: what a log or a result says is what a worker says, and may be edited besides.
        func isAnswered(by receipt: TaskReceipt) -> Bool {
            receipt == earlier || spec.objection(to: receipt) == nil
        }

        /// - Parameter report: what ``order`` came to.
        func isAsBefore(_ report: TaskReceipt) -> Bool {
            guard case .outputs(let receipts, _) = earlier, case .compare(let facts) = report else { return false }
            return facts.map { $0?.digest } == receipts.map(\.digest)
        }
    }

    /// What workers of an element are started with, so that they are like the coordinator's own.
    package struct Workers: Hashable, Sendable, Codable {
        package let plugins: PluginConditions
        /// A worker that says nothing for so long is ended.
        package let silence: Duration

        package init(plugins: PluginConditions, silence: Duration) {
            self.plugins = plugins
            self.silence = silence
        }
    }

    /// Raised whenever what is written here changes.
    package static let currentFormat = 2

    /// Two coordinators of a run, each of which takes itself for the only one, write shards of one number. What comes of them is
    /// told apart by this.
    package struct ID: Hashable, Sendable, Codable {
        package let run: String
        /// Of the coordinator that wrote it.
        package let epoch: Int
        /// From 1, of the whole run, whoever coordinates it.
        package let number: Int

        package init(run: String, epoch: Int, number: Int) {
            self.run = run
            self.epoch = epoch
            self.number = number
        }
    }

    package let format: Int
    package let id: ID
    /// That the workers must have, or their pixels might be others.
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
    package var isPlausible: Bool {
        id.isPlausible && StoredLimits.durations.contains(workers.silence)
            && tasks.allSatisfy { StoredLimits.durations.contains($0.timeLimit) }
    }

    /// What a file's name says that it is, and that writes nothing but files of its run.
    func isOf(_ folder: ShardFolder, as number: Int) -> Bool {
        id.number == number && folder.run.map { $0 == id.run } ?? true
            && tasks.allSatisfy { $0.spec.writtenFiles.allSatisfy { isOwn($0, folder) } }
    }

    /// In the run's scratch space, or beside an output under the name of what is no output yet.
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
    /// The versions of all that makes pixels and files: programs, codecs, plugins, and each filter's rendering.
    package var componentVersions: [String: String] {
        versions.merging(filters.map { ("rendering of \($0.name)", "\($0.renderingVersion)") }) { version, _ in version
        }
    }
}

/// Where a shard's versions and those of the workers that are to do it part.
package struct VersionDifference: Hashable, Sendable {
    private let parts: [String]

    /// Nil when there is none.
    package init?(wanted: [String: String], found: [String: String]) {
        parts = Set(wanted.keys).union(found.keys).sorted().filter { wanted[$0] != found[$0] }.map { name in
            "\(name) \(found[name] ?? "missing") instead of \(wanted[name] ?? "none")"
        }
        if parts.isEmpty { return nil }
    }

    /// As a message goes on with it.
    package var words: String { parts.joined(separator: ", ") }
}

/// How a task ended where it was done.
package struct TaskEnd: Hashable, Sendable, Codable {
    package enum Outcome: Hashable, Sendable, Codable {
        case done(TaskReceipt)
        case failed(TaskFailure)
        /// With the worker, in the code of these plugins.
        case died(Death, inPlugins: [String])
    }

    package let lease: LeaseID
    package let outcome: Outcome

    package init(_ lease: LeaseID, _ outcome: Outcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// A line of an attempt's log, `results/K.EPOCH-ATTEMPT.log`: what is known of the attempt if it never comes to its end.
package enum AttemptLine: Hashable, Sendable, Codable {
    case begun(LeaseID)
    case ended(TaskEnd)
}

/// What an attempt at a shard came to: `results/K.EPOCH.ATTEMPT.json`, which appears whole or not at all.
package struct ShardResult: Hashable, Sendable, Codable {
    package let shard: Shard.ID
    package let attempt: String
    /// Where it was done, as messages name it: `element 12_3 on n2`.
    package let location: String
    package let ends: [TaskEnd]
    /// Why the location can do nothing, or nothing more. Nil if all is well.
    package let refusal: String?

    /// These names are stored.
    private enum CodingKeys: String, CodingKey {
        case shard, attempt, ends, refusal
        case location = "place"
    }

    package init(shard: Shard.ID, attempt: String, location: String, ends: [TaskEnd], refusal: String? = nil) {
        self.shard = shard
        self.attempt = attempt
        self.location = location
        self.ends = ends
        self.refusal = refusal
    }
}

extension AttemptLine: SharedRecord {
    /// Its lease is looked up, and never reckoned with.
    package var isPlausible: Bool { true }
}

extension ShardResult: SharedRecord {
    package var isPlausible: Bool { shard.isPlausible }
}

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
