import Coordination
import Glibc
import JobModel
import Planning
import Reports
import Scheduling
import Terminals

/// The text at the end of a run: failures by cause, then one line of counts.
enum SummaryText {
    /// The most names that are listed for each cause.
    static let namesListed = 20
    /// The same for names that the user has to change. More are listed, because the user changes them in one go.
    private static let refusalsListed = 1_000
    /// The command that lists all kept outputs and all orphans.
    static let planOfAll = "'penumbra plan --json'"

    /// - Parameters:
    ///   - job: the name that each title begins with; nil if another line names the job.
    ///   - folder: paths below this folder are shown relative to it.
    ///   - all: the command that lists all of them.
    static func failures(
        _ summary: RunSummary, of job: String? = nil, folder: String, all: String? = nil
    ) -> [String] {
        var byCause: [String: [String]] = [:]
        for report in summary.failures {
            if case .failed(let cause, let message) = report.state {
                byCause[cause, default: []].append(line(report, message, folder))
            }
        }
        return FrameFailure.Cause.allCases.flatMap { cause in
            let lines = byCause[cause.rawValue] ?? []
            return list(
                owned(job, "\(Figures.plural(lines.count, "frame")) failed: \(cause.rawValue)"), lines,
                most: cause == .output ? refusalsListed : namesListed, all: all)
                + (cause == .data && !lines.isEmpty ? [remedy(ofBroken: lines.count)] : [])
        }
    }

    /// The messages of broken pictures are those of decoders, which say what is wrong, but not what to do.
    private static func remedy(ofBroken count: Int) -> String {
        let (picture, it) = count == 1 ? ("picture", "it") : ("pictures", "them")
        return "   = replace the \(picture), or leave \(it) out"
    }

    /// Known troubles, on which nobody has to act now.
    static func known(_ summary: RunSummary, of job: String? = nil, folder: String) -> [String] {
        let broken = summary.stillBroken.compactMap { report -> String? in
            guard case .stillBroken(let since, let message) = report.state else { return nil }
            return line(report, message, folder) + " (since \(LocalTime.day(since)))"
        }
        return list(
            owned(job, "\(Figures.plural(broken.count, "picture")) still broken, and not tried again"), broken)
            + kept(summary.keptOutputs, of: job, folder: folder)
    }

    private static func owned(_ job: String?, _ title: String) -> String { job.map { "\($0): \(title)" } ?? title }

    /// Lists kept outputs, grouped by their reasons.
    ///
    /// - Parameter isNew: they are reported only once, so more of them are listed.
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

    /// The frames that took longest, if the run was long.
    static func slowest(_ summary: RunSummary, folder: String) -> [String] {
        guard summary.elapsed > .seconds(10), summary.published > 5 else { return [] }
        let frames = summary.slowest.map { report in
            "\(PathText.shown(report.input, from: folder)) \(Figures.duration(.seconds(report.seconds ?? 0)))"
        }
        return ["slowest: " + frames.joined(separator: ", ")]
    }

    /// A title and the first of its lines; nothing if there are no lines.
    private static func list(
        _ title: String, _ lines: [String], most: Int = namesListed, all: String? = nil
    ) -> [String] {
        guard !lines.isEmpty else { return [] }
        let rest = lines.count - most
        return [title] + lines.prefix(most).map { "  " + $0 }
            + (rest > 0 ? ["  … and \(Figures.count(rest)) more\(all.map { "; \($0) names all" } ?? "")"] : [])
    }

    /// - Parameter all: the command that lists all of them.
    static func list(
        _ title: String, _ paths: [String], reasons: [String]?, folder: String, all: String? = nil
    ) -> [String] {
        list(
            title,
            paths.enumerated().map { index, path in
                PathText.shown(path, from: folder) + (reasons.map { ": \($0[index])" } ?? "")
            }, all: all)
    }

    /// Removes the picture's path from the beginning of its message.
    private static func line(_ report: FrameReport, _ message: String, _ folder: String) -> String {
        line(report.input, page: report.page, message, folder)
    }

    /// A picture's path, as it is seen from a folder, with the number of its page unless that is the first or only one.
    static func picture(_ path: String, page: Int, _ folder: String, noun: String = "page") -> String {
        PathText.shown(path, from: folder) + (page > 0 ? " \(noun) \(page + 1)" : "")
    }

    /// A message with its picture's path, as it is seen from a folder.
    ///
    /// - Parameter page: from 0, if the pages of a file are frames.
    static func line(_ picture: String, page: Int = 0, _ message: String, _ folder: String) -> String {
        let shown = self.picture(picture, page: page, folder)
        let message = PathText.visible(message)
        let input = PathText.visible(picture)
        return message.hasPrefix(input) ? shown + message.dropFirst(input.count) : "\(shown): \(message)"
    }

    /// A message without its picture's path at its start, for a line that begins with the path.
    static func words(_ message: String, of picture: String) -> String {
        let path = "\(picture): "
        return message.hasPrefix(path) ? String(message.dropFirst(path.count)) : message
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
}
