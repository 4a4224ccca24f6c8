/// One of the five fields of cron, with its values and their names.
///
/// The syntax that ``values(of:)`` reads is that of Penumbra's own schedules. Lines for cron itself are checked by the
/// module `Exports`, because cron accepts less.
package enum CronField: CaseIterable, Hashable, Sendable {
    case minute, hour, dayOfMonth, month, weekday

    package var name: String {
        switch self {
        case .minute: "minute"
        case .hour: "hour"
        case .dayOfMonth: "day of month"
        case .month: "month"
        case .weekday: "weekday"
        }
    }

    package var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        // Both 0 and 7 are Sunday.
        case .weekday: 0...7
        }
    }

    /// Names of the values, from the range's first on, in lower case. Cron accepts any case.
    package var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        }
    }

    package var allowed: String {
        switch self {
        case .minute, .hour, .dayOfMonth: "\(range.lowerBound) to \(range.upperBound)"
        case .month: "1 to 12, or jan to dec"
        case .weekday: "0 to 7 (both are Sunday), or sun to sat"
        }
    }

    /// The values of a field's text.
    func values(of text: String) throws(CronProblem) -> Set<Int> {
        var values: Set<Int> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            values.formUnion(try self.values(ofItem: String(item)))
        }
        return values
    }

    /// An item of a list: `5`, `1-5`, `1-5/2`, `*` or `*/2`.
    private func values(ofItem text: String) throws(CronProblem) -> Set<Int> {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (first, last) = try ends(of: parts[0])
        guard parts.count == 2 else { return Set(first...last) }
        guard let step = number(parts[1]), step > 0 else { throw .step(self, found: parts[1]) }
        guard parts[0] == "*" || parts[0].contains("-") else {
            throw .stepWithoutRange(self, found: text, instead: "\(first)-\(range.upperBound)/\(step)")
        }
        guard step <= last - first || first == last else {
            throw .longStep(self, found: text, instead: "\(first)")
        }
        return Set(stride(from: first, through: last, by: step))
    }

    private func ends(of text: String) throws(CronProblem) -> (first: Int, last: Int) {
        // A week has seven days: `*/2` must not reach the second Sunday.
        if text == "*" { return (range.lowerBound, self == .weekday ? 6 : range.upperBound) }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let first = try value(ends[0])
        guard ends.count == 2 else { return (first, first) }
        let last = try value(ends[1])
        // `fri-sun` ends with the second Sunday.
        if self == .weekday, last == 0, first > 0, ends[1].first?.isLetter == true { return (first, 7) }
        guard first <= last else { throw .backwards(self, found: text, instead: wrapped(first, last)) }
        return (first, last)
    }

    private func value(_ text: String) throws(CronProblem) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return index + range.lowerBound }
        guard let value = number(text), range.contains(value) else { throw .value(self, found: text) }
        return value
    }

    private func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// A range that wraps around, as cron needs it: the hours `22-5` as `22-23,0-5`.
    package func wrapped(_ first: Int, _ last: Int) -> String {
        // A week that begins with Sunday as 0 does not end with it as 7.
        let end = self == .weekday ? 6 : range.upperBound
        let parts = [(first, end), (range.lowerBound, last)].filter { $0 <= $1 }
        return parts.map { $0 == $1 ? "\($0)" : "\($0)-\($1)" }.joined(separator: ",")
    }

    /// The most days that a month has in any year.
    package static func mostDays(inMonth month: Int) -> Int {
        switch month {
        case 2: 29
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
