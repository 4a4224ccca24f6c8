import ArgumentParser
import Catalogs
import Coordination
import Glibc
import JobModel
import Manifests
import Planning
import RenderFarm
import Runs
import SafeFiles
import Settings

/// The locations of settings, state and scratch space.
struct LocationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"),
        completion: Completions.manifests)
    var configFile: String?

    @Option(help: ArgumentHelp("Where runs keep their state.", valueName: "dir"), completion: .directory)
    var stateDir: String?

    @Option(help: ArgumentHelp("Where a run keeps canvases and tiles.", valueName: "dir"), completion: .directory)
    var scratch: String?

    @Option(help: ArgumentHelp("Worker processes at once. Default: one a core.", valueName: "n"))
    var workers: Int?

    func validate() throws { try Self.check(workers: workers) }

    static func check(workers: Int?) throws {
        if let workers, !(1...1024).contains(workers) {
            throw ValidationError("--workers takes 1 to 1024, not \(workers).")
        }
    }
}

/// What a command prints.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines. The first names their version, and the last is the summary.")
    var json = false
}

/// The option of commands whose other output has options of its own.
struct QuietOption: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false
}

/// The engine of a run.
struct EngineOptions: ParsableArguments {
    @Option(
        help:
            "Where the work is done: in worker processes here (local), in job arrays of Slurm (slurm), or on any cluster (commands)."
    )
    var engine: EngineName?

    @Option(
        name: .customLong("slurm-arg"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A further argument of sbatch, such as --constraint=fast. May be given again.", valueName: "argument"))
    var slurmArguments: [String] = []

    func validate() throws { try Self.check(slurmArguments) }

    static func check(_ slurmArguments: [String]) throws {
        for argument in slurmArguments {
            if let problem = SlurmReader.problem(ofArgument: argument, from: .user) {
                throw ValidationError("--slurm-arg cannot be '\(argument)': \(problem).")
            }
        }
    }
}

extension EngineName: ExpressibleByArgument {}

/// The manifests, and changes of their values for this command.
struct ManifestOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Job manifests.", valueName: "manifest"), completion: Completions.manifests)
    var manifests: [String]

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the manifest, for this time: 'filters[0].gaussian.radius=14'. May be given again.",
            valueName: "path=value"), completion: Completions.keys)
    var overrides: [String] = []

    func validate() throws {
        try Self.refuseRepeated(overrides)
        for manifest in manifests { try Self.refuseOddName(manifest) }
        var seen: Set<PathKey> = []
        for manifest in manifests
        where !seen.insert(PathKey(realPath(PathText.normalized(manifest, in: currentFolder())))).inserted {
            throw ValidationError("\(manifest) is given twice; a job runs once in a command.")
        }
    }

    /// Manifests are named in texts: in records of runs, in JSON and in the requests of a service.
    static func refuseOddName(_ manifest: String) throws {
        guard String(validating: RawArguments.bytes(of: manifest), as: UTF8.self) == nil else { return }
        throw ValidationError(
            "\(PathText.visible(manifest)): the path of a manifest has to be UTF-8 text; rename the file or its folder."
        )
    }

    /// Refuses two values for one path. The parser would ignore the first one.
    static func refuseRepeated(_ overrides: [String]) throws {
        var given: [PathKey: String] = [:]
        for argument in overrides {
            let path = String(argument.prefix { $0 != "=" })
            let value = String(argument.dropFirst(path.count + 1))
            if let before = given.updateValue(value, forKey: PathKey(path)) {
                throw ValidationError(
                    "--set \(PathText.visible(path)) is given twice, as '\(PathText.visible(before))' and as "
                        + "'\(PathText.visible(value))': it takes one value; leave one of them out.")
            }
        }
    }
}

/// The selection of frames.
struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only inputs that match, by path from this folder or the manifest's, or by name. May be given again.",
            valueName: "glob"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only the first n frames that have work. Frames that are up to date do not count.",
            valueName: "n"))
    var limit: Int?

    @Flag(help: "If no file matches, do nothing, without an error.")
    var allowEmpty = false

    @Flag(
        help:
            "Treat pictures and outputs that seem to be on a missing disk as removed on purpose: run without the pictures, and render the outputs again."
    )
    var allowGone = false

    @Option(
        help: ArgumentHelp(
            "Files in place of the manifest's inputs: a path a line, or ended by NULs, or JSON lines with 'path' and 'set'. "
                + "Relative paths start from the current folder. - is the standard input.", valueName: "file"),
        completion: .file())
    var filesFrom: String?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more, not \(limit).") }
    }
}

/// A time on the command line: `90`, `90s`, `50m`, `1.5h`.
struct RunNameArgument {
    let name: RunName

    @Sendable static func read(_ argument: String) throws -> RunNameArgument {
        guard let name = RunName(argument) else {
            throw ValidationError("\(RunName.rule).")
        }
        return RunNameArgument(name: name)
    }
}

struct TimeArgument {
    let seconds: Double

    var duration: Duration { .seconds(seconds) }

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    private static let longest = 604_800.0
    /// Other spellings of the units, for the error message.
    private static let words: [String: Character] = [
        "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "m": "m", "min": "m", "mins": "m",
        "minute": "m",
        "minutes": "m", "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "d": "d", "day": "d", "days": "d",
    ]

