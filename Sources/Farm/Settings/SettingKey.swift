import Catalogs
package import JobModel
import Manifests

/// A setting in words: its key in the config file, its variable, its flag, its default and what it does.
///
/// `Settings` reads variables and flags by these keys, and help topics, manual pages and the reference list them.
package struct SettingKey: Hashable, Encodable, Sendable {
    /// Its path in the config file: `workers`, `service.listen`, `service.schedules[].cron`.
    package let key: String
    /// The environment variable that overrides the config file. Nil if there is none.
    package let variable: String?
    /// The flag that overrides both. Nil if there is none.
    package let flag: String?
    /// What a value looks like, in words.
    package let takes: String
    /// In words, because it may depend on the machine. Nil if the setting has no default.
    package let fallback: String?
    /// A whole sentence.
    package let sentence: String
    /// The words that it takes. Empty if it takes other values.
    package let choices: [DescribedWord]

    enum CodingKeys: String, CodingKey {
        case key, variable, flag, takes, sentence, choices
        case fallback = "default"
    }

    fileprivate init(
        _ key: String, variable: String? = nil, flag: String? = nil, takes: String, fallback: String? = nil,
        _ sentence: String, choices: [DescribedWord] = []
    ) {
        self.key = key
        self.variable = variable
        self.flag = flag
        self.takes = takes
        self.fallback = fallback
        self.sentence = sentence
        self.choices = choices
    }
}

// MARK: - Settings with a variable or a flag

