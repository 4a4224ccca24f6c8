import ArgumentParser
import BatchSystems
import Catalogs
import Cluster
import Confinement
import Coordination
import Engines
import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import SafeFiles
import Scheduling
import ServiceAPI
import Settings
import Shards
import WorkerProtocol

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check that this installation can work, and say what to fix.")

    @OptionGroup(title: "Location Options") var location: LocationOptions
    @OptionGroup(title: "Engine Options") var engine: EngineOptions

    @Option(
        help: ArgumentHelp("The folder of the service. Default: beside the state folder.", valueName: "dir"),
        completion: .directory)
    var serviceDir: String?

    @Option(
        help: ArgumentHelp("With the engine of a cluster: a folder that all nodes share.", valueName: "dir"),
        completion: .directory)
    var shared: String?

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let settings = try Settings.load(location, engine: engine.engine)
            try settings.check(slurmArguments: engine.slurmArguments)
            if shared != nil, !settings.engine.value.isCluster {
                throw FarmError(.usage, "--shared is a folder for --engine slurm, and the engine is local")
            }
            var worst = await examineWorker(Farm(settings), settings.sandbox)
            worst = max(worst, examineFolder("state", settings.stateFolder.value))
            worst = max(worst, examineDatabase(JobStore.databasePath(state: settings.stateFolder.value)))
            if let scratch = settings.scratch.value { worst = max(worst, examineFolder("scratch", scratch)) }
            say(true, "\(settings.workers.value) workers, \(Figures.bytes(settings.memory.value)) of memory for them")
            let files = settings.configFiles.joined(separator: ", ")
            say(true, files.isEmpty ? "no config file; defaults apply" : "config file \(files)")
            worst = max(worst, examineNotifications(settings))
            worst = max(worst, examineSchedules(settings.service.value.schedules))
            sayWhatConfines()
            let service =
                serviceDir.map { ServiceFolder(PathText.normalized($0, in: currentFolder())) }
                ?? ServiceFolder(besideStateFolder: settings.stateFolder.value)
            worst = max(worst, try await ServiceExamination(folder: service, isNamed: serviceDir != nil).run())
            worst = max(worst, try await examineNamedService(settings))
            return max(worst, await examineEngine(settings))
        }
    }

    /// Whether the programs exist that send what the config file asks for.
    private func examineNotifications(_ settings: Settings) -> RunOutcome {
        let targets = settings.onEnd.value + settings.onFailure.value + settings.late.value.flatMap(\.targets)
        let (sendmail, hasMail) = (
            settings.sendmail.value, targets.contains { if case .mail = $0 { true } else { false } }
        )
        if hasMail, access(sendmail, X_OK) != 0 {
            say(
                false,
                "\(VisibleText.line(sendmail)) cannot be run, so no mail is sent\n   = install a mail system, or name its program "
                    + "in the config file: notifications: {sendmail: PATH}")
            return .unavailable
        }
        if targets.contains(where: { if case .webhook = $0 { true } else { false } }), !isInPath("curl") {
            say(false, "there is no curl in PATH, so no webhook is sent\n   = install curl")
            return .unavailable
        }
        if hasMail { say(true, "mails are sent by \(VisibleText.line(sendmail))") }
        return .done
    }

    /// Whether the manifests of schedules and watched folders exist. The service finds out only when the first one is due.
    private func examineSchedules(_ schedules: [ConfiguredSchedule]) -> RunOutcome {
        var worst = RunOutcome.done
        for schedule in schedules {
            let kind = if case .changes = schedule.trigger { "watch" } else { "schedule" }
            var found = stat()
            let reason: String? =
                if stat(schedule.job.manifest, &found) != 0 {
                    // A file that only the service may reach is none of this user's.
                    [EACCES, EPERM].contains(errno) ? nil : String(cString: strerror(errno))
                } else {
                    found.st_mode & S_IFMT == S_IFREG ? nil : "it is no regular file"
                }
            guard let reason else { continue }
            say(
                false,
                "\(kind) '\(schedule.name)': \(VisibleText.line(schedule.job.manifest)): the manifest cannot be read: \(reason)\n"
                    + "   = write the manifest, or correct its path in the config file")
            worst = .unavailable
        }
        return worst
    }

    /// The service that commands would talk to. Flags name another one in place of the settings' service.
    private func examineNamedService(_ settings: Settings) async throws -> RunOutcome {
        guard serviceDir == nil, !(location.stateDir != nil && settings.server.origin.isFile) else { return .done }
        return try await NamedServiceExamination(server: settings.server, tokenFile: settings.tokenFile).run()
    }

    private func examineEngine(_ settings: Settings) async -> RunOutcome {
        do {
            guard let system = try settings.batchSystem() else { return .done }
            return await examineCluster(settings, system)
        } catch {
            say(false, error.message)
            // As 'run' would exit.
            return error.outcome
        }
    }

    private func examineCluster(_ settings: Settings, _ system: any BatchSystem) async -> RunOutcome {
        var flags = ClusterOptions()
        if !engine.slurmArguments.isEmpty { flags.arguments = engine.slurmArguments }
        let options = flags.over(settings.slurm.value)
        let examination = ClusterExamination(
            settings: settings, farm: Farm(settings), system: system, options: options,
            folder: shared.map { PathText.normalized($0, in: currentFolder()) } ?? options.folder, say: say)
        return await examination.run()
    }

    /// Only the service needs it, and only for tokens with folders. So a kernel without it is no failure.
    private func sayWhatConfines() {
        switch Landlock.support {
        case .version(let version):
            say(true, "Landlock \(version): the kernel can keep the runs of a token within its folders")
        case .missing(let reason):
            Console.print("note  tokens with folders would be refused, because \(reason.line)")
        }
    }

    private func say(_ isWell: Bool, _ text: String) { Console.print((isWell ? "ok    " : "FAIL  ") + text) }

    private func examineWorker(_ farm: Farm, _ sandbox: Setting<SandboxMode>) async -> RunOutcome {
        do {
            let catalog = try await farm.catalog()
            let versions = catalog.versions.sorted { $0.key < $1.key }.map { VisibleText.line("\($0.key) \($0.value)") }
            say(true, "worker \(farm.worker.executable): \(versions.joined(separator: ", "))")
            let sameVersion = catalog.versions["penumbra"] == Version.penumbra
            if !sameVersion { say(false, "penumbra is \(Version.penumbra): reinstall both programs together") }
            say(true, "\(catalog.filters.count) filters, \(catalog.formats.count) formats")
            for format in catalog.missingFormats {
                let names = format.extensions.map { ".\($0)" }.joined(separator: ", ")
                Console.print(
                    "note  \(names) cannot be written: \(VisibleText.line("\(format.reason); \(format.remedy)"))")
            }
            for problem in catalog.pluginProblems { say(false, VisibleText.line(problem)) }
            // The config file asks for this, so it is no failure.
            for plugin in catalog.unpinnedPlugins { Console.print("note  \(VisibleText.line(plugin.description))") }
            for program in catalog.programs {
                let name = VisibleText.line("program '\(program.name)', \(program.path)")
                switch program.file {
                case .usable: say(true, "\(name): manifests may run it")
                case .unusable(let reason): say(false, "\(name): \(VisibleText.line(reason))")
                }
            }
            for line in SandboxText.lines(of: catalog.sandbox, sandbox) { Console.print(line) }
            if let exception = SandboxText.exception(from: catalog.sandbox) { Console.print(exception) }
            if let warning = SandboxText.warning(isRoot: geteuid() == 0) { Console.print(warning) }
            let readable = farm.settings.sandboxRead.value.map { VisibleText.line($0) }
            if sandbox.value != .off, !readable.isEmpty {
                Console.print("note  sandbox_read: workers also read \(readable.joined(separator: ", "))")
            }
            let hasPrograms = catalog.programs.allSatisfy { if case .usable = $0.file { true } else { false } }
            return sameVersion && catalog.pluginProblems.isEmpty && hasPrograms ? .done : .unavailable
        } catch {
            say(false, (error as? FarmError)?.message ?? "\(error)")
            return .unavailable
        }
    }

    private func examineDatabase(_ path: String) -> RunOutcome {
        guard access(path, F_OK) == 0 else {
            say(true, "no database yet; the first run makes it")
            return .done
        }
        do {
            try JobStore(readOnly: path).read { try $0.refuseDamage() }
            say(true, "database \(path): whole")
            return .done
        } catch {
            say(false, error.message)
            return .storage
        }
    }

    private func examineFolder(_ name: String, _ path: String) -> RunOutcome {
        do {
            let free = try WritableFolder.examine(path)
            say(true, "\(name) folder \(path): writable, \(Figures.bytes(free)) free")
            return .done
        } catch {
            say(false, "\(name) folder: \(error.message)")
            return .storage
        }
    }
}

