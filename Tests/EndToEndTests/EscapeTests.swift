import Foundation
import Glibc
import Testing

/// Attempts of code that has taken a worker over, such as a plugin, or a decoder that a picture broke.
///
/// The sandbox refuses each of them. Without the sandbox each one goes through, so that no test holds for another reason.
/// `Support/escapes/escapes.c` has the attempts.
@Suite struct EscapeTests {
    /// The newest part of the sandbox that exists. 1: the filter of system calls. 2: workers open nothing for writing. 3: Landlock.
    /// The table of attempts says which part refuses each one.
    static let stage = 3

    @Test(arguments: EscapeAttempt.all.filter { (1...stage).contains($0.stage) }, EscapePlace.allCases)
    func `the sandbox refuses it`(attempt: EscapeAttempt, place: EscapePlace) async throws {
        let run = try await EscapeRuns.shared.run(in: place, sandbox: "require")
        switch run.outcomes[attempt.number] {
        case .refused, .killed: break
        case .wentThrough: Issue.record("\(attempt) went through")
        case nil: Issue.record("\(attempt) was not tried")
        }
    }

    @Test(arguments: EscapeAttempt.all, EscapePlace.allCases)
    func `without the sandbox it goes through`(attempt: EscapeAttempt, place: EscapePlace) async throws {
        let run = try await EscapeRuns.shared.run(in: place, sandbox: "off")
        let outcome = run.outcomes[attempt.number]
        guard outcome != .wentThrough, let outcome, let reason = attempt.reason else {
            #expect(outcome == .wentThrough)
            return
        }
        withKnownIssue("this machine refuses it without a sandbox, too: \(reason)") {
            Issue.record("\(attempt): \(outcome)")
        }
    }

    @Test(arguments: EscapeAttempt.all.filter { $0.stage == 0 }, EscapePlace.allCases)
    func `what a worker may do goes through in the sandbox, too`(
        attempt: EscapeAttempt, place: EscapePlace
    ) async throws {
        let run = try await EscapeRuns.shared.run(in: place, sandbox: "require")
        #expect(run.outcomes[attempt.number] == .wentThrough)
    }

    @Test(arguments: EscapePlace.allCases)
    func `the files of somebody else show what went through`(place: EscapePlace) async throws {
        let confined = try await EscapeRuns.shared.run(in: place, sandbox: "require").workspace
        #expect(try confined.status("elsewhere/size").st_size == 13)
        #expect(try confined.status("elsewhere/mode").st_mode & 0o777 == 0o600)
        #expect(try confined.status("elsewhere/time").st_mtim.tv_sec != 1_000_000_000)
        let free = try await EscapeRuns.shared.run(in: place, sandbox: "off").workspace
        #expect(try free.status("elsewhere/size").st_size == 0)
        #expect(try free.status("elsewhere/mode").st_mode & 0o777 == 0o640)
        #expect(try free.status("elsewhere/time").st_mtim.tv_sec == 1_000_000_000)
        #expect(free.exists("elsewhere/made") && !free.exists("elsewhere/doomed"))
        guard Self.stage >= 2 else { return }
        #expect(!confined.exists("elsewhere/made") && confined.exists("elsewhere/doomed"))
        #expect(try confined.read("elsewhere/content") == EscapeRuns.content)
    }

    @Test func `the table has all attempts`() {
        let stages = Dictionary(grouping: EscapeAttempt.all, by: \.stage).mapValues(\.count)
        #expect(stages == [0: 2, 1: 52, 2: 13, 3: 11])
        #expect(Set(EscapeAttempt.all.map(\.name)).count == EscapeAttempt.all.count)
    }
}

/// One row of the table in `escapes.c`.
struct EscapeAttempt: Sendable, CustomTestStringConvertible {
    let number: Int
    /// The part of the sandbox that refuses it. 0 if nothing does.
    let stage: Int
    let name: String
    /// Why some machines refuse it without a sandbox. Nil if none does.
    let reason: String?

    var testDescription: String { name }

    /// All attempts, read from the source, so that each one is written once. The test of the table fails if a row is not found.
    static let all: [EscapeAttempt] = {
        let source = (try? String(contentsOf: EscapeRuns.folder.appending(path: "escapes.c"), encoding: .utf8)) ?? ""
        let row = /\{(\d), "([^"]+)", \w+, (?:NULL|"([^"]*)")\},/
        return source.matches(of: row).enumerated().map { number, match in
            EscapeAttempt(
                number: number, stage: Int(match.output.1) ?? 0, name: String(match.output.2),
                reason: match.output.3.map(String.init))
        }
    }()
}

/// Where the code runs that tries to escape.
enum EscapePlace: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// While the library of a plugin is opened.
    case initialiser
    /// In a plugin's `render`.
    case render
    /// In a thread that a plugin started.
    case thread
    /// In libjpeg, while a picture is decoded.
    case decoder
    /// In a plugin's `render`, in a job whose outputs are folders, which its workers create themselves.
    case folders

    /// As the code knows it.
    var name: String { self == .folders ? EscapePlace.render.rawValue : rawValue }

    var testDescription: String { rawValue }
}

enum EscapeOutcome: Equatable, Sendable {
    case wentThrough
    /// The name of the error, or `SIGSYS`.
    case refused(String)
    /// The process has ended within the attempt.
    case killed
}

/// What became of all attempts in a place.
struct EscapeRun: Sendable {
    let workspace: Workspace
    /// By the number of the attempt.
    var outcomes: [Int: EscapeOutcome] = [:]
}

