/// When cron starts a job, as the first five fields of a crontab's line or one of the words that begin with `@`.
///
/// Takes what Debian's cron documents in crontab(5): lists, ranges, steps after a range or `*`, names of months and
/// weekdays that stand alone. That program itself takes more, and not as it looks: it reads `*5` as `*`, `1.5` as `1`,
/// and never runs a job of the hours `22-5`. Such schedules are refused.
package struct CronSchedule: Hashable, Sendable {
    /// What cron will do that may not be what was meant.
    package enum Hint: Hashable, Sendable {
        /// Both kinds of day are restricted: cron runs the job on days that match either.
        case eitherDay(dayOfMonth: String, weekday: String)
        /// As above, but one begins with `*`: then cron wants both to match.
        case bothDays(dayOfMonth: String, weekday: String)
        case onlyInLeapYears
        /// A step that goes past the end of its range leaves the first value alone.
        case longStep(ScheduleField, found: String, first: Int)
    }

    /// With one space between fields.
    package let text: String
    package let hints: [Hint]

    /// The words that stand for a whole schedule. Cron takes them in lower case only.
    package static let words = [
        "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot",
    ]

    package init(_ text: String) throws(ExportProblem) {
        let fields = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        self.text = fields.joined(separator: " ")
        if let word = fields.first, word.hasPrefix("@") {
            guard fields.count == 1 else { throw .wordWithFields(word, schedule: text) }
            guard Self.words.contains(word) else { throw .unknownWord(word) }
            hints = []
            return
        }
        guard fields.count == ScheduleField.allCases.count else {
            throw .fieldCount(fields.count, schedule: text)
        }
        var hints: [Hint] = []
        var values: [ScheduleField: Set<Int>] = [:]
        for (field, written) in zip(ScheduleField.allCases, fields) {
            let items = try FieldReader(field: field, schedule: text).items(of: written)
            values[field] = Set(items.flatMap(\.values))
            hints += items.filter(\.hasLongStep).map { .longStep(field, found: $0.text, first: $0.first) }
        }
        self.hints = hints + (try Self.hints(ofDays: values[.dayOfMonth] ?? [], months: values[.month] ?? [], fields))
    }

    private static func hints(
        ofDays days: Set<Int>, months: Set<Int>, _ fields: [String]
    ) throws(ExportProblem) -> [Hint] {
        let (dayOfMonth, month, weekday) = (fields[2], fields[3], fields[4])
        // Cron looks at the first character only: `*/2` begins with a star, `1-31` does not.
        guard dayOfMonth.hasPrefix("*") || weekday.hasPrefix("*") else {
            return [.eitherDay(dayOfMonth: dayOfMonth, weekday: weekday)]
        }
        guard let first = days.min(), let longest = months.map(mostDays).max(), first <= longest else {
            throw .neverComes(dayOfMonth: dayOfMonth, month: month, schedule: fields.joined(separator: " "))
        }
        var hints: [Hint] = first == 29 && months == [2] ? [.onlyInLeapYears] : []
        if dayOfMonth != "*", weekday != "*" { hints.append(.bothDays(dayOfMonth: dayOfMonth, weekday: weekday)) }
        return hints
    }

    private static func mostDays(_ month: Int) -> Int {
        switch month {
        case 2: 29
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CronSchedule.Hint {
    package var message: String {
        switch self {
        case .eitherDay(let day, let weekday):
            "cron runs it on each day that matches the day of month '\(day)' or the weekday '\(weekday)', not only on "
                + "those that match both"
        case .bothDays(let day, let weekday):
            "cron runs it on days that match both the day of month '\(day)' and the weekday '\(weekday)', as one of "
                + "them begins with '*'"
        case .onlyInLeapYears:
            "29 February comes in leap years only"
        case .longStep(let field, let found, let first):
            "the step of '\(found)' is longer than its range: the \(field.name) is \(first) alone"
        }
    }
}
