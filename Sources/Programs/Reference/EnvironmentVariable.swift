import JobModel
import Settings

/// An environment variable that Penumbra reads, or sets for programs that it starts.
package struct EnvironmentVariable: Encodable, Hashable, Sendable {
    /// Who has to know the variable.
    package enum Audience: Hashable, Sendable {
        case user
        /// Penumbra sets it for its own processes, or tests use it.
        case penumbra
    }

    package let name: String
    /// A whole sentence.
    package let sentence: String
    package let audience: Audience

    enum CodingKeys: String, CodingKey { case name, sentence }

    private init(_ name: String, _ sentence: String, audience: Audience = .user) {
        self.name = name
        self.sentence = sentence
        self.audience = audience
    }

    /// The variables that help, manual pages and the site list.
    package static let forUsers = all.filter { $0.audience == .user }

    /// Every variable of the sources. A test compares it with them.
    package static let all = settings + locations + terminal + service + workers + cluster + own

    private static let settings: [EnvironmentVariable] = SettingKey.all.compactMap { setting in
        guard let variable = setting.variable else { return nil }
        return EnvironmentVariable(variable, "It overrides the setting '\(setting.key)'. \(setting.sentence)")
    }

    private static let locations = [
        EnvironmentVariable("PENUMBRA_CONFIG", "The config file to read, in place of those at the usual places."),
        EnvironmentVariable("XDG_CONFIG_HOME", "The folder with penumbra/penumbra.yaml. The default is ~/.config."),
        EnvironmentVariable(
            "XDG_STATE_HOME", "The folder of the state folder 'penumbra'. The default is ~/.local/state."),
        EnvironmentVariable("XDG_CACHE_HOME", "The folder of the cache 'penumbra'. The default is ~/.cache."),
        EnvironmentVariable("HOME", "The home folder. Without it, Penumbra asks the user database."),
        EnvironmentVariable("TMPDIR", "The folder for temporary files of commands. The default is /tmp."),
        EnvironmentVariable(
            "PATH", "Where Penumbra finds the commands of a cluster, and where 'doctor' looks for programs."),
    ]

    private static let terminal = [
        EnvironmentVariable("NO_COLOR", "If it is set and not empty, messages have no colours. --color overrides it."),
        EnvironmentVariable("TERM", "The kind of the terminal. Messages have no colours if it is missing, or 'dumb'."),
        EnvironmentVariable("LC_ALL", "The locale. If its characters are not UTF-8, terminals get ASCII."),
        EnvironmentVariable("LC_CTYPE", "The locale of characters, if LC_ALL is not set."),
        EnvironmentVariable("LANG", "The locale, if neither LC_ALL nor LC_CTYPE is set."),
    ]

    private static let service = [
        EnvironmentVariable(
            "PENUMBRA_TOKEN", "The token for the service that commands talk to. A file and --token-file are safer."),
        EnvironmentVariable("NOTIFY_SOCKET", "systemd sets it. The service tells there that it is ready or stopping."),
        EnvironmentVariable(
            "PENUMBRA_UNIT",
            "The shipped units set it to their name. Then messages about folders name the settings of units."),
        EnvironmentVariable("USER", "The user whom messages name in a unit of systemd."),
        EnvironmentVariable("LISTEN_FDS", "systemd sets it: the number of sockets that the service inherits."),
        EnvironmentVariable("LISTEN_FDNAMES", "systemd sets it: the names of those sockets."),
        EnvironmentVariable("LISTEN_PID", "systemd sets it: the process that the sockets are for."),
        EnvironmentVariable(
            "WATCHDOG_PID", "systemd sets it. The service keeps it away from the programs that it starts."),
        EnvironmentVariable(
            "WATCHDOG_USEC", "systemd sets it. The service keeps it away from the programs that it starts."),
    ]

    private static let workers = [
        EnvironmentVariable(
            "LD_LIBRARY_PATH", "Folders with libraries, for the loader. Workers and confined runs may read them, too."),
        EnvironmentVariable(
            "PENUMBRA_CPU",
            "The CPU level whose code workers use, for tests and measurements. The default is the best level of the CPU."
        ),
        EnvironmentVariable(
            "PENUMBRA_DRAWING_SECONDS",
            "How many seconds of processor time an SVG or PDF may take to draw. The default is 60."),
        EnvironmentVariable(
            "VIPSHOME", "Where libvips looks for its modules. If it is set, libvips loads all of them at its start."),
        EnvironmentVariable("VIPS_WARNING", "Workers set it, so that libvips prints no warnings.", audience: .penumbra),
    ]

    private static let cluster = [
        EnvironmentVariable("SLURM_CONF", "The configuration of Slurm, if it is not at its usual place."),
        EnvironmentVariable("SLURM_JOB_ID", "Slurm sets it: the job that continues a detached run."),
        EnvironmentVariable("SLURM_ARRAY_JOB_ID", "Slurm sets it: the job array of an element."),
        EnvironmentVariable("SLURM_ARRAY_TASK_ID", "Slurm sets it: the number of an element in its array."),
        EnvironmentVariable("SLURMD_NODENAME", "Slurm sets it: the machine of an element."),
        EnvironmentVariable("SLURM_CPUS_PER_TASK", "Slurm sets it: the cores that an element may use."),
        EnvironmentVariable("SLURM_CPUS_ON_NODE", "Slurm sets it: the cores of an element, if nothing else says so."),
        EnvironmentVariable("SLURM_MEM_PER_NODE", "Slurm sets it: the megabytes that an element may use."),
        EnvironmentVariable("SLURM_MEM_PER_CPU", "Slurm sets it: the megabytes that an element may use for each core."),
        EnvironmentVariable(
            "PENUMBRA_JOB_CORES", "For the command 'submit' and for elements: the cores of an element."),
        EnvironmentVariable(
            "PENUMBRA_JOB_MEMORY", "For the command 'submit' and for elements: the bytes that an element may use."),
        EnvironmentVariable("PENUMBRA_JOB_AT_ONCE", "For the command 'submit': how many elements may run at once."),
        EnvironmentVariable("PENUMBRA_JOB_SECONDS", "For the command 'submit': the time limit of an element."),
        EnvironmentVariable("PENUMBRA_JOB_QUEUE", "For the command 'submit': the partition or queue."),
        EnvironmentVariable("PENUMBRA_JOB_ACCOUNT", "For the command 'submit': the account."),
        EnvironmentVariable("PENUMBRA_JOB_QOS", "For the command 'submit': the quality of service."),
        EnvironmentVariable("PENUMBRA_JOB_FOLDER", "For the command 'submit': the shared folder of the run."),
        EnvironmentVariable("PENUMBRA_JOB_LOGS", "For the command 'submit': the folder for the output of elements."),
        EnvironmentVariable(
            "PENUMBRA_JOB_VARIABLES", "For the command 'submit': the names of variables that elements need."),
        EnvironmentVariable("PENUMBRA_JOB_ELEMENT", "For elements: the name of the element in messages."),
        EnvironmentVariable("PENUMBRA_JOB_NODE", "For elements: the machine."),
    ]

    private static let own = [
        EnvironmentVariable("PENUMBRA_COORDINATOR", "The claim of a coordinator on a run.", audience: .penumbra),
        EnvironmentVariable(
            "PENUMBRA_SANDBOX_FOLDERS", "Whether a worker creates folders, so that it has to write by itself.",
            audience: .penumbra),
        EnvironmentVariable("PENUMBRA_WORKER_MEMORY", "The memory that a worker may use.", audience: .penumbra),
        EnvironmentVariable("PENUMBRA_WORKER_PLUGINS", "The plugins that a worker may load.", audience: .penumbra),
        EnvironmentVariable("PENUMBRA_WORKER_PROGRAMS", "The programs that a worker may run.", audience: .penumbra),
        EnvironmentVariable(
            "PENUMBRA_SERVICE_CLOCK_AHEAD", "Sets the clock of the service ahead, in tests.", audience: .penumbra),
        EnvironmentVariable(
            "PENUMBRA_SERVICE_DIE_AFTER", "Kills the service after a step, in tests.", audience: .penumbra),
    ]
}
