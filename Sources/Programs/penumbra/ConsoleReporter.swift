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

/// Prints a command's results and complaints: for a person, for cron (`--quiet`), or as JSON lines.
final class ConsoleReporter: Sendable {
    /// Paths below this folder are shown relative to it.
    let folder: String
    let json: Bool
    let quiet: Bool
    /// Known troubles are printed even with `--quiet`.
    let isStrict: Bool
    /// Known troubles are printed even with `--quiet`, before the failures.
    let listsKnown: Bool
    /// Runs without work print nothing.
    let isWatching: Bool
    /// Progress goes to a scheduler of Open Job Description.
    let openjd: Bool
    private let progress: ProgressView
    private let openJD = OpenJDProgress()
    private let summaries = Mutex<[RunSummary]>([])
    private let plans = Mutex<[PlannedCounts]>([])

    init(
        json: Bool, quiet: Bool = false, isStrict: Bool = false, isWatching: Bool = false, openjd: Bool = false,
        listsKnown: Bool = false, folder: String = currentFolder()
    ) {
        self.listsKnown = listsKnown
        self.folder = folder
        self.openjd = openjd
        self.isWatching = isWatching
        self.isStrict = isStrict
        self.json = json
        self.quiet = quiet
        progress = ProgressView(showsBar: !json && !quiet && Console.errorIsTerminal)
    }

    convenience init(_ options: OutputOptions) { self.init(json: options.json, quiet: options.quiet) }

    private func show(_ outcome: ManifestFiles.Outcome) {
        if json {
            for problem in outcome.problems { ProblemLine(problem).print() }
        } else if !quiet || outcome.hasErrors {
            for text in outcome.texts { Console.complain(text) }
        }
    }

    private func show(_ end: RunEnd) {
        let (summary, job, newlyKept) = (end.summary, end.job, end.newlyKept)
        summaries.withLock { $0.append(summary) }
        progress.clear()
        guard !json else { return }
        // With `--quiet` no last line names the job, and cron's mail may have lines of several jobs.
        let owner = quiet ? job.name : nil
        guard !isWatching || summary.didSomething else {
            for line in SummaryText.kept(newlyKept, of: job.name, isNew: true, folder: folder) {
                Console.complain(line)
            }
            return
        }
        if listsKnown {
            for line in SummaryText.known(summary, of: owner, folder: folder) { Console.complain(line) }
        }
        let all = end.isRecorded ? "'penumbra show \(job.name)'" : nil
        for line in SummaryText.failures(summary, of: owner, folder: folder, all: all) {
            Console.complain(line)
        }
        if listsKnown {
            // They were printed.
        } else if !quiet || isStrict {
            for line in SummaryText.known(summary, of: owner, folder: folder) { Console.complain(line) }
        } else {
            for line in SummaryText.kept(newlyKept, of: owner, isNew: true, folder: folder) {
                Console.complain(line)
            }
        }
        for note in summary.notes { Console.complain("\(job.name): \(note)") }
        if let stop = summary.stop {
            Console.complain("\(job.name): \(stop.message(left: summary.left))")
        }
        guard !quiet else { return }
        for line in SummaryText.slowest(summary, folder: folder) { Console.print(line) }
        Console.print(SummaryText.counts(summary, job: job.name))
    }

    /// Adds a job of a plan to the summary.
    func planned(_ prepared: PreparedJob) { plans.withLock { $0.append(PlannedCounts(prepared)) } }

    /// Removes the progress bar.
    func endProgress() { progress.clear() }

    /// Runs the body of a command. It prints errors, the first and the last JSON line, and always throws the exit code.
    func handling(_ body: (ConsoleReporter) async throws -> RunOutcome) async throws {
        if json { HeaderLine().print() }
        var code = RunOutcome.done.rawValue
        do {
            code = try await body(self).rawValue
        } catch let exit as ExitCode {
            code = exit.rawValue
        } catch  where FarmError.knows(error) {
            let error = FarmError(error)
            if !error.isReported { show(RunNotice.Text(.error, error.message, place: error.place)) }
            code = error.outcome.rawValue
        }
        if json {
            SummaryLine(exitCode: code, summaries.withLock { $0 }, planned: plans.withLock { $0 }).print()
        }
        if let failure = Console.outputFailure {
            Console.complain("standard output cannot be written: \(String(cString: strerror(failure)))")
            code = max(code, RunOutcome.storage.rawValue)
        }
        throw ExitCode(code)
    }
}

