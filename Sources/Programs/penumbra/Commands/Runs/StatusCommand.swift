import ArgumentParser
import Coordination
import JobModel
import RenderFarm
import Runs

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List runs: running ones, interrupted ones, and the latest ones.",
        discussion: """
            'interrupted' is a run whose coordinator was killed. 'penumbra resume' resumes it, and so does the next run of \
            its job. 'detached' is a run that was handed to a cluster, or to another scheduler, and that no coordinator has \
            continued yet. Times are UTC.
            """)

    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    @Flag(help: "All remembered runs, not only the latest ten.")
    var all = false

    @Flag(name: .shortAndLong, help: "Show changes until all runs have ended.")
    var follow = false

    private static let pause = Duration.milliseconds(500)

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { _ in
            let archive = try options.archive(shared)
            var view = StatusView(json: options.json, isRedrawn: follow && Console.outputIsTerminal)
            while true {
                let runs = try archive.runs()
                view.show(try chosen(of: runs).map { try RunLine($0, in: archive) })
                guard follow, runs.contains(where: \.condition.isGoingOn) else { return .done }
                try await ContinuousClock().sleep(for: Self.pause)
            }
        }
    }

    private func chosen(of runs: [RunStatus]) -> [RunStatus] {
        all ? runs : runs.filter { !$0.condition.isEnded } + runs.filter(\.condition.isEnded).prefix(10)
    }
}

/// The table of runs as it was printed last.
private struct StatusView {
    let json: Bool
    /// New lines replace the old ones. Otherwise only changed lines are printed.
    let isRedrawn: Bool
    private var printed: [String] = []

    init(json: Bool, isRedrawn: Bool) {
        self.json = json
        self.isRedrawn = isRedrawn && !json
    }

    mutating func show(_ lines: [RunLine]) {
        var texts =
            json
            ? lines.map { $0.text } : lines.isEmpty ? ["nothing has run yet"] : RunText.table(lines)
        if isRedrawn { texts += lines.compactMap { RunText.progressBar($0, width: Console.width) } }
        guard texts != printed else { return }
        let fresh = isRedrawn ? texts : texts.filter { !printed.contains($0) }
        // Moves to the first line, and clears everything below.
        if isRedrawn, !printed.isEmpty { Console.draw("\u{1b}[\(printed.count)A\u{1b}[J", to: .output) }
        for text in fresh { Console.print(text) }
        printed = texts
    }
}

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one run: its request, its results, what failed and why.",
        discussion: """
            The map of --map has a letter for each frame: '.' waits, '>' a worker has it, 'p' published, 's' up to date, \
            'k' kept, 'b' still broken, 'f' failed, 'l' left.
            """)

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    @Flag(help: "Show the state of every frame, too.")
    var map = false

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { _ in
            let archive = try options.archive(shared)
            let run = try archive.run(argument.run)
            let frameMap = map ? try archive.map(of: run) : nil
            let details = try archive.details(of: run)
            let line = try RunLine(run, in: archive)
            let broken = try archive.stillBroken(in: run, details)
            if options.json {
                line.print()
                let times = details.publicationTimes
                for frame in details.frames {
                    StoredFrameLine(frame, published: times[frame.id]).print()
                }
                for record in broken { BrokenLine(record).print() }
                if let frameMap { MapLine(frameMap).print() }
            } else {
                for text in RunText.details(line, run, details.frames, details.attempts) { Console.print(text) }
                for text in RunText.stillBroken(broken, of: line.counts.stillBroken) { Console.print(text) }
                if map { for text in RunText.map(frameMap) { Console.print(text) } }
            }
            return .done
        }
    }
}
