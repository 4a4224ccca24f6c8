import ArgumentParser
import Dispatching
import FoundationEssentials
import Settings

struct ShardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "Do one shard of a run: what an element of a job array executes.",
        discussion: """
            'penumbra run --engine slurm' submits it; nobody has to give it by hand, but may, to see why a shard fails: it reads \
            DIR/shards/K.json, has the tasks in it done by worker processes on all cores that it may use, and puts \
            what came of them at DIR/results. What an earlier attempt at the shard has done is not done again.
            """,
        shouldDisplay: false)

    @Option(
        name: .customLong("run"), help: ArgumentHelp("The run's folder on the shared file system.", valueName: "dir"))
    var folder: String

    @Option(help: ArgumentHelp("The shard's number.", valueName: "k"))
    var index: Int

    @OptionGroup(title: "Place Options") var place: PlaceOptions

    func run() async throws {
        try await Reporting(json: false).handling { reporting in
            let signals = Signals()
            let allocation = Allocation(ProcessInfo.processInfo.environment)
            let run = ShardRun(
                folder: SharedFolder(folder), number: index, place: allocation.place,
                attempt: String(UInt64.random(in: 1 << 60 ... .max), radix: 16))
            let end: ShardRun.End
            do {
                let shard = try run.shard()
                let settings = try Settings.load(place, allocation: allocation)
                let installation = Installation(settings, plugins: shard.workers.plugins)
                end = try await run.run(
                    shard, engine: installation.engine(), workers: settings.workers.value, signals: signals.stream)
            } catch let trouble as SharedFolder.Trouble {
                throw CommandError(.badPlace, trouble.message)
            }
            switch end {
            case .done(let tasks, let failed):
                reporting.say("shard \(index), attempt \(run.attempt): \(tasks) tasks, \(failed) failed")
                return .done
            case .refused(let reason): throw CommandError(.unavailable, "shard \(index): \(reason)")
            case .interrupted(let signal):
                throw CommandError(
                    ExitStatus(rawValue: 128 + signal) ?? .terminated,
                    "shard \(index), attempt \(run.attempt): ended by a signal; what was done is in its log")
            }
        }
    }
}

/// What a cluster has given to this process.
struct Allocation: Sendable {
    /// `element 12_3 on n2`, as messages name it.
    let place: String
    let cores: Int?
    /// In bytes.
    let memory: Int?

    init(_ environment: [String: String]) {
        func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }
        let node = environment["SLURMD_NODENAME"] ?? "this machine"
        if let array = environment["SLURM_ARRAY_JOB_ID"], let task = environment["SLURM_ARRAY_TASK_ID"] {
            place = "element \(array)_\(task) on \(node)"
        } else {
            place = "a shard on \(node)"
        }
        let cores = number("SLURM_CPUS_PER_TASK") ?? number("SLURM_CPUS_ON_NODE")
        self.cores = cores
        // Slurm counts megabytes of 2^20 bytes.
        let perCore = number("SLURM_MEM_PER_CPU").map { $0 * (cores ?? 1) }
        memory = (number("SLURM_MEM_PER_NODE") ?? perCore).map { $0 << 20 }
    }
}
