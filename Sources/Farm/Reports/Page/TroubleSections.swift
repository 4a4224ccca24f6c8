import JobModel

/// The frames that somebody should look at, grouped by what is the matter.
struct TroubleSections {
    /// Frames listed of one group.
    static let cap = 100

    private struct Item {
        let line: Markup
        /// Why: the cause or the reason that it has in common with others.
        let group: String
    }

    private let run: RunReport

    init(_ run: RunReport) { self.run = run }

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
    ///   - noun: what the items are.
    ///   - items: those of a frame that belong here.
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
            <div class="group \(ending.rawValue)">
            <p class="cause">\(name) <span>\(Figures.plural(items.count, noun))</span></p>
            <ul>
            \(shown)</ul>
            \(more)</div>

            """
    }

    /// Messages that begin with the picture's path say it once.
    private func broken(_ frame: FrameRecord, _ message: String) -> Markup {
        let input = frame.input
        let rest = message.hasPrefix("\(input): ") ? String(message.dropFirst(input.count + 2)) : message
        return "\(.path(input)) <span class=\"message\">\(.lines(rest))</span>"
    }
}
