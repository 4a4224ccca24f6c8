/// The frames that somebody should look at, grouped by what is the matter.
struct TroubleSections {
    /// Frames listed of one group.
    static let cap = 100

    private struct Item {
        let frame: FrameRecord
        let message: String
    }

    private let run: RunRecord

    init(_ run: RunRecord) { self.run = run }

    var failed: Section {
        section(.failed, "Failed") { state in
            if case .failed(let cause, let message) = state { (cause, message) } else { nil }
        }
    }

    var stillBroken: Section {
        section(.stillBroken, "Still broken", "Failed in an earlier run, and not changed since.") { state in
            if case .stillBroken(let cause, let message) = state { (cause, message) } else { nil }
        }
    }

    var kept: Section {
        section(.kept, "Kept as found", "These outputs are left as they are.") { state in
            if case .kept(let reason) = state { (reason, "") } else { nil }
        }
    }

    /// - Parameter matter: the group and the message of a frame that belongs here.
    private func section(
        _ ending: FrameRecord.Ending, _ title: String, _ introduction: Markup = "",
        _ matter: (FrameRecord.State) -> (group: String, message: String)?
    ) -> Section {
        var groups: [String: [Item]] = [:]
        for frame in run.frames {
            guard let (group, message) = matter(frame.state) else { continue }
            groups[group, default: []].append(Item(frame: frame, message: message))
        }
        guard !groups.isEmpty else { return Section(name: ending.rawValue, title: title, body: "") }
        let sorted = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        let opening: Markup = introduction.isEmpty ? "" : "<p class=\"note\">\(introduction)</p>\n"
        return Section(
            name: ending.rawValue, title: title,
            body: "\(opening)\(sorted.map { group($0.key, $0.value, ending) })")
    }

    private func group(_ name: String, _ items: [Item], _ ending: FrameRecord.Ending) -> Markup {
        let shown = items.prefix(Self.cap).map { item -> Markup in
            "<li>\(ending == .kept ? kept(item.frame) : broken(item))</li>\n"
        }
        let rest = items.count - shown.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return """
            <div class="group \(ending.rawValue)">
            <p class="cause">\(name) <span>\(Figures.plural(items.count, "frame"))</span></p>
            <ul>
            \(shown)</ul>
            \(more)</div>

            """
    }

    /// Messages that begin with the picture's path say it once.
    private func broken(_ item: Item) -> Markup {
        let (input, message) = (item.frame.input, item.message)
        let rest = message.hasPrefix("\(input): ") ? String(message.dropFirst(input.count + 2)) : message
        return "\(.path(input)) <span class=\"message\">\(.lines(rest))</span>"
    }

    private func kept(_ frame: FrameRecord) -> Markup {
        let outputs = frame.outputs.map { output -> Markup in "\(.path(output.path)) " }
        return "\(outputs)<span class=\"message\">of \(.path(frame.input))</span>"
    }
}