/// Checks the engine of a cluster for `penumbra doctor`.
struct ClusterExamination {
    let settings: Settings
    let farm: Farm
    let system: any BatchSystem
    let options: ClusterOptions
    /// A folder that all nodes share; nil if none was named.
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
        system.traits.engine == .slurm ? "'sinfo' lists them" : "the describe command lists them"
    }

    private func examine(_ folder: String) async -> RunOutcome {
        do {
            // The folder is not created. A new folder with a misspelled name would not be shared with the nodes.
            let free = try WritableFolder.examine(folder, creates: false)
            say(true, "shared folder \(folder): writable here, \(Figures.bytes(free)) free")
            let result = try await tryOut(in: folder)
            let node = VisibleText.line(result?.location ?? "an element")
            say(true, "\(node) reads and writes it, and has the same programs, plugins and codecs")
            for line in SandboxText.lines(of: result?.sandbox, settings.sandbox, node: node) { Console.print(line) }
            return .done
        } catch let error as FileError {
            say(false, "shared folder: \(error.message)")
            return .storage
        } catch {
            say(false, words(error))
            return .unavailable
        }
    }

    private func tryOut(in folder: String) async throws -> ShardResult? {
        let name = "doctor-\(UUID().uuidString.prefix(8))"
        let shared = ShardFolder("\(folder)/penumbra-\(name)")
        let engine = ClusterEngine(
            system: system, options: options,
            setup: ClusterEngine.Setup(
                folder: shared, logs: "\(folder)/logs/\(name)", run: name, epoch: 1, program: programPath(),
                versions: try await farm.catalog().componentVersions,
                workers: Shard.Workers(
                    plugins: farm.worker.plugins, silence: settings.silence.value, sandbox: farm.sandbox))
        ) { Console.complain($0) }
        defer { engine.forgetTrial() }
        return try await engine.tryOut(signals: Signals().control.signals(), limit: Self.limit)
    }

    private func words(_ error: any Error) -> String {
        switch error {
        case EngineError.failed(let failure): failure.message
        case EngineError.died(let death): "an element failed: \(death.manner.words)"
        case EngineError.refused(.cluster(let message)): message
        case EngineError.refused(let reason): reason.message()
        case EngineError.interrupted: "interrupted"
        case EngineError.tookTooLong:
            "no node has answered within \(Self.limit.components.seconds) s"
                + (system.traits.engine == .slurm ? "; 'squeue' shows the reason" : "")
        case let error as FarmError: error.message
        default: "\(error)"
        }
    }
}
