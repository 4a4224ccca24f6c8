import ArgumentParser
import Confinement
import FoundationEssentials
import Glibc
import JobModel

/// Executes a command that can open only some folders. The service starts the runs of a token with folders by it.
struct ConfinedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confined",
        abstract: "Execute a command that can open nothing but some folders.",
        discussion: """
            The kernel's Landlock keeps the command, and everything that it starts, within these folders and those of the \
            system's programs and libraries. It cannot open sockets either. The process, its open files and its \
            environment stay, but $TMPDIR should name one of the folders.
            """,
        shouldDisplay: false)

    @Option(
        help: ArgumentHelp(
            "A folder or a file to read, and to execute programs of. May be given again.", valueName: "path"))
    var read: [String] = []

    @Option(help: ArgumentHelp("The same for one that may be missing.", valueName: "path"))
    var readIfPresent: [String] = []

    @Option(help: ArgumentHelp("A folder or a file to read and to change. May be given again.", valueName: "path"))
    var write: [String] = []

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after '--'.", valueName: "command")
    )
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("Give the command after '--'.") }
    }

    func run() throws {
        var confinement = Confinement.system(
            environment: ProcessInfo.processInfo.environment, mappings: Self.mappings())
        confinement.add(
            Confinement(
                readable: read.map { .init($0) } + readIfPresent.map { .init($0, .exactIfPresent) },
                writable: write.map { .init($0) }))
        // This program ignores both. The command would inherit that.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
        do {
            try confinement.execute(command.map(RawArguments.bytes))
        } catch {
            throw FarmError(error.outcome, error.message)
        }
    }

    private static func mappings() -> String {
        // Without /proc, only the usual folders of libraries are readable. A program that needs others does not start, and says so.
        (try? Data(contentsOf: URL(filePath: "/proc/self/maps"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