extension SettingKey {
    static let workers = SettingKey(
        "workers", variable: "PENUMBRA_WORKERS", flag: "--workers",
        takes: "auto, or \(GivenValues.workerRange.lowerBound) to \(GivenValues.workerRange.upperBound)",
        fallback: "auto", "How many worker processes run at once. 'auto' is one for each core that Penumbra may use.")
    static let memory = SettingKey(
        "memory", variable: "PENUMBRA_MEMORY", takes: "auto, or bytes: 8G", fallback: "auto",
        "How much memory all workers together may hold. 'auto' is six tenths of the memory of the machine, or of the limit "
            + "of the control group.")
    static let scratch = SettingKey(
        "scratch", variable: "PENUMBRA_SCRATCH", flag: "--scratch", takes: "a folder", fallback: "in the state folder",
        "Where a run keeps the canvases and tiles of large pictures. It needs the space of two decoded pictures.")
    static let stateFolder = SettingKey(
        "state_dir", variable: "PENUMBRA_STATE_DIR", flag: "--state-dir", takes: "a folder",
        fallback: "$XDG_STATE_HOME/penumbra, or ~/.local/state/penumbra",
        "Where runs keep their state: the database of outputs, locks, journals and logs. The folder must be on a local disk. "
            + "Each user needs a folder of their own. "
            + "In a config file, a path that begins with '~/' begins in the home folder of the user who runs the command."
    )
    static let nice = SettingKey(
        "nice", variable: "PENUMBRA_NICE",
        takes: "\(GivenValues.niceRange.lowerBound) to \(GivenValues.niceRange.upperBound)", fallback: "0",
        "How much workers give way to other processes, as in nice(1).")
    static let ionice = SettingKey(
        "ionice", variable: "PENUMBRA_IONICE", takes: "a word", fallback: DiskPriority.none.rawValue,
        "How much workers give way to other processes on a disk, as in ionice(1).", choices: DiskPriority.words)
    static let silence = SettingKey(
        "silence", variable: "PENUMBRA_SILENCE", takes: "a time from 5s to 1d", fallback: "30s",
        "Penumbra kills and replaces a worker that sends no message for this time.")
    static let reduceTransparency = SettingKey(
        "reduce_transparency", variable: "PENUMBRA_REDUCE_TRANSPARENCY", takes: "true or false", fallback: "false",
        "Whether the filter 'material' is opaque, if neither a filter nor its job says so.")
    static let plugins = SettingKey(
        "plugins", variable: "PENUMBRA_PLUGINS", takes: "a word", fallback: PluginTrust.any.rawValue,
        "Which plugins Penumbra uses.", choices: PluginTrust.words)
    static let pluginFolders = SettingKey(
        "plugin_folders", variable: "PENUMBRA_PLUGIN_PATH", takes: "folders; the variable separates them by ':'",
        "Further folders with filter plugins. The folders of both config files add up. Penumbra refuses folders and plugins that "
            + "everybody may change.")
    static let pluginPins = SettingKey(
        "plugin_pins", variable: "PENUMBRA_PLUGIN_PINS", takes: "a list of {file, sha256}",
        "Plugins that must be exactly the files that you checked. Penumbra refuses another file of the same name. The pins of both "
            + "config files add up.")
    static let programs = SettingKey(
        "programs", takes: "names with files: {denoise: /usr/local/bin/denoise}",
        "Programs that manifests may name in the filter 'run'. A manifest cannot name any other program. The programs of both config "
            + "files add up.")
    static let sandbox = SettingKey(
        "sandbox", variable: "PENUMBRA_SANDBOX", takes: "a word", fallback: SandboxMode.auto.rawValue,
        "Whether the kernel keeps workers from the rest of the machine. Workers decode pictures of strangers and run plugins.",
        choices: SandboxMode.words)
    static let sandboxRead = SettingKey(
        "sandbox_read", variable: "PENUMBRA_SANDBOX_READ",
        takes: "files and folders; the variable separates them by ':'",
        "What workers may read in the sandbox besides the files of their tasks, libraries and fonts. Plugins may need more. Programs of "
            + "'programs' may also execute it. The lists of both config files add up. Penumbra refuses folders that everybody may change."
    )
    static let workerEnvironment = SettingKey(
        "worker_environment", variable: "PENUMBRA_WORKER_ENVIRONMENT",
        takes: "names; the variable separates them by ':'",
        "Environment variables that Penumbra passes to workers, for plugins that read them. A name that ends with '*' stands "
            + "for all names that begin so.")
    static let worker = SettingKey(
        "worker", variable: "PENUMBRA_WORKER", takes: "a file", fallback: "penumbra-worker beside penumbra",
        "The worker program.")
    static let ffmpeg = SettingKey(
        "ffmpeg", variable: "PENUMBRA_FFMPEG", takes: "a file", fallback: VideoProgramPath.usual,
        "The program ffmpeg, which reads clips and writes videos. Penumbra expects ffprobe in the same folder.")
    static let engine = SettingKey(
        "engine", variable: "PENUMBRA_ENGINE", flag: "--engine", takes: "a word", fallback: EngineName.local.rawValue,
        "Who does the work of 'penumbra run'.", choices: EngineName.words)
    static let slurm = SettingKey(
        "slurm", takes: "requests", "What Penumbra asks of a cluster for each job. A manifest may override it.")
    static let commands = SettingKey(
        "commands", takes: "four files", "The commands of the engine 'commands'. A manifest cannot name them.")
    static let onEnd = SettingKey(
        "on_end", takes: "a list of targets", "Who gets a notification when a run ends.")
    static let onFailure = SettingKey(
        "on_failure", takes: "a list of targets", "Who gets a notification when a run fails or cannot start.")
    static let late = SettingKey(
        "notifications.late", takes: "a list",
        "Jobs that must succeed once a day before a time. The service reports those that are late.")
    static let sendmail = SettingKey(
        "notifications.sendmail", takes: "a file", fallback: Settings.usualSendmail, "The program that takes mails.")
    static let server = SettingKey(
        "server", variable: "PENUMBRA_SERVER", flag: "--server",
        takes: "the path of a socket, or http://127.0.0.1:PORT", fallback: "the service beside the state folder",
        "The service that 'submit', 'queue' and 'token' talk to. --service-dir and --state-dir override it in a "
            + "config file.")
    static let tokenFile = SettingKey(
        "token_file", flag: "--token-file", takes: "a file",
        "A file with the token for that service, which only its owner may read. A path that begins with '~/' begins in the "
            + "home folder of the user who runs the command. PENUMBRA_TOKEN overrides the file.")
    static let service = SettingKey(
        "service", takes: "settings of the service", "Settings of 'penumbra serve'. Its flags override them.")

