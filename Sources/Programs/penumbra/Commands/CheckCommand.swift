import ArgumentParser
import JobModel
import RenderFarm
import Runs
import Reports
import Settings

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read and validate manifests, and change nothing.",
        discussion: """
            Reports every problem of every manifest at once, each with its line, a caret and what to do. Warnings \
            change no exit code. Of several manifests, outputs that they share are reported, too. Looks up no inputs: \
            'penumbra plan' does.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines.")
    var json = false

    /// `1 filter`, or `2 outputs, 3 filters` for a job whose outputs have filters of their own.
    private static func contents(of job: JobSpec) -> String {
        let filters = job.chain.count + job.outputs.reduce(0) { $0 + $1.chain.count }
        let outputs = job.outputs.count > 1 ? "\(Figures.plural(job.outputs.count, "output")), " : ""
        return outputs + Figures.plural(filters, "filter")
    }

    func run() async throws {
        try await ConsoleReporter(json: json, quiet: quiet).handling { reporter in
            let farm = Farm(try Settings.load(location))
            let catalog = try await farm.catalog()
            reporter.warn(of: catalog)
            let files = ManifestFiles(
                RunRequest(manifests), catalog: catalog, settings: farm.settings, control: Signals.current)
            let specs = try reporter.jobs(await files.examined(by: farm.worker))
            for spec in specs {
                _ = try RegionLookup(spec.allFilters, inputs: [], shownFrom: reporter.folder)
                _ = try OwnPictures(spec.allFilters, shownFrom: reporter.folder)
            }
            for warning in try SharedOutputs.warnings(of: specs, folder: reporter.folder) { reporter.warn(warning) }
            if !json && !quiet {
                for spec in specs {
                    Console.print("\(spec.name): \(Self.contents(of: spec)), no errors")
                }
            }
            return .done
        }
    }
}
