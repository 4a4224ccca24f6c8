import JobModel

/// What is to be said of a run first.
struct Verdict: Hashable, Sendable {
    enum Tone: String, Sendable, CaseIterable {
        case well
        /// Well, but somebody should look.
        case caution
        case fault
    }

    let tone: Tone
    let headline: String
    /// A sentence, where the headline leaves a question.
    let reason: String?

    private init(_ tone: Tone, _ headline: String, _ reason: String? = nil) {
        self.tone = tone
        self.headline = headline
        self.reason = reason
    }

    init(_ run: RunReport) {
        let counts = run.counts
        if let stopped = run.stopped {
            let left = counts.left > 0 ? ", \(Self.part(counts.left, of: counts.frames)) left" : ""
            self.init(.fault, "Stopped early\(left)", stopped)
        } else if counts.failed > 0 {
            self.init(.fault, "\(Self.part(counts.failed, of: counts.frames)) failed")
        } else if counts.stillBroken > 0 {
            let verb = counts.stillBroken == 1 ? "is" : "are"
            self.init(.fault, "\(Self.part(counts.stillBroken, of: counts.frames)) \(verb) still broken")
        } else if !run.isWell {
            self.init(.fault, "Ended with exit code \(run.exitCode)")
        } else if counts.kept > 0 {
            let verb = counts.kept == 1 ? "was" : "were"
            self.init(.caution, "\(Self.part(counts.kept, of: counts.frames)) \(verb) kept as found")
        } else if counts.frames == 0 {
            self.init(.well, "There was nothing to do")
        } else {
            let verb = counts.frames == 1 ? "is" : "are"
            let all = counts.frames == 1 ? "" : "All "
            self.init(.well, "\(all)\(Figures.plural(counts.frames, "frame")) \(verb) in place")
        }
    }

    /// Of several jobs.
    init(_ runs: [RunReport]) {
        let tones = runs.map { Verdict($0).tone }
        let bad = tones.count { $0 == .fault }
        if bad > 0 {
            self.init(.fault, "\(bad) of \(Figures.plural(runs.count, "job")) did not end well")
        } else if runs.isEmpty {
            self.init(.well, "There was nothing to do")
        } else {
            self.init(tones.contains(.caution) ? .caution : .well, "All \(runs.count) jobs ended well")
        }
    }

    /// `2 of 120 frames`
    private static func part(_ part: Int, of whole: Int) -> String {
        part == whole
            ? "\(part == 1 ? "" : "All ")\(Figures.plural(part, "frame"))"
            : "\(Figures.count(part)) of \(Figures.plural(whole, "frame"))"
    }
}