    /// All settings, with the keys of their blocks, in the order of the reference.
    package static let all: [SettingKey] =
        [
            workers, memory, scratch, stateFolder, nice, ionice, silence, reduceTransparency, plugins, pluginFolders,
            pluginPins,
        ] + pins
        + [programs, sandbox, sandboxRead, workerEnvironment, worker, ffmpeg, engine, slurm] + cluster + [commands]
        + clusterCommands
        + [onEnd] + targets(of: "on_end") + [onFailure] + targets(of: "on_failure")
        + [sendmail, late] + lateness + [server, tokenFile, service] + serviceKeys + schedules + watches
}

// MARK: - Keys of blocks

extension SettingKey {
    private static let pins = [
        SettingKey("plugin_pins[].file", takes: "a file name", "The name of the plugin's file, without its folder."),
        SettingKey(
            "plugin_pins[].sha256", takes: "64 hexadecimal digits",
            "The digest that 'sha256sum' or 'penumbra plugin list' prints."),
    ]

    /// The keys are those of a manifest.
    private static let cluster = ManifestSchema.clusterKeys.dropFirst().map { key in
        SettingKey(key.path, takes: key.takes, fallback: key.fallback, key.sentence)
    }

    private static let clusterCommands = [
        SettingKey("commands.submit", takes: "a file", "The command that submits a job array."),
        SettingKey("commands.status", takes: "a file", "The command that prints the states of jobs."),
        SettingKey("commands.cancel", takes: "a file", "The command that cancels jobs."),
        SettingKey("commands.describe", takes: "a file", "The command that describes the cluster."),
    ]

    private static func targets(of key: String) -> [SettingKey] {
        [
            SettingKey("\(key)[].mail", takes: "an address", "The address of a mail, or a user of this machine."),
            SettingKey("\(key)[].webhook", takes: "an address", "The address of a program that takes notifications."),
            SettingKey(
                "\(key)[].secret_file", takes: "a file",
                "A file with the secret that signs messages to the webhook. Without it, messages are not signed."),
        ]
    }

    private static let lateness = [
        SettingKey("notifications.late[].job", takes: "a name", "The name of the job."),
        SettingKey(
            "notifications.late[].expect_by", takes: "a time of day: 06:00", "When the job must have succeeded."),
        SettingKey(
            "notifications.late[].zone", takes: "a time zone: Europe/Berlin", fallback: "the zone of the machine",
            "The time zone of that time."),
        SettingKey(
            "notifications.late[].to", takes: "a list of targets", fallback: "the targets of 'on_failure'",
            "Who gets a notification if the job is late."),
    ]

    private static let serviceKeys = [
        SettingKey(
            "service.max_runs", flag: "--max-runs",
            takes: "\(ServiceSettings.runRange.lowerBound) to \(ServiceSettings.runRange.upperBound)",
            fallback: "\(ServiceSettings.usualRuns)",
            "How many runs of one priority or a higher one may be open at once. A more urgent job starts beside them. At most twice as many are open."
        ),
        SettingKey(
            "service.aging", flag: "--aging", takes: "points per time, or off: 1/10min", fallback: "off",
            "How fast the priority of a waiting job rises."),
        SettingKey(
            "service.listen", flag: "--listen", takes: "addresses with ports: 127.0.0.1:8642", fallback: "none",
            "Where the service listens for browsers and programs, beside its socket."),
        SettingKey(
            "service.hosts", flag: "--host", takes: "names", fallback: "localhost",
            "Names of the service in the addresses of browsers, beside 'localhost'."),
        SettingKey(
            "service.behind_proxy", flag: "--behind-proxy", takes: "true or false", fallback: "false",
            "Whether all connections come from a proxy, which adds TLS."),
        SettingKey(
            "service.web_socket", flag: "--web-socket", takes: "true or false", fallback: "false",
            "Whether the service also listens at the socket web.sock in its folder, for a proxy."),
    ]

