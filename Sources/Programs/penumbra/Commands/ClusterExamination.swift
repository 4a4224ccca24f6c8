import BatchSystems
import Catalogs
import Cluster
import Coordination
import Engines
import FoundationEssentials
import JobModel
import RenderFarm
import Reports
import SafeFiles
import Scheduling
import Settings
import Shards
import WorkerProtocol

/// What `penumbra doctor` looks at with the engine of a cluster.
struct ClusterExamination {
    let settings: Settings
    let installation: Farm
    let system: any BatchSystem
    let options: ClusterOptions
    /// A folder that all nodes share; nil when none was named.
    let folder: String?
    let say: (Bool, String) -> Void

    private static let limit = Duration.seconds(300)

    func run() async -> RunOutcome {
        if system.traits.engine == .slurm,
            let words = SlurmHints.missingConfiguration(ProcessInfo.processInfo.environment)
        {
            say(false, words)
            return .unavailable
        }
        do {
            let description = try await system.describe(withQueues: options.partition != nil)
            sayWhatAnswers(description)
            if let partition = options.partition, let queues = description.queues {
                guard queues.contains(partition) else {
                    say(false, "partition '\(partition)': there is none; \(queueRemedy)")
                    return .unavailable
                }
                say(true, "partition \(partition)")
            }
        } catch {
            say(false, error.message)
            return .unavailable
        }
        guard let folder else {
            say(
                false,
                "no shared folder is set, so no node was tried: name one by --shared, or by 'folder' under 'slurm'")
            return .usage
        }
        return await examine(folder)
    }

    private func sayWhatAnswers(_ description: BatchDescription) {
        let name = system.traits.engine == .slurm ? "Slurm's controller answers" : "the cluster's commands answer"
        say(
            true,
            description.largestArray > 1
                ? "\(name); its arrays have up to \(description.largestArray) elements"
                : "\(name); it has no arrays, and gets a job for each shard")
    }

    private var queueRemedy: String {
        system.traits.engine == .slurm ? "'sinfo' lists them" : "the describe command tells which there are"
    }

    private func examine(_ folder: String) async -> RunOutcome {
        do {
            // One that was made here, for a slip of the pen perhaps, would be shared with nobody.
            let free = try WritableFolder.examine(folder, creates: false)
            say(true, "shared folder \(folder): writable here, \(Figures.bytes(free)) free")
            let place = try await tryOut(in: folder)
            say(true, "\(place) reads and writes it, and has the same programs, plugins and codecs")
            return .done
        } catch let trouble as FileTrouble {
            say(false, "shared folder: \(trouble.message)")
            return .storage
        } catch {
            say(false, words(error))
            return .unavailable
        }
    }

    private func tryOut(in folder: String) async throws -> String {
        let name = "doctor-\(UUID().uuidString.prefix(8))"
        let shared = ShardFolder("\(folder)/penumbra-\(name)")
        let engine = ClusterEngine(
            system: system, options: options,
            setup: ClusterEngine.Setup(
                folder: shared, logs: "\(folder)/logs/\(name)", run: name, epoch: 1, program: programPath(),
                versions: try await installation.catalog().componentVersions,
                workers: Shard.Workers(plugins: installation.worker.plugins, silence: settings.silence.value))
        ) { Console.complain($0) }
        defer { engine.forgetTrial() }
        return try await engine.tryOut(signals: Signals().control.signals(), limit: Self.limit)
    }

    private func words(_ error: any Error) -> String {
        switch error {
        case EngineError.failed(let failure): failure.message
        case EngineError.died(let death): "an element came to nothing: \(death.manner.words)"
        case EngineError.refused(.cluster(let message)): message
        case EngineError.refused(let reason): StopWords.describe(reason)
        case EngineError.interrupted: "interrupted"
        case EngineError.tookTooLong:
            "no node has answered within \(Self.limit.components.seconds) s"
                + (system.traits.engine == .slurm ? "; 'squeue' tells what is waited for" : "")
        case let error as FarmError: error.message
        default: "\(error)"
        }
    }
}
