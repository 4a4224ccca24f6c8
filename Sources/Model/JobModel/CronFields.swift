/// The values of a schedule's five fields, or of a word such as `@daily`.
///
/// The syntax is that of Debian's crontab(5): lists, ranges, and steps after a range or `*`. Names of months and
/// weekdays are also allowed within lists and ranges (`mon-fri`), which cron itself does not allow. A schedule that never
/// comes is refused, and so are texts that cron would read in a surprising way.
package struct CronFields: Hashable, Sendable {
    /// As they were written, with one space between fields.
    package let text: String
    package let minutes: Set<Int>
    package let hours: Set<Int>
    package let days: Set<Int>
    package let months: Set<Int>
    /// 0 is Sunday.
    package let weekdays: Set<Int>
    /// If the day of month and the weekday are both restricted, one of them is enough. A field that begins with `*` is
    /// not a restriction: then both have to match.
    package let takesEitherDay: Bool

    /// The words, and what they stand for.
    package static let words = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    package init(_ text: String) throws(CronProblem) {
        let fields = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        self.text = fields.joined(separator: " ")
        var written = fields
        if let word = fields.first, word.hasPrefix("@") {
            guard let meaning = Self.words[word] else { throw .unknownWord(word) }
            guard fields.count == 1 else { throw .wordWithFields(word) }
            written = meaning.split(separator: " ").map(String.init)
        }
        guard written.count == CronField.allCases.count else { throw .fieldCount(written.count) }
        minutes = try CronField.minute.values(of: written[0])
        hours = try CronField.hour.values(of: written[1])
        days = try CronField.dayOfMonth.values(of: written[2])
        months = try CronField.month.values(of: written[3])
        weekdays = Set(try CronField.weekday.values(of: written[4]).map { $0 % 7 })
        takesEitherDay = !written[2].hasPrefix("*") && !written[4].hasPrefix("*")
        let longest = months.map { CronField.mostDays(inMonth: $0) }.max() ?? 0
        guard takesEitherDay || (days.min() ?? 32) <= longest else {
            throw .neverComes(dayOfMonth: written[2], month: written[3])
        }
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

    package var message: String {
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

    package var remedy: String {
        switch self {
        case .fieldCount: "write minute, hour, day of month, month and weekday: '15 2 * * *' is 02:15 each day"
        case .unknownWord: "there are \(CronFields.words.keys.sorted().joined(separator: ", "))"
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
