import ArgumentParser
import Catalogs
import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import Runs
import SafeFiles
import Synchronization
import WorkerProtocol

/// Where a command's results and complaints go: for a person, for cron (`--quiet`), or as JSON lines.
final class ConsoleReporter: Sendable {
    /// Paths below it are shown relative to it.
    let folder: String
    let json: Bool
    let quiet: Bool
    /// Troubles that are known already are told even where silence is asked for.
    let isStrict: Bool
    /// Runs that found nothing to do are not worth a line.
    let isWatching: Bool
    /// Progress goes to a scheduler of Open Job Description.
    let openjd: Bool
    private let human: ProgressView
    private let openJD = OpenJDProgress()
    private let summaries = Mutex<[RunSummary]>([])
    private let plans = Mutex<[PlannedCounts]>([])

    init(
        json: Bool, quiet: Bool = false, isStrict: Bool = false, isWatching: Bool = false, openjd: Bool = false,
        folder: String = currentFolder()
    ) {
        self.folder = folder
        self.openjd = openjd
        self.isWatching = isWatching
        self.isStrict = isStrict
        self.json = json
        self.quiet = quiet
        human = ProgressView(showsBar: !json && !quiet && Console.errorIsTerminal)
    }

    private func show(_ outcome: ManifestFiles.Outcome) {
        if json {
            for problem in outcome.problems { JSONLine.problem(ProblemLine(problem)).print() }
        } else if !quiet || outcome.hasErrors {
            for text in outcome.texts { Console.complain(text) }
        }
    }

    private func show(_ end: RunEnd) {
        let (summary, job, newlyKept) = (end.summary, end.job, end.newlyKept)
        summaries.withLock { $0.append(summary) }
        human.clear()
        guard !json else { return }
        // With silence there is no last line that names the job, and a mail may have the lines of several.
        let owner = quiet ? job.name : nil
        guard !isWatching || summary.didSomething else {
            for line in SummaryText.kept(newlyKept, of: job.name, isNew: true, folder: folder) {
                Console.complain(line)
            }
            return
        }
        let all = end.isRecorded ? "'penumbra show \(job.name)'" : nil
        for line in SummaryText.failures(summary, of: owner, folder: folder, all: all) {
            Console.complain(line)
        }
        if !quiet || isStrict {
            for line in SummaryText.known(summary, of: owner, folder: folder) { Console.complain(line) }
        } else {
            for line in SummaryText.kept(newlyKept, of: owner, isNew: true, folder: folder) {
                Console.complain(line)
            }
        }
        for note in StopWords.notes(summary) { Console.complain("\(job.name): \(note)") }
        if let stop = summary.stop {
            Console.complain("\(job.name): \(StopWords.describe(stop, left: summary.left))")
        }
        guard !quiet else { return }
        for line in SummaryText.slowest(summary, folder: folder) { Console.print(line) }
        Console.print(SummaryText.counts(summary, job: job.name))
    }

    /// What a run would do with a job is known, and is not done.
    func planned(_ prepared: PreparedJob) { plans.withLock { $0.append(PlannedCounts(prepared)) } }

    /// Takes the progress bar away.
    func endProgress() { human.clear() }

    /// Runs a command's body: errors get their words and their exit code, and JSON its first and last line.
    func handling(_ body: (ConsoleReporter) async throws -> RunOutcome) async throws {
        if json { JSONLine.header.print() }
        var code = RunOutcome.done.rawValue
        do {
            code = try await body(self).rawValue
        } catch let exit as ExitCode {
            code = exit.rawValue
        } catch  where FarmError.knows(error) {
            let error = FarmError(error)
            if !error.isReported { complain(error.message) }
            code = error.outcome.rawValue
        }
        if json {
            let line = SummaryLine(exitCode: code, summaries.withLock { $0 }, planned: plans.withLock { $0 })
            JSONLine.summary(line).print()
        }
        if let failure = Console.outputFailure {
            Console.complain("standard output cannot be written: \(String(cString: strerror(failure)))")
            code = max(code, RunOutcome.storage.rawValue)
        }
        throw ExitCode(code)
    }
}

extension ConsoleReporter {
    /// How long a process that was asked to end waits for whoever reads what it prints.
    private static let patience = Duration.seconds(10)

