import Catalogs
import Coordination
import Dispatching
import JobModel
import Scheduling
import Settings

/// Who does a run's work, and where it keeps what workers share.
extension JobRunner {
    private var settings: Settings { installation.settings }

    private var isOnCluster: Bool { settings.engine.value == .slurm }

    /// A folder for runs' scratch space; nil for the run's own. What nodes of a cluster share lies beside the outputs, which
    /// they have to reach anyway, unless somebody names another place.
    func scratchPlace(for job: JobSpec) -> String? {
        guard isOnCluster else { return settings.scratch.value }
        if case .flag = settings.scratch.origin { return settings.scratch.value }
        let outputs = OutputFolders.of(job).first ?? job.folder
        return slurmWishes(for: job).folder ?? PathNames.joined(outputs, RunDirectory.sharedName)
    }

    func slurmWishes(for job: JobSpec) -> SlurmWishes {
        settings.slurmWishes(for: job, arguments: wishes.slurmArguments)
    }

    /// What a run uses of this machine, or of the cluster.
    func runSettings(for prepared: PreparedJob) -> RunSettings {
        guard isOnCluster else { return installation.runSettings(for: prepared) }
        let options = SlurmOptions(slurmWishes(for: prepared.job))
        let workers = options.throttle * options.cpusPerTask
        // As an element's own workers share what it has; the same tasks do with less.
        let each =
            options.memory.map { $0 / 10 * 6 / options.cpusPerTask } ?? settings.memory.value / settings.workers.value
        return RunSettings(
            workers: workers, memory: each * workers, silence: settings.silence.value,
            seed: UInt64.random(in: .min ... .max), tasksAway: SlurmEngine.mostTasks)
    }

    /// - Throws: ``CommandError`` where the run was begun elsewhere and cannot be gone on with by this engine.
    func engine(for started: StartedJob) async throws -> any Engine {
        let directory = started.directory
        let folder = SharedFolder(directory.scratch)
        guard isOnCluster else {
            if directory.epoch > 1 { await endArrays(of: folder, before: directory.epoch) }
            return installation.engine()
        }
        let job = started.prepared.job
        let place = scratchPlace(for: job) ?? ""
        guard directory.scratch.hasPrefix("\(place)/") else {
            throw CommandError(
                .usage,
                "\(job.name): the interrupted run \(directory.name) keeps its tiles at \(directory.scratch), and not on "
                    + "\(place), where a cluster's nodes look for them\n"
                    + "   = go on with it by --engine local, or give it up by 'penumbra cancel \(directory.name)'")
        }
        directory.expectStrangers()
        let reporting = reporting
        return SlurmEngine(
            options: SlurmOptions(slurmWishes(for: job)),
            setup: SlurmEngine.Setup(
                folder: folder, logs: "\(place)/logs/\(directory.name)", run: directory.name, epoch: directory.epoch,
                program: programPath(), versions: preparation.catalog.makings,
                workers: Shard.Workers(plugins: installation.worker.plugins, silence: settings.silence.value))
        ) { reporting.note("\(job.name): \($0)") }
    }

    /// An earlier coordinator of the run may have had a cluster.
    private func endArrays(of folder: SharedFolder, before epoch: Int) async {
        do {
            try await SlurmEngine.endArrays(of: folder, before: epoch)
        } catch {
            reporting.note("jobs of the run's earlier coordinator may be left in Slurm's queue: \(error.message)")
        }
    }
}

extension Settings {
    /// - Parameter arguments: further ones of `sbatch`, from the command line.
    func slurmWishes(for job: JobSpec, arguments: [String]) -> SlurmWishes {
        var flags = SlurmWishes()
        if !arguments.isEmpty { flags.arguments = arguments }
        return flags.over((job.slurm ?? SlurmWishes()).over(slurm.value))
    }
}

extension SlurmOptions {
    init(_ wishes: SlurmWishes) {
        self.init(
            partition: wishes.partition, account: wishes.account, qos: wishes.qos, time: wishes.time,
            memory: wishes.memory, arguments: wishes.arguments ?? [])
        if let cores = wishes.cpusPerTask { cpusPerTask = cores }
        if let throttle = wishes.throttle { self.throttle = throttle }
        if let seconds = wishes.shardSeconds { shardSeconds = seconds }
        if let grace = wishes.grace { self.grace = grace }
    }
}
