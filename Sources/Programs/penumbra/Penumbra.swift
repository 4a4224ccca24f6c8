import ArgumentParser
import Glibc
import JobModel
import Settings
import Terminals
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

            Or, without a manifest:

              penumbra apply 'gaussian: {radius: 12}' photo.jpg -o blurred.jpg

            'penumbra help manifest' lists all keys of a manifest, and 'penumbra help COMMAND' explains a command.
            """,
        version: "penumbra \(Version.penumbra)",
        subcommands: [
            RunCommand.self, ApplyCommand.self, PreviewCommand.self, CheckCommand.self, PlanCommand.self,
            AdoptCommand.self, VerifyCommand.self, BlurCommand.self, UnblurCommand.self, IsBlurredCommand.self,
            FiltersCommand.self,
            FormatsCommand.self, SchemaCommand.self,
            PluginCommand.self, ConfigCommand.self, DoctorCommand.self, ExportCommand.self,
            PrepareCommand.self, ShardCommand.self, ConfinedCommand.self, ReferenceCommand.self, CompletionCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Runs",
                subcommands: [
                    StatusCommand.self, ShowCommand.self, LogsCommand.self, WaitCommand.self, PauseCommand.self,
                    ResumeCommand.self, CancelCommand.self, RetryCommand.self, GcCommand.self,
                ]),
            CommandGroup(
                name: "Service",
                subcommands: [ServeCommand.self, SubmitCommand.self, QueueCommand.self, TokenCommand.self]),
            CommandGroup(
                name: "Help Topics",
                subcommands: [
                    ManifestTopic.self, OutputNamesTopic.self, ExitCodesTopic.self, EnvironmentTopic.self,
                    FilesTopic.self,
                ]),
        ])

    /// For help and completions. ``ArgumentCheck`` takes the option out of every command line.
    @Option(
        help: ArgumentHelp(
            "Colours of messages: auto, always or never. Every command takes this option.", valueName: "when"))
    var color = ColorChoice.auto

    static func main() async {
        // A write to a worker that has just died must not end this process.
        signal(SIGPIPE, SIG_IGN)
        // A limit on file sizes causes an error, as a full disk does.
        signal(SIGXFSZ, SIG_IGN)
        // The runtime that hands out work waits forever if it cannot get a thread.
        ResourceLimitError.saveAddresses()
        if let shortage = ResourceLimitError.found(threads: threads, room: addresses, for: "begin") {
            Console.complain("\(shortage)")
            Glibc.exit(RunOutcome.unavailable.rawValue)
        }
        StarvationWatch.start()
        var arguments = Array(CommandLine.arguments.dropFirst())
        // This is `main(_:)` of the parser, but it never writes control characters of arguments to a terminal.
        do {
            let check = try ArgumentCheck(arguments)
            Console.use(check.color)
            arguments = check.arguments
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as FarmError {
            Console.complain(error.message)
            end(error.outcome.rawValue)
        } catch let code as ExitCode {
            // The parser would make the help of all commands, only to find that there is nothing to say.
            end(code.rawValue)
        } catch {
            let code = exitCode(for: error)
            // The message repeats arguments. One with a line break in it still makes one line.
            let text = arguments.flatMap { [$0, String($0.drop { $0 != "=" }.dropFirst())] }
                .reduce(fullMessage(for: error)) { text, word in
                    let shown = VisibleText.line(word)
                    return shown == word ? text : text.replacing(word, with: shown)
                }
            if !text.isEmpty { code.isSuccess ? Console.print(text) : Console.complain(text) }
            end(code.rawValue)
        }
    }

    /// Ends the process without taking anything apart, because other threads may still use it.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }

    /// The most threads that a command has: one for each core, and those that wait for processes, signals, the database and disks.
    private static var threads: Int { Machine.cores() + 12 }

    /// The memory beside stacks that a run of thousands of pictures takes.
    private static let addresses = 256 << 20
}

extension ColorChoice: ExpressibleByArgument {}