extension ConsoleReporter {
    /// How long a process that a signal stopped waits for the reader of its output.
    private static let readTimeout = Duration.seconds(10)

    /// Carries out a request. A slow reader of the output does not block the end of the run. The process then waits for the reader:
    /// after one signal for some seconds, after a second one not at all.
    ///
    /// - Parameter receiver: gets the events in place of the reporter, and passes them on to it.
    func follow(_ run: RequestedRun, by receiver: (any RunListener)? = nil) async throws -> RunOutcome {
        let control = Signals.ofRuns.control
        let (result, unread) = await run.run(control, receiver ?? self) { await Self.readTimeout(control) }
        guard unread > 0, let stop = control.stop else { return try result.get() }
        Console.abandonOutput()
        Console.complain(
            "standard output is not read: \(Figures.plural(unread, "line")) of it \(unread == 1 ? "is" : "are") lost; "
                + "'penumbra show' reports what the run did")
        throw FarmError(RunOutcome(stop), "", isReported: true)
    }

    /// Returns some seconds after the first stop, or at the second one.
    private static func readTimeout(_ control: RunControl) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in control.stops() { break }
                // The sleep fails if the other task has ended.
                try? await Task.sleep(for: readTimeout)
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
        case .began, .finished: break
        case .progress(_, let progress):
            if openjd { openJD.show(progress) } else if !json { self.progress.show(progress) }
        case .frame(let job, let report):
            if openjd { return }
            if json { FrameLine(report, job: job).print() }
        case .notice(let notice): show(notice.text(from: folder))
        case .ended(let end): show(end)
        case .handedOver(_, let summary):
            summaries.withLock { $0.append(summary) }
            progress.clear()
        case .detached(let stored, let run):
            if json {
                RunLine(RunStatus(stored, state: run.state, isHandedOver: true), concluded: 0).print()
            } else if quiet {
                // Scripts need the path.
                Console.print(run.path)
            }
        }
    }

    func say(_ message: String) { show(RunNotice.Text(.result, message)) }
    func note(_ message: String) { show(RunNotice.Text(.remark, message)) }
    func warn(_ message: String) { show(RunNotice.Text(.warning, message)) }
    func complain(_ message: String) { show(RunNotice.Text(.error, message)) }

    func list(_ message: String, _ paths: [String], all: String? = nil) {
        show(RunNotice.Text(.files, message, paths: paths, all: all))
    }

    func complain(_ message: String, _ paths: [String], reasons: [String]?, all: String? = nil) {
        show(RunNotice.Text(.problemFiles, message, paths: paths, reasons: reasons, all: all))
    }

    func show(_ notice: RunNotice.Text) {
        progress.clear()
        if json { return notice.jsonLine.print() }
        switch notice.kind {
        case .result: if !quiet { Console.print(notice.message) }
        case .remark, .error: Console.complain(notice.message)
        case .warning: if !quiet { Console.complain("warning: \(notice.message)") }
        case .manifestWarning(let manifest): if !quiet { Console.complain("\(manifest): warning: \(notice.message)") }
        case .removedFiles where quiet: Console.complain(notice.message)
        case .files, .removedFiles, .problemFiles:
            if quiet, notice.kind == .files { return }
            let lines = SummaryText.list(
                notice.message, notice.paths, reasons: notice.reasons, folder: folder, all: notice.all)
            for line in lines { Console.complain(line) }
        }
    }
}

extension RunNotice.Text {
    fileprivate var jsonLine: any JSONLine {
        func problem(_ severity: String, of manifest: String = "") -> any JSONLine {
            ProblemLine(manifest: manifest, message: message, severity: severity)
        }
        return switch kind {
        case .result, .remark: problem("note")
        case .warning: problem("warning")
        case .manifestWarning(let manifest): problem("warning", of: manifest)
        case .error: place.map { ProblemLine($0) as any JSONLine } ?? problem("error")
        case .files, .removedFiles, .problemFiles: PathsLine(message: message, paths: paths)
        }
    }
}

/// The exit codes of every command are the numbers of outcomes; the README's table explains them.
extension RunOutcome {
    var code: ExitCode { ExitCode(rawValue) }
}
