import JobModel

/// One run on the page: the verdict first, then what needs a look, then everything.
struct RunArticle {
    private let run: RunReport
    /// Of its title: 1 where it is the page's only one.
    private let level: Int
    /// Of its sections' names in the page.
    private let prefix: String
    /// Those that have something to say.
    private let sections: [Section]

    init(_ run: RunReport, level: Int, prefix: String) {
        self.run = run
        self.level = level
        self.prefix = prefix
        let troubles = TroubleSections(run)
        sections = [
            troubles.failed, troubles.stillBroken, troubles.kept, ThumbnailSection(run.frames).section,
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

    /// How the frames ended: as a strip, and in words.
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
            return "<li><span class=\"swatch \(ending.rawValue)\"></span>\(link)</li>\n"
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

/// A part of the page under a title; left out where its body is empty.
struct Section {
    /// For links to it.
    let name: String
    let title: String
    let body: Markup
}

extension FrameResult.Kind {
    var words: String { self == .stillBroken ? "still broken" : rawValue }

    /// The section that tells more.
    var section: String {
        switch self {
        case .open, .published, .skipped, .left: "frames"
        case .kept, .failed, .stillBroken: rawValue
        }
    }
}
