import ArgumentParser
import Catalogs
import FoundationEssentials
import JobModel
import Manifests
import Planning
import RenderFarm
import Settings

struct FiltersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filters", abstract: "List the filters that your workers offer, or describe one.")

    @Argument(help: ArgumentHelp("A filter, for its parameters.", valueName: "name"), completion: Completions.filters)
    var name: String?

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print the descriptors as JSON.")
    var json = false

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let catalog = try await Farm(try Settings.load(location)).catalog()
            var filters = catalog.filters
            if let name {
                guard let filter = catalog.filter(named: name) else {
                    for problem in catalog.pluginProblems { Console.complain(VisibleText.line(problem)) }
                    let remedy = UnknownFilter(name, in: catalog).remedy
                    throw FarmError(.usage, "no filter is called '\(PathText.visible(name))'\n   = \(remedy)")
                }
                filters = [filter]
            }
            if json {
                printJSON(filters)
            } else if name != nil, let filter = filters.first {
                CatalogText.describe(filter).forEach(Console.print)
            } else {
                CatalogText.list(filters).forEach(Console.print)
            }
            for problem in catalog.pluginProblems + catalog.unpinnedPlugins.map(\.description) {
                Console.complain(VisibleText.line(problem))
            }
            return .done
        }
    }
}

struct FormatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List the image formats that are read and written, with their save options, or describe one.")

    @Argument(
        help: ArgumentHelp("A format, by its name or an extension of its files: tiff, .tif.", valueName: "name"),
        completion: Completions.formats)
    var name: String?

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print the descriptors as JSON.")
    var json = false

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let catalog = try await Farm(try Settings.load(location)).catalog()
            guard let name else {
                json ? printJSON(catalog.formats) : CatalogText.list(catalog.formats).forEach(Console.print)
                return .done
            }
            let format = try Self.format(name, in: catalog)
            json ? printJSON([format]) : CatalogText.describe(format).forEach(Console.print)
            return .done
        }
    }

    private static func format(_ name: String, in catalog: Catalog) throws(FarmError) -> FormatDescriptor {
        let word = (name.hasPrefix(".") ? String(name.dropFirst()) : name).lowercased()
        if let format = catalog.formats.first(where: { $0.name == word }) ?? catalog.format(forExtension: word) {
            return format
        }
        let known = catalog.formats.map(\.name)
        let nearest = Suggestion.nearest(to: word, among: known + catalog.formats.flatMap(\.extensions))
        let meant = nearest.map { "did you mean '\($0)'? " } ?? ""
        throw FarmError(
            .usage,
            """
            no format is called '\(PathText.visible(name))'
               = \(meant)'penumbra formats' describes \(known.joined(separator: ", "))
            """)
    }
}

func printJSON(_ value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Descriptors have no values that JSON cannot express.
    if let data = try? encoder.encode(value) { Console.printJSON(String(decoding: data, as: UTF8.self)) }
}

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema of manifests, for YAML editors that complete and check them.",
        discussion: """
            It knows the filters of your workers, plugins too, and the options of each format:

              penumbra schema > penumbra.schema.json

            Editors with the YAML language server (such as Visual Studio Code with its YAML extension) take it from a \
            manifest's first line:

              # yaml-language-server: $schema=penumbra.schema.json

            Write a new schema when filters or Penumbra have changed. 'penumbra check' knows more than a schema can say.
            """)

    @OptionGroup(title: "Location Options") var location: LocationOptions

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let catalog = try await Farm(try Settings.load(location)).catalog()
            Console.printJSON(ManifestSchema(catalog).json)
            for problem in catalog.pluginProblems { Console.complain(VisibleText.line(problem)) }
            return .done
        }
    }
}
