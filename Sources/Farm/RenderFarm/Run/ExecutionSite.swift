import BatchSystems
import Catalogs
package import Cluster
import Coordination
import Engines
import FoundationEssentials
package import JobModel
import Planning
import Runs
import SafeFiles
import Scheduling
package import Settings
import Shards

/// The site of a run's work: local workers, a cluster, or prepared shards for another scheduler. It gives a run its engine, its
/// scratch folder, and the capacity that the run is planned with.
struct ExecutionSite {
    let context: RunContext

    private var settings: Settings { context.farm.settings }
    private var listener: any RunListener { context.listener }

    private var isOnCluster: Bool { settings.engine.value.isCluster }

    /// The folder for scratch space; nil for the run's own folder. Nodes of a cluster share a folder beside the outputs, because
    /// all nodes reach that, unless the user names another one.
    func scratchFolder(for job: JobSpec) -> String? {
        if case .prepared(_, let shared) = context.sharing { return shared }
        guard isOnCluster else { return settings.scratch.value }
        if case .flag = settings.scratch.origin { return settings.scratch.value }
        let outputs = OutputFolders.of(job).first ?? job.folder
        return clusterOptions(for: job).folder ?? PathNames.joined(outputs, RunFolder.sharedName)
    }

    func clusterOptions(for job: JobSpec) -> ClusterOptions {
        settings.clusterOptions(for: job, arguments: context.request.slurmArguments)
    }

    /// The workers, memory and capacity of a run.
    func runSettings(for prepared: PreparedJob) -> RunSettings {
        let (here, options) = (settings.workers.value, clusterOptions(for: prepared.job))
        switch context.sharing {
        case .resumed(let run, _):
            guard let record = run.record else { break }
            // The plan must not change, because other coordinators have done a part of it.
            return runSettings(
                record.workers, memory: record.memory,
                isOnCluster ? Self.cluster(options) : .substitutes(here))
        case .prepared(let shards, _):
            return runSettings(shards, memory: settings.memory.value / here * shards, Self.others(prepared))
        case .none, .detached: break
        }
        guard isOnCluster else { return context.farm.runSettings(for: prepared) }
        let workers = options.elementsAtOnce * options.cores
        // An element divides its memory between its workers in the same way.
        let each = options.memory.map { $0 / 10 * 6 / options.cores } ?? settings.memory.value / here
        return runSettings(
            workers, memory: each * workers,
            context.sharing == .detached ? Self.others(prepared) : Self.cluster(options)
        )
    }

    /// Enough tasks for some shards of small pictures for each core. Each tiled picture takes twice its samples of the shared
    /// file system.
    private static func cluster(_ options: ClusterOptions) -> RunSettings.Capacity {
        let wanted = options.elementsAtOnce * options.cores * 64
        return .away(tasks: min(max(wanted, ClusterEngine.leastTasks), ClusterEngine.mostTasks), tiledFrames: 16)
    }

    /// All tasks are handed over at once. Each one takes some kilobytes of this process until it is written.
    private static func others(_ prepared: PreparedJob) -> RunSettings.Capacity {
        .away(tasks: max(200_000, prepared.targets.count), tiledFrames: .max)
    }

    private func runSettings(_ workers: Int, memory: Int, _ capacity: RunSettings.Capacity) -> RunSettings {
        RunSettings(
            workers: workers, memory: memory, silence: settings.silence.value,
            seed: UInt64.random(in: .min ... .max), capacity: capacity)
    }

    /// Refuses a run on Slurm without its configuration, before the run begins or is taken over.
    func refuseMissingCluster() throws(FarmError) {
        guard let system = try settings.batchSystem(), system.traits.engine == .slurm,
            let words = SlurmHints.missingConfiguration(ProcessInfo.processInfo.environment)
        else { return }
        throw FarmError(.unavailable, words)
    }

