extension Submission {
    /// What is another way than it was before, in words: `priority 50 to 90`. For the list of who changed what.
    package func differences(from before: Submission) -> [String] {
        var words: [String] = []
        if priority != before.priority { words.append("priority \(before.priority.value) to \(priority.value)") }
        if expedited != before.expedited { words.append(expedited == nil ? "runs next no more" : "runs next") }
        for name in Set(labels.values.keys).union(before.labels.values.keys).sorted() {
            let (old, new) = (before.labels[name: name], labels[name: name])
            guard old != new else { continue }
            words.append("label \(name): \(Self.shown(old)) to \(Self.shown(new))")
        }
        if needs != before.needs { words.append("after \(Self.shown(before.needs)) to \(Self.shown(needs))") }
        if state.name != before.state.name {
            words.append("\(before.state.name.rawValue) to \(state.name.rawValue)")
        } else if state.request != before.state.request, case .cancel = state.request {
            words.append("to be cancelled")
        }
        return words
    }

    private static func shown(_ value: String?) -> String { value.map { "'\($0)'" } ?? "none" }

    private static func shown(_ needs: [Need]) -> String {
        needs.isEmpty ? "none" : needs.map(\.description).joined(separator: ", ")
    }
}

extension BulkAction {
    /// The action, as requests name it, with its values.
    package var words: String {
        switch self {
        case .hold: "hold"
        case .release: "release"
        case .cancel: "cancel"
        case .runNext: "run_next"
        case .retry: "retry"
        case .setPriority(let priority): "set_priority \(priority.value)"
        case .setLabel(let name, let value): "set_label \(name): \(value.map { "'\($0)'" } ?? "none")"
        }
    }
}

extension BulkAction.Changes {
    /// What was done to which jobs: `2 changed (3, 5), 1 refused (7)`.
    package var words: String {
        let parts = [
            ("changed", changed.map(\.id)), ("new", submitted.map(\.id)), ("refused", refused.map(\.job)),
        ].compactMap { word, jobs in jobs.isEmpty ? nil : "\(jobs.count) \(word) (\(Self.list(jobs)))" }
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: ", ")
    }

    /// So many numbers are told. An entry of the list has a bounded length.
    private static let mostNumbers = 50

    private static func list(_ jobs: [JobID]) -> String {
        jobs.prefix(mostNumbers).map { "\($0.number)" }.joined(separator: ", ")
            + (jobs.count > mostNumbers ? ", …" : "")
    }
}