    init(_ argument: String) throws(ValidationError) {
        let number = argument.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let unit = argument[number.endIndex...]
        guard let value = Double(number) else {
            throw ValidationError("a time is a number, and s, m, h or d behind it: 90s, 50m, 1.5h.")
        }
        guard unit.count <= 1, let factor = unit.isEmpty ? 1 : unit.first.flatMap({ Self.units[$0] }) else {
            guard let letter = Self.words[unit.drop { $0 == " " }.lowercased()] else {
                throw ValidationError("a time is one number, and s, m, h or d behind it: 90s, 50m, 1.5h.")
            }
            throw ValidationError("did you mean \(number)\(letter)?")
        }
        guard value * factor <= Self.longest else { throw ValidationError("a week, 7d, is the longest time.") }
        seconds = value * factor
    }

    @Sendable static func read(_ argument: String) throws -> TimeArgument { try TimeArgument(argument) }
}

/// The options of all commands about runs.
struct RunLookupOptions: ParsableArguments {
    @Option(
        name: .customLong("config"), help: ArgumentHelp("The config file.", valueName: "file"),
        completion: Completions.manifests)
    var configFile: String?

    @Option(help: ArgumentHelp("Where runs keep their state.", valueName: "dir"), completion: .directory)
    var stateDir: String?

    @Flag(help: "Print JSON lines. The first names their version, and the last is the summary.")
    var json = false

    var location: LocationOptions {
        var location = LocationOptions()
        (location.configFile, location.stateDir, location.scratch, location.workers) = (configFile, stateDir, nil, nil)
        return location
    }

    func archive(_ shared: RunDirOption? = nil) throws -> RunArchive {
        if let folder = shared?.runDir {
            return try RunArchive(runFolder: PathText.normalized(folder, in: currentFolder()))
        }
        let state = try Settings.load(location).stateFolder.value
        return try RunArchive(state: state)
    }
}

/// The folder of a run that several machines share.
struct RunDirOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of a detached or prepared run, or a folder of such runs. It works on any machine that can read it.",
            valueName: "dir"), completion: .directory)
    var runDir: String?
}

/// The name of a run that has not ended.
struct OpenRunArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, for its latest run. Default: the run that has not "
                + "ended, where there is only one.", valueName: "run"), completion: Completions.runs)
    var run: String?
}

/// The name of a run.
struct RunArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, for its latest run. Default: the latest run.",
            valueName: "run"), completion: Completions.runs)
    var run: String?
}

extension Settings {
    /// Reads the settings for a command line.
    ///
    /// - Throws: ``FarmError`` if the config file is wrong or missing.
    static func load(_ location: LocationOptions, engine: EngineName? = nil) throws -> Settings {
        let settings = try load(flags(location, engine), folder: currentFolder())
        try settings.refuseNetworkState()
        return settings
    }

    /// The same for a command that keeps no state: the state folder may be on a network file system.
    static func loadWithoutState(_ location: LocationOptions) throws -> Settings {
        try load(flags(location, nil), folder: currentFolder())
    }

    /// The state folder of this user, for a command with another state folder. Nil if it is on a network file system, or if the
    /// settings are wrong. The command itself reports that.
    static func ownState(_ location: LocationOptions) -> String? { try? load(location).stateFolder.value }

    /// Reads the settings for an element of a cluster's job, which has no state. The cluster gives it cores and memory.
    static func load(_ location: LocationOptions, allocation: Allocation) throws -> Settings {
        var location = location
        location.workers = location.workers ?? min(allocation.cores ?? .max, Machine.cores(), 1024)
        return try load(
            flags(location, nil), folder: currentFolder(), memory: min(allocation.memory ?? .max, Machine.memory()))
    }

    private static func flags(_ location: LocationOptions, _ engine: EngineName?) -> Flags {
        var flags = Flags()
        (flags.configFile, flags.stateFolder) = (location.configFile, location.stateDir)
        (flags.scratch, flags.workers, flags.engine) = (location.scratch, location.workers, engine)
        return flags
    }
}

extension RunRequest {
    /// The request of the options that commands share.
    init(
        _ options: ManifestOptions, _ jobs: SelectionOptions? = nil, _ location: LocationOptions? = nil,
        in folder: String = currentFolder()
    ) {
        self.init(manifests: options.manifests.map { Manifest(path: $0) }, folder: folder)
        overrides = options.overrides
        if let jobs {
            (only, limit, filesFrom) = (jobs.only, jobs.limit, jobs.filesFrom)
            (allowsEmpty, allowsGone) = (jobs.allowEmpty, jobs.allowGone)
        }
        if let location {
            (configFile, stateFolder, scratch, workers) = (
                location.configFile, location.stateDir, location.scratch, location.workers
            )
        }
    }

    /// Takes the text of the one manifest from its file.
    ///
    /// - Parameter path: identifies the job, and is where relative paths of the manifest start. It need not exist.
    mutating func takeText(as path: String) throws(FarmError) {
        guard let file = manifests.first?.path else { return }
        guard let bytes = SafeFolder.trustedContents(PathText.normalized(file, in: folder), limit: (1 << 20) + 1),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw FarmError(
                .missingInput,
                "\(PathText.visible(file)): the text of the manifest cannot be read, or is no UTF-8 text of at most 1 MB"
            )
        }
        manifests = [Manifest(path: PathText.normalized(path, in: folder), text: text)]
    }
}

/// Whether a folder of `PATH` has a program of this name.
func isInPath(_ program: String) -> Bool {
    let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
    return folders.contains { access("\($0)/\(program)", X_OK) == 0 }
}

func currentFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}
