import ArgumentParser
import Glibc
import JobModel
import Settings
import WorkerProtocol

@main
struct Penumbra: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "penumbra",
        abstract: "A batch render farm for images.",
        discussion: """
            Write what you want into a manifest, then:

              penumbra check jobs/gaussian.yaml   reads it and says what is wrong with it
              penumbra plan jobs/gaussian.yaml    shows what would run, and why
              penumbra run jobs/gaussian.yaml     renders, verifies and publishes

            Or, without a manifest: penumbra apply 'gaussian: {radius: 12}' photo.jpg -o blurred.jpg
            """,
        version: "penumbra \(Version.penumbra)",
        subcommands: [
            RunCommand.self, ApplyCommand.self, PreviewCommand.self, CheckCommand.self, PlanCommand.self,
            AdoptCommand.self, VerifyCommand.self, BlurCommand.self, UnblurCommand.self, IsBlurredCommand.self,
            FiltersCommand.self,
            FormatsCommand.self, SchemaCommand.self,
            PluginCommand.self, ConfigCommand.self, DoctorCommand.self, ExportCommand.self,
            PrepareCommand.self, ShardCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Runs",
                subcommands: [
                    StatusCommand.self, ShowCommand.self, LogsCommand.self, WaitCommand.self, PauseCommand.self,
                    ResumeCommand.self, CancelCommand.self, RetryCommand.self, GcCommand.self,
                ])
        ])

    static func main() async {
        // A worker that dies while it is written to must not take the coordinator along.
        signal(SIGPIPE, SIG_IGN)
        // A limit on file sizes is met like a full disk, by an error.
        signal(SIGXFSZ, SIG_IGN)
        // What hands out work waits for ever for a thread that it cannot get.
        ResourceLimitError.saveAddresses()
        if let shortage = ResourceLimitError.found(threads: threads, room: addresses, for: "begin") {
            Console.complain("\(shortage)")
            Glibc.exit(RunOutcome.unavailable.rawValue)
        }
        StarvationWatch.start()
        do throws(FarmError) {
            await run(try ArgumentCheck(Array(CommandLine.arguments.dropFirst())).arguments)
        } catch {
            Console.complain(error.message)
            Glibc.exit(error.outcome.rawValue)
        }
    }

    /// As `main(_:)` does it. But that one shows what is wrong with an argument as it is, whatever it does to a terminal.
    private static func run(_ arguments: [String]) async {
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let code = exitCode(for: error)
            // It repeats what was given: an argument with a line break in it still makes one line.
            let text = arguments.flatMap { [$0, String($0.drop { $0 != "=" }.dropFirst())] }
                .reduce(fullMessage(for: error)) { text, word in
                    let shown = VisibleText.line(word)
                    return shown == word ? text : text.replacing(word, with: shown)
                }
            if !text.isEmpty { code.isSuccess ? Console.print(text) : Console.complain(text) }
            Glibc.exit(code.rawValue)
        }
    }

    /// As many as any command has: one for each core, and those that wait for processes, signals, the database and disks.
    private static var threads: Int { Machine.cores() + 12 }

    /// Beside stacks: a run of thousands of pictures takes no more.
    private static let addresses = 256 << 20
}
