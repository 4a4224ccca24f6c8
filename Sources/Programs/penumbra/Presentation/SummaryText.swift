import Coordination
import Glibc
import JobModel
import Planning
import Reports
import Scheduling

/// What a run says at its end: failures grouped by cause, then one line of counts.
enum SummaryText {
    /// Names listed for each cause.
    static let namesListed = 20
    /// The same of names that somebody has to change: all that can be changed in one go.
    private static let refusalsListed = 1_000
    /// Names every output that a run leaves as it is, or that has no input any more.
    static let planOfAll = "'penumbra plan --json'"

    /// - Parameters:
    ///   - job: is named by each title; nil where another line does that.
    ///   - folder: paths below it are shown relative to it.
    ///   - all: what names those that are not listed.
    static func failures(
        _ summary: RunSummary, of job: String? = nil, folder: String, all: String? = nil
    ) -> [String] {
        var byCause: [FrameFailure.Cause: [String]] = [:]
        for report in summary.failures {
            if case .failed(let failure) = report.state {
                byCause[failure.cause, default: []].append(line(report, failure.message, folder))
            }
        }
        return FrameFailure.Cause.allCases.flatMap { cause in
            let lines = byCause[cause] ?? []
            return list(
                owned(job, "\(Figures.plural(lines.count, "frame")) failed: \(cause.rawValue)"), lines,
                most: cause == .output ? refusalsListed : namesListed, all: all)
        }
    }

    /// What nobody has to act on tonight: it is as it was.
    static func known(_ summary: RunSummary, of job: String? = nil, folder: String) -> [String] {
        let broken = summary.stillBroken.compactMap { report -> String? in
            guard case .stillBroken(let since, let message) = report.state else { return nil }
            return line(report, message, folder) + " (since \(Figures.day(since)))"
        }
        return list(
            owned(job, "\(Figures.plural(broken.count, "picture")) still broken, and not tried again"), broken)
            + kept(summary.keptOutputs, of: job, folder: folder)
    }

    private static func owned(_ job: String?, _ title: String) -> String { job.map { "\($0): \(title)" } ?? title }

    /// By their reasons, which many have in common.
    ///
    /// - Parameter isNew: they are told once, and so in full.
    static func kept(
        _ outputs: [KeptOutput], of job: String? = nil, isNew: Bool = false, folder: String
    ) -> [String] {
        var (reasons, paths): ([String], [String: [String]]) = ([], [:])
        for output in outputs {
            if paths[output.reason] == nil { reasons.append(output.reason) }
            paths[output.reason, default: []].append(PathText.shown(output.path, from: folder))
        }
        return reasons.flatMap { reason in
            let paths = paths[reason] ?? []
            let stay = paths.count == 1 ? "is left as it is" : "are left as they are"
            return list(
                owned(job, "\(Figures.plural(paths.count, "output")) \(stay): \(reason)"), paths,
                most: isNew ? refusalsListed : namesListed, all: planOfAll)
        }
    }

    /// The frames that took longest, where that is worth a thought.
    static func slowest(_ summary: RunSummary, folder: String) -> [String] {
        guard summary.elapsed > .seconds(10), summary.published > 5 else { return [] }
        let frames = summary.slowest.map { report in
            "\(PathText.shown(report.input, from: folder)) \(Figures.duration(.seconds(report.seconds ?? 0)))"
        }
        return ["slowest: " + frames.joined(separator: ", ")]
    }

    /// A title and the first of its lines; nothing when there are none.
    private static func list(
        _ title: String, _ lines: [String], most: Int = namesListed, all: String? = nil
    ) -> [String] {
        guard !lines.isEmpty else { return [] }
        let rest = lines.count - most
        return [title] + lines.prefix(most).map { "  " + $0 }
            + (rest > 0 ? ["  … and \(Figures.count(rest)) more\(all.map { "; \($0) names all" } ?? "")"] : [])
    }

    /// - Parameter all: what names those that are not listed.
    static func list(
        _ title: String, _ paths: [String], reasons: [String]?, folder: String, all: String? = nil
    ) -> [String] {
        list(
            title,
            paths.enumerated().map { index, path in
                PathText.shown(path, from: folder) + (reasons.map { ": \($0[index])" } ?? "")
            }, all: all)
    }

    /// Messages that begin with the picture's path say it once.
    private static func line(_ report: FrameReport, _ message: String, _ folder: String) -> String {
        line(report.input, message, folder)
    }

    /// A message of a picture, which it begins with, from a folder.
    static func line(_ picture: String, _ message: String, _ folder: String) -> String {
        let shown = PathText.shown(picture, from: folder)
        let message = PathText.visible(message)
        let input = PathText.visible(picture)
        return message.hasPrefix(input) ? shown + message.dropFirst(input.count) : "\(shown): \(message)"
    }

