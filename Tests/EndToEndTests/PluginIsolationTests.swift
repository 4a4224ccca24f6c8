import Foundation
import Glibc
import Testing

/// What a plugin does that no plugin may do costs the picture that it does it on, and nothing else: every other output
/// has the bytes that it has when the plugin behaves.
@Suite(.serialized) struct PluginIsolationTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for (index, name) in ["a", "b", "c", "d", "e"].enumerated() {
            // The picture c is told from the others by its size.
            try workspace.draw("photos/\(name).png", width: name == "c" ? 61 : 60, height: 40 + index)
        }
    }

    /// C code of a filter that copies its input and misbehaves, and what is to come of it.
    struct Misdeed: CustomTestStringConvertible, Sendable {
        let name: String
        let code: String
        /// What is said of the picture c; nil when nothing fails.
        let words: String?
        var environment: [String: String] = [:]
        var more = ""

        var testDescription: String { name }
    }

    static let misdeeds =
        [
            Misdeed(
                name: "crashes", code: "copy(tile); if (here) *(volatile int *)8 = 1;",
                words:
                    "photos/c.png: the worker crashed with signal 11 inside the plugin 'bad' in 2 attempts; the picture "
                    + "is set aside"),
            Misdeed(
                name: "hangs", code: "copy(tile); while (here) pause();",
                words:
                    "photos/c.png: no result within 8 s inside the plugin 'bad' in 2 attempts; raise 'timeout' if it "
                    + "needs longer", more: "timeout: 8s"),
            Misdeed(
                // Twice as much as a worker may hold, were it not replaced in between.
                name: "leaks",
                code: "copy(tile); memset(malloc(150000000), 1, 150000000); if (resident() > 700000000) abort();",
                words: nil, environment: ["PENUMBRA_MEMORY": "300M", "PENUMBRA_WORKERS": "1"]),
            Misdeed(
                name: "asks for memory without end",
                code:
                    "copy(tile); if (here) { void *p; while ((p = malloc(1 << 26))) *(volatile char *)p = 1; abort(); }",
                words: "photos/c.png: the worker needed more memory inside the plugin 'bad' than the "),
            Misdeed(
                name: "raises the limits of the worker",
                code:
                    "copy(tile); struct rlimit l; for (int r = 0; r < 2; r++) { int n = r ? RLIMIT_DATA : RLIMIT_FSIZE; "
                    + "if (getrlimit(n, &l) || l.rlim_cur == l.rlim_max) abort(); l.rlim_cur = l.rlim_max; "
                    + "if (!setrlimit(n, &l)) abort(); }",
                words: nil),
            Misdeed(
                name: "hangs in another process group",
                code: "copy(tile); if (here) { setpgid(0, getpgid(getppid())); for (;;) pause(); }",
                words:
                    "photos/c.png: no result within 8 s inside the plugin 'bad' in 2 attempts; raise 'timeout' if it "
                    + "needs longer", more: "timeout: 8s"),
            Misdeed(
                name: "kills its own process", code: "copy(tile); if (here) kill(getpid(), SIGKILL);",
                words:
                    "photos/c.png: the worker was killed inside the plugin 'bad' 3 times in a row, and the picture is set "
                    + "aside; look for what sends SIGKILL, the plugin first of all"),
            Misdeed(
                // As many as any limit here allows.
                name: "leaves files open",
                code: "copy(tile); if (here) for (int i = 0; i < 1100; i++) (void)!open(\"/dev/null\", O_RDONLY);",
                words: "photos/c.png: bad: the plugin left 1"),
            Misdeed(
                name: "leaves a few files open",
                code: "copy(tile); for (int i = 0; i < 20; i++) (void)!open(\"/\", O_RDONLY);",
                words: nil),
            Misdeed(
                name: "closes files of the worker",
                code: "copy(tile); struct stat s; if (here) for (int f = 3; f < 1024; f++) "
                    + "if (!fstat(f, &s) && S_ISREG(s.st_mode)) close(f);",
                words: "photos/c.png: bad: the plugin closed a file that it had not opened; report this to its author"),
            Misdeed(name: "prints", code: "copy(tile); puts(\"{}\"); fflush(stdout);", words: nil),
            Misdeed(
                name: "exits", code: "copy(tile); if (here) exit(0);",
                words:
                    "photos/c.png: the worker left with exit code 0 inside the plugin 'bad' in 2 attempts; the picture is "
                    + "set aside"),
            Misdeed(
                name: "writes into the row padding",
                code:
                    "copy(tile); int bytes = tile->format == PENUMBRA_F32 ? 4 : tile->format == PENUMBRA_U16 ? 2 : 1; "
                    + "if (here) ((char *)tile->target.data)[tile->target.rect.width * tile->channels * bytes] = 1;",
                words:
                    "photos/c.png: bad: the plugin wrote outside of its tile, behind the end of row 0; report this to its "
                    + "author"),
            Misdeed(
                name: "writes beyond its tile",
                code: "copy(tile); if (here) ((char *)tile->target.data)[tile->target.rect.height * "
                    + "tile->target.row_bytes] = 1;",
                words:
                    "photos/c.png: the worker crashed with signal 11 inside the plugin 'bad' in 2 attempts; the picture "
                    + "is set aside"),
            Misdeed(name: "changes the floating-point mode", code: "copy(tile); fesetround(FE_UPWARD);", words: nil),
            Misdeed(
                // As libraries do on threads of their own.
                name: "reads the umask by changing it for a moment",
                code: """
                    void *look(void *none) { for (;;) umask(umask(0)); return none; }
                    static pthread_t reader; static int has;
                    copy(tile); if (!has) { has = 1; pthread_create(&reader, NULL, look, NULL); } usleep(20000);
                    """, words: nil),
            // What a call leaves changed of the process costs the frame that it was made for.
            changed("file mode mask (umask)", "umask(0);"),
            changed("resource limits", "struct rlimit few = {4, 4}; setrlimit(RLIMIT_NOFILE, &few);"),
            changed(
                "resource limits", "struct rlimit small = {1, RLIM_INFINITY}; setrlimit(RLIMIT_FSIZE, &small);",
                sandbox: "off"),
            changed("resource limits", "struct rlimit hour = {3600, 3600}; setrlimit(RLIMIT_CPU, &hour);"),
            changed("signal mask", "sigset_t all; sigfillset(&all); pthread_sigmask(SIG_SETMASK, &all, NULL);"),
            changed(
                "signal mask",
                "sigset_t one; sigemptyset(&one); sigaddset(&one, SIGTERM); sigprocmask(SIG_BLOCK, &one, NULL);"),
            changed("signal handlers", "signal(SIGTERM, SIG_IGN);"),
            changed("timers", "alarm(1);"),
            changed("working directory", "if (chdir(\"/\")) abort();"),
            changed("descriptors", "close(1);"),
            changed(
                "descriptors",
                "struct stat s; for (int f = 3; f < 20; f++) if (!fstat(f, &s) && S_ISFIFO(s.st_mode)) close(f);"),
            changed(
                "descriptors",
                "struct stat s; for (int f = 3; f < 20; f++) if (!fstat(f, &s) && S_ISFIFO(s.st_mode)) "
                    + "fcntl(f, F_SETFL, fcntl(f, F_GETFL) | O_NONBLOCK);"),
            changed("process group", "setpgid(0, getpgid(getppid()));", sandbox: "off"),
            changed("locale", "if (!setlocale(LC_NUMERIC, \"C.UTF-8\")) abort();"),
            changed("descriptors", "dup2(open(\"/dev/null\", O_RDONLY), 2);"),
            Misdeed(
                name: "closes all descriptors", code: "copy(tile); if (here) for (int f = 0; f < 1024; f++) close(f);",
                words:
                    "photos/c.png: the worker left with exit code 70 inside the plugin 'bad' in 2 attempts; the picture is "
                    + "set aside"),
            Misdeed(
                name: "uses up a limit of processor time that it has set",
                code: "copy(tile); if (here) { struct rlimit l; getrlimit(RLIMIT_CPU, &l); l.rlim_cur = 1; "
                    + "setrlimit(RLIMIT_CPU, &l); for (;;) (void)*(volatile int *)&l; }",
                words:
                    "photos/c.png: the worker crashed with signal 24 inside the plugin 'bad' in 2 attempts; the picture "
                    + "is set aside"),
        ] + (geteuid() == 0 ? misdeedsOfRoot : []) + (access("/proc/self/timers", R_OK) == 0 ? misdeedsWithTimers : [])

    /// What a kernel shows that was built with `CONFIG_CHECKPOINT_RESTORE`.
    private static let misdeedsWithTimers = [
        changed(
            "timers",
            "timer_t t; struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM}; "
                + "struct itimerspec s = {.it_value = {.tv_sec = 1}}; "
                + "for (int i = 0; i < 100; i++) if (timer_create(CLOCK_MONOTONIC, &e, &t) "
                + "|| timer_settime(t, 0, &s, NULL)) abort();")
    ]

    /// What only root can do.
    private static let misdeedsOfRoot = [
        changed("user", "if (seteuid(1)) abort();", sandbox: "off"),
        changed("root folder", "if (chroot(\"/tmp\")) abort();", sandbox: "off"),
        Misdeed(
            name: "becomes another user for good", code: "copy(tile); if (here && setuid(1)) abort();",
            words: "photos/c.png: the worker left with exit code 70 inside the plugin 'bad' in 2 attempts; the picture "
                + "is set aside", environment: ["PENUMBRA_SANDBOX": "off"]),
    ]

    /// - Parameter sandbox: `off` for what the sandbox refuses.
    private static func changed(_ what: String, _ code: String, sandbox: String = "auto") -> Misdeed {
        Misdeed(
            name: "changes the \(what): \(code)", code: "copy(tile); if (here) { \(code) }",
            words: "photos/c.png: bad: the plugin changed the worker's \(what); report this to its author",
            environment: ["PENUMBRA_SANDBOX": sandbox])
    }

    @Test(arguments: misdeeds)
    func `a plugin that misbehaves costs its own attempts only`(misdeed: Misdeed) async throws {
        let good = try await outputs(code: "copy(tile);", Misdeed(name: "", code: "", words: nil))
        #expect(good.result.code == 0, "\(good.result.errors)")
        let bad = try await outputs(code: misdeed.code, misdeed)
        var expected = good.files
        if let words = misdeed.words {
            expected["c.png"] = nil
            #expect(bad.result.code == 1)
            #expect(bad.result.errors.contains(words), "\(bad.result.errors)")
        } else {
            #expect(bad.result.code == 0, "\(bad.result.errors)")
        }
        #expect(bad.files == expected)
    }

    private func outputs(
        code: String, _ misdeed: Misdeed
    ) async throws -> (result: Program.Result, files: [String: Data]) {
        try? FileManager.default.removeItem(atPath: "\(workspace.path)/out")
        try await workspace.buildPlugin("bad", render: "const int here = tile->image.width == 61; (void)here; \(code)")
        // A blur behind the plugin shows a changed rounding.
        try workspace.writeManifest(filters: "[bad, {gaussian: {radius: 2.5, light: linear}}]", more: misdeed.more)
        let environment = ["PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins"]
        let result = try await Program.run(
            "run", "job.yaml", in: workspace,
            environment: environment.merging(misdeed.environment) { $1 })
        var files: [String: Data] = [:]
        for name in workspace.files(below: "out") {
            files[name] = try Data(contentsOf: URL(filePath: "\(workspace.path)/out/\(name)"))
        }
        return (result, files)
    }
}
