/// One line for each scenario, and a table of all in the end.
enum SummaryTable {
    static func line(_ result: ScenarioResult) -> String {
        let outcome = result.skipped.map { "skipped: \($0)" } ?? (result.violations.isEmpty ? "ok" : "VIOLATION")
        var parts = ["\(result.runs) runs"]
        if result.faults > 0 { parts.append("\(result.faults) faults") }
        if result.corrupted > 0 { parts.append("\(result.found) of \(result.corrupted) corruptions found") }
        if result.unread > 0 { parts.append("\(result.unread) unread") }
        let tenths = Int((result.seconds * 10).rounded())
        return "seed \(result.seed) \(result.kind.rawValue) (\(result.variant)): \(outcome); "
            + parts.joined(separator: ", ") + ", \(tenths / 10).\(tenths % 10) s"
    }

    private static let titles = [
        "kind", "scenarios", "skipped", "faults", "corrupted", "found", "unread", "violations",
    ]

    static func table(_ results: [ScenarioResult]) -> String {
        var rows = [titles]
        for kind in ScenarioKind.allCases {
            let own = results.filter { $0.kind == kind }
            if !own.isEmpty { rows.append(row(kind.rawValue, own)) }
        }
        rows.append(row("all", results))
        let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func row(_ name: String, _ results: [ScenarioResult]) -> [String] {
        func sum(_ key: KeyPath<ScenarioResult, Int>) -> String { "\(results.reduce(0) { $0 + $1[keyPath: key] })" }
        let violated = results.count { !$0.violations.isEmpty }
        return [
            name, "\(results.count { $0.skipped == nil })", "\(results.count { $0.skipped != nil })", sum(\.faults),
            sum(\.corrupted), sum(\.found), sum(\.unread), "\(violated)",
        ]
    }
}
