package import JobModel

/// A job that another scheduler runs in three steps: prepare, shards, finish. All paths are absolute.
package struct ExportedJob: Hashable, Sendable {
    /// The job's name. It has only letters, digits, dots, hyphens and underscores.
    package let name: String
    package let manifest: String
    /// Changes of the manifest, as arguments of `--set`.
    package var overrides: [String] = []
    /// The selection of pictures, as arguments of `penumbra prepare`.
    package var preparation: [String] = []
    /// The folder that patterns in ``preparation``, and the entries of a list, start from.
    package var startFolder = "/"
    package var configFile: String?
    /// The program on the farm's machines: a path, or a name that they find by themselves.
    package let program: String
    /// `x86_64` or `arm64` if the program runs on no other machine.
    package var architecture: String?
    /// Folders and files that the job reads in addition to its manifest.
    package var folders: [String] = []
    package var files: [String] = []
    /// Folders that contain the outputs.
    package var outputs: [String] = []
    /// The folder that the steps share. It may be below the outputs or elsewhere.
    package let runFolder: String
    package let size: Size

    /// The number of shards, and the resources of a machine for one of them.
    package struct Size: Hashable, Sendable {
        package let shards: Int
        /// Cores of a machine. A worker process runs on each.
        package let cores: Int
        /// Memory of a machine in bytes.
        package let memory: Int
        /// The estimated time of the longest task, in seconds of one core.
        package let longestTask: Double

        package init(shards: Int, cores: Int, memory: Int, longestTask: Double) {
            self.shards = shards
            self.cores = cores
            self.memory = memory
            self.longestTask = longestTask
        }
    }

    package init(name: String, manifest: String, program: String, runFolder: String, size: Size) {
        self.name = name
        self.manifest = manifest
        self.program = program
        self.runFolder = runFolder
        self.size = size
    }

    /// The possible numbers of shards. Each shard has a file, and is a task of the other scheduler.
    package static let shardCounts = 1...1024
}

/// Why a job cannot be exported to a scheduler.
package enum ExportError: Error, Hashable, Sendable {
    case fieldCount(Int, schedule: String)
    case unknownWord(String)
    case wordWithFields(String, schedule: String)
    case value(CronField, found: String, schedule: String)
    case step(CronField, found: String, schedule: String)
    case stepWithoutRange(CronField, found: String, schedule: String)
    /// The range ends before it begins, so cron would never run the job.
    case backwards(CronField, found: String, instead: String, schedule: String)
    case nameInList(CronField, found: String, instead: String, schedule: String)
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
            "'\(VisibleText.line(word))': a crontab's line cannot hold a line break; rename what it names"
        case .tooLong(let bytes):
            "the command has \(bytes) bytes, and cron takes \(CrontabLine.longestCommand); write a line for each "
                + "manifest, or put options into a config file"
        case .controlCharacter(let value):
            "'\(VisibleText.line(value))': a template's parameter cannot hold a control character; rename what it names"
        case .longValue(let value):
            "'\(value.prefix(40))…': a template's parameter has at most \(TemplateParameter.longestValue) characters; put "
                + "it under a shorter path, or into the manifest"
        case .manyParameters(let count):
            "the job needs \(count) parameters, and a template has at most \(TemplateParameter.mostParameters); name "
                + "fewer folders in 'inputs', and write what --set changes into the manifest"
        case .brokenRequest(let request):
            "'\(VisibleText.line(request))': an option of sbatch cannot hold a line break"
        }
    }
}

/// A word for sh, whatever characters it contains.
package enum ShellWord {
    /// The word itself if sh gives none of its characters a meaning. Otherwise the word in single quotes.
    package static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(plain.contains) { return word }
        return "'\(word.replacing("'", with: #"'\''"#))'"
    }

    package static func joined(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Characters without a meaning to sh, anywhere in a word.
    static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%".utf8)
}