    /// Carries out a request. Nobody who reads slowly what is printed blocks it: the run ends, and its end is recorded. Then whoever
    /// reads is waited for, after a signal for some seconds, and after a second one no longer.
    func follow(_ run: RequestedRun) async throws -> RunOutcome {
        let control = Signals.ofRuns.control
        let events = RunEventQueue(self)
        let result: Result<RunOutcome, FarmError>
        do throws(FarmError) {
            result = .success(try await run(control, events))
        } catch {
            result = .failure(error)
        }
        let unread = await events.finish { await Self.endOfPatience(control) }
        guard unread > 0, let stop = control.stop else { return try result.get() }
        Console.abandonOutput()
        Console.complain(
            "standard output is not read: \(Figures.plural(unread, "line")) of it \(unread == 1 ? "is" : "are") lost; "
                + "'penumbra show' reports what the run did")
        throw FarmError(RunOutcome(stop), "", isReported: true)
    }

    /// Returns some seconds after the first stop, or at the second one.
    private static func endOfPatience(_ control: RunControl) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in control.stops() { break }
                // It fails if nobody has to wait any more.
                try? await Task.sleep(for: patience)
            }
            group.addTask {
                var count = 0
                for await _ in control.stops() {
                    count += 1
                    if count == 2 { break }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

extension ConsoleReporter: RunListener {
    func receive(_ event: RunEvent) {
        switch event {
        case .manifests(let outcome): show(outcome)
        case .began: break
        case .progress(_, let progress):
            if openjd { openJD.show(progress) } else if !json { human.show(progress) }
        case .frame(let job, let report):
            if openjd { return }
            if json { JSONLine.frame(FrameLine(report, job: job)).print() } else { human.count(report) }
        case .notice(let notice): show(notice.words(from: folder))
        case .ended(let end): show(end)
        case .handedOver(_, let summary):
            summaries.withLock { $0.append(summary) }
            human.clear()
        case .detached(let stored, let run):
            if json {
                JSONLine.run(RunLine(RunStatus(stored, state: run.state, isHandedOver: true), concluded: 0)).print()
            } else if quiet {
                // A script has to know it.
                Console.print(run.path)
            }
        }
    }

    func say(_ message: String) { show(RunNotice.Words(.result, message)) }
    func note(_ message: String) { show(RunNotice.Words(.remark, message)) }
    func warn(_ message: String) { show(RunNotice.Words(.warning, message)) }
    func complain(_ message: String) { show(RunNotice.Words(.trouble, message)) }

    func list(_ message: String, _ paths: [String], all: String? = nil) {
        show(RunNotice.Words(.files, message, paths: paths, all: all))
    }

    func complain(_ message: String, _ paths: [String], reasons: [String]?, all: String? = nil) {
        show(RunNotice.Words(.troubledFiles, message, paths: paths, reasons: reasons, all: all))
    }

    private func show(_ notice: RunNotice.Words) {
        human.clear()
        if json { return JSONLine.notice(notice).print() }
        switch notice.kind {
        case .result: if !quiet { Console.print(notice.message) }
        case .remark, .trouble: Console.complain(notice.message)
        case .warning: if !quiet { Console.complain("warning: \(notice.message)") }
        case .manifestWarning(let manifest): if !quiet { Console.complain("\(manifest): warning: \(notice.message)") }
        case .files, .troubledFiles:
            if quiet, notice.kind == .files { return }
            let lines = SummaryText.list(
                notice.message, notice.paths, reasons: notice.reasons, folder: folder, all: notice.all)
            for line in lines { Console.complain(line) }
        }
    }
}

extension JSONLine {
    fileprivate static func notice(_ notice: RunNotice.Words) -> JSONLine {
        func problem(_ severity: String, of manifest: String = "") -> JSONLine {
            .problem(ProblemLine(manifest: manifest, message: notice.message, severity: severity))
        }
        return switch notice.kind {
        case .result, .remark: problem("note")
        case .warning: problem("warning")
        case .manifestWarning(let manifest): problem("warning", of: manifest)
        case .trouble: problem("error")
        case .files, .troubledFiles: .paths(PathsLine(message: notice.message, paths: notice.paths))
        }
    }
}

/// The exit codes of every command are the numbers of outcomes; the README's table explains them.
extension RunOutcome {
    var code: ExitCode { ExitCode(rawValue) }

    /// Of what a command threw.
    init(_ error: any Error) {
        switch error {
        case let error as FarmError: self = error.outcome
        case let exit as ExitCode: self = RunOutcome(rawValue: exit.rawValue) ?? .someFailed
        default: self = .storage
        }
    }
}