    /// - Throws: ``FarmError`` if this engine cannot continue the run.
    func engine(for job: ClaimedJob) async throws -> any Engine {
        let claim = job.folder
        let folder = ShardFolder(claim.scratch)
        let farm = context.farm.working(for: claim)
        let plan = job.prepared.plan
        let folders = try await Blocking.run { () throws(FileError) in try FolderOutputs.stage(plan, claim) }
        // A check reads them where they are published, and before that beside it.
        let readable = folders.isEmpty ? [] : FolderOutputs.all(of: plan.job)
        if context.isShared { claim.expectForeignTemporaries() }
        if context.sharing.isTakenFromJob { await endCoordinators(of: folder) }
        if case .prepared(let shards, _) = context.sharing {
            if case .takenOver(let epoch) = claim.origin { await endArrays(of: folder, before: epoch) }
            let (control, workers) = (context.control, settings.workers.value)
            let recipient = PreparedShards(
                setup(for: job, folders).source, count: shards,
                command: farm.workerOfRun(folders: folders, readable: readable),
                workers: workers
            ) { control.signals() }
            return HandoffEngine(folder: folder, recipient: recipient)
        }
        guard let system = try settings.batchSystem() else {
            if case .takenOver(let epoch) = claim.origin {
                let haveEnded = await endArrays(of: folder, before: epoch)
                // An element that may still run keeps its file.
                let logs = logs(of: claim)
                if haveEnded, !context.isShared, FileSystem.exists(logs) {
                    await Blocking.run { ShardFolder.remove(logs: logs) }
                }
            }
            let engine = farm.engine(folders: folders, readable: readable)
            return context.isShared ? AdoptingEngine(engine, folder: folder) : engine
        }
        if case .takenOver(let epoch) = claim.origin {
            await endArrays(of: folder, before: epoch, but: system.traits.engine)
        }
        return try clusterEngine(for: job, folders, on: system)
    }

    private func clusterEngine(
        for job: ClaimedJob, _ folders: [String], on system: any BatchSystem
    ) throws -> any Engine {
        let (claim, spec) = (job.folder, job.prepared.job)
        let shared = scratchFolder(for: spec) ?? ""
        guard context.isShared || claim.scratch.hasPrefix("\(shared)/") else {
            throw FarmError(
                .usage,
                "\(spec.name): the interrupted run \(claim.name) keeps its tiles at \(claim.scratch), and not on "
                    + "\(shared), where a cluster's nodes look for them\n"
                    + "   = resume it with --engine local, or give it up with 'penumbra cancel \(claim.name)'")
        }
        claim.expectForeignTemporaries()
        let (listener, options) = (listener, clusterOptions(for: spec))
        let report: @Sendable (String) -> Void = { listener.report(spec.name, .cluster($0)) }
        guard context.sharing == .detached else {
            return ClusterEngine(system: system, options: options, setup: setup(for: job, folders), report: report)
        }
        return HandoffEngine(
            folder: ShardFolder(claim.scratch),
            recipient: ClusterHandoff(
                system: system, options: options, setup: setup(for: job, folders), runFolder: claim.folder.path,
                report: report))
    }

    private func setup(for job: ClaimedJob, _ folders: [String] = []) -> ClusterEngine.Setup {
        let claim = job.folder
        return ClusterEngine.Setup(
            folder: ShardFolder(claim.scratch), logs: logs(of: claim), run: claim.name,
            epoch: claim.epoch, program: programPath(), versions: context.preparation.catalog.componentVersions,
            workers: Shard.Workers(
                plugins: context.farm.worker.plugins, silence: settings.silence.value, sandbox: context.farm.sandbox,
                folders: folders),
            succession: succession(of: claim.folder),
            variables: WorkerEnvironment.namesForJobs(
                of: ProcessInfo.processInfo.environment, more: settings.workerEnvironment.value))
    }

    /// Where elements of the run print.
    private func logs(of claim: RunClaim) -> String {
        "\(PathNames.folder(of: claim.scratch) ?? "")/logs/\(claim.name)"
    }

    private func succession(of run: RunFolder) -> SuccessorJob? {
        guard context.sharing.isResumedByJob,
            let number = ProcessInfo.processInfo.environment["SLURM_JOB_ID"]
        else { return nil }
        return SuccessorJob(job: number, runFolder: run.path, left: run.left)
    }

    /// Keeps the successor job. After an error that may last, the successor waits for some minutes.
    ///
    /// - Returns: whether a job will continue the run, as far as is known.
    func keepSuccessor(of job: ClaimedJob, after stop: StopReason) async -> Bool {
        guard let succession = succession(of: job.folder.folder) else { return false }
        let setup = setup(for: job)
        do {
            switch stop {
            case .storage, .engine, .resourceLimit, .cluster, .lastSlot:
                try await succession.postpone(SlurmSystem(), setup)
            case .interrupted, .detached, .superseded, .cancelled, .pluginFault, .deadline, .failures: break
            }
            return try await succession.isQueued(on: SlurmSystem(), setup)
        } catch {
            listener.report(.clusterUnclear("it is unknown whether a job continues the run: \(error.message)"))
            return true
        }
    }

