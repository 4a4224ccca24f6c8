package import JobModel

/// A line of a user's crontab that starts a program with arguments of any characters.
///
/// Two programs read it. Cron takes `\%` for a percent sign, and a bare `%` for the command's end, also within quotes.
/// Then `sh` reads the rest.
package struct CrontabLine: Hashable, Sendable {
    package let text: String

    /// The longest command in bytes that Debian's cron accepts. It ignores a whole crontab with a longer one.
    package static let longestCommand = 998

    /// - Parameters:
    ///   - program: The absolute path of the program.
    ///   - arguments: Its arguments.
    ///   - folder: The absolute folder that the program starts in. Nil for the user's home.
    package init(
        schedule: CronSchedule, program: String, arguments: [String], folder: String? = nil
    ) throws(ExportError) {
        precondition(program.hasPrefix("/"), "cron's search path is not ours")
        let words = [program] + arguments
        for word in words + [folder ?? ""] where word.utf8.contains(UInt8(ascii: "\n")) { throw .lineBreak(word) }
        let command =
            (folder.map { "cd \(Self.escaped($0)) && " } ?? "") + words.map { Self.escaped($0) }.joined(separator: " ")
        guard command.utf8.count <= Self.longestCommand else { throw .tooLong(bytes: command.utf8.count) }
        text = "\(schedule.text) \(command)"
    }

    /// A word that cron and sh turn back into the argument.
    static func escaped(_ word: String) -> String {
        guard !word.isEmpty else { return "''" }
        let isPlain = word.utf8.allSatisfy(ShellWord.plain.contains)
        guard !isPlain else { return word.replacing("%", with: #"\%"#) }
        var result = "'"
        var isAfterBackslash = false
        for scalar in word.unicodeScalars {
            // All crons take `\%` for a percent sign, and some take two backslashes for one. So the quotes are closed
            // and opened again behind a backslash of the word.
            if isAfterBackslash, scalar == "\\" || scalar == "%" { result += "''" }
            isAfterBackslash = scalar == "\\"
            switch scalar {
            case "'": result += #"'\''"#
            case "%": result += #"\%"#
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }
}

/// The times at which cron starts a job: the first five fields of a crontab's line, or one of the words that begin with
/// `@`.
///
/// It accepts the syntax of Debian's crontab(5): lists, ranges, steps after a range or `*`, and single names of months
/// and weekdays. Cron itself accepts more, but with surprising meanings: it reads `*5` as `*` and `1.5` as `1`, and
/// never runs a job of the hours `22-5`. Such schedules are refused.
package struct CronSchedule: Hashable, Sendable {
    /// A behaviour of cron that the user may not expect.
    package enum Hint: Hashable, Sendable {
        /// Both kinds of day are restricted: cron runs the job on days that match either.
        case eitherDay(dayOfMonth: String, weekday: String)
        /// Both are restricted, and one begins with `*`: cron runs the job on days that match both.
        case bothDays(dayOfMonth: String, weekday: String)
        case onlyInLeapYears
        /// A step beyond the end of its range leaves only the first value.
        case longStep(CronField, found: String, first: Int)
    }

    /// With one space between fields.
    package let text: String
    package let hints: [Hint]

    /// The words that stand for a whole schedule. Cron takes them in lower case only.
    package static let words = [
        "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot",
    ]

    package init(_ text: String) throws(ExportError) {
        let fields = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        self.text = fields.joined(separator: " ")
        if let word = fields.first, word.hasPrefix("@") {
            guard fields.count == 1 else { throw .wordWithFields(word, schedule: text) }
            guard Self.words.contains(word) else { throw .unknownWord(word) }
            hints = []
            return
        }
        guard fields.count == CronField.allCases.count else {
            throw .fieldCount(fields.count, schedule: text)
        }
        var hints: [Hint] = []
        var values: [CronField: Set<Int>] = [:]
        for (field, written) in zip(CronField.allCases, fields) {
            let items = try FieldReader(field: field, schedule: text).items(of: written)
            values[field] = Set(items.flatMap(\.values))
            hints += items.filter(\.hasLongStep).map { .longStep(field, found: $0.text, first: $0.first) }
        }
        self.hints = hints + (try Self.hints(ofDays: values[.dayOfMonth] ?? [], months: values[.month] ?? [], fields))
    }

    private static func hints(
        ofDays days: Set<Int>, months: Set<Int>, _ fields: [String]
    ) throws(ExportError) -> [Hint] {
        let (dayOfMonth, month, weekday) = (fields[2], fields[3], fields[4])
        // Cron checks the first character only: `*/2` begins with a star, `1-31` does not.
        guard dayOfMonth.hasPrefix("*") || weekday.hasPrefix("*") else {
            return [.eitherDay(dayOfMonth: dayOfMonth, weekday: weekday)]
        }
        guard let first = days.min(), let longest = months.map({ CronField.mostDays(inMonth: $0) }).max(),
            first <= longest
        else {
            throw .neverComes(dayOfMonth: dayOfMonth, month: month, schedule: fields.joined(separator: " "))
        }
        var hints: [Hint] = first == 29 && months == [2] ? [.onlyInLeapYears] : []
        if dayOfMonth != "*", weekday != "*" { hints.append(.bothDays(dayOfMonth: dayOfMonth, weekday: weekday)) }
        return hints
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

/// Reads one field of a schedule.
struct FieldReader {
    /// An item of a field's list: `5`, `1-5`, `1-5/2`, `*` or `*/2`.
    struct Item {
        let text: String
        let first: Int
        let last: Int
        let step: Int

        var values: StrideThrough<Int> { stride(from: first, through: last, by: step) }
        var hasLongStep: Bool { first < last && step > last - first }
    }

    let field: CronField
    /// For messages.
    let schedule: String

    func items(of text: String) throws(ExportError) -> [Item] {
        if let named = value(named: text) { return [Item(text: text, first: named, last: named, step: 1)] }
        var items: [Item] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            items.append(try item(String(part), in: text))
        }
        return items
    }

    private func item(_ text: String, in list: String) throws(ExportError) -> Item {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (first, last) = try ends(of: parts[0], in: list)
        guard parts.count == 2 else { return Item(text: text, first: first, last: last, step: 1) }
        guard parts[0] == "*" || parts[0].contains("-") else {
            throw .stepWithoutRange(field, found: text, schedule: schedule)
        }
        guard let step = number(parts[1]), step > 0 else {
            throw .step(field, found: parts[1], schedule: schedule)
        }
        return Item(text: text, first: first, last: last, step: step)
    }

    private func ends(of range: String, in list: String) throws(ExportError) -> (first: Int, last: Int) {
        if range == "*" { return (field.range.lowerBound, field.range.upperBound) }
        let ends = range.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let first = try value(of: ends[0], in: list)
        guard ends.count == 2 else { return (first, first) }
        let last = try value(of: ends[1], in: list)
        guard first <= last else {
            throw .backwards(field, found: range, instead: field.wrapped(first, last), schedule: schedule)
        }
        return (first, last)
    }

    private func value(of text: String, in list: String) throws(ExportError) -> Int {
        if value(named: text) != nil {
            throw .nameInList(field, found: list, instead: numbered(list), schedule: schedule)
        }
        guard let value = number(text), field.range.contains(value) else {
            throw .value(field, found: text, schedule: schedule)
        }
        return value
    }

    private func value(named text: String) -> Int? {
        field.names.firstIndex(of: text.lowercased()).map { $0 + field.range.lowerBound }
    }

    /// The list with its names as numbers: `mon-fri` as `1-5`.
    private func numbered(_ list: String) -> String {
        var result = ""
        var word = ""
        for character in list + "," {
            if character.isLetter {
                word.append(character)
                continue
            }
            result += value(named: word).map(String.init) ?? word
            word = ""
            result.append(character)
        }
        return String(result.dropLast())
    }

    /// The number, if the text is digits alone and fits a C integer.
    private func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int32(text).map(Int.init)
    }
}
