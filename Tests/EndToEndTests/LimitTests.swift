import Foundation
import Glibc
import Testing

/// Real programs under real limits of the system.
@Suite(.serialized) struct LimitTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for number in 0..<6 {
            try workspace.draw("photos/\(number).png", width: 160 + number, height: 120)
            try workspace.age("photos/\(number).png")
        }
        try workspace.writeManifest(more: "shard: frame")
    }

    /// Runs the job in a shell that has set limits before.
    private func run(_ limits: String, workers: Int) async throws -> Program.Result {
        try await Program.run(
            "/bin/sh",
            [
                "-c", "\(limits); exec \"$@\"", "sh", Program.penumbra, "run", "job.yaml", "--workers", "\(workers)",
            ], in: workspace)
    }

    /// No process and no temporary file is left, and each output is whole.
    private func expectTidiness(_ result: Program.Result) {
        #expect(workspace.leftovers() == [], "\(result.errors)")
        #expect([0, 69].contains(result.code), "\(result.code): \(result.output)\(result.errors)")
        #expect(result.code == 0 || result.errors.contains("RLIMIT_"), "\(result.errors)")
    }

    @Test func `a soft limit of open files is raised as far as workers need it`() async throws {
        let result = try await run("ulimit -S -n 40", workers: 8)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out").count == 6)
    }

    @Test func `a hard limit of open files that is too low is told before anything starts`() async throws {
        let result = try await run("ulimit -n 90", workers: 8)
        #expect(result.code == 69)
        #expect(
            result.errors == """
                cannot run 8 workers, which need 140 open files (2 could be had): this process may have no more than 90 \
                open files (RLIMIT_NOFILE)
                   = raise the limit by 'ulimit -n', or by 'LimitNOFILE=' of a systemd unit; or give fewer --workers

                """)
        #expect(!workspace.exists("out"))
        #expect(try await run("ulimit -n 90", workers: 2).code == 0)
    }

    @Test func `a hard limit that is too low for the outputs of one picture is told before anything starts`()
        async throws
    {
        let outputs = (1...30).map { "  - path: out/{stem}-\($0).png" }.joined(separator: "\n")
        try workspace.write(
            "job: test\ninputs: photos/0.png\nfilters: [{gaussian: {radius: 5}}]\noutputs:\n\(outputs)\n",
            to: "job.yaml")
        let result = try await run("ulimit -n 100", workers: 1)
        #expect(result.code == 69)
        #expect(
            result.errors.contains(
                "cannot run 1 worker, which need 106 open files: this process may have no more than 100 open files "
                    + "(RLIMIT_NOFILE)\n"),
            "\(result.errors)")
        #expect(!workspace.exists("out"))
        #expect(try await run("ulimit -n 256", workers: 1).code == 0)
        #expect(workspace.files(below: "out").count == 30)
    }

    @Test func `a worker that can open no more files blames no disk and no picture`() async throws {
        // None of them leaves so many open that it is to blame.
        for number in 1...5 {
            try await workspace.buildPlugin(
                "leak\(number)",
                render: "copy(tile); for (int i = 0; i < 220; i++) (void)!open(\"/dev/null\", O_RDONLY);")
        }
        try workspace.write("plugin_folders: [\(workspace.path)/plugins]\n", to: "config/penumbra/penumbra.yaml")
        try workspace.writeManifest(filters: "[leak1, leak2, leak3, leak4, leak5]", more: "shard: frame")
        let result = try await run("ulimit -n 1024", workers: 1)
        // Whether a file has to be opened after the last leak depends on the formats.
        #expect([0, 69].contains(result.code), "\(result.errors)")
        #expect(
            result.code == 0
                || result.errors.contains(
                    "cannot render: this process may have no more than 1024 open files (RLIMIT_NOFILE)"),
            "\(result.errors)")
        #expect(!result.errors.contains("failed"))
        #expect(!result.errors.contains("free some space"))
        #expect(workspace.leftovers() == [])
    }

    @Test func `a plugin that opens one file is not blamed for those that others left open above it`() async throws {
        // Two leave files open in each of two bands, and 256 are tolerated of each. Then there is a gap below most of them.
        for number in 1...2 {
            try await workspace.buildPlugin(
                "leak\(number)",
                render: "copy(tile); for (int i = 0; i < 120; i++) (void)!open(\"/dev/null\", O_RDONLY);")
        }
        try await workspace.buildPlugin(
            "gap",
            render: """
                copy(tile);
                for (int file = 3; file < 1024; file++) {
                    char link[64], target[64] = {0};
                    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
                    if (readlink(link, target, sizeof target - 1) > 0 && strcmp(target, "/dev/null") == 0) {
                        close(file);
                        break;
                    }
                }
                """)
        try await workspace.buildPlugin("one", render: "copy(tile); (void)!open(\"/dev/null\", O_RDONLY);")
        try workspace.write("plugin_folders: [\(workspace.path)/plugins]\n", to: "config/penumbra/penumbra.yaml")
        try workspace.writeManifest(filters: "[leak1, leak2, gap, one]", more: "shard: frame")
        let result = try await run("ulimit -n 1024", workers: 1)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `a run under a limit obeys SIGTERM while its workers are busy`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(filters: "[\(Gate.filter)]", more: "shard: frame\n\(Gate.patience)")
        let program = try RunningProgram(
            ["-c", "ulimit -n 110; exec \"$@\"", "sh", Program.penumbra, "run", "job.yaml", "--workers", "4"],
            in: workspace, program: "/bin/sh")
        program.wait { program.workers.count == 4 }
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect(result.code == 128 + SIGTERM, "\(result.errors)")
        #expect(workspace.leftovers() == [])
        withExtendedLifetime(gate) {}
    }

    @Test(arguments: [8, 12, 16, 20, 32, 64, 72, 80])
    func `however few files may be open, the run ends by itself`(files: Int) async throws {
        let result = try await run("ulimit -n \(files)", workers: 4)
        // With fewer than that the loader cannot open the program's libraries.
        if files > 8 { expectTidiness(result) }
    }

    @Test(arguments: [100, 150, 180, 200, 220, 240, 260, 300, 400, 700])
    func `however few addresses there are, the run ends by itself`(megabytes: Int) async throws {
        let result = try await run("ulimit -v \(megabytes * 1024)", workers: 2)
        // A process in which nothing runs any more tidies up nothing; the next run does.
        let isStarved = result.errors.contains("cannot continue: ")
        #expect(isStarved || workspace.leftovers() == [], "\(result.errors)")
        // A library may end a worker where memory is missing, and then no more is known.
        #expect([0, 1, 69].contains(result.code), "\(result.code): \(result.errors)")
        #expect(megabytes > 150 || result.errors.contains("MB of addresses (RLIMIT_AS)"), "\(result.errors)")
    }

    /// As a user without other processes: root has no such limit.
    @Test(
        .enabled(if: getuid() == 0 && access("/usr/bin/prlimit", X_OK) == 0, "needs root"),
        arguments: [1, 4, 10, 13, 16, 20, 24, 30, 40, 100])
    func `however few threads there are, the run ends by itself, and no picture is blamed`(threads: Int) async throws {
        let user = 61_000 + threads
        for folder in FileManager.default.subpaths(atPath: workspace.path) ?? [] {
            chown("\(workspace.path)/\(folder)", uid_t(user), gid_t(user))
        }
        chown(workspace.path, uid_t(user), gid_t(user))
        let result = try await Program.run(
            "/usr/bin/setpriv",
            [
                "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "prlimit", "--nproc=\(threads)",
                Program.penumbra, "run", "job.yaml", "--workers", "4",
            ], in: workspace)
        expectTidiness(result)
        #expect(threads < 100 || result.code == 0, "\(result.errors)")
        #expect(threads > 10 || result.errors.contains("processes and threads (RLIMIT_NPROC)"), "\(result.errors)")
    }
}