    /// Returns a run to the cluster that this process took it from.
    ///
    /// - Returns: whether a job will continue it.
    func returnToCluster(_ job: ClaimedJob, after stop: StopReason) async -> Bool {
        var hasFailed = true
        if case .interrupted = stop { hasFailed = false }
        let (listener, spec) = (listener, job.prepared.job)
        do {
            let number = try await SuccessorJob.giveBack(
                job.folder.folder.path, afterError: hasFailed, SlurmSystem(), clusterOptions(for: spec),
                setup(for: job)
            ) { listener.report(spec.name, .cluster($0)) }
            return number != nil
        } catch {
            listener.report(spec.name, .clusterRefuses(error.message))
            return false
        }
    }

    /// Cancels jobs that would continue the run, because this process does.
    private func endCoordinators(of folder: ShardFolder) async {
        do {
            try await SubmittedJobs(of: folder).endCoordinators(on: SlurmSystem())
        } catch {
            listener.report(
                .clusterUnclear("a job that was to continue the run may be left in Slurm's queue: \(error.message)"))
        }
    }

    /// Cancels job arrays of the run's earlier coordinators, in every system that has some.
    ///
    /// - Parameter own: the engine that ends its own earlier jobs itself.
    /// - Returns: whether all have ended, as far as is known.
    @discardableResult
    private func endArrays(of folder: ShardFolder, before epoch: Int, but own: EngineName? = nil) async -> Bool {
        let jobs = SubmittedJobs(of: folder)
        var haveEnded = true
        for engine in jobs.engines where engine != own {
            var name = "a cluster"
            do {
                guard let system = try settings.batchSystem(for: engine) else { continue }
                name = system.traits.name
                try await jobs.endArrays(before: epoch, on: system)
            } catch {
                haveEnded = false
                let message = (error as? BatchError)?.message ?? (error as? FarmError)?.message ?? "\(error)"
                listener.report(
                    .clusterUnclear("jobs of the run's earlier coordinator may be left in \(name)'s queue: \(message)"))
            }
        }
        return haveEnded
    }
}

extension EngineName {
    /// Why the engine takes no detached runs; nil if it does.
    package var detachRefusal: String? {
        let traits: BatchTraits? =
            switch self {
            case .local: nil
            case .slurm: SlurmSystem.traits
            case .commands: CommandSystem.traits
            }
        guard let traits else { return "--detach needs a cluster: give --engine slurm, too" }
        return traits.takesCoordinators
            ? nil
            : "--detach needs Slurm: with '\(rawValue)' no job can continue a run; leave it out, or give --engine slurm"
    }
}

/// Chooses the batch system of an engine. Each engine for a cluster has a case here.
extension Settings {
    /// The batch system of the settings' engine; nil for the local engine.
    package func batchSystem() throws(FarmError) -> (any BatchSystem)? { try batchSystem(for: engine.value) }

    /// The batch system of an engine; nil for the local engine.
    package func batchSystem(for engine: EngineName) throws(FarmError) -> (any BatchSystem)? {
        switch engine {
        case .local: return nil
        case .slurm: return SlurmSystem()
        case .commands:
            guard let commands = commands.value else {
                throw FarmError(
                    .usage,
                    "the engine 'commands' needs the site's commands\n   = name them by 'submit', 'status', 'cancel' and "
                        + "'describe' under 'commands' in the config file; the page 'Commands of a cluster' of the documentation describes them"
                )
            }
            return CommandSystem(commands)
        }
    }

    /// The options of a job on a cluster.
    ///
    /// - Parameter arguments: further arguments of `sbatch`, from the command line.
    package func clusterOptions(for job: JobSpec, arguments: [String]) -> ClusterOptions {
        var flags = ClusterOptions()
        if !arguments.isEmpty { flags.arguments = arguments }
        return flags.over((job.slurm ?? ClusterOptions()).over(slurm.value))
    }
}
