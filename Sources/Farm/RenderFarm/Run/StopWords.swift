package import Coordination
import Glibc
import JobModel
import Planning
import Reports
package import Scheduling

/// Why runs stop, in words. They are stored with a run: databases and `ended/` have them.
package enum StopWords {
    package static func name(ofSignal signal: Int32) -> String {
        [SIGINT: "Ctrl-C", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"][signal] ?? "signal \(signal)"
    }

    /// What happened to workers that a person should know of, though everything may be done.
    package static func notes(_ summary: RunSummary) -> [String] {
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
    package static func describe(_ reason: StopReason, left: Int = 0) -> String {
        switch reason {
        case .interrupted(let signal):
            return "stopped by \(name(ofSignal: signal)); finished outputs are in place, nothing is half-written"
        case .cancelled:
            return "cancelled by 'penumbra cancel'; finished outputs are in place, nothing is half-written"
        case .detached: return "\(Figures.plural(left, "frame")) handed over"
        case .superseded:
            return "another coordinator has taken this run over; nothing was undone"
        case .storage(let message):
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
        case .cluster(let message), .resourceLimit(let message):
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