/// Tries all attempts of a place in as few workers as possible, once for all tests.
actor EscapeRuns {
    static let shared = EscapeRuns()

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Support/escapes")

    /// What is in each file of somebody else.
    static let content = Data("somebody else".utf8)

    private var runs: [String: Task<EscapeRun, any Error>] = [:]

    func run(in place: EscapePlace, sandbox: String) async throws -> EscapeRun {
        let name = "\(place) \(sandbox)"
        // All tests of this place and sandbox wait for the same task.
        let task = runs[name] ?? Task { try await Self.tryAll(in: place, sandbox: sandbox) }
        runs[name] = task
        return try await task.value
    }

    private static func tryAll(in place: EscapePlace, sandbox: String) async throws -> EscapeRun {
        let workspace = try Workspace()
        try await workspace.prepareEscapes(in: place)
        let victim = Process()
        victim.executableURL = URL(filePath: "/bin/sleep")
        victim.arguments = ["600"]
        // If it outlived the tests, they would not end before it.
        (victim.standardInput, victim.standardOutput, victim.standardError) = (
            FileHandle.nullDevice, FileHandle.nullDevice, FileHandle.nullDevice
        )
        try victim.run()
        // SIGTERM has left two of ten alive once, and nobody knows why.
        defer { if victim.isRunning { kill(victim.processIdentifier, SIGKILL) } }

        var run = EscapeRun(workspace: workspace)
        var next = 0
        // An attempt may end its worker. The next worker begins behind it.
        while next < EscapeAttempt.all.count {
            try workspace.write("", to: "words")
            let result = try await Program.run(
                "run", "job.yaml", in: workspace,
                environment: [
                    "PENUMBRA_SANDBOX": sandbox, "PENUMBRA_WORKERS": "1", "HOME": "\(workspace.path)/home",
                    "PENUMBRA_WORKER": "\(workspace.path)/worker", "PENUMBRA_PLUGIN_PATH": "\(workspace.path)/plugins",
                    "PENUMBRA_TEST_ESCAPE_PLACE": place.name, "PENUMBRA_TEST_ESCAPE_FOLDER": workspace.path,
                    "PENUMBRA_TEST_ESCAPE_VICTIM": "\(victim.processIdentifier)",
                    "PENUMBRA_TEST_ESCAPE_FROM": "\(next)", "PENUMBRA_TEST_ESCAPE_WORDS": "9",
                ])
            let words = String(decoding: try workspace.read("words"), as: UTF8.self)
            let tried = run.add(words)
            let last = try #require(tried.max(), "nothing was tried: \(result.output)\(result.errors)")
            next = last + 1
        }
        return run
    }
}

extension EscapeRun {
    /// Adds what workers wrote.
    ///
    /// - Returns: the numbers of the attempts that were tried.
    fileprivate mutating func add(_ words: String) -> Set<Int> {
        var tried: Set<Int> = []
        for match in words.matches(of: /escape \d+ (\d+) (tries|went through|refused by (\w+))/) {
            guard let number = Int(match.output.1) else { continue }
            tried.insert(number)
            // Several processes open a plugin. What went through in one of them counts.
            if outcomes[number] == .wentThrough { continue }
            if let error = match.output.3 {
                outcomes[number] = .refused(String(error))
            } else if match.output.2 == "went through" {
                outcomes[number] = .wentThrough
            } else if outcomes[number] == nil {
                outcomes[number] = .killed
            }
        }
        return tried
    }
}

extension Workspace {
    /// The files that attempts look for, the job that leads to them, and the library that makes them.
    fileprivate func prepareEscapes(in place: EscapePlace) async throws {
        for name in ["private", "size", "mode", "time", "attribute", "content", "doomed"] {
            try write(EscapeRuns.content, to: "elsewhere/\(name)")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(path)/elsewhere/\(name)")
        }
        for name in ["elsewhere/folder", "elsewhere/doomed-folder", "plugins", "preloaded", "home"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
        try draw("in/own.jpg", width: 60, height: 40)
        try draw("in/other.jpg", width: 60, height: 40)
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/in/link", withDestinationPath: "\(path)/elsewhere/private")
        try writeManifest(
            inputs: "in/own.jpg", filters: place == .decoder ? "[{gaussian: {radius: 2}}]" : "[evil]",
            output: place == .folders ? "out/{stem}.dzi" : "out/{stem}.png",
            more: "retries: 0\ntimeout: 60s")
        let library = place == .decoder ? "preloaded/decoder.so" : "plugins/libEvil.so"
        try await buildEscapes(place == .decoder ? "decoder.c" : "plugin.c", library)
        let preload = place == .decoder ? "LD_PRELOAD='\(path)/\(library)' " : ""
        // The descriptor stays open in the sandbox, where no file can be opened for writing.
        try write(
            "#!/bin/sh\n\(preload)exec '\(Program.worker)' \"$@\" 9>>'\(path)/words'\n", to: "worker")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(path)/worker")
    }

    private func buildEscapes(_ source: String, _ library: String) async throws {
        let header = ExampleTests.project.appending(path: "Sources/Pixels/CPenumbraPlugin/include").path
        let result = try await Program.run(
            "/usr/bin/cc",
            [
                "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", header,
                EscapeRuns.folder.appending(path: "escapes.c").path, EscapeRuns.folder.appending(path: source).path,
                "-o", library, "-lrt", "-ldl", "-lpthread",
            ], in: self)
        try #require(result.code == 0, "\(result.errors)")
    }

    fileprivate func status(_ name: String) throws -> stat {
        var found = stat()
        try #require(lstat("\(path)/\(name)", &found) == 0)
        return found
    }
}
