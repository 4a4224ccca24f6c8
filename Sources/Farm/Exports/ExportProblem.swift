/// Why a job cannot be written down for a scheduler.
package enum ExportProblem: Error, Hashable, Sendable {
    case fieldCount(Int, schedule: String)
    case unknownWord(String)
    case wordWithFields(String, schedule: String)
    case value(ScheduleField, found: String, schedule: String)
    case step(ScheduleField, found: String, schedule: String)
    case stepWithoutRange(ScheduleField, found: String, schedule: String)
    /// A range whose end comes first; cron would never run the job.
    case backwards(ScheduleField, found: String, instead: String, schedule: String)
    case nameInList(ScheduleField, found: String, instead: String, schedule: String)
    /// No month of the schedule has such a day.
    case neverComes(dayOfMonth: String, month: String, schedule: String)
    case lineBreak(String)
    case tooLong(bytes: Int)

    package var message: String {
        switch self {
        case .fieldCount(let count, let schedule):
            "--schedule: five fields are wanted (minute, hour, day of month, month, weekday) or a word like @daily, "
                + "not \(count) (in '\(schedule)')"
        case .unknownWord(let word):
            "--schedule: no schedule is called '\(word)'; there are \(CronSchedule.words.joined(separator: ", "))"
        case .wordWithFields(let word, let schedule):
            "--schedule: \(word) stands for all five fields, nothing comes after it (in '\(schedule)')"
        case .value(let field, let found, let schedule):
            "--schedule: the \(field.name) is \(field.allowed), not '\(found)' (in '\(schedule)')"
        case .step(let field, let found, let schedule):
            "--schedule: the \(field.name)'s step is 1 or more, not '\(found)' (in '\(schedule)')"
        case .stepWithoutRange(let field, let found, let schedule):
            "--schedule: the \(field.name)'s step comes after '*' or a range, as in '*/5', not as in '\(found)' "
                + "(in '\(schedule)')"
        case .backwards(let field, let found, let instead, let schedule):
            "--schedule: the \(field.name)'s range '\(found)' ends before it begins; write '\(instead)' "
                + "(in '\(schedule)')"
        case .nameInList(let field, let found, let instead, let schedule):
            "--schedule: a \(field.name)'s name stands alone in its field; write '\(instead)', not '\(found)' "
                + "(in '\(schedule)')"
        case .neverComes(let day, let month, let schedule):
            "--schedule: this never comes: no month of '\(month)' has a day of '\(day)' (in '\(schedule)')"
        case .lineBreak(let word):
            "'\(Self.onOneLine(word))': a crontab's line cannot hold a line break; rename what it names"
        case .tooLong(let bytes):
            "the command has \(bytes) bytes, and cron takes \(CrontabLine.longestCommand); write a line for each "
                + "manifest, or put options into a config file"
        }
    }

    /// Scalars, as `\r\n` is one character.
    private static func onOneLine(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": #"\n"#
            case "\r": #"\r"#
            default: String(Character(scalar))
            }
        }.joined()
    }
}
