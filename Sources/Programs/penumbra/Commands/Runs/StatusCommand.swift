import ArgumentParser

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List runs: those that go on, those that were interrupted, the latest ones.",
        discussion: """
            'interrupted' is a run whose coordinator was killed: 'penumbra resume' goes on with it, as the next run of its \
            job does. Times are UTC.
            """)

    @OptionGroup var options: RunOptions

    @Flag(help: "All runs that are remembered, not the latest ten alone.")
    var all = false

    func run() async throws {
        try await Reporting(json: options.json).handling { _ in
            let archive = try options.archive()
            let runs = try archive.runs()
            let shown = all ? runs : runs.filter { !$0.condition.isEnded } + runs.filter(\.condition.isEnded).prefix(10)
            let lines = try shown.map { RunLine($0, concluded: try archive.concluded(of: $0)) }
            if options.json {
                for line in lines { JSONLine.run(line).print() }
            } else if lines.isEmpty {
                Console.print("nothing has run yet")
            } else {
                for line in RunText.table(lines) { Console.print(line) }
            }
            return .done
        }
    }
}
