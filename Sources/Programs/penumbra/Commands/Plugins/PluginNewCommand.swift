import ArgumentParser
import Catalogs
import JobModel
import Planning
import RenderFarm
import Settings

struct PluginNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Begin a filter plugin: a folder that builds, with its test.",
        discussion: """
            What you get takes colour away, by a parameter; make it yours. docs/plugins.md tells what a filter can do.
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
        name: [.customShort("o"), .long],
        help: ArgumentHelp("The folder to make. Default: the name, in the current folder.", valueName: "folder"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Penumbra's sources, which a plugin in Swift is built with. Default: those that this program was built "
                + "from.", valueName: "folder"))
    var sdk: String?

    @OptionGroup(title: "Place Options") var place: LocationOptions

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            guard let names = PluginNames(name) else {
                throw FarmError(
                    .usage, "'\(name)' cannot name a filter; use small letters, digits, - and _, a letter first")
            }
            try await refuseTaken(name)
            let folder = PathText.normalized(output ?? name, in: currentFolder())
            let files = try template(names)
            try NewFolder.write(files, to: folder)
            Console.print("\(output ?? name): a filter plugin '\(name)'; README.md says how to build and try it")
            return .done
        }
    }

    /// A plugin cannot have the name of a filter that is there.
    private func refuseTaken(_ name: String) async throws {
        let catalog = try await Farm(try Settings.load(place)).catalog()
        guard let filter = catalog.filter(named: name) else { return }
        let owner: String =
            switch filter.origin {
            case .builtIn: "is built in"
            case .plugin(let path): "is in \(path)"
            }
        throw FarmError(.usage, "a filter '\(name)' \(owner); choose another name")
    }

    private func template(_ names: PluginNames) throws -> [PluginTemplate.File] {
        switch language {
        case .c: return PluginTemplate.c(names, penumbra: "\(programFolder())/penumbra", guide: guide(sources()))
        case .swift:
            guard let sources = sources() else {
                throw FarmError(
                    .missingInput,
                    "Penumbra's sources are not there, and a plugin in Swift is built with them; say where they are "
                        + "with --sdk, or use --language c")
            }
            return PluginTemplate.swift(names, sdk: sources, guide: guide(sources))
        }
    }

    private func guide(_ sources: String?) -> String { sources.map { "\($0)/docs/plugins.md" } ?? "docs/plugins.md" }

    /// The folder with FilterKit: the one that was named, or one above this program.
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
        return nil
    }

    private static func hasFilterKit(_ folder: String) -> Bool {
        isReadable("\(folder)/Package.swift") && isReadable("\(folder)/Sources/Pixels/FilterKit/Filter.swift")
    }
}