    private static let schedules =
        [
            SettingKey("service.schedules", takes: "a list", "Jobs that the service submits at certain times."),
            SettingKey("service.schedules[].name", takes: "a name", "The name of the schedule."),
            SettingKey(
                "service.schedules[].cron", takes: "five fields, or a word such as @daily",
                "The times at which the service submits the job."),
            SettingKey(
                "service.schedules[].zone", takes: "a time zone: Europe/Berlin", fallback: "the zone of the machine",
                "The time zone of those times."),
            SettingKey(
                "service.schedules[].missed", takes: "a word", fallback: MissedTimes.once.rawValue,
                "What follows if times passed while no service was running.", choices: MissedTimes.words),
            SettingKey(
                "service.schedules[].overlap", takes: "a word", fallback: OverlapRule.queue.rawValue,
                "What follows if a time comes before the last job of the schedule has ended.",
                choices: OverlapRule.words),
        ] + submitted(by: "service.schedules[]")

    private static let watches =
        [
            SettingKey(
                "service.watch", takes: "a list",
                "Jobs that the service submits when the folders of their inputs change."),
            SettingKey("service.watch[].name", takes: "a name", "The name of the watched folder."),
            SettingKey(
                "service.watch[].quiet", takes: "a time", fallback: seconds(WatchTimes.usualQuiet),
                "The service submits the job when no file has changed for this time."),
            SettingKey(
                "service.watch[].min_age", takes: "a time", fallback: seconds(WatchTimes.usualAge),
                "The service submits the job when the youngest file has this age."),
        ] + submitted(by: "service.watch[]")

    private static func submitted(by key: String) -> [SettingKey] {
        let key = "\(key).submit"
        return [
            SettingKey(key, takes: "a job", "The job that the service submits."),
            SettingKey(
                "\(key).manifest", takes: "a file",
                "The manifest of the job. A relative path starts from the folder of the config file."),
            SettingKey(
                "\(key).priority", takes: "0 to 100", fallback: "50",
                "The priority of the job. 100 is the most urgent."),
            SettingKey("\(key).labels", takes: "names with values", "The labels of the job."),
            SettingKey(
                "\(key).set", takes: "a list of path=value", "Changes of values of the manifest, as with --set."),
            SettingKey(
                "\(key).force", takes: "true or false", fallback: "false", "Whether the job renders everything again."),
            SettingKey("\(key).deadline", takes: "a time up to 7d", "The job ends after this time."),
        ]
    }

    private static func seconds(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))s" : "\(seconds)s"
    }
}

// MARK: - Choices

extension DiskPriority: DescribedChoice {
    package var sentence: String {
        switch self {
        case .none: "Workers have the disk priority of the command that starts them."
        case .low: "Workers have the lowest priority of the best-effort class."
        case .idle: "Workers use a disk only while no other process uses it."
        }
    }
}

extension PluginTrust: DescribedChoice {
    package var sentence: String {
        switch self {
        case .any: "Penumbra uses all plugins in its folders, as long as they match their pins."
        case .pinnedOnly: "Penumbra uses only plugins that have a pin."
        }
    }
}

extension SandboxMode: DescribedChoice {
    package var sentence: String {
        switch self {
        case .auto: "Workers give up what this system lets them give up. 'penumbra doctor' says what is missing."
        case .require: "Penumbra renders nothing if a part of the sandbox is missing."
        case .off: "Workers and plugins may do what the user may do."
        }
    }
}

extension MissedTimes: DescribedChoice {
    package var sentence: String {
        switch self {
        case .once: "The service submits one job for all of these times."
        case .skip: "The service submits no job for these times."
        }
    }
}

extension OverlapRule: DescribedChoice {
    package var sentence: String {
        switch self {
        case .queue: "The next job waits until the last one has ended."
        case .skip: "The service submits no job for this time."
        }
    }
}
