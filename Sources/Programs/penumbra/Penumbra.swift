import ArgumentParser
import Glibc
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
        do throws(CommandError) {
            await main(try ArgumentCheck(Array(CommandLine.arguments.dropFirst())).arguments)
        } catch {
            Console.complain(error.message)
            Glibc.exit(error.status.rawValue)
        }
    }
}
