/// Why a job cannot be exported to a scheduler.
package enum ExportProblem: Error, Hashable, Sendable {
    case fieldCount(Int, schedule: String)
    case unknownWord(String)
    case wordWithFields(String, schedule: String)
    case value(ScheduleField, found: String, schedule: String)
    case step(ScheduleField, found: String, schedule: String)
    case stepWithoutRange(ScheduleField, found: String, schedule: String)
    /// The range ends before it begins, so cron would never run the job.
    case backwards(ScheduleField, found: String, instead: String, schedule: String)
    case nameInList(ScheduleField, found: String, instead: String, schedule: String)
    /// No month of the schedule has this day.
    case neverComes(dayOfMonth: String, month: String, schedule: String)
    case lineBreak(String)
    case tooLong(bytes: Int)
    /// A value of a template contains a line break or another control character.
    case controlCharacter(String)
    case longValue(String)
    case manyParameters(Int)
    /// An option of sbatch contains a line break.
    case brokenRequest(String)

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
        case .controlCharacter(let value):
            "'\(Self.onOneLine(value))': a template's parameter cannot hold a control character; rename what it names"
        case .longValue(let value):
            "'\(value.prefix(40))…': a template's parameter has at most \(TemplateParameter.longestValue) characters; put "
                + "it under a shorter path, or into the manifest"
        case .manyParameters(let count):
            "the job needs \(count) parameters, and a template has at most \(TemplateParameter.mostParameters); name "
                + "fewer folders in 'inputs', and write what --set changes into the manifest"
        case .brokenRequest(let request):
            "'\(Self.onOneLine(request))': an option of sbatch cannot hold a line break"
        }
    }

    /// Compares scalars, because `\r\n` is one character.
    private static func onOneLine(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": #"\n"#
            case "\r": #"\r"#
            case "\t": #"\t"#
            case _ where scalar.properties.generalCategory == .control:
                #"\u{"# + String(scalar.value, radix: 16) + "}"
            default: String(Character(scalar))
            }
        }.joined()
    }
}
