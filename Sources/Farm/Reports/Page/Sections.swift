import JobModel

/// The frames that somebody should look at, grouped by the trouble.
struct ProblemSections {
    /// The most frames that are listed for one group.
    static let cap = 100

    private struct Item {
        let line: Markup
        /// The cause or the reason that the items of a group share.
        let group: String
    }

    private let run: RunReport
    /// The level of the run's title.
    private let level: Int

    init(_ run: RunReport, level: Int) {
        self.run = run
        self.level = level
    }

    var failed: Section {
        section(.failed, "Failed", of: "frame") { frame in
            guard case .failed(let cause, let message) = frame.state else { return [] }
            return [Item(line: broken(frame, message), group: cause)]
        }
    }

    var stillBroken: Section {
        section(.stillBroken, "Still broken", "Failed in an earlier run, and not changed since.", of: "frame") {
            frame in
            guard case .stillBroken(let since, let message) = frame.state else { return [] }
            return [Item(line: broken(frame, message), group: "since \(Figures.day(since))")]
        }
    }

    var kept: Section {
        section(.kept, "Kept as found", "These outputs are left as they are.", of: "output") { frame in
            frame.kept.map { output in
                let line: Markup =
                    "\(.path(output.path)) <span class=\"message\">of \(.path(frame.input))</span>"
                return Item(line: line, group: output.reason)
            }
        }
    }

    /// - Parameters:
    ///   - noun: the noun for an item.
    ///   - items: the items of a frame that belong to the section.
    private func section(
        _ ending: FrameResult.Kind, _ title: String, _ introduction: Markup = "", of noun: String,
        _ items: (FrameRecord) -> [Item]
    ) -> Section {
        let groups = Dictionary(grouping: run.frames.flatMap(items), by: \.group)
        guard !groups.isEmpty else { return Section(name: ending.rawValue, title: title, body: "") }
        let sorted = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        let opening: Markup = introduction.isEmpty ? "" : "<p class=\"note\">\(introduction)</p>\n"
        return Section(
            name: ending.rawValue, title: title,
            body: "\(opening)\(sorted.map { group($0.key, $0.value, of: noun, ending) })")
    }

    private func group(
        _ name: String, _ items: [Item], of noun: String, _ ending: FrameResult.Kind
    ) -> Markup {
        let shown = items.prefix(Self.cap).map { item -> Markup in "<li>\(item.line)</li>\n" }
        let rest = items.count - shown.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return """
            <div class="group \(ending == .kept ? "kept" : "bad")">
            <h\(level + 2) class="cause">\(ending.sign)\(Markup(stringLiteral: "\u{fe0e}")) \(name) \
            <span>\(Figures.plural(items.count, noun))</span></h\(level + 2)>
            <ul class="plain">
            \(shown)</ul>
            \(more)</div>

            """
    }

    /// Removes the picture's path from the beginning of its message.
    private func broken(_ frame: FrameRecord, _ message: String) -> Markup {
        let rest = Self.withoutPath(message, frame.input)
        return "\(.path(frame.input)) <span class=\"message\">\(.lines(rest))</span>"
    }

    /// A message may have the whole path where the page shows the end of it.
    private static func withoutPath(_ message: String, _ input: String) -> String {
        guard let place = message.firstRange(of: "\(input): ") else { return message }
        let folder = message[..<place.lowerBound]
        let isPath = folder.isEmpty || folder.hasPrefix("/") && folder.hasSuffix("/") && !folder.contains(": ")
        return isPath ? String(message[place.upperBound...]) : message
    }
}

/// A table of all frames, up to a number that browsers can handle.
struct FrameTable {
    static let cap = 1000

    private let run: RunReport

    init(_ run: RunReport) { self.run = run }

    var section: Section {
        let rows = run.frames.prefix(Self.cap).map(row)
        return Section(
            name: "frames", title: "Frames",
            body: rows.isEmpty
                ? ""
                : """
                \(sentence(shown: rows.count))<table class="frames" role="table">
                \(head)<tbody role="rowgroup">
                \(rows)</tbody>
                </table>

                """)
    }

    /// Roles repeat that it is a row. On a narrow screen a row has a grid layout, and some browsers then do not treat it
    /// as a row.
    private var head: Markup {
        """
        <thead role="rowgroup"><tr role="row">\
        <th scope="col" role="columnheader">Picture</th><th scope="col" role="columnheader">State</th>\
        <th scope="col" role="columnheader" class="wide">Size</th><th scope="col" role="columnheader">Output</th>\
        <th scope="col" role="columnheader" class="wide">Time</th></tr></thead>

        """
    }

    private func sentence(shown: Int) -> Markup {
        let total = max(run.counts.frames, run.frames.count)
        guard shown < total else { return "" }
        return """
            <p class="note">The first \(Figures.count(shown)) of \(Figures.count(total)) frames; \
            \(Figures.count(total - shown)) more are not shown.</p>

            """
    }

