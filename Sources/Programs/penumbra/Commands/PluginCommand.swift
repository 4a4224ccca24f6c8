import ArgumentParser
import Catalogs
import Engines
import Foundation
import JobModel
import Planning
import RenderFarm
import Settings
import WorkerProtocol

/// The commands for filter plugins.
struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Create, test and list filter plugins.",
        subcommands: [PluginNewCommand.self, PluginCheckCommand.self, PluginListCommand.self])
}

struct PluginNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Create a filter plugin: a folder that builds, with a test.",
        discussion: """
            The new filter takes colour away, by a parameter. With --kind area it makes bright parts larger. Change it as you
            like. The README.md in the folder names the guide, which says what a filter can do.
            """)

    enum Language: String, ExpressibleByArgument, CaseIterable {
        case swift
        case c
    }

    @Argument(help: ArgumentHelp("The filter's name, as manifests will write it: soft-focus.", valueName: "name"))
    var name: String

    @Option(help: "The language to write it in: swift or c.")
    var language = Language.swift

    @Option(
        help: "What the filter looks at: point for one pixel, area for the pixels around it, too."
    )
    var kind = PluginTemplate.Kind.point

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder to make. Default: the name, in the current folder.", valueName: "folder"),
        completion: .directory)
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The package FilterKit, which a plugin in Swift is built with: a folder with Penumbra's sources. Default: the "
                + "package that is installed with this program, or the sources that it was built from.",
            valueName: "folder"), completion: .directory)
    var sdk: String?

    @OptionGroup(title: "Location Options") var location: LocationOptions

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            guard let names = PluginNames(name) else {
                throw FarmError(
                    .usage,
                    "'\(name)' cannot be the name of a filter\n   = use small letters, digits, - and _, and begin with a letter"
                )
            }
            try await refuseTaken(name)
            let folder = PathText.normalized(output ?? name, in: currentFolder())
            let files = try template(names)
            try NewFolder.write(files, to: folder)
            Console.print("\(output ?? name): a filter plugin '\(name)'; README.md says how to build and try it")
            if language == .swift, !isInPath("swift") {
                Console.complain(
                    "this plugin is built with Swift, and there is no program 'swift' in PATH\n"
                        + "   = install Swift 6.3 or later, or write the plugin in C: --language c, with another folder by -o"
                )
            }
            return .done
        }
    }

    /// Refuses the name of an existing filter.
    private func refuseTaken(_ name: String) async throws {
        let catalog = try await Farm(try Settings.load(location)).catalog()
        guard let filter = catalog.filter(named: name) else { return }
        let owner: String =
            switch filter.origin {
            case .builtIn: "is built in"
            case .plugin(let path): "is in \(path)"
            }
        throw FarmError(.usage, "a filter '\(name)' \(owner)\n   = choose another name")
    }

    private func template(_ names: PluginNames) throws -> [PluginTemplate.File] {
        switch language {
        case .c:
            let program = CalledProgram.current(in: currentFolder()).path()
            return PluginTemplate.c(names, kind, penumbra: program, guide: guide(sources()))
        case .swift:
            guard let sources = sources() else {
                throw FarmError(
                    .missingInput,
                    "the package FilterKit is not there, and a plugin in Swift is built with it\n"
                        + "   = install penumbra-dev, name a folder with Penumbra's sources by --sdk, or use --language c"
                )
            }
            return PluginTemplate.swift(names, kind, sdk: sources, guide: guide(sources))
        }
    }

    /// The place of the guide for authors of plugins.
    private func guide(_ sources: String?) -> String {
        let page = "docs/how-to/write-a-plugin.md"
        if let path = sources.map({ "\($0)/\(page)" }), isReadable(path) { return path }
        return "\(page) in Penumbra's sources, or of the package penumbra-dev"
    }

    /// The folder with FilterKit: the folder of `--sdk`, a folder above this program, or the installed package.
    private func sources() -> String? {
        if let sdk {
            let path = realPath(PathText.normalized(sdk, in: currentFolder()))
            return Self.hasFilterKit(path) ? path : nil
        }
        var folder = realPath(programFolder())
        while let above = PathNames.folder(of: folder), above != folder {
            folder = above
            if Self.hasFilterKit(folder) { return folder }
        }
        // /usr/share/penumbra/sdk for programs in /usr/lib/penumbra.
        let installed = PathText.normalized("../../share/penumbra/sdk", in: realPath(programFolder()))
        return Self.hasFilterKit(installed) ? installed : nil
    }

    private static func hasFilterKit(_ folder: String) -> Bool {
        isReadable("\(folder)/Package.swift") && isReadable("\(folder)/Sources/Pixels/FilterKit/Filter.swift")
    }
}

