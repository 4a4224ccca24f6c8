import ArgumentParser
import Catalogs
import JobModel
import Manifests
import RenderFarm
import Settings

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema of manifests, by which YAML editors complete and check them.",
        discussion: """
            It knows the filters of your workers, plugins too, and the options of each format:

              penumbra schema > penumbra.schema.json

            Editors with the YAML language server (such as Visual Studio Code with its YAML extension) take it from a \
            manifest's first line:

              # yaml-language-server: $schema=penumbra.schema.json

            Make it again when filters or Penumbra have changed. 'penumbra check' knows more than a schema can say.
            """)

    @OptionGroup(title: "Place Options") var place: LocationOptions

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let catalog = try await Farm(try Settings.load(place)).catalog()
            Console.printJSON(ManifestSchema(catalog).json)
            catalog.pluginProblems.forEach(Console.complain)
            return .done
        }
    }
}