    private func row(_ frame: FrameRecord) -> Markup {
        let written = frame.outputs.compactMap(\.file?.bytes)
        let ending = frame.state.kind
        return """
            <tr role="row"><th scope="row" role="rowheader">\(.path(frame.input))\(frame.outputs.map(output))</th>\
            <td role="cell">\(ending.badge)\(why(frame.state))</td>\
            <td role="cell" class="wide">\(frame.megapixels.map { "\(Figures.measure($0)) MP" } ?? "")</td>\
            <td role="cell">\(written.isEmpty ? "" : Figures.bytes(written.reduce(0, +)))</td>\
            <td role="cell" class="wide">\(frame.time.map(Figures.duration) ?? "")</td></tr>

            """
    }

    private func output(_ output: ReportedOutput) -> Markup {
        guard let file = output.file else { return "<span class=\"output\">→ \(.path(output.path))</span>" }
        let digest = file.digest.description
        return """
            <span class="output">→ \(.path(output.path)) <span>\(file.width) × \(file.height)</span> \
            <code title="\(attribute: digest)">\(String(digest.prefix(8)))</code></span>
            """
    }

    private func why(_ state: FrameResult) -> Markup {
        switch state {
        case .open, .published, .left: ""
        case .skipped(let reason): "<span class=\"why\">\(reason ?? "")</span>"
        case .kept(let reason): "<span class=\"why\">\(reason)</span>"
        case .failed(let cause, _): "<span class=\"why\">\(cause)</span>"
        case .stillBroken(let since, _): "<span class=\"why\">since \(Figures.day(since))</span>"
        }
    }
}

/// The slowest frames.
struct SlowestSection {
    static let cap = 10

    private let timed: [(frame: FrameRecord, time: Duration)]

    init(_ frames: [FrameRecord]) {
        timed = frames.compactMap { frame in frame.time.map { (frame, $0) } }.sorted { $0.time > $1.time }
    }

    /// Empty if there is nothing to compare.
    var section: Section {
        guard timed.count > 1, let longest = timed.first?.time, longest > .zero else {
            return Section(name: "slowest", title: "", body: "")
        }
        let rows = timed.prefix(Self.cap).map { frame, time -> Markup in
            """
            <tr><th scope="row">\(.path(frame.input))\
            <span class="bar" aria-hidden="true"><span style="width:\(percent: time / longest)"></span></span></th>\
            <td>\(megapixels(frame))</td><td>\(Figures.duration(time))</td></tr>

            """
        }
        return Section(
            name: "slowest", title: "Slowest frames",
            body: """
                <p class="note">Half of the frames took \(Figures.duration(quantile(0.5))) or less, nineteen of twenty \
                \(Figures.duration(quantile(0.95))) or less.</p>
                <table class="bars">
                <thead><tr><th scope="col">Picture</th><th scope="col">Size</th><th scope="col">Time</th></tr></thead>
                <tbody>
                \(rows)</tbody>
                </table>

                """)
    }

    private func megapixels(_ frame: FrameRecord) -> String {
        frame.megapixels.map { "\(Figures.measure($0)) MP" } ?? ""
    }

    /// The time that a share of the frames did not exceed.
    private func quantile(_ share: Double) -> Duration {
        let rank = Int((Double(timed.count) * share).rounded(.up))
        return timed[timed.count - max(1, rank)].time
    }
}

/// Thumbnails before and after, side by side.
struct ThumbnailSection {
    /// The most pairs on a page. They take most of its bytes.
    static let cap = 60

    private let frames: [FrameRecord]

    init(_ frames: [FrameRecord]) {
        self.frames = frames.filter { $0.before != nil || $0.after != nil }
    }

    var section: Section {
        let figures = frames.prefix(Self.cap).map(figure)
        let rest = frames.count - figures.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return Section(
            name: "pictures", title: "Before and after",
            body: figures.isEmpty ? "" : "<div class=\"pairs\">\n\(figures)</div>\n\(more)")
    }

    private func figure(_ frame: FrameRecord) -> Markup {
        """
        <figure>
        <div class="pair">\(side(frame.before, "before", frame))\(side(frame.after, "after", frame))</div>
        <figcaption>\(.path(frame.input)) <span>\(caption(frame))</span></figcaption>
        </figure>

        """
    }

    private func side(_ thumbnail: Thumbnail?, _ when: String, _ frame: FrameRecord) -> Markup {
        let picture: Markup =
            thumbnail.map { .image($0, alt: "\(frame.input), \(when)") }
            ?? "<span class=\"none\">nothing \(when)</span>"
        return "<div class=\"side\">\(picture)<span class=\"corner\" aria-hidden=\"true\">\(when)</span></div>"
    }

    private func caption(_ frame: FrameRecord) -> String {
        guard let file = frame.outputs.first?.file else { return frame.state.kind.words }
        return "\(file.width) × \(file.height), \(Figures.bytes(file.bytes))"
    }
}

/// Outputs whose inputs are gone.
struct OrphanList {
    static let cap = 200

    private let paths: [String]

    init(_ paths: [String]) { self.paths = paths }

    var section: Section {
        let items = paths.prefix(Self.cap).map { path -> Markup in "<li>\(.path(path))</li>\n" }
        let rest = paths.count - items.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return Section(
            name: "orphans", title: "Orphans",
            body: items.isEmpty
                ? ""
                : """
                <p class="note">\(Figures.plural(paths.count, "output")) whose inputs are gone.</p>
                <ul class="orphans">
                \(items)</ul>
                \(more)
                """)
    }
}
