import Catalogs
import JobModel
import Manifests

/// The values of a config file or of the environment. Nil for values that it does not set.
struct GivenValues {
    var workers: Int?
    var memory: Int?
    var scratch: String?
    var stateFolder: String?
    var plugins: PluginTrust?
    var pluginFolders: [String]?
    var sandbox: SandboxMode?
    var sandboxRead: [String]?
    var workerEnvironment: [String]?
    var pluginPins: [PluginPin]?
    var programs: [NamedProgram]?
    var worker: String?
    var ffmpeg: String?
    var nice: Int?
    var ionice: DiskPriority?
    var silence: Duration?
    var reduceTransparency: Bool?
    var engine: EngineName?
    var slurm: ClusterOptions?
    var commands: ClusterCommands?
    var onEnd: [NotificationTarget]?
    var onFailure: [NotificationTarget]?
    var sendmail: String?
    var late: [ExpectedSuccess]?
    var server: String?
    var tokenFile: String?
    var service: ServiceSettings?

    /// In seconds. Some heartbeats may come late, so the minimum is several.
    static let silenceRange = 5.0...86400
    static let workerRange = 1...1024
    static let niceRange = 0...19
    static let memoryRange = 64_000_000...Int.max
}

/// Reads `config/penumbra.yaml`, in the format of the manifests.
struct ConfigFile {
    let values: GivenValues
    /// As they are printed. Empty if there are none.
    let errors: [String]

    /// - Parameter base: The folder that relative paths in the file start from, which is the file's own.
    init(bytes: [UInt8], name: String, base: PathBase) {
        let log = DiagnosticLog()
        let text = SourceText(bytes: bytes, name: name, log: log)
        var values = GivenValues()
        if !Self.hasOnlyComments(bytes), let node = BlockParser.parse(text, log: log),
            var reader = MappingReader(node, of: "the config file", log: log)
        {
            values = Self.read(&reader, base)
        }
        self.values = values
        errors = log.sorted().map { Self.meant($0).rendered(in: SourceSet(file: text)) }
    }

    /// If a key is the name of a library, the author meant a pin. The problem is replaced by one that says so.
    private static func meant(_ diagnostic: Diagnostic) -> Diagnostic {
        guard case .block(.badKey(let key)) = diagnostic.problem, key.hasSuffix(".so") else { return diagnostic }
        return Diagnostic(PluginPin.notAFileName(key), at: diagnostic.span)
    }

    /// Whether a config file has comments only. It counts as no file.
    private static func hasOnlyComments(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
            let first = line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }
            return first == nil || first == UInt8(ascii: "#")
        }
    }

    private static func read(_ reader: inout MappingReader, _ base: PathBase) -> GivenValues {
        let path = ValueReader<String>.nonEmptyText.map(base.absolute)
        var values = GivenValues()
        values.workers =
            reader.optional(
                "workers", .or("auto", nil, else: ValueReader.integer(in: GivenValues.workerRange).map { $0 })) ?? nil
        values.memory =
            reader.optional(
                "memory", .or("auto", nil, else: ValueReader.bytes(in: GivenValues.memoryRange).map { $0 })) ?? nil
        values.scratch = reader.optional("scratch", path)
        values.stateFolder = reader.optional("state_dir", path)
        values.plugins = reader.optional("plugins", .choice)
        values.pluginFolders = reader.optional("plugin_folders", .list(of: path))
        values.sandbox = reader.optional("sandbox", .choice)
        values.sandboxRead = reader.optional("sandbox_read", .list(of: path))
        values.workerEnvironment = reader.optional("worker_environment", .list(of: .nonEmptyText))
        values.pluginPins = reader.optional("plugin_pins", .pins)
        values.programs = reader.optional("programs", .programs(path))
        values.worker = reader.optional("worker", path)
        values.ffmpeg = reader.optional("ffmpeg", path)
        values.nice = reader.optional("nice", .integer(in: GivenValues.niceRange))
        values.ionice = reader.optional("ionice", .choice)
        values.silence = reader.optional("silence", .duration(in: GivenValues.silenceRange))
        values.reduceTransparency = reader.optional("reduce_transparency", .boolean)
        values.engine = reader.optional("engine", .choice)
        values.slurm = reader.optional("slurm", SlurmReader.wishes(path, from: .user))
        values.commands = reader.optional("commands", .commands(path))
        values.onEnd = reader.optional("on_end", .targets(path))
        let hasOnFailure = reader.entry("on_failure") != nil
        values.onFailure = reader.optional("on_failure", .targets(path))
        // If the list is wrong, only that is reported.
        let fallback = values.onFailure ?? (hasOnFailure ? [.mail("")] : [])
        let notifications = reader.optional("notifications", .notifications(path, fallback: fallback))
        values.sendmail = notifications?.sendmail
        values.late = notifications?.late
        values.server = reader.optional("server", .nonEmptyText)
        values.tokenFile = reader.optional("token_file", path)
        values.service = reader.optional("service", .service(path))
        reader.finish()
        return values
    }
}

