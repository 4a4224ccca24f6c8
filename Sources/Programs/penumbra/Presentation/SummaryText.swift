import Coordination
import Glibc
import Planning
import Scheduling

/// What a run says at its end: failures grouped by cause, then one line of counts.
enum SummaryText {
    /// Names listed for each cause.
    static let namesListed = 20

    /// - Parameter folder: paths below it are shown relative to it.
    static func failures(_ summary: RunSummary, folder: String) -> [String] {
        var byCause: [FrameFailure.Cause: [(FrameReport, FrameFailure)]] = [:]
        for report in summary.failures {
            if case .failed(let failure) = report.state {
                byCause[failure.cause, default: []].append((report, failure))
            }
        }
        return FrameFailure.Cause.allCases.flatMap { cause -> [String] in
            guard let failed = byCause[cause] else { return [] }
            var lines = ["\(Format.plural(failed.count, "frame")) failed: \(cause.rawValue)"]
            for (report, failure) in failed.prefix(namesListed) {
                lines.append("  " + line(report, failure, folder))
            }
            if failed.count > namesListed { lines.append("  … and \(Format.count(failed.count - namesListed)) more") }
            return lines
        }
    }

    /// Messages that begin with the picture's path say it once.
    private static func line(_ report: FrameReport, _ failure: FrameFailure, _ folder: String) -> String {
        let shown = PathText.shown(report.input, from: folder)
        let message = PathText.visible(failure.message)
        let input = PathText.visible(report.input)
        return message.hasPrefix(input) ? shown + message.dropFirst(input.count) : "\(shown): \(message)"
    }

    /// `nightly-blur: 118 published, 2 failed in 12.4 s (1,412 MP, 113.9 MP/s)`
    static func counts(_ summary: RunSummary, job: String) -> String {
        var parts = ["\(Format.count(summary.published)) published"]
        if summary.skipped > 0 { parts.append("\(Format.count(summary.skipped)) skipped") }
        if !summary.failures.isEmpty { parts.append("\(Format.count(summary.failures.count)) failed") }
        if summary.left > 0 { parts.append("\(Format.count(summary.left)) left") }
        var text = "\(job): \(parts.joined(separator: ", ")) in \(Format.duration(summary.elapsed))"
        let seconds = summary.elapsed / .seconds(1)
        if summary.megapixels >= 0.05, seconds > 0 {
            text +=
                " (\(Format.fixed(summary.megapixels, 1)) MP, "
                + "\(Format.fixed(summary.megapixels / seconds, 1)) MP/s, \(Format.bytes(summary.bytesWritten)) written)"
        }
        if summary.workersLost > 0 {
            text +=
                "; \(Format.plural(summary.workersLost, "worker")) died and "
                + (summary.workersLost == 1 ? "was replaced" : "were replaced")
        }
        return text
    }

    /// Why the run stopped early, in one line.
    static func describe(_ reason: StopReason) -> String {
        switch reason {
        case .interrupted(let signal):
            let name = [SIGINT: "Ctrl-C", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"][signal] ?? "signal \(signal)"
            return "stopped by \(name); finished outputs are in place, nothing is half-written"
        case .place(let message):
            return "\(message); free some space or choose another place, then run it again"
        case .pluginFault(let plugin, let pictures):
            return "the plugin '\(plugin)' crashed on \(pictures) pictures; remove or mend it, then run the job again"
        case .engine(let message):
            return "no worker can be started: \(message); 'penumbra doctor' looks for the reason"
        }
    }
}
