import ArgumentParser

/// `penumbra-faults`: runs jobs while it injects faults, and looks whether every invariant held.
@main struct PenumbraFaults: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "penumbra-faults",
        abstract: "Runs jobs of Penumbra while it injects faults, and checks that all invariants hold.",
        discussion: """
            Every scenario follows from its kind and seed, which are printed. Only processes that the harness started \
            are ever harmed. Exit codes: 0 all held; 1 something did not, and its folder was kept; 64 usage; 70 the \
            harness itself failed.
            """,
        subcommands: [RunCommand.self, ListCommand.self, MutationsCommand.self, WorkerCommand.self])
}

/// Kinds of scenarios.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the kinds of scenarios.")

    func run() {
        let width = ScenarioKind.allCases.map(\.rawValue.count).max() ?? 0
        for kind in ScenarioKind.allCases {
            print(kind.rawValue + String(repeating: " ", count: width + 2 - kind.rawValue.count) + kind.summary)
        }
    }
}
