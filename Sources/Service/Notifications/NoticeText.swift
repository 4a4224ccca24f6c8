import JobModel
import Queueing
import Reports

/// The words of notices, for mails and for webhooks. They have no control characters.
extension Notice {
    /// What happened, in a few words behind the job's name: `archive failed: 3 of 412 frames`.
    package var headline: String { "\(VisibleText.line(job)) \(predicate)" }

    private var predicate: String {
        switch event {
        case .late(let late): "is late: no success by \(VisibleText.line(late.rule))"
        case .ended(let end): end.predicate
        case .delayed: "waits, and will be tried again"
        }
    }

    /// Everything a person needs, one line each. The first line names the job and the machine.
    package var lines: [String] {
        let rest =
            switch event {
            case .ended(let end): end.lines
            case .delayed(let delay): delay.lines
            case .late(let late): late.lines
            }
        return [headline, "Machine: \(VisibleText.line(host))", "Time: \(time)"] + rest
            + ["", "To see more, on this machine:", "  \(VisibleText.line(command))"]
    }
}

extension Notice.End {
    fileprivate var predicate: String {
        switch outcome {
        case .done:
            "is done"
                + (counts.map { ": \(success($0))" } ?? "")
        case .failed: "failed" + share(counts?.failed)
        case .workLeft: "has work left" + share(counts?.left)
        case .stopped: "was stopped" + share(counts?.left, "left")
        case .cancelled: "was cancelled" + share(counts?.left, "left")
        case .skipped: "was skipped"
        }
    }

    /// `3 published, 1 still broken`
    private func success(_ counts: RunCounts) -> String {
        let parts = [
            (counts.published, "published"), (counts.kept, "kept"), (counts.stillBroken, "still broken"),
        ].filter { $0.0 > 0 }
        return parts.isEmpty
            ? "nothing to do" : parts.map { "\(Figures.count($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    /// `: 3 of 412 frames`. Empty for no frame.
    private func share(_ count: Int?, _ word: String = "") -> String {
        guard let count, count > 0, let counts else { return "" }
        return ": \(Figures.count(count)) of \(Figures.plural(counts.frames, "frame"))\(word.isEmpty ? "" : " ")\(word)"
    }

    fileprivate var lines: [String] {
        var lines = ["Exit code: \(exitCode)"]
        if let run { lines.append("Run: \(VisibleText.line(run))") }
        if let counts {
            let parts: [(String, Int)] = [
                ("published", counts.published), ("skipped", counts.skipped), ("kept", counts.kept),
                ("still broken", counts.stillBroken), ("failed", counts.failed), ("left", counts.left),
            ]
            let present = parts.filter { $0.1 > 0 }.map { "\(Figures.count($0.1)) \($0.0)" }
            lines.append(
                "Frames: \(Figures.count(counts.frames))"
                    + (present.isEmpty ? "" : " (\(present.joined(separator: ", ")))"))
            lines.append("Duration: \(Figures.duration(.seconds(counts.seconds)))")
        }
        if let reason {
            lines += ["", "Reason:"]
            lines += VisibleText.message(reason).split(separator: "\n").map { "  \($0)" }
        }
        if !failures.isEmpty {
            lines += ["", failures.count == 1 ? "The failure:" : "The first failures:"]
            lines += failures.map { "  \(VisibleText.line($0))" }
        }
        for (title, named) in [("Kept outputs:", kept), ("Still broken pictures:", broken)] {
            guard let named else { continue }
            lines += [
                "", named.count < RunTrouble.mostNamed ? title : "\(title.dropLast()), the first \(named.count):",
            ]
            lines += named.map { "  \(VisibleText.line($0))" }
        }
        return lines
    }
}

extension Notice.Delay {
    fileprivate var lines: [String] {
        (exitCode.map { ["Exit code: \($0)"] } ?? []) + ["Next try: \(next)", "", "Reason:"]
            + VisibleText.message(reason).split(separator: "\n").map { "  \($0)" }
            + ["", "Later tries are not reported. The end of the job is."]
    }
}

extension Notice.Lateness {
    fileprivate var lines: [String] {
        [
            "Expected by: \(expectedBy)",
            "Last success: \(lastSuccess.map(\.text) ?? "none")",
        ]
    }
}
