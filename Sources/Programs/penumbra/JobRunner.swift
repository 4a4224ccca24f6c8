import Coordination
import Dispatching
import FoundationEssentials
import JobModel
import Planning
import Scheduling
import Settings

/// Runs prepared jobs here, one after another.
struct JobRunner {
    let installation: Installation
    let signals: Signals
    let reporting: Reporting
    /// How long to wait for another run of a job, in seconds; nil for jobs without a manifest, of which several may run.
    let lockWait: Double?

    /// - Returns: the worst of their ends.
    func run(_ prepared: [PreparedJob]) async throws -> ExitStatus {
        try refuseSharedOutputs(prepared)
        var worst = ExitStatus.done
        for job in prepared {
            do {
                let status = try await run(job)
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

    private func run(_ prepared: PreparedJob) async throws -> ExitStatus {
        let state = installation.settings.stateFolder.value
        let lock = try await lock(prepared.job, state)
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

    private func lock(_ job: JobSpec, _ state: String) async throws -> KernelLock? {
        guard let lockWait else { return nil }
        guard let lock = try await locked(job, state, lockWait) else {
            throw CommandError(
                .busy, "\(job.name): another run of this job is going on; --lock-wait SECONDS waits for it")
        }
        return lock
    }

    /// Nil when another run of the job holds the lock for all of `--lock-wait`. A signal ends the wait.
    private func locked(_ job: JobSpec, _ state: String, _ lockWait: Double) async throws -> KernelLock? {
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
            for output in job.targets.flatMap(\.outputs) {
                if let other = owners.updateValue(job.job.name, forKey: output) {
                    throw CommandError(
                        .badManifest,
                        "\(output): both '\(other)' and '\(job.job.name)' would write this output\n"
                            + "   = give the jobs different output folders, or names with {job}")
                }
            }
        }
    }
}
