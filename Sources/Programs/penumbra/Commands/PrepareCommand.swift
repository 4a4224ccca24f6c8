import ArgumentParser
import Coordination
import JobModel
import Planning
import RenderFarm
import Runs
import Settings

struct PrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Write a run as shards, for any other scheduler.",
        discussion: """
            Finds the inputs, reads their headers, and decodes pictures that are to be tiled. It divides the rest into shards in \
            DIR. All machines must share this folder:

              penumbra prepare job.yaml --run-dir DIR --shards 8
              penumbra shard --run-dir DIR --index 1        … to 8, in any order, anywhere, several times if need be
              penumbra resume --run-dir DIR --engine local  does what is missing, joins tiles, verifies and publishes

            The number of machines does not change the shards. A shard that has nothing to do ends at once. Do not run the \
            same job with 'penumbra run' meanwhile: nothing prevents it.

            Each shard has a part of each manifest. 'penumbra resume' reports pictures that fail.

            'penumbra export' writes these commands for Slurm and for Open Job Description. If the run was prepared before \
            and has not ended, it is prepared again, and its finished work is used.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Option(
        help: ArgumentHelp("The folder for the shards and the run's other files.", valueName: "dir"),
        completion: .directory)
    var runDir: String

    @Option(help: ArgumentHelp("How many: 1 to 10000.", valueName: "n"))
    var shards: Int

    @Flag(help: "Render everything again, and replace all files at the outputs' paths.")
    var force = false

    @OptionGroup var printing: QuietOption

    func validate() throws {
        guard (1...10_000).contains(shards) else {
            throw ValidationError("--shards takes 1 to 10000, not \(shards).")
        }
        if jobs.filesFrom == "-" {
            throw ValidationError("--files-from - cannot be read again when the run is resumed; give a file.")
        }
    }

    func run() async throws {
        let folder = PathText.normalized(runDir, in: currentFolder())
        var prepared = RequestedRun(request, sharing: .prepared(shards: shards, folder: folder))
        prepared.ownState = Settings.ownState(location)
        let run = prepared
        try await ConsoleReporter(json: false, quiet: printing.quiet).handling { reporter in
            try await TemporaryState.with(location.stateDir) { state in
                var run = run
                run.request.stateFolder = state
                let outcome = try await reporter.follow(run)
                // `resume` reports pictures that failed. Other machines may just begin with the shards.
                return outcome == .someFailed ? .done : outcome
            }
        }
    }

    /// A request that means the same on any machine.
    private var request: RunRequest {
        let whole = { PathText.normalized($0, in: currentFolder()) }
        var request = RunRequest(manifests, jobs, location)
        request.filesFrom = jobs.filesFrom.map(whole)
        (request.isForced, request.engine) = (force, .local)
        (request.stateFolder, request.scratch) = (nil, nil)
        request.configFile = location.configFile.map(whole)
        return request
    }
}
