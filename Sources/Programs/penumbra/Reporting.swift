import ArgumentParser
import Catalogs
import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import Reports
import SafeFiles
import Synchronization
import WorkerProtocol

/// Where a command's results and complaints go: for a person, for cron (`--quiet`), or as JSON lines.
final class Reporting: Sendable {
    let json: Bool
    let quiet: Bool
    /// Troubles that are known already are told even where silence is asked for.
    let isStrict: Bool
    /// Runs that found nothing to do are not worth a line.
    let isWatching: Bool
    /// Progress goes to a scheduler of Open Job Description.
    let openjd: Bool
    private let human: HumanObserver
    private let summaries = Mutex<[RunSummary]>([])
    private let plans = Mutex<[PlannedCounts]>([])
    /// What was last told of the lost pictures of watched jobs, by the jobs.
    private let losses = Mutex<[PathKey: [String]]>([:])
    /// Watched jobs whose patterns were looked at, with these.
    private let lookedAt = Mutex<Set<[PathKey]>>([])

    init(
        json: Bool, quiet: Bool = false, isStrict: Bool = false, isWatching: Bool = false, openjd: Bool = false
    ) {
        self.openjd = openjd
        self.isWatching = isWatching
        self.isStrict = isStrict
        self.json = json
        self.quiet = quiet
        human = HumanObserver(showsBar: !json && !quiet && Console.errorIsTerminal)
    }

    func observer(for job: JobSpec) -> any RunObserver { observer(named: job.name) }

    func observer(named job: String) -> any RunObserver {
        if openjd { return OpenJDObserver() }
        return json ? JSONObserver(job: job) : human
    }

    /// Prints what is to be said of the manifests, and returns the jobs if none has errors.
    func jobs(_ outcome: ManifestFiles.Outcome) throws -> [JobSpec] {
        if json {
            for problem in outcome.problems { JSONLine.problem(problem).print() }
        } else if !quiet || outcome.hasErrors {
            for text in outcome.texts { Console.complain(text) }
        }
        guard !outcome.hasErrors else {
            let isOnlyProblem = outcome.problems.filter { $0.severity == "error" }.count == 1
            // A signal ends the command, whatever else is wrong.
            if let unread = outcome.unread, isOnlyProblem || unread != .missingInput { throw unread.code }
            throw ExitStatus.badManifest.code
        }
        return outcome.jobs
    }

    /// Says which of several patterns nothing matches (when nothing matches any of them, that is an error), and which
    /// links lead nowhere. Of a watched job that is told at its first look: later, pictures come and go.
    func hint(_ plan: JobPlan) {
        let patterns = [plan.job.manifestPath, plan.job.name] + plan.job.inputs + [""] + plan.job.exclude
        guard !isWatching || lookedAt.withLock({ $0.insert(patterns.map(PathKey.init)).inserted }) else { return }
        let folder = currentFolder()
        let manifest = PathText.shown(plan.job.manifestPath, from: folder)
        for message in hints(plan, folder) {
            if json {
                JSONLine.problem(ProblemLine(manifest: manifest, message: message, severity: "warning")).print()
            } else if !quiet {
                Console.complain("\(manifest): warning: \(message)")
            }
        }
    }

    /// Says that a run which makes everything again goes on where an earlier part of it had to stop.
    func tellMadeBefore(_ prepared: PreparedJob) {
        let count = prepared.madeBefore
        guard count > 0 else { return }
        say(
            "\(prepared.job.name): goes on where the deadline stopped it: \(Figures.plural(count, "frame")) "
                + "\(count == 1 ? "is" : "are") made again already")
    }

    /// Says which pictures of a watched job are lost, each time that this changes.
    func tellLost(_ prepared: PreparedJob) {
        let job = PathKey("\(prepared.job.manifestPath)\0\(prepared.job.name)")
        let now = prepared.lost.map(\.message)
        let before = losses.withLock { losses in
            defer { losses[job] = now }
            return losses[job] ?? []
        }
        for message in now where !before.contains(message) {
            note("\(prepared.job.name): \(message); the other pictures are rendered, and no output of these is removed")
        }
    }

    /// Links that are told one by one.
    private static let linksTold = 5

    private func hints(_ plan: JobPlan, _ folder: String) -> [String] {
        let rest = plan.danglingLinks.count - Self.linksTold
        func told(_ message: String, _ hint: PatternHint?) -> String {
            message + (hint.map { "; \($0.message)" } ?? "")
        }
        var hints = plan.unmatchedPatterns.map {
            told("nothing matches '\(PathText.shown($0, from: folder))' of 'inputs'", plan.hint(ofInput: $0))
        }
        hints += plan.unmatchedExcludes.map {
            told("'\(PathText.visible($0))' of 'exclude' leaves nothing out", plan.hint(ofExclude: $0))
        }
        hints += plan.unmatchedChoices.map {
            told("nothing matches '\(PathText.visible($0))' of --only", plan.hint(ofChoice: $0))
        }
        hints += plan.danglingLinks.prefix(Self.linksTold).map {
            "\(PathText.shown($0, from: folder)) is a link that leads nowhere, and is no input: what it led to is gone, or not "
                + "mounted"
        }
        return hints + (rest > 0 ? ["\(Figures.count(rest)) more links lead nowhere"] : [])
    }

