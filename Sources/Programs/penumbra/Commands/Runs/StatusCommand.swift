import ArgumentParser
import Coordination
import JobModel
import JobStorage
import RenderFarm
import Runs
import ServiceClient

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List runs: running ones, interrupted ones, and the latest ones.",
        discussion: """
            'interrupted' is a run whose coordinator was killed. 'penumbra resume' resumes it, and so does the next run of \
            its job. 'detached' is a run that was handed to a cluster, or to another scheduler, and that no coordinator has \
            continued yet. Times are local, with their offset from UTC. In JSON they are UTC.
            """)

    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    @Flag(help: "All remembered runs, not only the latest ten.")
    var all = false

    @Flag(name: .shortAndLong, help: "Show changes until all runs have ended.")
    var follow = false

    private static let pause = Duration.milliseconds(500)
    /// So many runs that have ended are shown.
    private static let ended = 10

    func validate() throws { try remote.check(options, shared) }

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { _ in
            var view = StatusView(json: options.json, isRedrawn: follow && Console.outputIsTerminal)
            if let service = remote.service {
                let (ended, follow, first) = (all ? nil : Self.ended, follow, view)
                return try await service.asking { remote in
                    try Self.show(remote, ended: ended, follow: follow, first)
                }
            }
            let archive = try options.archive(shared)
            while true {
                let runs = try archive.runs()
                view.show(try chosen(of: runs).map { try RunLine($0, in: archive).inList })
                guard follow, runs.contains(where: \.condition.isGoingOn) else { return .done }
                try await ContinuousClock().sleep(for: Self.pause)
            }
        }
    }

    /// Shows the runs of a service. Whoever follows them waits for a service that is replaced by its next version.
    private static func show(
        _ remote: RemoteRuns, ended: Int?, follow: Bool, _ first: StatusView
    ) throws(ServiceError) -> RunOutcome {
        var view = first
        // Nil before the first answer: a service that was never there is not waited for.
        var absence: RemoteRuns.Absence?
        while true {
            do throws(ServiceError) {
                let runs = try remote.runs(ended: ended)
                view.show(runs.filter { !$0.isEnded } + runs.filter(\.isEnded))
                guard follow, try remote.isAnyGoingOn(of: runs) else { return .done }
                absence = RemoteRuns.Absence()
            } catch {
                guard absence != nil else { throw error }
                try absence?.bear(error)
            }
            RemoteRuns.waitABit()
        }
    }

    private func chosen(of runs: [RunStatus]) -> [RunStatus] {
        all ? runs : runs.filter { !$0.condition.isEnded } + runs.filter(\.condition.isEnded).prefix(Self.ended)
    }
}

extension RunLine {
    fileprivate var isEnded: Bool { condition?.isEnded ?? false }
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
            The map of --map has a letter for each frame:

              .   The frame waits.
              >   A worker has it.
              p   Its output was published.
              s   Its output was up to date.
              k   A file at its output's path was kept.
              b   Its picture is still broken.
              f   It failed.
              l   It is left for a later run.
            """)

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    @Flag(help: "Show the state of every frame, too.")
    var map = false

    func validate() throws { try remote.check(options, shared) }

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { _ in
            let printer = RunPrinter(json: options.json, map: map)
            if let service = remote.service {
                let name = argument.run
                return try await service.asking { remote in
                    let line = try remote.run(name)
                    let map = printer.map ? try remote.map(of: line) : nil
                    let (counts, broken) = (try remote.taskCounts(of: line), try remote.broken(in: line))
                    try printer.print(line, counts, broken, map) { state, body in
                        try remote.forEachFrame(of: line, state, body)
                    }
                    return .done
                }
            }
            let archive = try options.archive(shared)
            let run = try archive.run(argument.run)
            let map = map ? try archive.map(of: run).map(MapLine.init) : nil
            let details = try archive.details(of: run)
            let broken = try UnrecordedFrames().stillBroken(in: run, details, archive)
            let times = details.publicationTimes
            try printer.print(RunLine(run, in: archive), details.taskCounts, broken, map) { state, body in
                for frame in details.frames where state.map({ frame.state.kind == $0 }) ?? true {
                    body(StoredFrameLine(frame, published: times[frame.id]))
                }
            }
            return .done
        }
    }
}

/// Prints one run, wherever its lines come from.
private struct RunPrinter: Sendable {
    let json: Bool
    let map: Bool

    /// - Parameter forEachFrame: passes the frames with a state on, or all frames.
    func print(
        _ line: RunLine, _ counts: TaskCounts, _ broken: [BrokenLine], _ map: MapLine?,
        forEachFrame: (FrameResult.Kind?, (StoredFrameLine) -> Void) throws -> Void
    ) throws {
        if json {
            line.print()
            try forEachFrame(nil) { $0.print() }
            for record in broken { record.print() }
            map?.print()
            return
        }
        var failed: [StoredFrameLine] = []
        try forEachFrame(.failed) { failed.append($0) }
        for text in RunText.details(line, failed: failed, counts) { Console.print(text) }
        for text in RunText.kept(line.counts.trouble) { Console.print(text) }
        let known = line.counts.trouble?.broken ?? []
        for text in RunText.stillBroken(broken, of: line.counts.stillBroken, atEnd: known) { Console.print(text) }
        if self.map { for text in RunText.map(map) { Console.print(text) } }
    }
}
