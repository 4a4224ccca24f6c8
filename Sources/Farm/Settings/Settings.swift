package import JobModel

/// Everything that is set for this machine and user, each value with its origin.
package struct Settings: Sendable {
    package let workers: Setting<Int>
    /// What all workers together may hold, in bytes.
    package let memory: Setting<Int>
    package let stateFolder: Setting<String>
    /// Nil: inside the run's own folder, below the state folder.
    package let scratch: Setting<String?>
    /// How much workers give way to other processes: 0 to 19.
    package let nice: Setting<Int>
    /// The same for disks.
    package let ionice: Setting<DiskPriority>
    /// A worker that says nothing for so long is stopped, and replaced.
    package let silence: Setting<Duration>
    /// Whether frosted glass is opaque, where neither a filter nor its job says it.
    package let reduceTransparency: Setting<Bool>
    package let plugins: Setting<PluginTrust>
    /// Folders with filter plugins, beside the worker's own.
    package let pluginFolders: Setting<[String]>
    /// Names of environment variables that reach workers beside those that workers read themselves.
    package let workerEnvironment: Setting<[String]>
    package let pluginPins: Setting<[PluginPin]>
    package let engine: Setting<EngineName>
    /// What the config file says of jobs on a cluster; a manifest may say otherwise.
    package let slurm: Setting<ClusterOptions>
    /// What the engine `commands` calls; nil where the config file names nothing.
    package let commands: Setting<ClusterCommands?>
    /// The worker program's path.
    package let worker: Setting<String>
    /// The config file that was read, if any.
    package let configFile: String?

    /// What the flags of a command line say.
    package struct Flags: Sendable {
        package var configFile: String?
        package var stateFolder: String?
        package var scratch: String?
        package var workers: Int?
        package var engine: EngineName?

        package init() {}
    }

    /// Where values come from that nobody set.
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

    /// What is at a path.
    package enum FoundFile: Sendable {
        case bytes([UInt8])
        case nothing
        /// Something that cannot be read, and why.
        case unreadable(String)

        var bytes: [UInt8]? {
            if case .bytes(let bytes) = self { bytes } else { nil }
        }
    }

    package struct Problem: Error, Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// A value is wrong.
            case value
            /// The file that was named is not there.
            case missing
        }

        package let kind: Kind
        package let message: String

        package init(kind: Kind, message: String) {
            self.kind = kind
            self.message = message
        }
    }

    /// Defaults ← config file ← environment ← flags.
    package init(_ flags: Flags, _ surroundings: LaunchEnvironment) throws(Problem) {
        let file = try Self.configFile(flags, surroundings)
        let environment = EnvironmentWishes(surroundings.environment)
        let errors = (file?.contents.errors ?? []) + environment.errors
        guard errors.isEmpty else { throw Problem(kind: .value, message: errors.joined(separator: "\n")) }

        func layered<Value: Sendable>(
            _ standard: Value, _ wish: KeyPath<Wishes, Value?>, _ variable: String, flag: Value? = nil,
            _ flagName: String = ""
        ) -> Setting<Value> {
            var layers = Layers(standard: standard)
            if let file { layers.add(file.contents.wishes[keyPath: wish], .file(file.path)) }
            layers.add(environment.wishes[keyPath: wish], .environment(variable))
            layers.add(flag, .flag(flagName))
            return layers.result
        }

        let absolute = { (path: String) in PathNames.isAbsolute(path) ? path : "\(surroundings.currentFolder)/\(path)" }
        workers = layered(surroundings.cores, \.workers, "PENUMBRA_WORKERS", flag: flags.workers, "--workers")
        memory = layered(surroundings.memory / 10 * 6, \.memory, "PENUMBRA_MEMORY")
        let state = layered(
            Self.standardStateFolder(surroundings), \.stateFolder, "PENUMBRA_STATE_DIR", flag: flags.stateFolder,
            "--state-dir")
        stateFolder = Setting(absolute(state.value), state.origin)
        let place = layered("", \.scratch, "PENUMBRA_SCRATCH", flag: flags.scratch, "--scratch")
        scratch = Self.optional(place, absolute)
        nice = layered(0, \.nice, "PENUMBRA_NICE")
        ionice = layered(.none, \.ionice, "PENUMBRA_IONICE")
        silence = layered(.seconds(30), \.silence, "PENUMBRA_SILENCE")
        reduceTransparency = layered(false, \.reduceTransparency, "PENUMBRA_REDUCE_TRANSPARENCY")
        plugins = layered(.any, \.plugins, "PENUMBRA_PLUGINS")
        pluginFolders = layered([], \.pluginFolders, "PENUMBRA_PLUGIN_PATH")
        workerEnvironment = layered([], \.workerEnvironment, "PENUMBRA_WORKER_ENVIRONMENT")
        pluginPins = layered([], \.pluginPins, "PENUMBRA_PLUGIN_PINS")
        worker = layered("\(surroundings.programFolder)/penumbra-worker", \.worker, "PENUMBRA_WORKER")
        engine = layered(.local, \.engine, "PENUMBRA_ENGINE", flag: flags.engine, "--engine")
        slurm = layered(ClusterOptions(), \.slurm, "")
        commands = Setting(
            file?.contents.wishes.commands,
            file.flatMap { $0.contents.wishes.commands == nil ? nil : .file($0.path) } ?? .standard)
        configFile = file?.path
    }

    private static func optional(
        _ setting: Setting<String>, _ absolute: (String) -> String
    ) -> Setting<String?> {
        let value = setting.value.isEmpty ? nil : absolute(setting.value)
        switch setting.origin {
        case .standard: return Setting(value)
        case .file(let path): return Setting(value, .file(path))
        case .environment(let name): return Setting(value, .environment(name))
        case .flag(let name): return Setting(value, .flag(name))
        }
    }

    private static func standardStateFolder(_ surroundings: LaunchEnvironment) -> String {
        if let folder = surroundings.environment["XDG_STATE_HOME"], PathNames.isAbsolute(folder) {
            return "\(folder)/penumbra"
        }
        return "\(surroundings.homeFolder)/.local/state/penumbra"
    }

    /// A file that was asked for must be there; one at a usual place may be.
    private static func configFile(
        _ flags: Flags, _ surroundings: LaunchEnvironment
    ) throws(Problem) -> (path: String, contents: ConfigFile)? {
        let variable = surroundings.environment["PENUMBRA_CONFIG"]
        if let path = flags.configFile ?? variable, !path.isEmpty {
            let wish = flags.configFile == nil ? "PENUMBRA_CONFIG" : "--config"
            switch surroundings.read(path) {
            case .bytes(let bytes): return (path, contents(bytes, path, surroundings))
            case .nothing: throw missing(path, "there is no such config file", wish)
            case .unreadable(let reason): throw missing(path, "the config file cannot be read (\(reason))", wish)
            }
        }
        let home = surroundings.environment["XDG_CONFIG_HOME"] ?? "\(surroundings.homeFolder)/.config"
        for path in ["\(home)/penumbra/penumbra.yaml", "/etc/penumbra/penumbra.yaml"] {
            if let bytes = surroundings.read(path).bytes { return (path, contents(bytes, path, surroundings)) }
        }
        return nil
    }

    private static func missing(_ path: String, _ reason: String, _ wish: String) -> Problem {
        Problem(
            kind: .missing,
            message:
                "\(path): \(reason); correct \(wish), or leave it out: then the file at a usual place counts, or none")
    }

    private static func contents(_ bytes: [UInt8], _ path: String, _ surroundings: LaunchEnvironment) -> ConfigFile {
        let absolute = PathNames.isAbsolute(path) ? path : "\(surroundings.currentFolder)/\(path)"
        let folder = PathNames.folder(of: absolute) ?? ""
        return ConfigFile(bytes: bytes, name: path, folder: folder)
    }
}