extension ValueReader where Value == ClusterCommands {
    /// All four: a cluster that cannot be asked, or whose jobs cannot be cancelled, is no use.
    fileprivate static func commands(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            guard var reader = MappingReader(node, of: "'\(name)'", log: log) else { return nil }
            let submit = reader.required("submit", path, example: "/usr/local/lib/penumbra/submit")
            let status = reader.required("status", path, example: "/usr/local/lib/penumbra/status")
            let cancel = reader.required("cancel", path, example: "/usr/local/lib/penumbra/cancel")
            let describe = reader.required("describe", path, example: "/usr/local/lib/penumbra/describe")
            reader.finish()
            guard let submit, let status, let cancel, let describe else { return nil }
            return ClusterCommands(submit: submit, status: status, cancel: cancel, describe: describe)
        }
    }
}

/// Reads the `PENUMBRA_…` variables.
struct EnvironmentValues {
    let values: GivenValues
    let errors: [String]

    init(_ environment: [String: String]) {
        let log = DiagnosticLog()
        var values = GivenValues()
        var sources: [SourceText] = []

        func read<Value>(_ key: SettingKey, _ reader: ValueReader<Value>) -> Value? {
            guard let name = key.variable, let value = environment[name], !value.isEmpty else { return nil }
            let text = SourceText(argument: value, name: "\(name)=\(value)", index: sources.count, log: log)
            sources.append(text)
            let span = SourceSpan(
                source: text.id, start: SourcePosition(line: 1, column: 1), length: value.unicodeScalars.count)
            let node = SyntaxNode(.scalar(SyntaxNode.Scalar(text: value, quoting: .plain)), span: span)
            return reader.read(node, for: name, log: log)
        }

        values.workers = read(.workers, .integer(in: GivenValues.workerRange))
        values.memory = read(.memory, .bytes(in: GivenValues.memoryRange))
        values.scratch = read(.scratch, .nonEmptyText)
        values.stateFolder = read(.stateFolder, .nonEmptyText)
        values.nice = read(.nice, .integer(in: GivenValues.niceRange))
        values.ionice = read(.ionice, .choice)
        values.silence = read(.silence, .duration(in: GivenValues.silenceRange))
        values.reduceTransparency = read(.reduceTransparency, .boolean)
        values.worker = read(.worker, .nonEmptyText)
        values.ffmpeg = read(.ffmpeg, .nonEmptyText)
        values.engine = read(.engine, .choice)
        values.server = read(.server, .nonEmptyText)
        values.plugins = read(.plugins, .choice)
        values.sandbox = read(.sandbox, .choice)
        values.pluginPins = read(.pluginPins, .pinsOnOneLine)
        func list(_ key: SettingKey) -> [String]? {
            key.variable.flatMap { environment[$0] }.map { $0.split(separator: ":").map(String.init) }
        }

        values.pluginFolders = list(.pluginFolders)
        values.sandboxRead = list(.sandboxRead)
        values.workerEnvironment = list(.workerEnvironment)
        self.values = values
        let empty = SourceText(bytes: [], name: "", log: DiagnosticLog())
        errors = log.sorted().map { $0.rendered(in: SourceSet(file: empty, arguments: sources)) }
    }
}
