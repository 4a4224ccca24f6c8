import ArgumentParser
import Catalogs
import JobModel
import Reference
import RenderFarm
import Settings

/// The words of all keys, filters, settings and codes, for the scripts that make manual pages and the site.
struct ReferenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Print everything that the manual says, as one JSON document.",
        shouldDisplay: false)

    @Flag(help: "Print JSON, which is the only format.")
    var json = false

    @OptionGroup(title: "Location Options") var location: LocationOptions

    func validate() throws {
        if !json { throw ValidationError("the reference is printed as JSON only; write 'penumbra reference --json'.") }
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            printJSON(ReferenceDocument(try await Farm(try Settings.load(location)).catalog()))
            return .done
        }
    }
}

/// A page of `penumbra help`. The command prints the same page.
///
/// The configuration of each needs its type. Without it the compiler (Swift 6.3) takes the default of `ParsableCommand`.
protocol TopicCommand: AsyncParsableCommand {
    static var topic: HelpTopic { get }
}

extension TopicCommand {
    static func configuration(of topic: HelpTopic) -> CommandConfiguration {
        CommandConfiguration(commandName: topic.rawValue, abstract: topic.sentence)
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            var catalog = Catalog(versions: [:], filters: [], formats: [])
            if Self.topic == .manifest {
                do {
                    catalog = try await Farm(try Settings.load(LocationOptions.none)).catalog()
                } catch  where FarmError.knows(error) {
                    // Help must work even if the worker program is missing.
                    Console.complain("\(FarmError(error).message)\nnote: keys that come from filters are not listed")
                }
            }
            Console.print(Self.topic.text(catalog, width: Console.width))
            return .done
        }
    }
}

struct ManifestTopic: TopicCommand {
    static let topic = HelpTopic.manifest
    static let configuration: CommandConfiguration = configuration(of: topic)
}

struct OutputNamesTopic: TopicCommand {
    static let topic = HelpTopic.outputNames
    static let configuration: CommandConfiguration = configuration(of: topic)
}

struct ExitCodesTopic: TopicCommand {
    static let topic = HelpTopic.exitCodes
    static let configuration: CommandConfiguration = configuration(of: topic)
}

struct EnvironmentTopic: TopicCommand {
    static let topic = HelpTopic.environment
    static let configuration: CommandConfiguration = configuration(of: topic)
}

struct FilesTopic: TopicCommand {
    static let topic = HelpTopic.files
    static let configuration: CommandConfiguration = configuration(of: topic)
}

extension LocationOptions {
    /// No flags.
    static var none: LocationOptions {
        var options = LocationOptions()
        (options.configFile, options.stateDir, options.scratch, options.workers) = (nil, nil, nil, nil)
        return options
    }
}
