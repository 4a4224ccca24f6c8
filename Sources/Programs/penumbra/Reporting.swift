import ArgumentParser
import Coordination
import Glibc
import JobModel
import Planning
import Synchronization

/// Where a command's results and complaints go: for a person, for cron (`--quiet`), or as JSON lines.
final class Reporting: Sendable {
    let json: Bool
    let quiet: Bool
    private let human: HumanObserver
    private let summaries = Mutex<[RunSummary]>([])

    init(json: Bool, quiet: Bool = false) {
        self.json = json
        self.quiet = quiet
        human = HumanObserver(showsBar: !json && !quiet && Console.errorIsTerminal)
    }

    func observer(for job: JobSpec) -> any RunObserver {
        json ? JSONObserver(job: job.name) : human
    }

    /// Prints what is to be said of the manifests, and returns the jobs if none has errors.
    func jobs(_ outcome: ManifestFiles.Outcome) throws -> [JobSpec] {
        if json {
            for problem in outcome.problems { JSONLine.problem(problem).print() }
        } else if !quiet || outcome.hasErrors {
            for text in outcome.texts { Console.complain(text) }
        }
        guard !outcome.hasErrors else {
            let isOnlyMissing = outcome.isMissingOne && outcome.problems.filter { $0.severity == "error" }.count == 1
            throw (isOnlyMissing ? ExitStatus.missingInput : .badManifest).code
        }
        return outcome.jobs
    }

    /// Says which of several patterns nothing matches. (When nothing matches any of them, that is an error.)
    func hint(_ plan: JobPlan) {
        let folder = currentFolder()
        let manifest = PathText.shown(plan.job.manifestPath, from: folder)
        for pattern in plan.unmatchedPatterns {
            let message = "nothing matches '\(PathText.shown(pattern, from: folder))' of 'inputs'"
            if json {
                JSONLine.problem(ProblemLine(manifest: manifest, message: message, severity: "warning")).print()
            } else if !quiet {
                Console.complain("\(manifest): warning: \(message)")
            }
        }
    }

    func ended(_ summary: RunSummary, _ job: JobSpec) {
        summaries.withLock { $0.append(summary) }
        human.clear()
        guard !json else { return }
        for line in SummaryText.failures(summary, folder: currentFolder()) { Console.complain(line) }
        if let stop = summary.stop { Console.complain("\(job.name): \(SummaryText.describe(stop))") }
        if !quiet { Console.print(SummaryText.counts(summary, job: job.name)) }
    }

    /// Runs a command's body: errors get their words and their exit code, and JSON its first and last line.
    func handling(_ body: (Reporting) async throws -> ExitStatus) async throws {
        if json { JSONLine.header.print() }
        var code = ExitStatus.done.rawValue
        do {
            code = try await body(self).rawValue
        } catch let error as CommandError {
            complain(error.message)
            code = error.status.rawValue
        } catch let trouble as FileTrouble {
            complain("\(trouble.message); --state-dir and --scratch name other places for what a run keeps")
            code = ExitStatus.badPlace.rawValue
        } catch let exit as ExitCode {
            code = exit.rawValue
        }
        if json { JSONLine.summary(SummaryLine(exitCode: code, summaries.withLock { $0 })).print() }
        if let failure = Console.outputFailure {
            Console.complain("standard output cannot be written: \(String(cString: strerror(failure)))")
            code = max(code, ExitStatus.badPlace.rawValue)
        }
        throw ExitCode(code)
    }

    func complain(_ message: String) {
        human.clear()
        if json {
            JSONLine.problem(ProblemLine(manifest: "", message: message, severity: "error")).print()
        } else {
            Console.complain(message)
        }
    }
}
