import ArgumentParser
import Coordination
import Dispatching
import FoundationEssentials
import JobModel
import Planning
import Scheduling
import Settings

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run jobs here, with worker processes.",
        discussion: """
            All manifests are read and checked before anything starts. Then each job's inputs are found, its outputs \
            rendered, verified and put at their final paths in one step each. A process that is killed, a full disk, \
            Ctrl-C: an output is there whole or not at all.

            Exit codes: 0 done; 1 some frames failed; 64 usage; 65 a manifest or config is wrong; 66 inputs are \
            missing; 69 a component is missing; 74 the disk is full or read-only; 75 another run of the job holds \
            the lock; 129, 130, 143 interrupted.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: PlaceOptions

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    @Option(help: ArgumentHelp("How long to wait for another run of the job to end.", valueName: "seconds"))
    var lockWait = 0.0

    func validate() throws {
        if !(0...604_800).contains(lockWait) { throw ValidationError("--lock-wait takes 0 to 604800 seconds.") }
    }

    func run() async throws {
        try await Reporting(json: json, quiet: quiet).handling { reporting in
            let installation = Installation(try Settings.load(place))
            let signals = Signals()
            let catalog = try await installation.introducedCatalog()
            let specs = try reporting.jobs(ManifestFiles(options: manifests, catalog: catalog).read())
            let preparation = JobPreparation(
                installation: installation, catalog: catalog,
                selection: JobPlan.Selection(only: jobs.only, limit: jobs.limit), signals: signals)
            var prepared: [PreparedJob] = []
            for spec in specs {
                try await allowingEmpty(jobs.allowEmpty) {
                    let job = try await preparation.prepare(spec, surveys: false)
                    reporting.hint(job.plan)
                    prepared.append(job)
                }
            }
            try refuseSharedOutputs(prepared)
            return try await run(prepared, installation, signals, reporting)
        }
    }

    private func run(
        _ prepared: [PreparedJob], _ installation: Installation, _ signals: Signals, _ reporting: Reporting
    ) async throws -> ExitStatus {
        var worst = ExitStatus.done
        for job in prepared {
            do {
                let status = try await run(job, installation, signals, reporting)
                worst = max(worst, status)
                if status == .badPlace || status > .busy { break }
            } catch let error as CommandError where error.status == .busy {
                // The other jobs can still be done.
                reporting.complain(error.message)
                worst = max(worst, error.status)
            }
        }
        return worst
    }

    private func run(
        _ prepared: PreparedJob, _ installation: Installation, _ signals: Signals, _ reporting: Reporting
    ) async throws -> ExitStatus {
        let state = installation.settings.stateFolder.value
        guard let lock = try await locked(prepared.job, state, signals) else {
            throw CommandError(
                .busy, "\(prepared.job.name): another run of this job is going on; --lock-wait SECONDS waits for it")
        }
        RunDirectory.sweep(state: state)
        let directory = try RunDirectory(
            state: state, name: runName(), scratch: installation.settings.scratch.value)
        let settings = installation.runSettings(for: prepared)
        let observer = reporting.observer(for: prepared.job)
        let run = JobRun(
            prepared.plan, targets: prepared.targets, failed: prepared.failed, directory: directory,
            settings: settings, observer: observer)
        let summary = await run.run(RunLoop(engine: installation.engine(), signals: signals.stream))
        directory.remove()
        withExtendedLifetime(lock) {}
        reporting.ended(summary, prepared.job)
        return ExitStatus(summary)
    }

    /// Nil when another run of the job holds the lock for all of `--lock-wait`. A signal ends the wait.
    private func locked(_ job: JobSpec, _ state: String, _ signals: Signals) async throws -> KernelLock? {
        try await withThrowingTaskGroup(of: KernelLock?.self) { group in
            group.addTask { try await JobLock.take(for: job, state: state, wait: .seconds(lockWait)) }
            group.addTask {
                for await signal in signals.stream {
                    throw CommandError(
                        ExitStatus(rawValue: 128 + signal) ?? .terminated,
                        "\(job.name): \(SummaryText.describe(.interrupted(signal: signal)))")
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// `20261121T213000Z-1a2b3c`
    private func runName() -> String {
        let time = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        return "\(time)-\(String(UInt32.random(in: 0x100000...0xffffff), radix: 16))"
    }

    private func refuseSharedOutputs(_ jobs: [PreparedJob]) throws {
        var owners: [String: String] = [:]
        for job in jobs {
            for target in job.targets {
                if let other = owners.updateValue(job.job.name, forKey: target.output) {
                    throw CommandError(
                        .badManifest,
                        "\(target.output): both '\(other)' and '\(job.job.name)' would write this output\n"
                            + "   = give the jobs different output folders, or names with {job}")
                }
            }
        }
    }
}

/// With `--allow-empty`, a job without inputs is left out and is no error.
func allowingEmpty(_ allowed: Bool, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as CommandError where allowed && error.status == .missingInput {
        return
    }
}