    /// - Parameters:
    ///   - newlyKept: of the frames whose outputs are kept those that were not told before.
    ///   - isRecorded: 'penumbra show' knows the run.
    func ended(_ summary: RunSummary, _ job: JobSpec, newlyKept: [KeptOutput] = [], isRecorded: Bool = false) {
        summaries.withLock { $0.append(summary) }
        human.clear()
        guard !json else { return }
        // With silence there is no last line that names the job, and a mail may have the lines of several.
        let owner = quiet ? job.name : nil
        guard !isWatching || summary.didSomething else {
            for line in SummaryText.kept(newlyKept, of: job.name, isNew: true, folder: currentFolder()) {
                Console.complain(line)
            }
            return
        }
        let all = isRecorded ? "'penumbra show \(job.name)'" : nil
        for line in SummaryText.failures(summary, of: owner, folder: currentFolder(), all: all) {
            Console.complain(line)
        }
        if !quiet || isStrict {
            for line in SummaryText.known(summary, of: owner, folder: currentFolder()) { Console.complain(line) }
        } else {
            for line in SummaryText.kept(newlyKept, of: owner, isNew: true, folder: currentFolder()) {
                Console.complain(line)
            }
        }
        for note in SummaryText.notes(summary) { Console.complain("\(job.name): \(note)") }
        if let stop = summary.stop {
            Console.complain("\(job.name): \(SummaryText.describe(stop, left: summary.left))")
        }
        guard !quiet else { return }
        for line in SummaryText.slowest(summary, folder: currentFolder()) { Console.print(line) }
        Console.print(SummaryText.counts(summary, job: job.name))
    }

    /// What a run would do with a job is known, and is not done.
    func planned(_ prepared: PreparedJob) { plans.withLock { $0.append(PlannedCounts(prepared)) } }

    /// Others go on with it, and tell of its end.
    func handedOver(_ summary: RunSummary) {
        summaries.withLock { $0.append(summary) }
        human.clear()
    }

    /// Takes the progress bar away.
    func endProgress() { human.clear() }

    /// How something went.
    func say(_ message: String) {
        if json {
            JSONLine.problem(ProblemLine(manifest: "", message: message, severity: "note")).print()
        } else if !quiet {
            Console.print(message)
        }
    }

    /// Something that a person should know once, whether he wants silence or not.
    func note(_ message: String) {
        if json {
            JSONLine.problem(ProblemLine(manifest: "", message: message, severity: "note")).print()
        } else {
            Console.complain(message)
        }
    }

    /// What was asked for and cannot be.
    func warn(_ message: String) {
        if json {
            JSONLine.problem(ProblemLine(manifest: "", message: message, severity: "warning")).print()
        } else if !quiet {
            Console.complain("warning: \(message)")
        }
    }

    /// Of the plugins that could not be used: a job may well have meant one of them.
    func warn(ofPluginsIn catalog: Catalog) { for problem in catalog.pluginProblems { warn(problem) } }

    /// Paths with what they have in common. Nothing that anybody has to act on.
    ///
    /// - Parameter all: as for ``complain(_:_:reasons:all:)``.
    func list(_ title: String, _ paths: [String], reasons: [String]? = nil, all: String? = nil) {
        guard json || !quiet else { return }
        complain(title, paths, reasons: reasons, all: all)
    }

    /// The same of what somebody has to act on: told where silence is asked for, too.
    ///
    /// - Parameter all: what names those that a person does not see here.
    func complain(_ title: String, _ paths: [String], reasons: [String]?, all: String? = nil) {
        if json {
            JSONLine.paths(PathsLine(message: title, paths: paths)).print()
        } else {
            for line in SummaryText.list(title, paths, reasons: reasons, folder: currentFolder(), all: all) {
                Console.complain(line)
            }
        }
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
        } catch let shortage as Shortage {
            complain("\(shortage)")
            code = ExitStatus.unavailable.rawValue
        } catch let problem as StoreProblem {
            let shortage = problem.shortage
            complain(shortage.map { "\($0)" } ?? problem.message)
            code = (shortage == nil ? ExitStatus.badPlace : .unavailable).rawValue
        } catch let trouble as FileTrouble {
            let shortage = trouble.shortage
            complain(shortage.map { "\($0)" } ?? trouble.message)
            code = (shortage == nil ? ExitStatus.badPlace : .unavailable).rawValue
        } catch let exit as ExitCode {
            code = exit.rawValue
        }
        if json {
            var line = SummaryLine(exitCode: code, summaries.withLock { $0 })
            line.add(plans.withLock { $0 })
            JSONLine.summary(line).print()
        }
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
