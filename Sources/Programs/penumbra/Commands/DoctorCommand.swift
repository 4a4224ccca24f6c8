import ArgumentParser
import Catalogs
import Cluster
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
import Settings
import WorkerProtocol

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check that this installation can work, and say what to mend.")

    @OptionGroup(title: "Place Options") var place: LocationOptions
    @OptionGroup(title: "Engine Options") var engine: EngineOptions

    @Option(help: ArgumentHelp("With the engine of a cluster: a folder that all nodes share.", valueName: "dir"))
    var shared: String?

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let settings = try Settings.load(place, engine: engine.engine)
            try settings.check(slurmArguments: engine.slurmArguments)
            if shared != nil, !settings.engine.value.isCluster {
                throw FarmError(.usage, "--shared is a folder for --engine slurm, and the engine is local")
            }
            var worst = await examineWorker(Farm(settings))
            worst = max(worst, examineFolder("state", settings.stateFolder.value))
            worst = max(worst, examineDatabase(JobStore.databasePath(state: settings.stateFolder.value)))
            if let scratch = settings.scratch.value { worst = max(worst, examineFolder("scratch", scratch)) }
            say(true, "\(settings.workers.value) workers, \(Figures.bytes(settings.memory.value)) of memory for them")
            say(true, settings.configFile.map { "config file \($0)" } ?? "no config file, defaults hold")
            if let system = try settings.batchSystem() {
                worst = max(worst, await examineCluster(settings, system))
            }
            return worst
        }
    }

    private func examineCluster(_ settings: Settings, _ system: any BatchSystem) async -> RunOutcome {
        var flags = ClusterOptions()
        if !engine.slurmArguments.isEmpty { flags.arguments = engine.slurmArguments }
        let options = flags.over(settings.slurm.value)
        let examination = ClusterExamination(
            settings: settings, installation: Farm(settings), system: system, options: options,
            folder: shared.map { PathText.normalized($0, in: currentFolder()) } ?? options.folder, say: say)
        return await examination.run()
    }

    private func say(_ isWell: Bool, _ text: String) { Console.print((isWell ? "ok    " : "FAIL  ") + text) }

    private func examineWorker(_ installation: Farm) async -> RunOutcome {
        do {
            let catalog = try await installation.catalog()
            let versions = catalog.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            say(true, "worker \(installation.worker.executable): \(versions.joined(separator: ", "))")
            let sameVersion = catalog.versions["penumbra"] == Version.penumbra
            if !sameVersion { say(false, "penumbra is \(Version.penumbra): reinstall both programs together") }
            say(true, "\(catalog.filters.count) filters, \(catalog.formats.count) formats")
            for problem in catalog.pluginProblems { say(false, problem) }
            // What the config file asks for is no failure.
            for plugin in catalog.unpinnedPlugins { Console.print("note  \(plugin)") }
            return sameVersion && catalog.pluginProblems.isEmpty ? .done : .unavailable
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
