/// Everything that an installation's workers offer. `penumbra-worker describe` prints it. The coordinator and the
/// manifest reader know filters and formats only through it.
public struct Catalog: Hashable, Sendable {
    /// Versions of the parts that make pixels and files, by name: `penumbra`, `libvips`, …
    public let versions: [String: String]
    /// Sorted by name.
    public let filters: [FilterDescriptor]
    /// Sorted by name.
    public let formats: [FormatDescriptor]
    /// Formats that Penumbra can write, but not here.
    public let missingFormats: [MissingFormat]
    /// Plugins that could not be loaded, one sentence each. The rest works.
    public let pluginProblems: [String]
    /// Plugins that may not be opened, because they have no pin.
    public let unpinnedPlugins: [UnpinnedPlugin]
    /// What keeps the worker that made this catalog from the rest of the machine.
    public let sandbox: SandboxReport

    public init(
        versions: [String: String], filters: [FilterDescriptor], formats: [FormatDescriptor],
        missingFormats: [MissingFormat] = [], pluginProblems: [String] = [], unpinnedPlugins: [UnpinnedPlugin] = [],
        sandbox: SandboxReport = .off
    ) {
        self.versions = versions
        self.filters = filters.sorted { $0.name < $1.name }
        self.formats = formats.sorted { $0.name < $1.name }
        self.missingFormats = missingFormats
        self.pluginProblems = pluginProblems
        self.unpinnedPlugins = unpinnedPlugins
        self.sandbox = sandbox
    }

    /// The shared parameters of all filters, each once.
    public var sharedParameters: [ParameterDescriptor] {
        var seen: Set<String> = []
        return filters.flatMap(\.parameters).filter { $0.isShared && seen.insert($0.name).inserted }
    }

    /// The programs that the settings let manifests name, each once.
    public var programs: [AllowedProgram] {
        var seen: Set<String> = []
        return filters.flatMap { filter -> [AllowedProgram] in
            if case .command(let programs)? = filter.command?.kind { programs } else { [] }
        }.filter { seen.insert($0.name).inserted }
    }

    /// The catalog with other fallbacks for shared parameters.
    public func sharing(_ shared: [String: ParameterValue]) -> Catalog {
        Catalog(
            versions: versions, filters: filters.map { $0.sharing(shared) }, formats: formats,
            missingFormats: missingFormats, pluginProblems: pluginProblems, unpinnedPlugins: unpinnedPlugins,
            sandbox: sandbox)
    }

    /// The catalog of a worker whose sandbox lacks one more part.
    ///
    /// - Parameter reason: the end of a sentence.
    package func withoutPart(_ reason: String) -> Catalog {
        let lacking = SandboxReport(
            limitsCalls: sandbox.limitsCalls, files: sandbox.files, missing: sandbox.missing + [reason])
        return Catalog(
            versions: versions, filters: filters, formats: formats, missingFormats: missingFormats,
            pluginProblems: pluginProblems, unpinnedPlugins: unpinnedPlugins, sandbox: lacking)
    }

    /// The filters that are plugins.
    public var pluginNames: Set<String> {
        Set(filters.lazy.filter { if case .plugin = $0.origin { true } else { false } }.map(\.name))
    }

    /// The filters that may refuse values which the reader of a manifest allows.
    public var refusingFilters: Set<String> { pluginNames.union(filters.lazy.filter(\.refusesValues).map(\.name)) }

    public func filter(named name: String) -> FilterDescriptor? {
        filters.first { $0.name == name }
    }

    /// The format that a file name's extension asks for, whatever its case.
    public func format(forExtension ext: String) -> FormatDescriptor? {
        let lower = ext.lowercased()
        return formats.first { $0.extensions.contains(lower) }
    }

    /// The format of an extension, if this machine lacks a program for it.
    public func missingFormat(forExtension ext: String) -> MissingFormat? {
        let lower = ext.lowercased()
        return missingFormats.first { $0.extensions.contains(lower) }
    }
}

/// A format that this machine lacks a program for.
public struct MissingFormat: Hashable, Sendable, Codable {
    /// In lower case, without the dot.
    public let extensions: [String]
    /// What is missing: `there is no /usr/bin/ffmpeg`.
    public let reason: String
    /// What a person can do about it.
    public let remedy: String

    public init(extensions: [String], reason: String, remedy: String) {
        self.extensions = extensions
        self.reason = reason
        self.remedy = remedy
    }
}

/// A plugin's library without a pin. It is not used if only pinned ones are allowed.
public struct UnpinnedPlugin: Hashable, Sendable, Codable {
    public let path: String
    /// The digest of the file, in hexadecimal digits.
    public let sha256: String

    public init(path: String, sha256: String) {
        self.path = path
        self.sha256 = sha256
    }

    /// `libHalftone.so`
    private var file: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// `Halftone`, of `libHalftone.so`.
    public var libraryName: String { String(file.dropFirst(3).dropLast(3)) }

    /// The entry of 'plugin_pins' that would allow it.
    public var pin: String { "{file: \(file), sha256: \(sha256)}" }
}

extension UnpinnedPlugin: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        "plugin \(path) has no pin, and 'plugins: pinned-only' refuses those; to use it, add '\(pin)' to 'plugin_pins'"
    }
}
