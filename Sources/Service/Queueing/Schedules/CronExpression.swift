import JobModel

/// The local times at which a schedule submits a job: the five fields of cron, or a word such as `@daily`.
///
/// The syntax is that of Debian's crontab(5): lists, ranges, and steps after a range or `*`. Names of months and
/// weekdays are also allowed within lists and ranges (`mon-fri`), which cron itself does not allow. If the day of month
/// and the weekday are both restricted, either of them is enough. A field that begins with `*` is not a restriction:
/// then both have to match. A schedule that never comes is refused, and so are texts that cron would read in a
/// surprising way.
package struct CronExpression: Hashable, Sendable {
    /// As it was written, with one space between fields.
    package let text: String
    private let minutes: [Int]
    private let hours: [Int]
    private let days: Set<Int>
    private let months: Set<Int>
    /// 0 is Sunday.
    private let weekdays: Set<Int>
    /// Whether one kind of day is enough.
    private let takesEitherDay: Bool

    /// The words, and what they stand for.
    package static let words = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    package init(_ text: String) throws(InputError) {
        let fields = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        self.text = fields.joined(separator: " ")
        do throws(CronProblem) {
            var written = fields
            if let word = fields.first, word.hasPrefix("@") {
                guard let meaning = Self.words[word] else { throw .unknownWord(word) }
                guard fields.count == 1 else { throw .wordWithFields(word) }
                written = meaning.split(separator: " ").map(String.init)
            }
            guard written.count == CronField.allCases.count else { throw .fieldCount(written.count) }
            minutes = try CronField.minute.values(of: written[0]).sorted()
            hours = try CronField.hour.values(of: written[1]).sorted()
            days = try CronField.dayOfMonth.values(of: written[2])
            months = try CronField.month.values(of: written[3])
            weekdays = Set(try CronField.weekday.values(of: written[4]).map { $0 % 7 })
            takesEitherDay = !written[2].hasPrefix("*") && !written[4].hasPrefix("*")
            let longest = months.map { CalendarDay.count(inMonth: $0, of: 2000) }.max() ?? 0
            guard takesEitherDay || (days.min() ?? 32) <= longest else {
                throw .neverComes(dayOfMonth: written[2], month: written[3])
            }
        } catch {
            throw .cron(error, in: self.text)
        }
    }

    package func matches(_ day: CalendarDay) -> Bool {
        guard months.contains(day.month) else { return false }
        let (isDay, isWeekday) = (days.contains(day.day), weekdays.contains(day.weekday))
        return takesEitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    /// The first local time after another one. Both are seconds since 1970 as a clock on the wall counts them.
    ///
    /// Nil after the year 9999. The longest wait is that for a 29 February on a certain weekday, at most 40 years.
    func nextLocalTime(after time: Int) -> Int? {
        let today = time >= 0 ? time / 86_400 : (time - 86_399) / 86_400
        var day = CalendarDay(daysSince1970: today)
        // Times of this day have to be later; of other days all are.
        var earliest = time - today * 86_400
        while day.year <= 9999 {
            if matches(day), let second = firstTime(after: earliest) { return day.daysSince1970 * 86_400 + second }
            earliest = -1
            if months.contains(day.month), day.day < CalendarDay.count(inMonth: day.month, of: day.year) {
                day = CalendarDay(year: day.year, month: day.month, day: day.day + 1)
            } else {
                let isLast = day.month == 12
                day = CalendarDay(year: isLast ? day.year + 1 : day.year, month: isLast ? 1 : day.month + 1, day: 1)
            }
        }
        return nil
    }

    /// The first time of a day, in seconds since midnight.
    private func firstTime(after second: Int) -> Int? {
        for hour in hours where hour * 3600 + 3599 > second {
            for minute in minutes where hour * 3600 + minute * 60 > second { return hour * 3600 + minute * 60 }
        }
        return nil
    }
}

/// What is wrong with a schedule's text.
package enum CronProblem: Error, Hashable, Sendable {
    case fieldCount(Int)
    case unknownWord(String)
    case wordWithFields(String)
    case value(CronField, found: String)
    case step(CronField, found: String)
    case stepWithoutRange(CronField, found: String, instead: String)
    case longStep(CronField, found: String, instead: String)
    case backwards(CronField, found: String, instead: String)
    case neverComes(dayOfMonth: String, month: String)

    var message: String {
        switch self {
        case .fieldCount(let count): "schedule: five fields are wanted, not \(count)"
        case .unknownWord(let word): "schedule: no schedule is called '\(shown(word))'"
        case .wordWithFields(let word):
            "schedule: \(shown(word)) stands for all five fields, and nothing comes after it"
        case .value(let field, let found):
            "schedule: the \(field.name) is \(field.allowed), not '\(shown(found))'"
        case .step(let field, let found): "schedule: the \(field.name)'s step is a number from 1, not '\(shown(found))'"
        case .stepWithoutRange(let field, let found, _):
            "schedule: the \(field.name)'s step in '\(shown(found))' has no range"
        case .longStep(let field, let found, _):
            "schedule: the \(field.name)'s step in '\(shown(found))' is longer than its range"
        case .backwards(let field, let found, _):
            "schedule: the \(field.name)'s range '\(shown(found))' ends before it begins"
        case .neverComes(let day, let month):
            "schedule: this never comes: no month of '\(shown(month))' has a day of '\(shown(day))'"
        }
    }

    var remedy: String {
        switch self {
        case .fieldCount: "write minute, hour, day of month, month and weekday: '15 2 * * *' is 02:15 each day"
        case .unknownWord: "there are \(CronExpression.words.keys.sorted().joined(separator: ", "))"
        case .wordWithFields: "leave out the fields, or the word"
        case .value: "'*' stands for all values; lists are written as '1,5', ranges as '1-5'"
        case .step: "write '*/5' for each fifth value"
        case .stepWithoutRange(_, _, let instead), .longStep(_, _, let instead), .backwards(_, _, let instead):
            "write '\(instead)'"
        case .neverComes: "'28-31' covers the last days of every month"
        }
    }

    private func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(200))) }
}

/// One of the five fields of a schedule.
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

    /// Names of the values, from the range's first on.
    private var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        }
    }

    var allowed: String {
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

    /// A range that wraps around: the hours `22-5` as `22-23,0-5`.
    private func wrapped(_ first: Int, _ last: Int) -> String {
        let end = self == .weekday ? 6 : range.upperBound
        let parts = [(first, end), (range.lowerBound, last)].filter { $0 <= $1 }
        return parts.map { $0 == $1 ? "\($0)" : "\($0)-\($1)" }.joined(separator: ",")
    }
}
