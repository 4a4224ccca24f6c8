import JobModel

/// A self-contained HTML page that reports runs.
///
/// It has no scripts and loads nothing: pictures and style are inside, and its content security
/// policy forbids the rest.
package enum ReportPage {
    package static let contentSecurityPolicy =
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    /// - Parameter runs: one for each job, in the order in which they ran.
    package static func html(_ runs: [RunReport]) -> String {
        let body: [Markup] =
            runs.count == 1
            ? [RunArticle(runs[0], level: 1, prefix: "").markup]
            : [overview(runs)]
                + runs.enumerated().map { RunArticle($1, level: 2, prefix: "job\($0 + 1)-").markup }
        let title = runs.count == 1 ? "\(runs[0].job): \(Verdict(runs[0]).headline)" : Verdict(runs).headline
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Markup(stringLiteral: contentSecurityPolicy))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="Penumbra">
            <title>\(attribute: title) – Penumbra</title>
            <link rel="icon" href="data:,">
            <style>
            \(Markup(stringLiteral: Looks.report))</style>
            </head>
            <body>
            <p class="brand">\(eclipse)<b>Penumbra</b> <span>run report</span></p>
            <main>
            \(body)</main>
            </body>
            </html>

            """
        return page.html
    }

    /// The icon: a half-shadow, as the program's name says.
    private static let eclipse: Markup = """
        <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="9" class="sun"/>\
        <path d="M10 1a9 9 0 1 0 0 18a13 13 0 0 0 0-18z" class="shade"/></svg>
        """

    private static func overview(_ runs: [RunReport]) -> Markup {
        let jobs = runs.enumerated().map { index, run -> Markup in
            let verdict = Verdict(run)
            return """
                <li>\(verdict.tone.sign)<span><a href="#job\(index + 1)-top">\(run.job)</a> \
                \(verdict.headline)</span></li>

                """
        }
        let verdict = Verdict(runs)
        return """
            <header>
            <h1>\(verdict.markup)</h1>
            <ul class="jobs">
            \(jobs)</ul>
            </header>

            """
    }
}

extension Verdict {
    /// The headline with its sign.
    var markup: Markup { "<span class=\"verdict\">\(tone.sign)<span>\(headline)</span></span>" }
}

extension Verdict.Tone {
    /// A sign whose shape differs for each tone, not only its colour.
    var sign: Markup {
        let shape: Markup =
            switch self {
            case .well: "<path d=\"M6 10.4l2.8 2.8L14.2 7.4\"/>"
            case .caution: "<path d=\"M10 5.2v5.6M10 14.2v.2\"/>"
            case .fault: "<path d=\"M6.8 6.8l6.4 6.4M13.2 6.8l-6.4 6.4\"/>"
            }
        return """
            <svg class="sign \(rawValue)" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="10"/>\
            \(shape)</svg>
            """
    }
}

/// One run on the page: the verdict first, then troubles, then all frames.
struct RunArticle {
    private let run: RunReport
    /// The level of its title: 1 if it is the page's only one.
    private let level: Int
    /// The prefix of its sections' names.
    private let prefix: String
    /// The sections that are not empty.
    private let sections: [Section]

    init(_ run: RunReport, level: Int, prefix: String) {
        self.run = run
        self.level = level
        self.prefix = prefix
        let problems = ProblemSections(run, level: level)
        sections = [
            problems.failed, problems.stillBroken, problems.kept, ThumbnailSection(run.frames).section,
            SlowestSection(run.frames).section, FrameTable(run).section, OrphanList(run.orphans).section,
        ].filter { !$0.body.isEmpty }
    }

    var markup: Markup {
        """
        <article id="\(attribute: prefix)top">
        \(head)\(sections.map(markup))\(foot)</article>

        """
    }

    private func markup(_ section: Section) -> Markup {
        """
        <section id="\(attribute: prefix + section.name)">
        <h\(level + 1)>\(section.title)</h\(level + 1)>
        \(section.body)</section>

        """
    }

    private var head: Markup {
        let verdict = Verdict(run)
        let reason: Markup = verdict.reason.map { "<p class=\"reason\">\(.lines($0))</p>\n" } ?? ""
        return """
            <header>
            <h\(level)><span class="job">\(run.job)</span> \(verdict.markup)</h\(level)>
            \(reason)\(strip)<p class="when">\(.path(run.manifest)) <span>\(.span(from: run.started, to: run.ended))</span></p>
            \(facts)</header>

            """
    }

    /// The frames by their states, as a strip and as a legend.
    private var strip: Markup {
        let endings = FrameResult.Kind.ended.filter { run.counts[$0] > 0 }
        guard !endings.isEmpty else { return "" }
        let parts = endings.map { ending -> Markup in
            "<span class=\"\(ending.rawValue)\" style=\"flex-grow:\(run.counts[ending])\"></span>"
        }
        let words = endings.map { ending -> Markup in
            let text: Markup = "<b>\(Figures.count(run.counts[ending]))</b> \(ending.words)"
            let isTold = sections.contains { $0.name == ending.section }
            let link: Markup =
                isTold ? "<a href=\"#\(attribute: prefix + ending.section)\">\(text)</a>" : "<span>\(text)</span>"
            return """
                <li><span class="swatch \(ending.rawValue)" aria-hidden="true">\(ending.sign)</span>\(link)</li>

                """
        }
        return """
            <div class="strip" aria-hidden="true">\(parts)</div>
            <ul class="legend">
            \(words)</ul>

            """
    }

    private var facts: Markup {
        let seconds = run.elapsed / .seconds(1)
        var facts: [(name: String, value: String, more: String)] = [
            ("Frames", Figures.count(run.counts.frames), ""),
            ("Time", Figures.duration(run.elapsed), ""),
        ]
        if run.counts.megapixels >= 0.05, seconds > 0 {
            facts.append(
                (
                    "Speed", "\(Figures.measure(run.counts.megapixels / seconds)) MP/s",
                    "\(Figures.measure(run.counts.megapixels)) MP"
                ))
        }
        facts.append(("Read", Figures.bytes(run.bytesRead), ""))
        facts.append(("Written", Figures.bytes(run.counts.bytesWritten), share))
        facts.append(
            (
                "Workers", Figures.count(run.workers),
                run.workersReplaced > 0 ? "\(Figures.count(run.workersReplaced)) died, replaced" : ""
            ))
        let items = facts.map { fact -> Markup in
            let more: Markup = fact.more.isEmpty ? "" : " <small>\(fact.more)</small>"
            return "<div><dt>\(fact.name)</dt><dd>\(fact.value)\(more)</dd></div>\n"
        }
        return "<dl class=\"facts\">\n\(items)</dl>\n"
    }

    private var share: String {
        guard run.bytesRead > 0, run.counts.bytesWritten > 0, run.counts.bytesWritten <= run.bytesRead else {
            return ""
        }
        let percent = 100 * Double(run.counts.bytesWritten) / Double(run.bytesRead)
        return percent < 1 ? "< 1 % of read" : "\(Int(percent.rounded())) % of read"
    }

    private var foot: Markup {
        let facts =
            run.settings + run.versions + [RunReport.Fact("exit code", String(run.exitCode))]
        let items = facts.map { fact -> Markup in "<div><dt>\(fact.name)</dt><dd>\(fact.value)</dd></div>\n" }
        return "<footer>\n<dl>\n\(items)</dl>\n</footer>\n"
    }
}

/// A part of the page with a title. It is left out if its body is empty.
struct Section {
    /// The name for links.
    let name: String
    let title: String
    let body: Markup
}

extension FrameResult.Kind {
    var words: String { self == .stillBroken ? "still broken" : rawValue }

    /// The sign of a state, as the service's page has it.
    var sign: String {
        switch self {
        case .open: "·"
        case .published: "✓"
        case .skipped: "="
        case .kept: "‖"
        case .failed, .stillBroken: "✗"
        case .left: "○"
        }
    }

    /// A state in a line of text. The last character asks browsers for a sign in the text's colour, and not for a picture.
    var badge: Markup {
        "<span class=\"badge \(rawValue)\">\(sign)\(Markup(stringLiteral: "\u{fe0e}")) \(words)</span>"
    }

    /// A link to the section of a state.
    var section: String {
        switch self {
        case .open, .published, .skipped, .left: "frames"
        case .kept, .failed, .stillBroken: rawValue
        }
    }
}

/// The headline of a run.
struct Verdict: Hashable, Sendable {
    enum Tone: String, Sendable, CaseIterable {
        case well
        /// The run ended well, but somebody should look at it.
        case caution
        case fault
    }

    let tone: Tone
    let headline: String
    /// A sentence that explains the headline, if it needs one.
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

    /// The headline of several jobs.
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
