package import JobModel

/// A value that somebody gave and that the queue does not accept. Nothing has changed.
///
/// The API answers with 422, and the command line ends with exit code 64.
package enum InputError: Error, Hashable, Sendable {
    case time(String)
    case owner(String)
    case priority(String)
    case labelWithoutValue(String)
    case labelTwice(String)
    case labelName(String)
    case labelValue(String, String)
    case tooManyLabels
    case deadline(Int)
    case option(String)
    case optionsVersion(Int)
    case key(String)
    case need(String)
    case aging(String)
    case scheduleName(String)
    case timeZone(String)
    case cron(CronProblem, in: String)
    case filter(FilterProblem)

    /// One line that says where and what. Lines that begin with `   = ` follow, and say what to do.
    package var message: String {
        switch self {
        case .time(let text):
            "'\(shown(text))' is no time\n   = write a date, a time and a zone: 2026-11-25T06:00:00Z, or "
                + "2026-11-25T07:00:00+01:00"
        case .owner(let text):
            "'\(shown(text))' is no owner\n   = owners are uid:NUMBER, token:ID, schedule:NAME and watch:NAME"
        case .priority(let text):
            "priority: '\(shown(text))' is not a whole number from 0 to 100\n   = 50 is the normal priority, and 100 is "
                + "the most urgent one"
        case .labelWithoutValue(let text):
            "label: '\(shown(text))' has no value\n   = write NAME=VALUE"
        case .labelTwice(let name):
            "label: '\(shown(name))' is given twice\n   = a label has one value"
        case .labelName(let name):
            "label: '\(shown(name))' is no name of a label\n   = a name has 1 to \(Labels.longestName) letters "
                + "(a-z, A-Z), digits, '.', '_', '-' and '/', and begins with a letter or digit"
        case .labelValue(let name, let value):
            "label \(name): the value '\(shown(value))' is too long or has invisible characters\n   = a value has at most "
                + "\(Labels.longestValue) characters"
        case .tooManyLabels:
            "label: a job has at most \(Labels.mostLabels) labels\n   = remove a label first"
        case .deadline(let seconds):
            "deadline: \(seconds) seconds are not between a second and a week\n   = leave the deadline out to run to the "
                + "end"
        case .option(let name):
            "options: there is no option '\(shown(name))'\n   = the options are set, force, strict and deadline"
        case .optionsVersion(let version):
            "options: version \(version) is of a later Penumbra\n   = this one knows version \(RunOptions.latestVersion)"
        case .key(let key):
            "key: '\(shown(key))' is no idempotency key\n   = a key has 1 to \(Submission.longestKey) visible ASCII characters, without blanks"
        case .need(let text):
            "after: '\(shown(text))' is no dependency\n   = write the number of a job, and ':success' or ':end' behind "
                + "it: 17, or 17:end"
        case .aging(let text):
            "aging: '\(shown(text))' is no aging\n   = write points per time, as in 1/10min, or off"
        case .scheduleName(let name):
            "schedule: '\(shown(name))' is no name of a schedule\n   = a name has 1 to \(Labels.longestName) letters "
                + "(a-z, A-Z), digits, '.', '_' and '-', and begins with a letter or digit"
        case .timeZone(let name):
            "schedule: there is no time zone '\(shown(name))'\n   = write a name of the time zone database, such as "
                + "Europe/Berlin or UTC"
        case .cron(let problem, let schedule): "\(problem.message) (in '\(shown(schedule))')\n   = \(problem.remedy)"
        case .filter(let problem): problem.message
        }
    }

    private func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(200))) }
}
