import Foundation
import Testing

/// What a terminal gets, and what files and pipes get.
@Suite(.serialized) struct TerminalTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest()
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Support/terminal.py"
    ).path

    /// Runs `penumbra` in a terminal that answers in this way when it is asked for its attributes. Its two outputs are one text.
    private func show(
        _ arguments: String..., answer: String = "", environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let defaults = ["TERM": "xterm", "LC_ALL": "C.UTF-8"]
        return try await Program.run(
            "/usr/bin/python3", [Self.script, answer, Program.penumbra] + arguments, in: workspace,
            environment: defaults.merging(environment) { $1 })
    }

    private static let wrong = ["check", "job.yaml", "--set", "filters[0].gaussian.radius=-1"]

    @Test func `messages have colours in a terminal`() async throws {
        let result = try await show("check", "job.yaml", "--set", "filters[0].gaussian.radius=-1")
        #expect(result.code == 65)
        #expect(result.output.contains(": \u{1b}[1;31merror:\u{1b}[0m "), "\(result.output)")
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
    func `a user may want no colours`(environment: [String: String]) async throws {
        let result = try await show(
            "check", "job.yaml", "--set", "filters[0].gaussian.radius=-1", environment: environment)
        #expect(result.code == 65)
        #expect(!result.output.contains("\u{1b}"), "\(result.output)")
    }

    @Test func `files and pipes get colours only when they are asked for`() async throws {
        let auto = try await Program.run(
            Program.penumbra, Self.wrong, in: workspace, environment: ["TERM": "xterm"])
        #expect(!auto.errors.contains("\u{1b}"))
        let always = try await Program.run(Program.penumbra, Self.wrong + ["--color", "always"], in: workspace)
        #expect(always.errors.contains(": \u{1b}[1;31merror:\u{1b}[0m "), "\(always.errors)")
        let never = try await show("--color=never", "check", "job.yaml", "--set", "filters[0].gaussian.radius=-1")
        #expect(never.code == 65)
        #expect(!never.output.contains("\u{1b}"))
    }

    @Test func `a terminal whose locale is not UTF-8 gets ASCII, and a pipe gets UTF-8`() async throws {
        let posix = ["LC_ALL": "C"]
        let terminal = try await show("plan", "job.yaml", environment: posix)
        #expect(terminal.output.contains("160x120 rgb u8"), "\(terminal.output)")
        #expect(terminal.output.utf8.allSatisfy { $0 < 0x80 })
        let pipe = try await Program.run("plan", "job.yaml", in: workspace, environment: posix)
        #expect(pipe.output.contains("160×120 rgb u8"))
        #expect(try await show("plan", "job.yaml").output.contains("160×120 rgb u8"))
    }

    private func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(workspace.path)/\(folder)").sorted()
    }

    /// The folder for temporary files.
    private func makeTemporaryFolder() throws -> [String: String] {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/tmp", withIntermediateDirectories: true)
        return ["TMPDIR": "\(workspace.path)/tmp"]
    }

    @Test func `a preview is shown by kitty's protocol where the terminal has it`() async throws {
        let environment = try makeTemporaryFolder()
        let result = try await show(
            "preview", "job.yaml", "photos/a.png", "--size", "20", answer: #"\e_Gi=31;OK\e\\e[?62;4c"#,
            environment: environment)
        #expect(result.code == 0, "\(result.output)")
        let start = try #require(result.output.firstRange(of: "\u{1b}_Ga=T,f=100,q=2,m=0;"), "\(result.output)")
        let data = result.output[start.upperBound...].prefix { $0 != "\u{1b}" }
        #expect(
            try await Program.run("preview", "job.yaml", "photos/a.png", "--size", "20", "-o", "p.png", in: workspace)
                .code == 0)
        #expect(Data(base64Encoded: String(data)) == (try workspace.read("p.png")))
        #expect(result.output.hasSuffix("\u{1b}\\\n20×20 px at 70,50 of photos/a.png, 160×120 px\n"))
        #expect(try files(in: "tmp") == [])
    }

    @Test func `a preview is shown as sixels where the terminal has only these`() async throws {
        let environment = try makeTemporaryFolder()
        let result = try await show(
            "preview", "job.yaml", "photos/a.png", "--size", "20", answer: #"\e[?62;4;22c"#, environment: environment)
        #expect(result.code == 0, "\(result.output)")
        #expect(result.output.contains("\u{1b}Pq\"1;1;20;20#"))
        #expect(result.output.hasSuffix("-\u{1b}\\\n20×20 px at 70,50 of photos/a.png, 160×120 px\n"))
        #expect(try files(in: "tmp") == [])
    }

    @Test(arguments: [#"\e[?62;22c"#, ""])
    func `another terminal gets the path of a file`(answer: String) async throws {
        let environment = try makeTemporaryFolder()
        let result = try await show(
            "preview", "job.yaml", "photos/a.png", "--size", "20", answer: answer, environment: environment)
        #expect(result.code == 0, "\(result.output)")
        let file = try #require(try files(in: "tmp").last)
        #expect(file.hasPrefix("penumbra-preview-") && file.hasSuffix("/preview.png"))
        #expect(
            result.output.hasSuffix(
                "\(workspace.path)/tmp/\(file): 20×20 px at 70,50 of photos/a.png, 160×120 px\n"), "\(result.output)")
    }

    @Test func `a pipe gets the path of a file, and no question`() async throws {
        let environment = try makeTemporaryFolder()
        let result = try await Program.run(
            "preview", "job.yaml", "photos/a.png", "--size", "20", in: workspace, environment: environment)
        #expect(result.code == 0, "\(result.errors)")
        let file = try #require(try files(in: "tmp").last)
        #expect(result.output.hasPrefix("\(workspace.path)/tmp/\(file): 20×20 px"), "\(result.output)")
    }

    @Test func `an animation needs a file`() async throws {
        let result = try await show("preview", "job.yaml", "--compare", "blink")
        #expect(result.code == 64)
        #expect(result.output.contains("--compare blink is an animation; name a .gif or .webp file by -o.\n"))
    }

    @Test func `no picture is written to a terminal as bytes`() async throws {
        let result = try await show("apply", "invert", "photos/a.png", "-o", "-")
        #expect(result.code == 64)
        #expect(result.output.hasPrefix("-o -: the standard output is a terminal\n"), "\(result.output)")
    }
}
