package import Catalogs
package import JobModel

/// All settings of this machine and user, each with its origin.
package struct Settings: Sendable {
    package let workers: Setting<Int>
    /// The bytes that all workers together may hold.
    package let memory: Setting<Int>
    package var stateFolder: Setting<String>
    /// Nil for a folder inside the run's own folder, below the state folder.
    package let scratch: Setting<String?>
    /// The niceness of workers, 0 to 19.
    package let nice: Setting<Int>
    /// The disk priority of workers.
    package let ionice: Setting<DiskPriority>
    /// A worker that sends no message for this time is killed and replaced.
    package let silence: Setting<Duration>
    /// Whether frosted glass is opaque if neither a filter nor its job says so.
    package let reduceTransparency: Setting<Bool>
    package let plugins: Setting<PluginTrust>
    /// Folders with filter plugins, beside the worker's own.
    package let pluginFolders: Setting<[String]>
    /// Whether workers are kept from the rest of the machine.
    package let sandbox: Setting<SandboxMode>
    /// Files and folders that workers may read in their sandbox, in addition to those that they need themselves.
    package let sandboxRead: Setting<[String]>
    /// Names of environment variables that are passed to workers, in addition to those that workers read themselves.
    package let workerEnvironment: Setting<[String]>
    package let pluginPins: Setting<[PluginPin]>
    /// The programs that manifests may name in the filter 'run'.
    package let programs: Setting<[NamedProgram]>
    package let engine: Setting<EngineName>
    /// The config file's options for jobs on a cluster. A manifest may override them.
    package let slurm: Setting<ClusterOptions>
    /// The options of the machine's config file, if the user's file has such a block, too. A block is one key, so they do not count.
    package let replacedSlurm: Setting<ClusterOptions>?
    /// The commands of the engine `commands`. Nil if the config file names none.
    package let commands: Setting<ClusterCommands?>
    /// Who is told of the end of each run.
    package let onEnd: Setting<[NotificationTarget]>
    /// Who is told of each run that failed.
    package let onFailure: Setting<[NotificationTarget]>
    /// The jobs that have to succeed once a day. The service reports those that are late.
    package let late: Setting<[ExpectedSuccess]>
    /// The program that takes mails.
    package let sendmail: Setting<String>
    /// The service that commands talk to, as the user wrote it. Nil for the one beside the state folder.
    package let server: Setting<String?>
    /// An absolute path. Nil if no file names one.
    package let tokenFile: Setting<String?>
    /// What the config file says of the service.
    package let service: Setting<ServiceSettings>
    /// The worker program's path.
    package let worker: Setting<String>
    /// The path of ffmpeg, which reads clips and writes videos.
    package let ffmpeg: Setting<String>
    /// The config file that wins, if any was read. A process that gets it by `--config` reads the same settings.
    package let configFile: String?
    /// All config files that were read. The first one wins.
    package let configFiles: [String]

    /// The values of a command line's flags.
    package struct Flags: Sendable {
        package var configFile: String?
        package var stateFolder: String?
        package var scratch: String?
        package var workers: Int?
        package var engine: EngineName?
        /// No command line names it; programs that embed the farm do.
        package var worker: String?

        package init() {}
    }

    /// The sources of default values.
    package struct LaunchEnvironment: Sendable {
        package var environment: [String: String]
        package var currentFolder: String
        /// The folder of the running program.
        package var programFolder: String
        package var cores: Int
        package var memory: Int
        package var homeFolder: String
        package var read: @Sendable (String) -> FoundFile

        package init(
            environment: [String: String], currentFolder: String, programFolder: String, cores: Int, memory: Int,
            homeFolder: String, read: @escaping @Sendable (String) -> FoundFile
        ) {
            self.environment = environment
            self.currentFolder = currentFolder
            self.programFolder = programFolder
            self.cores = cores
            self.memory = memory
            self.homeFolder = homeFolder
            self.read = read
        }
    }

    /// What exists at a path.
    package enum FoundFile: Sendable {
        case bytes([UInt8])
        case nothing
        /// It cannot be read, for this reason.
        case unreadable(String)

        var bytes: [UInt8]? {
            if case .bytes(let bytes) = self { bytes } else { nil }
        }
    }

    package struct LoadError: Error, Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// A value is wrong.
            case value
            /// The named file does not exist.
            case missing
        }

        package let kind: Kind
        package let message: String

        package init(kind: Kind, message: String) {
            self.kind = kind
            self.message = message
        }
    }

    /// The config file of the machine, which holds for all its users.
    package static let machineConfigFile = "/etc/penumbra/penumbra.yaml"

    /// Defaults ← config file of the machine ← config file of the user ← environment ← flags.
    package init(_ flags: Flags, _ launch: LaunchEnvironment) throws(LoadError) {
        let files = try Self.configFiles(flags, launch)
        let environment = EnvironmentValues(launch.environment)
        let errors = files.flatMap(\.contents.errors) + environment.errors
        guard errors.isEmpty else { throw LoadError(kind: .value, message: errors.joined(separator: "\n")) }

        func layered<Value: Sendable>(
            _ standard: Value, _ value: KeyPath<GivenValues, Value?>, _ key: SettingKey, flag: Value? = nil
        ) -> Setting<Value> {
            if let flag { return Setting(flag, .flag(key.flag ?? key.key)) }
            if let variable = key.variable, let value = environment.values[keyPath: value] {
                return Setting(value, .environment(variable))
            }
            for file in files {
                if let value = file.contents.values[keyPath: value] { return Setting(value, .file(file.path)) }
            }
            return Setting(standard)
        }

        /// A list to which each config file adds. `combine` adds the list of the machine to the list of the user.
        func summed<Element: Sendable>(
            _ value: KeyPath<GivenValues, [Element]?>, _ key: SettingKey,
            _ combine: ([Element], [Element]) -> [Element] = { $0 + $1 }
        ) -> Setting<[Element]> {
            let given = files.filter { $0.contents.values[keyPath: value] != nil }
            guard environment.values[keyPath: value] == nil, given.count > 1 else {
                return layered([], value, key)
            }
            let lists = given.compactMap { $0.contents.values[keyPath: value] }
            return Setting(lists.dropFirst().reduce(lists[0], combine), .files(given.map(\.path)))
        }

        let absolute = PathBase(folder: launch.currentFolder, home: launch.homeFolder).absolute
        workers = layered(launch.cores, \.workers, .workers, flag: flags.workers)
        memory = layered(launch.memory / 10 * 6, \.memory, .memory)
        let state = layered(
            Self.standardStateFolder(launch), \.stateFolder, .stateFolder, flag: flags.stateFolder)
        stateFolder = Setting(absolute(state.value), state.origin)
        let folder = layered("", \.scratch, .scratch, flag: flags.scratch)
        scratch = Self.optional(folder, absolute)
        nice = layered(0, \.nice, .nice)
        ionice = layered(.none, \.ionice, .ionice)
        silence = layered(.seconds(30), \.silence, .silence)
        reduceTransparency = layered(false, \.reduceTransparency, .reduceTransparency)
        plugins = layered(.any, \.plugins, .plugins)
        pluginFolders = summed(\.pluginFolders, .pluginFolders)
        sandbox = layered(.auto, \.sandbox, .sandbox)
        sandboxRead = summed(\.sandboxRead, .sandboxRead)
        workerEnvironment = layered([], \.workerEnvironment, .workerEnvironment)
        pluginPins = summed(\.pluginPins, .pluginPins) { user, machine in
            let pinned = Set(user.map(\.file))
            return user + machine.filter { !pinned.contains($0.file) }
        }
        programs = summed(\.programs, .programs) { user, machine in
            let named = Set(user.map(\.name))
            return user + machine.filter { !named.contains($0.name) }
        }
        worker = layered(
            "\(launch.programFolder)/penumbra-worker", \.worker, .worker, flag: flags.worker)
        ffmpeg = layered(VideoProgramPath.usual, \.ffmpeg, .ffmpeg)
        engine = layered(.local, \.engine, .engine, flag: flags.engine)
        slurm = layered(ClusterOptions(), \.slurm, .slurm)
        let blocks = files.compactMap { file in file.contents.values.slurm.map { Setting($0, .file(file.path)) } }
        replacedSlurm = blocks.count > 1 ? blocks.last : nil
        let site = files.first { $0.contents.values.commands != nil }
        commands = Setting(site?.contents.values.commands, site.map { .file($0.path) } ?? .standard)
        onEnd = layered([], \.onEnd, .onEnd)
        onFailure = layered([], \.onFailure, .onFailure)
        late = layered([], \.late, .late)
        sendmail = layered(Self.usualSendmail, \.sendmail, .sendmail)
        server = Self.optional(layered("", \.server, .server)) { $0 }
        tokenFile = Self.optional(layered("", \.tokenFile, .tokenFile), absolute)
        service = layered(ServiceSettings(), \.service, .service)
        configFiles = files.map(\.path)
        configFile = configFiles.first
    }

    static let usualSendmail = "/usr/sbin/sendmail"

    private static func optional(
        _ setting: Setting<String>, _ absolute: (String) -> String
    ) -> Setting<String?> {
        Setting(setting.value.isEmpty ? nil : absolute(setting.value), setting.origin)
    }

    private static func standardStateFolder(_ launch: LaunchEnvironment) -> String {
        if let folder = launch.environment["XDG_STATE_HOME"], PathNames.isAbsolute(folder) {
            return "\(folder)/penumbra"
        }
        return "\(launch.homeFolder)/.local/state/penumbra"
    }

    private typealias ReadFile = (path: String, contents: ConfigFile)

    /// The user's config file, then the one of the machine. The first one wins.
    private static func configFiles(_ flags: Flags, _ launch: LaunchEnvironment) throws(LoadError) -> [ReadFile] {
        let user = try userConfigFile(flags, launch)
        guard user?.path != machineConfigFile else { return user.map { [$0] } ?? [] }
        let machine: [ReadFile]
        switch launch.read(machineConfigFile) {
        case .bytes(let bytes): machine = [(machineConfigFile, contents(bytes, machineConfigFile, launch))]
        case .nothing: machine = []
        case .unreadable(let reason):
            // It may say which plugins are allowed, so that its rules must not be passed over.
            throw LoadError(
                kind: .missing,
                message: "\(machineConfigFile): the config file of this machine cannot be read (\(reason))\n"
                    + "   = let every user read it: chmod a+rX /etc/penumbra \(machineConfigFile)")
        }
        return (user.map { [$0] } ?? []) + machine
    }

    /// A file that the user named must exist. The default file may be missing.
    private static func userConfigFile(_ flags: Flags, _ launch: LaunchEnvironment) throws(LoadError) -> ReadFile? {
        let variable = launch.environment["PENUMBRA_CONFIG"]
        if let path = flags.configFile ?? variable, !path.isEmpty {
            let source = flags.configFile == nil ? "PENUMBRA_CONFIG" : "--config"
            switch launch.read(path) {
            case .bytes(let bytes): return (path, contents(bytes, path, launch))
            case .nothing: throw missing(path, "there is no such config file", source)
            case .unreadable(let reason): throw missing(path, "the config file cannot be read (\(reason))", source)
            }
        }
        let home = launch.environment["XDG_CONFIG_HOME"] ?? "\(launch.homeFolder)/.config"
        let path = "\(home)/penumbra/penumbra.yaml"
        return launch.read(path).bytes.map { (path, contents($0, path, launch)) }
    }

    /// The usual path of a user's config file.
    package static func userConfigFile(_ environment: [String: String], homeFolder: String) -> String {
        "\(environment["XDG_CONFIG_HOME"] ?? "\(homeFolder)/.config")/penumbra/penumbra.yaml"
    }

    private static func missing(_ path: String, _ reason: String, _ source: String) -> LoadError {
        LoadError(
            kind: .missing,
            message:
                "\(path): \(reason)\n   = correct \(source), or leave it out to use the usual config files"
        )
    }

    private static func contents(_ bytes: [UInt8], _ path: String, _ launch: LaunchEnvironment) -> ConfigFile {
        let absolute = PathNames.isAbsolute(path) ? path : "\(launch.currentFolder)/\(path)"
        let folder = PathNames.folder(of: absolute) ?? ""
        return ConfigFile(bytes: bytes, name: path, base: PathBase(folder: folder, home: launch.homeFolder))
    }
}

/// The origin of a setting, in order of rising precedence.
package enum SettingOrigin: Hashable, Sendable {
    case standard
    case file(String)
    /// Each of these files adds to a list.
    case files([String])
    case environment(String)
    case flag(String)

    package var description: String {
        switch self {
        case .standard: "default"
        case .files(let paths): paths.joined(separator: ", ")
        case .file(let text), .environment(let text), .flag(let text): text
        }
    }
}

/// A value and its origin.
package struct Setting<Value: Sendable>: Sendable {
    package let value: Value
    package let origin: SettingOrigin

    package init(_ value: Value, _ origin: SettingOrigin = .standard) {
        self.value = value
        self.origin = origin
    }
}

/// How much a process gives way to other processes on a disk, as in `ionice`.
package enum DiskPriority: String, Hashable, Sendable, CaseIterable {
    /// As the program was started.
    case none
    /// The lowest priority of the best-effort class.
    case low
    /// Only while no other process uses the disk.
    case idle
}
