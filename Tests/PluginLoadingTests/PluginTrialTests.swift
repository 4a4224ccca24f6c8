import Filters
import Foundation
import Glibc
import JobModel
import PluginLoading
import TestSupport
import Testing

/// Libraries that must not be opened in this process are found out in another one.
@Suite(.triesPlugins) struct PluginTrialTests {
    private let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture()
    }

    /// What a library does while it is opened, and what is said about it.
    private static let badStarts: [(code: String, problem: String)] = [
        ("abort();", "crashes with signal 6 while it is opened; remove or fix it"),
        ("*(volatile int *)8 = 1;", "crashes with signal 11 while it is opened; remove or fix it"),
        ("raise(SIGALRM);", "crashes with signal 14 while it is opened; remove or fix it"),
        ("_exit(0);", "ends the process (exit code 0) while it is opened; remove or fix it"),
        ("_exit(7);", "ends the process (exit code 7) while it is opened; remove or fix it"),
        (
            "if (fork() == 0) for (;;) pause(); _exit(7);",
            "ends the process (exit code 7) while it is opened; remove or fix it"
        ),
    ]

    @Test(arguments: badStarts)
    func `a library that crashes or leaves while it is opened is told, and the rest works`(
        start: (code: String, problem: String)
    ) throws {
        let path = try fixture.build("start", as: "liba.so", ["START=\(start.code)"])
        try fixture.build("spread")
        let (plugins, problems) = fixture.load(trial: PluginTrial())
        #expect(plugins.map(\.name) == ["spread"])
        #expect(problems == ["plugin \(path) \(start.problem)"])
    }

    /// Nanoseconds since 1970 end in 2262; file systems go on, and back.
    @Test(arguments: [10_413_792_000, -9_500_000_000])
    func `a library may be of any time`(seconds: Int) throws {
        let path = try fixture.build("spread")
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        let (plugins, problems) = fixture.load(trial: PluginTrial())
        #expect(plugins.map(\.name) == ["spread"])
        #expect(problems == [])
    }

    /// Ways to go on for ever, whatever signals are sent.
    private static let hangs = [
        "for (;;) pause();",
        "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) pause();",
        "signal(SIGALRM, SIG_IGN); signal(SIGTERM, SIG_IGN); for (;;) pause();",
        "for (int file = 3; file < 1000; file++) close(file); for (;;) pause();",
    ]

    @Test(arguments: hangs)
    func `a library that hangs while it is opened is told, and the rest works`(code: String) throws {
        let path = try fixture.build("start", as: "liba.so", ["START=\(code)"])
        try fixture.build("spread")
        let (plugins, problems) = fixture.load(trial: PluginTrial(timeout: .milliseconds(300)))
        #expect(plugins.map(\.name) == ["spread"])
        #expect(problems == ["plugin \(path) hangs while it is opened; remove it, or fix what it does at load"])
    }

    /// Both hold a pipe open that this process reads: its end is the end of them all.
    @Test func `a library that hangs leaves no process behind`() throws {
        let pipe = fixture.folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try fixture.build("start", as: "liba.so", ["START=open(\"\(pipe)\",O_WRONLY);fork();for (;;) pause();"])
        _ = fixture.load(trial: PluginTrial(timeout: .milliseconds(300)))
        var end = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&end, 1, 10000) == 1)
        #expect(Int32(end.revents) & POLLHUP != 0)
    }

    @Test func `a description that cannot be read ends the trial, not the worker`() throws {
        let path = try fixture.build("flawed", as: "liba.so", ["VERSION=(const char *)8"])
        try fixture.build("spread")
        let (plugins, problems) = fixture.load(trial: PluginTrial())
        #expect(plugins.map(\.name) == ["spread"])
        #expect(problems == ["plugin \(path) crashes with signal 11 while it is opened; remove or fix it"])
    }

    /// Parts of a parameter that point nowhere.
    private static let strayPointers = [
        ".name=(const char *)8,.summary=\"a\"", ".name=\"a\",.summary=(const char *)8",
        ".name=\"a\",.summary=\"a\",.unit=(const char *)8",
        ".name=\"a\",.summary=\"a\",.kind=PENUMBRA_CHOICE,.choices=(const char *const *)8",
    ]

    @Test(arguments: strayPointers)
    func `so does a parameter that cannot be read`(members: String) throws {
        let path = try fixture.build("flawed", ["PARAMETER={\(members)}"])
        #expect(
            fixture.load(trial: PluginTrial()).problems == [
                "plugin \(path) crashes with signal 11 while it is opened; remove or fix it"
            ])
    }

    /// As Swift's crash reporter does, where it is on and the program is large. A handler is the whole process's, but
    /// nothing else that runs here crashes.
    @Test func `what this process would do at a crash is not waited for in a trial`() throws {
        let path = try fixture.build("flawed", ["VERSION=(const char *)8"])
        let before = signal(SIGSEGV) { _ in while true { pause() } }
        defer { signal(SIGSEGV, before) }
        #expect(
            fixture.load(trial: PluginTrial()).problems == [
                "plugin \(path) crashes with signal 11 while it is opened; remove or fix it"
            ])
    }

    @Test func `what was refused is refused again without another trial, while it is the same file`() throws {
        let mark = fixture.folder.file("mark")
        let start = ["START=if (creat(\"\(mark)\",0600)>=0) abort();"]
        let path = try fixture.build("start", as: "liba.so", start)
        let first = fixture.loadTelling(trial: PluginTrial())
        let (problems, refused) = (first.problems, first.refused)
        #expect(problems == ["plugin \(path) crashes with signal 6 while it is opened; remove or fix it"])
        #expect(refused.map(\.path) == [path])
        #expect(unlink(mark) == 0)
        let again = fixture.loadTelling(trial: PluginTrial(known: refused))
        #expect(again.problems == problems)
        #expect(again.refused == refused)
        #expect(access(mark, F_OK) != 0)
        try fixture.build("spread", as: "liba.so")
        let mended = fixture.loadTelling(trial: PluginTrial(known: refused))
        #expect(mended.plugins.map(\.name) == ["spread"])
        #expect(mended.refused == [])
    }
}
