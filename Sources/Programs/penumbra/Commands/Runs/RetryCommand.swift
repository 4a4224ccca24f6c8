import ArgumentParser
import JobModel
import Queueing
import RenderFarm
import Runs
import ServiceAPI

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Do frames of a run again: those that failed, or those you name.",
        discussion: """
            Pictures that are still broken are tried, too. Outputs that are up to date stay: 'penumbra run --force --only' \
            renders them again. If you name a job, its latest run that was no retry is used. The options of that run apply \
            again, with its --workers and --deadline, unless you give others.

            '--state left' takes the frames that a deadline, a signal or 'penumbra cancel' left. Frames that the run skipped, \
            because their outputs were up to date, are not part of the retry. '--state skipped' renders nothing.

            With --server the whole job of the run is submitted again, as a new job of the service. It does the frames that \
            failed or are still broken, and those that were left. It cannot choose frames.
            """)

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var printing: QuietOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    @Option(help: "Frames that ended like this. Default: failed, unless --frames names some.")
    var state: RetriedFrames.State?

    @Option(help: ArgumentHelp("Frames by their numbers: 5, 37-52, 1,4,9-12.", valueName: "numbers"))
    var frames: FrameNumbers?

    @Option(help: ArgumentHelp("Worker processes at once. Default: as the run was begun.", valueName: "n"))
    var workers: Int?

    @Option(
        help: ArgumentHelp(
            "End cleanly after this time: 50m. Default: as the run was begun.", valueName: "time"),
        transform: TimeArgument.read)
    var deadline: TimeArgument?

    func validate() throws {
        try LocationOptions.check(workers: workers)
        try remote.check(
            options, nil,
            [
                ("--state", state != nil), ("--frames", frames != nil), ("--workers", workers != nil),
            ])
        if remote.service != nil { try deadline?.checkForService() }
    }

    func run() async throws {
        if let service = remote.service {
            let (name, printer) = (argument.run, JobPrinter(json: options.json, quiet: printing.quiet))
            let change = RetryRequest(deadline: deadline.map { .seconds(Int($0.seconds)) } ?? .kept)
            return try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { _ in
                try await service.asking { remote in
                    let run = try remote.run(name)
                    guard let job = try remote.job(of: run) else {
                        throw FarmError(
                            .usage,
                            "\(run.run): was not begun by the service, so it has no job to retry\n   = submit its manifest: "
                                + "'penumbra submit', or retry the run on its machine, without --server")
                    }
                    try printer.accepted(remote.retry(job, change))
                    return .done
                }
            }
        }
        // The run writes the JSON lines. This command writes them only if there is no run.
        try await ConsoleReporter(json: false).handling { _ in
            let archive = try options.archive()
            let run = try archive.run(toRepeat: argument.run)
            let retried = RetriedFrames(state: state, frames: frames)
            switch try retried.retry(run, in: archive, from: options.place) {
            case .nothing(let words, let outcome): return report(words, outcome)
            case .repeated(var repeated, let notes):
                repeated.change { request in
                    request.workers = workers ?? request.workers
                    request.deadline = deadline?.seconds.rounded(.up) ?? request.deadline
                }
                throw ExitCode(try await repeated.run.exitCode(options, quiet: printing.quiet, notes: notes))
            }
        }
    }

    private func report(_ words: String, _ status: RunOutcome) -> RunOutcome {
        let reporter = ConsoleReporter(json: options.json, quiet: printing.quiet)
        if options.json { HeaderLine().print() }
        if status == .done { reporter.say(words) } else { reporter.complain(words) }
        if options.json { SummaryLine(exitCode: status.rawValue, []).print() }
        return status
    }
}

extension RetriedFrames.State: ExpressibleByArgument {}

extension FrameNumbers: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
