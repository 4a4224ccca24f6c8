import Catalogs
import Coordination
import Dispatching
import FoundationEssentials
import JobModel
import RenderFarm
import Reports
import SafeFiles
import Scheduling
import Settings
import WorkerProtocol

/// What `penumbra doctor --engine slurm` looks at.
struct SlurmExamination {
    let settings: Settings
    let installation: Farm
    let options: SlurmOptions
    /// A folder that all nodes share; nil when none was named.
    let folder: String?
    let say: (Bool, String) -> Void

    private static let limit = Duration.seconds(300)

    func run() async -> RunOutcome {
        if let words = SlurmHints.missingConfiguration(ProcessInfo.processInfo.environment) {
            say(false, words)
            return .unavailable
        }
        do {
            let client = SlurmClient()
            let largest = try await client.largestArray()
            say(true, "Slurm's controller answers; its arrays have up to \(largest) elements")
            if let partition = options.partition {
                guard try await client.partitions().contains(partition) else {
                    say(false, "partition '\(partition)': there is none; 'sinfo' lists them")
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
            say(false, Self.words(error))
            return .unavailable
        }
    }

    private func tryOut(in folder: String) async throws -> String {
        let name = "doctor-\(UUID().uuidString.prefix(8))"
        let shared = ShardFolder("\(folder)/penumbra-\(name)")
        let engine = ClusterEngine(
            options: options,
            setup: ClusterEngine.Setup(
                folder: shared, logs: "\(folder)/logs/\(name)", run: name, epoch: 1, program: programPath(),
                versions: try await installation.catalog().makings,
                workers: Shard.Workers(plugins: installation.worker.plugins, silence: settings.silence.value))
        ) { Console.complain($0) }
        defer { engine.forgetTrial() }
        return try await engine.tryOut(signals: Signals().control.signals(), limit: Self.limit)
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case NoAnswer.failed(let failure): failure.message
        case NoAnswer.died(let death): "an element came to nothing: \(death.manner.words)"
        case NoAnswer.refused(.cluster(let message)): message
        case NoAnswer.refused(let reason): StopWords.describe(reason)
        case NoAnswer.interrupted: "interrupted"
        case NoAnswer.tookTooLong:
            "no node has answered within \(limit.components.seconds) s; 'squeue' tells what is waited for"
        case let error as FarmError: error.message
        default: "\(error)"
        }
    }
}
