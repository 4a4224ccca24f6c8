import ArgumentParser
import JobStorage

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Do frames of a run again: those that failed, or those you name.",
        discussion: """
            Pictures that are still broken are tried, too. Outputs that are up to date stay: 'penumbra run --force --only' \
            makes them again.
            """)

    enum State: String, CaseIterable, ExpressibleByArgument {
        case failed, left, published, skipped
    }

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunOptions

    @Option(help: "Frames that ended like this. Default: failed, unless --frames names some.")
    var state: State?

    @Option(help: ArgumentHelp("Frames by their numbers: 5, 37-52, 1,4,9-12.", valueName: "numbers"))
    var frames: FrameNumbers?

    func run() async throws {
        // The run writes JSON lines, and this command none.
        try await Reporting(json: false).handling { _ in
            let archive = try options.archive()
            let run = try archive.run(argument.run)
            guard run.condition.isEnded else {
                throw CommandError(
                    .busy, "\(run.stored.name): has not ended; 'penumbra resume' goes on with an interrupted run")
            }
            let chosen = try archive.frames(of: run).filter(isWanted)
            guard !chosen.isEmpty else {
                if !options.json { Console.print("\(run.stored.name): no such frames") }
                return .done
            }
            guard var command = try RepeatedRun(run, options, archive).command else { return .missingInput }
            command.json = command.json || options.json
            command.retried = Set(chosen.map(\.input))
            try await command.run()
            return .done
        }
    }

    private func isWanted(_ frame: StoredFrame) -> Bool {
        if let frames, !frames.contains(frame.number) { return false }
        guard let wanted = state ?? (frames == nil ? .failed : nil) else { return true }
        return wanted.rawValue == frame.state.word
    }
}

/// `1,4,9-12`
struct FrameNumbers: ExpressibleByArgument {
    private let ranges: [ClosedRange<Int>]

    init?(argument: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends.last.flatMap(\.self), first >= 1,
                last >= first
            else { return nil }
            ranges.append(first...last)
        }
        self.ranges = ranges
    }

    func contains(_ number: Int) -> Bool { ranges.contains { $0.contains(number) } }
}