    /// `nightly-blur: 118 published, 2 failed in 12.4 s (1,412 MP, 113.9 MP/s)`
    static func counts(_ summary: RunSummary, job: String) -> String {
        var parts = ["\(Figures.count(summary.published)) published"]
        if summary.skipped > 0 { parts.append("\(Figures.count(summary.skipped)) skipped") }
        if summary.kept > 0 { parts.append("\(Figures.count(summary.kept)) kept") }
        if !summary.stillBroken.isEmpty { parts.append("\(Figures.count(summary.stillBroken.count)) still broken") }
        if !summary.failures.isEmpty { parts.append("\(Figures.count(summary.failures.count)) failed") }
        if summary.left > 0 { parts.append("\(Figures.count(summary.left)) left") }
        if summary.keptBeside > 0 { parts.append("\(Figures.plural(summary.keptBeside, "output")) kept beside others") }
        var text = "\(job): \(parts.joined(separator: ", ")) in \(Figures.duration(summary.elapsed))"
        let seconds = summary.elapsed / .seconds(1)
        if summary.megapixels >= 0.05, seconds > 0 {
            text +=
                " (\(Figures.fixed(summary.megapixels, 1)) MP, "
                + "\(Figures.fixed(summary.megapixels / seconds, 1)) MP/s, \(Figures.bytes(summary.bytesWritten)) written)"
        }
        if summary.workersLost > 0 {
            text +=
                "; \(Figures.plural(summary.workersLost, "worker")) died and "
                + (summary.workersLost == 1 ? "was replaced" : "were replaced")
        }
        return text
    }

    static func name(ofSignal signal: Int32) -> String {
        [SIGINT: "Ctrl-C", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"][signal] ?? "signal \(signal)"
    }

    /// What happened to workers that a person should know of, though everything may be done.
    static func notes(_ summary: RunSummary) -> [String] {
        let retired = summary.retired.map { "worker slot \($0.slot.number) was retired: \(faults(of: $0))" }
        guard summary.flagged > 0 else { return retired }
        let results = summary.flagged == 1 ? "1 result" : "\(Figures.count(summary.flagged)) results"
        return retired + [
            "\(results) came faster than any machine can be; what they belong to was rendered again and compared"
        ]
    }

    private static func faults(of retirement: Retirement) -> String {
        let pictures = "failed on \(Figures.plural(retirement.pictures, "picture")) that other slots rendered"
        let idle = "ended \(retirement.idleDeaths == 1 ? "once" : "\(retirement.idleDeaths) times") while idle"
        return switch (retirement.pictures, retirement.idleDeaths) {
        case (_, 0): "its workers \(pictures), and did nothing well between"
        case (0, _): "its workers \(idle), and did nothing well between"
        default: "its workers \(pictures) and \(idle), and did nothing well between"
        }
    }

    /// Why the run stopped early, in one line.
    ///
    /// - Parameter left: how many frames are left.
    static func describe(_ reason: StopReason, left: Int = 0) -> String {
        switch reason {
        case .interrupted(let signal):
            return "stopped by \(name(ofSignal: signal)); finished outputs are in place, nothing is half-written"
        case .cancelled:
            return "cancelled by 'penumbra cancel'; finished outputs are in place, nothing is half-written"
        case .detached: return "\(Figures.plural(left, "frame")) handed over"
        case .superseded:
            return "another coordinator has taken this run over; nothing was undone"
        case .place(let message):
            let message = VisibleText.message(message)
            // Some troubles say themselves what to do, on a line of its own.
            guard !message.contains("\n   = ") else { return message }
            return "\(message); free some space or choose another place, then run it again"
        case .deadline:
            return "the deadline is reached; \(Figures.plural(left, "frame")) left, which the next run goes on with"
        case .failures(let count, let limit):
            return "stopped after \(Figures.plural(count, "failure")): 'max_failures' allows fewer than "
                + "\(Figures.count(limit)); \(Figures.plural(left, "frame")) left"
        case .pluginFault(let plugin, let pictures):
            return
                "the plugin '\(PathText.visible(plugin))' faulted on \(pictures) pictures; remove or mend it, then run the job again"
        case .lastSlot(let retirement):
            return
                "the last worker slot that is left fails: \(faults(of: retirement)); \(Figures.plural(left, "frame")) left; "
                + "'penumbra doctor' looks for the reason, 'penumbra logs' tells what the workers said"
        case .cluster(let message), .machine(let message):
            let message = VisibleText.message(message)
            let left = "\(Figures.plural(left, "frame")) left"
            guard let remedy = message.firstRange(of: "\n   = ") else {
                return "\(message); \(left), which the next run goes on with"
            }
            return "\(message[..<remedy.lowerBound]); \(left)\(message[remedy.lowerBound...])"
        case .engine(let message):
            // Some troubles say themselves what to do, on a line of its own.
            guard !message.contains("\n   = ") else { return "no worker can be started: \(message)" }
            return "no worker can be started: \(message); 'penumbra doctor' looks for the reason"
        }
    }
}