extension PluginTemplate.Kind: ExpressibleByArgument {}

struct PluginCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Test plugins with the contract of filters.",
        discussion: """
            Penumbra opens each library in a process of its own. It asks for pictures of every sample format and number of
            channels, whole and in tiles, from several threads. It tries extreme values and extreme input, too. A folder
            stands for each lib….so in it. The exit code is 1 if a plugin breaks the contract.
            """)

    @Argument(
        help: ArgumentHelp("Plugins' libraries, or folders of them.", valueName: "file"),
        completion: .file(extensions: ["so"]))
    var files: [String]

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print the findings as JSON.")
    var json = false

    private struct Record: Encodable {
        let file: String
        let check: String
        let outcome: String
        let words: String?
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let farm = Farm(try Settings.load(location))
            var records: [Record] = []
            for file in try files.flatMap(Self.libraries) {
                let findings = try await check(file, farm)
                records += findings.compactMap { record($0, of: file) }
                if !json { Self.lines(findings, file).forEach(Console.print) }
            }
            if json { printJSON(records) }
            return records.contains { $0.outcome == "broken" } ? .someFailed : .done
        }
    }

    /// The libraries in a folder that workers would load as plugins.
    private static func libraries(_ name: String) throws -> [String] {
        var isFolder: ObjCBool = false
        let path = PathText.normalized(name, in: currentFolder())
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [name]
        }
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw FarmError(
                .missingInput, "\(PathText.visible(name)): the folder cannot be read\n   = correct its permissions")
        }
        let libraries = files.filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }.sorted()
        guard !libraries.isEmpty else {
            throw FarmError(
                .missingInput,
                "\(PathText.visible(name)): this folder has no lib….so\n   = name the library of a plugin")
        }
        let folder = name.hasSuffix("/") ? name : "\(name)/"
        return libraries.map { folder + $0 }
    }

    private func check(_ file: String, _ farm: Farm) async throws -> [PluginFinding] {
        let path = realPath(PathText.normalized(file, in: currentFolder()))
        guard isReadable(path) else {
            throw FarmError(.missingInput, "\(PathText.visible(file)): there is no such file")
        }
        do {
            return try await farm.worker.check(plugin: path)
        } catch {
            throw FarmError(.unavailable, error.message)
        }
    }

    private func record(_ finding: PluginFinding, of file: String) -> Record? {
        switch finding {
        case .begins, .crashed: nil
        case .kept(let name): Record(file: file, check: name, outcome: "kept", words: nil)
        case .broken(let name, let how): Record(file: file, check: name, outcome: "broken", words: how)
        case .skipped(let name, let why): Record(file: file, check: name, outcome: "skipped", words: why)
        }
    }

    private static func lines(_ findings: [PluginFinding], _ file: String) -> [String] {
        [PathText.visible(file)]
            + findings.compactMap { finding in
                switch finding {
                case .begins, .crashed: nil
                case .kept(let name): "  ok       \(VisibleText.line(name))"
                case .broken(let name, let how): "  BROKEN   \(VisibleText.line(name)): \(VisibleText.message(how))"
                case .skipped(let name, let why): "  skipped  \(VisibleText.line(name)): \(VisibleText.message(why))"
                }
            }
    }
}

struct PluginListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the plugins that your workers use, with their pins.")

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print the list as JSON.")
    var json = false

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let settings = try Settings.load(location)
            let list = try await Farm(settings).pluginList()
            if json {
                printJSON(list)
            } else {
                Self.table(list, pins: settings.pluginPins.value).forEach(Console.print)
            }
            for problem in list.problems + list.unpinned.map(\.description) {
                Console.complain(VisibleText.line(problem))
            }
            return list.problems.isEmpty ? .done : .unavailable
        }
    }

    private static func table(_ list: PluginList, pins: [PluginPin]) -> [String] {
        guard !list.plugins.isEmpty else {
            return list.problems.isEmpty && list.unpinned.isEmpty
                ? [
                    "no plugins; put them into \(PluginConditions.standardFolder), or name their folder by "
                        + "'plugin_folders' in the config file"
                ] : []
        }
        var table = Table(["filter", "version", "pinned", "file", "sha256"])
        for plugin in list.plugins {
            let isPinned = pins.contains { $0.sha256 == plugin.sha256 && $0.file == PathNames.last(of: plugin.path) }
            table.add(plugin.name, plugin.version, isPinned ? "yes" : "no", plugin.path, plugin.sha256)
        }
        return table.lines
    }
}

extension Farm {
    /// - Throws: ``FarmError`` with the outcome of a missing component.
    func pluginList() async throws -> PluginList {
        do {
            return try await worker.listPlugins()
        } catch {
            throw FarmError(.unavailable, error.message)
        }
    }
}
