import ArgumentParser
import Catalogs
import Coordination
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Reports
import Runs
import Settings
import Shards
import WorkerProtocol

struct ShardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "Do one shard of a run, as an element of a job array does.",
        discussion: """
            Reads a shard that 'penumbra prepare', or the coordinator of a cluster's run, has written. Worker processes on \
            all cores do its tasks, and the results are written beside it. Results of an earlier attempt are used again. \
            Several attempts at once do no harm.
            """)

    /// The folder with `shards`. The coordinator's job array passes it.
    @Option(name: .customLong("run"), help: .hidden)
    var work: String?

    @Option(
        help: ArgumentHelp("The folder that 'penumbra prepare' wrote the shards to.", valueName: "dir"),
        completion: .directory)
    var runDir: String?

    @Option(help: ArgumentHelp("The shard's number, from 1.", valueName: "k"))
    var index: Int

    @Flag(help: "Print lines that Open Job Description knows: openjd_progress, openjd_status, openjd_fail.")
    var openjd = false

    @OptionGroup(title: "Location Options") var location: LocationOptions

    func validate() throws {
        guard (work == nil) != (runDir == nil) else { throw ValidationError("Give the shards' folder by --run-dir.") }
    }

    func run() async throws {
        let openJD = OpenJDOutput(isOn: openjd)
        try await ConsoleReporter(json: false).handling { reporter in
            do {
                let signals = Signals()
                var worst = RunOutcome.done
                for shard in try wanted(reporter) {
                    worst = max(worst, try await carryOut(shard, signals, reporter, openJD))
                }
                openJD.report(progress: 100)
                return worst
            } catch let error as ShardFolderError {
                openJD.report(failure: error.message)
                throw FarmError(.storage, error.message)
            } catch let error as FarmError {
                openJD.report(failure: error.message)
                throw error
            }
        }
    }

    /// The shard with the wanted index in each run of the folder.
    private func wanted(_ reporter: ConsoleReporter) throws -> [(folder: ShardFolder, number: Int)] {
        if let work { return [(ShardFolder(work), index)] }
        let folder = PathText.normalized(runDir ?? "", in: currentFolder())
        let runs = RunFolder.meant(in: folder)
        guard !runs.isEmpty else {
            throw FarmError(
                .missingInput,
                "\(PathText.visible(folder)): no run\n   = 'penumbra prepare --run-dir' writes shards there")
        }
        let found = try runs.compactMap { run -> (ShardFolder, PreparedShards.Range)? in
            guard run.end == nil, let scratch = run.scratch else {
                reporter.say("\(run.name): has ended, there is nothing to do")
                return nil
            }
            try MissingDiskCheck.refuseLostDisks(of: run)
            let shared = ShardFolder(scratch)
            guard let shards = PreparedShards.Range(of: shared) else {
                throw FarmError(
                    .missingInput,
                    "\(PathText.visible(folder)): the run is not prepared yet\n   = 'penumbra prepare' prepares it")
            }
            return (shared, shards)
        }
        // Runs in one folder may have different numbers of shards.
        guard let most = found.map(\.1.count).max() else { return [] }
        guard (1...most).contains(index) else {
            throw FarmError(.usage, "--index takes 1 to \(most) here, not \(index): so many shards were prepared")
        }
        return found.filter { index <= $0.1.count }.map { ($0.0, $0.1.first + index - 1) }
    }

    private func carryOut(
        _ shard: (folder: ShardFolder, number: Int), _ signals: Signals, _ reporter: ConsoleReporter,
        _ openJD: OpenJDOutput
    ) async throws -> RunOutcome {
        let allocation = Allocation(ProcessInfo.processInfo.environment)
        let run = ShardRun(
            folder: shard.folder, number: shard.number, location: allocation.name,
            attempt: String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        ) { done, all in openJD.report(progress: 100 * done / max(1, all), "\(done) of \(Figures.plural(all, "task"))")
        }
        let written = try run.shard()
        let settings = try Settings.load(location, allocation: allocation)
        let own = Farm.plugins(settings)
        // A machine that requires a sandbox does nothing without one, whatever the coordinator's settings are.
        let sandbox = settings.sandbox.value == .require ? .require : written.workers.sandbox
        let farm = Farm(settings, plugins: written.workers.plugins.restricted(by: own), sandbox: sandbox)
        try farm.secureDescriptors(workers: settings.workers.value)
        let end = try await run.run(
            written,
            engine: farm.engine(
                folders: written.workers.folders, readable: written.workers.folders.compactMap(PathNames.folder),
                scratch: shard.folder.path),
            workers: settings.workers.value
        ) { signals.control.signals() }
        switch end {
        case .done(let tasks, let failed):
            reporter.say("shard \(index), attempt \(run.attempt): \(Figures.plural(tasks, "task")), \(failed) failed")
            return .done
        case .refused(let reason): throw FarmError(.unavailable, "shard \(index): \(reason)")
        case .interrupted(let signal):
            throw FarmError(
                RunOutcome(signal: signal),
                "shard \(index), attempt \(run.attempt): ended by a signal; what was done is in its log")
        }
    }
}

/// Prints progress and failures for a scheduler of Open Job Description.
/// <https://github.com/OpenJobDescription/openjd-specifications/wiki/How-Jobs-Are-Run>
struct OpenJDOutput: Sendable {
    let isOn: Bool

    func report(progress percent: Int, _ status: String? = nil) {
        guard isOn else { return }
        if let status { Console.print("openjd_status: \(VisibleText.line(status))") }
        Console.print("openjd_progress: \(percent)")
    }

    func report(failure message: String) {
        guard isOn else { return }
        // A further line could be an order to the scheduler, such as openjd_env.
        let lines = message.split(whereSeparator: \.isNewline).map { VisibleText.line(String($0)) }
        Console.print("openjd_fail: \(lines.joined(separator: " "))")
    }
}

/// The cores and the memory that a cluster gives to this process.
struct Allocation: Sendable {
    /// The name of this process in messages: `element 12_3 on n2`.
    let name: String
    let cores: Int?
    /// In bytes.
    let memory: Int?

    init(_ environment: [String: String]) {
        func number(_ variable: String) -> Int? {
            environment[variable].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        }
        let node = environment["PENUMBRA_JOB_NODE"] ?? environment["SLURMD_NODENAME"] ?? "this machine"
        if let element = environment["PENUMBRA_JOB_ELEMENT"] {
            name = "element \(element) on \(node)"
        } else if let array = environment["SLURM_ARRAY_JOB_ID"], let task = environment["SLURM_ARRAY_TASK_ID"] {
            name = "element \(array)_\(task) on \(node)"
        } else {
            name = "a shard on \(node)"
        }
        let cores = number("PENUMBRA_JOB_CORES") ?? number("SLURM_CPUS_PER_TASK") ?? number("SLURM_CPUS_ON_NODE")
        self.cores = cores
        // Slurm counts megabytes of 2^20 bytes.
        let perCore = number("SLURM_MEM_PER_CPU").map { $0 * (cores ?? 1) }
        memory = number("PENUMBRA_JOB_MEMORY") ?? (number("SLURM_MEM_PER_NODE") ?? perCore).map { $0 << 20 }
    }
}
