import Foundation
import Testing

@Suite(.serialized) struct ExportTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest()
    }

    private func export(
        _ arguments: String..., schedule: String = "15 2 * * *", environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program.run(
            Program.penumbra, ["export", "--to", "crontab", "--schedule", schedule] + arguments, in: workspace,
            environment: environment)
    }

    @Test func `standard output holds the line alone, with whole paths`() async throws {
        try workspace.writeManifest("jobs/night ly.yaml", inputs: "../photos/*")
        let result = try await export("jobs/night ly.yaml", "job.yaml")
        #expect(result.code == 0)
        #expect(
            result.output == """
                15 2 * * * \(Program.penumbra) run --quiet '\(workspace.path)/jobs/night ly.yaml' \
                \(workspace.path)/job.yaml

                """)
    }

    @Test func `options go along`() async throws {
        try workspace.write("workers: 3\n", to: "c.yaml")
        let result = try await export(
            "job.yaml", "--config", "c.yaml", "--state-dir", "s", "--scratch", "/tmp/../var/tmp", "--workers", "2",
            "--lock-wait", "60", "--set", "filters[0].gaussian.radius=4", schedule: "@daily")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output == """
                @daily \(Program.penumbra) run --quiet --config \(workspace.path)/c.yaml --state-dir \(workspace.path)/s \
                --scratch /var/tmp --workers 2 --lock-wait 60 --set 'filters[0].gaussian.radius=4' \
                \(workspace.path)/job.yaml

                """)
        #expect(result.errors == "")
    }

    @Test func `what a run can be asked for goes along, and starts where it was given`() async throws {
        try workspace.write("photos/a.png\n", to: "list")
        let result = try await export(
            "job.yaml", "--strict", "--force", "--delete-orphans=all", "--report", "r.html", "--metrics", "m.prom",
            "--only",
            "*.jpg", "--only", "photos/a.png", "--limit", "9", "--files-from", "list", "--allow-empty", "--engine",
            "local",
            schedule: "@daily")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output == """
                @daily cd \(workspace.path) && \(Program.penumbra) run --quiet --force --strict --delete-orphans=all \
                --report \(workspace.path)/r.html --metrics \(workspace.path)/m.prom --engine local --only '*.jpg' --only \
                photos/a.png --limit 9 --files-from \(workspace.path)/list --allow-empty \(workspace.path)/job.yaml

                """)
    }

    @Test func `64: what cron cannot give`() async throws {
        let list = try await export("job.yaml", "--files-from", "-")
        #expect(list.code == 64)
        #expect(list.errors == "--files-from - is the standard input, and cron gives none\n   = give a file\n")
        let cluster = try await export("job.yaml", "--slurm-arg=--qos=x")
        #expect(cluster.code == 64)
        #expect(
            cluster.errors == "--slurm-arg is for a cluster, and the engine is local: give --engine slurm, too\n")
        for (option, words) in [("--json", "--json prints lines for programs"), ("--watch", "--watch never ends")] {
            let result = try await export("job.yaml", option)
            #expect(result.code == 64)
            #expect(result.errors.contains("\(words), and cron wants lines that end silently."))
        }
        let named = try await export("job.yaml", "--run", "night-7")
        #expect(named.code == 64)
        #expect(named.errors.contains("--run names one run, and another scheduler begins one each time."))
        let page = try await export("job.yaml", "--report", "r.txt")
        #expect(page.code == 64)
        #expect(page.errors == "--report: 'r.txt' does not end in .html\n")
        let missing = try await export("job.yaml", "--files-from", "nowhere")
        #expect(missing.code != 0 && missing.output == "")
        let time = try await export("job.yaml", "--deadline", "-5")
        #expect(time.code == 64)
        #expect(time.errors.contains("a time is a number, and s, m, h or d behind it"))
        let detached = try await export("job.yaml", "--detach")
        #expect(detached.code == 64)
        #expect(detached.errors == "--detach needs a cluster: give --engine slurm, too\n")
    }

    @Test func `every option of run is one of export`() async throws {
        let run = try await options(of: "run")
        let export = try await options(of: "export")
        #expect(run.count > 20)
        #expect(run.subtracting(export) == [])
    }

    private struct Tool: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable { let name: String }
                let names: [Name]?
            }
            let commandName: String
            let subcommands: [Command]?
            let arguments: [Argument]?
        }
        let command: Command
    }

    private func options(of command: String) async throws -> Set<String> {
        let help = try await Program.run("--experimental-dump-help", in: workspace)
        let tool = try JSONDecoder().decode(Tool.self, from: Data(help.output.utf8))
        let found = try #require(tool.command.subcommands?.first { $0.commandName == command })
        return Set((found.arguments ?? []).compactMap { $0.names?.map(\.name).max { $0.count < $1.count } })
    }

    @Test func `64: a schedule or an option that would fail every night`() async throws {
        let schedule = try await export("job.yaml", schedule: "15 25 * * *")
        #expect(schedule.code == 64)
        #expect(schedule.output == "")
        #expect(schedule.errors == "--schedule: the hour is 0 to 23, not '25' (in '15 25 * * *')\n")
        let wait = try await export("job.yaml", "--lock-wait", "soon")
        #expect(wait.code == 64)
        #expect(wait.output == "")
        #expect(wait.errors.contains("soon"))
    }

    @Test func `65 and 66: manifests are read first`() async throws {
        try workspace.writeManifest("bad.yaml", filters: "[gausian]")
        let bad = try await export("job.yaml", "bad.yaml")
        #expect(bad.code == 65)
        #expect(bad.output == "")
        #expect(bad.errors.hasPrefix("bad.yaml:3:11: error: unknown filter 'gausian'\n"))
        let gone = try await export("gone.yaml")
        #expect(gone.code == 66)
        #expect(gone.output == "")
    }

    @Test func `what cron does otherwise than it looks is a hint`() async throws {
        let result = try await export(
            "job.yaml", schedule: "15 2 1 * mon", environment: ["PENUMBRA_WORKERS": "2"])
        #expect(result.code == 0)
        #expect(
            result.errors == """
                hint: cron runs it on each day that matches the day of month '1' or the weekday 'mon', not only on those \
                that match both
                hint: cron does not know this shell's PENUMBRA_WORKERS, XDG_CONFIG_HOME, XDG_STATE_HOME; write NAME=value \
                lines above the job's, or use options and a config file

                """)
    }

    @Test(arguments: [
        (["--to", "crontab"], #"--to crontab needs a time, such as --schedule "15 2 * * *"."#),
        (
            ["--to", "crontab", "--schedule", "@daily", "--output", "x"],
            "--output belongs to --to openjd and --to slurm, not to --to crontab."
        ),
        (
            ["--to", "crontab", "--schedule", "@daily", "--shards", "2"],
            "--shards belongs to --to openjd and --to slurm, not to --to crontab."
        ),
        (["--to", "openjd", "--schedule", "@daily"], "--schedule belongs to --to crontab, not to --to openjd."),
        (["--to", "openjd", "--lock-wait", "5m"], "--lock-wait belongs to --to crontab, not to --to openjd."),
        (
            ["--to", "openjd", "--only", "x"],
            "--only belongs to --to crontab and --to slurm, not to --to openjd."
        ),
        (["--to", "slurm", "--quiet"], "--quiet belongs to --to crontab, not to --to slurm."),
        (["--to", "slurm", "--strict"], "--strict belongs to --to crontab, not to --to slurm."),
        (["--to", "openjd", "--state-dir", "x"], "--state-dir belongs to --to crontab, not to --to openjd."),
        (
            ["--to", "openjd", "--slurm-arg=--qos=x"],
            "--slurm-arg belongs to --to crontab and --to slurm, not to --to openjd."
        ),
        (["--to", "openjd", "other.yaml"], "--to openjd takes one manifest; export each of them."),
        (["--to", "openjd", "--shards", "0"], "--shards takes 1 to 1024, not 0."),
        (["--to", "openjd", "--program", ""], "--program is empty."),
        (["--to", "slurm"], "--to slurm writes several files: name a new folder by --output."),
        (
            ["--to", "slurm", "--output", "x", "--workers", "2"],
            "--workers belongs to --to crontab and --to openjd, not to --to slurm."
        ),
        (
            ["--to", "slurm", "--output", "x", "--slurm-arg=--array=5"],
            "--slurm-arg cannot be '--array=5': Penumbra gives --array itself."
        ),
    ])
    func `64: an option that the other program has no use for`(arguments: [String], message: String) async throws {
        let result = try await Program.run(Program.penumbra, ["export", "job.yaml"] + arguments, in: workspace)
        #expect(result.code == 64)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("Error: \(message)\n"), "\(result.errors)")
        #expect(!workspace.exists("x"))
    }
}
