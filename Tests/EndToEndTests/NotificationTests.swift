import Foundation
import Glibc
import Testing

/// `on_end` and `on_failure` of the config file, with a program that stands in for sendmail.
@Suite struct NotificationTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest(filters: "[{gaussian: {radius: 3}}]")
    }

    private func writeConfig(_ text: String, sendmail: String = #"cat >"mails/$$""#) throws {
        try workspace.write("#!/bin/sh\ncd '\(workspace.path)'\n\(sendmail)\n", to: "sendmail")
        #expect(chmod("\(workspace.path)/sendmail", 0o755) == 0)
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/mails", withIntermediateDirectories: true)
        try workspace.write(
            "\(text)\nnotifications: {sendmail: \(workspace.path)/sendmail}\n", to: "config/penumbra/penumbra.yaml")
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + arguments, in: workspace)
    }

    private func mails() throws -> [String] {
        try workspace.files(below: "mails").map { String(decoding: try workspace.read("mails/\($0)"), as: UTF8.self) }
    }

    private static let host = ProcessInfo.processInfo.hostName

    @Test func `a run that fails is told once, with what failed and the command to look`() async throws {
        try writeConfig("on_failure: {mail: ops@example.org}")
        try workspace.write("no picture", to: "photos/notes.png")
        let result = try await run("--quiet", "--run", "night-7")
        #expect(result.code == 1)
        let mails = try mails()
        let mail = try #require(mails.first)
        #expect(mails.count == 1)
        let lines = mail.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for line in [
            "To: ops@example.org", "Subject: Penumbra: test failed: 1 of 4 frames (\(Self.host))",
            "Auto-Submitted: auto-generated", "Exit code: 1", "Run: night-7",
            "Frames: 4 (3 published, 1 failed)", "The failure:", "  penumbra show night-7",
        ] {
            #expect(lines.contains(line), "\(line) is not in:\n\(mail)")
        }
        #expect(lines.contains { $0.hasPrefix("  photos/notes.png: ") }, "\(mail)")
        #expect(workspace.leftovers() == [])
    }

    @Test func `a mail says why the work after the last frame failed, with the job and the run`() async throws {
        try workspace.writeManifest(filters: "[{gaussian: {radius: 3}}]", more: "existing: update")
        #expect(try await run("--quiet").code == 0)
        try writeConfig("on_end: {mail: all@example.org}\non_failure: {mail: ops@example.org}")
        try workspace.remove("photos/a.png")
        #expect(try await run("--quiet", "--delete-orphans", "--run", "night-7").code == 1)
        let mails = try mails()
        let mail = try #require(mails.first { $0.contains("To: ops@example.org") })
        #expect(mails.count == 2)
        for text in [
            "\nSubject: Penumbra: test failed (\(Self.host))\n", "\nRun: night-7\n",
            "\nReason:\n  1 of 3 outputs have no input any more, over 10 %, and stay; --delete-orphans=all removes",
            "\n  penumbra show night-7\n",
        ] {
            #expect(mail.contains(text), "\(mail)")
        }
    }

    @Test func `kept outputs and broken pictures are named in the mail of a strict run, and by show`() async throws {
        try workspace.writeManifest(filters: "[{gaussian: {radius: 3}}]", more: "existing: update")
        try workspace.write("no picture", to: "photos/notes.png")
        #expect(try await run("--quiet").code == 1)
        try workspace.write("edited", to: "out/a.png")
        try writeConfig("on_failure: {mail: ops@example.org}")
        #expect(try await run("--quiet", "--strict", "--run", "night-7").code == 1)
        let mails = try mails()
        let mail = try #require(mails.first)
        #expect(mails.count == 1)
        for text in [
            "\nReason:\n  --strict counts 1 kept output and 1 still broken picture as failures\n",
            "\nKept outputs:\n  out/a.png: ", "\nStill broken pictures:\n  photos/notes.png: ",
        ] {
            #expect(mail.contains(text), "\(mail)")
        }
        try workspace.remove("photos/notes.png")
        #expect(try await run("--quiet", "--no-notify").code == 0)
        let show = try await Program.run("show", "night-7", in: workspace)
        for text in [
            "\nstate     failed: --strict counts 1 kept output and 1 still broken picture as failures\n",
            "\nkept\n  out/a.png: ",
            "\nstill broken when the run ended; none any more: changed, removed, or tried again since\n"
                + "  photos/notes.png: ",
        ] {
            #expect(show.output.contains(text), "\(show.output)")
        }
        #expect(try await Program.run("status", in: workspace).code == 0)
    }

    @Test func `a success is told to those who want each end, and to nobody else`() async throws {
        try writeConfig("on_end: {mail: all@example.org}\non_failure: {mail: ops@example.org}")
        #expect(try await run().code == 0)
        let mails = try mails()
        #expect(mails.count == 1)
        #expect(
            mails.first?.hasPrefix(
                "To: all@example.org\nSubject: Penumbra: test is done: 3 published (\(Self.host))\n") == true,
            "\(mails)")
    }

    @Test func `an address in both lists gets one mail`() async throws {
        try writeConfig("on_end: {mail: ops@example.org}\non_failure: {mail: ops@example.org}")
        try workspace.write("no picture", to: "photos/notes.png")
        #expect(try await run().code == 1)
        #expect(try mails().count == 1)
    }

    @Test func `a job that cannot start is told with its reason`() async throws {
        try writeConfig("on_failure: {mail: ops@example.org}")
        try workspace.writeManifest(inputs: "missing/*.png")
        let result = try await run("--quiet")
        #expect(result.code == 66)
        let mail = try #require(try mails().first)
        #expect(mail.contains("\nSubject: Penumbra: job.yaml failed (\(Self.host))\n"), "\(mail)")
        #expect(mail.contains("\nExit code: 66\n") && mail.contains("\nReason:\n  "), "\(mail)")
        #expect(mail.contains("missing"), "\(mail)")
    }

    @Test func `a manifest that is wrong is told, too`() async throws {
        try writeConfig("on_failure: {mail: ops@example.org}")
        try workspace.writeManifest(filters: "[{gausian: {radius: 3}}]")
        #expect(try await run("--quiet").code == 65)
        let mail = try #require(try mails().first)
        #expect(mail.contains("\nExit code: 65\n") && mail.contains("gausian"), "\(mail)")
    }

    @Test func `a delivery that fails is told, and the exit code stays`() async throws {
        try writeConfig(
            "on_end: [{mail: ops@example.org}, {webhook: 'http://127.0.0.1:1/', secret_file: none}]",
            sendmail: "echo 'queue is full' >&2; exit 75")
        let result = try await run("--quiet")
        #expect(result.code == 0)
        let (program, secret) = ("\(workspace.path)/sendmail", "\(workspace.path)/config/penumbra/none")
        #expect(
            result.errors == """
                test: the notification to webhook 127.0.0.1:1 was not delivered: \(secret): there is no such file
                   = correct 'secret_file' in the config file
                test: the notification to mail ops@example.org was not delivered: \(program) ended with exit code 75: queue is full

                """)
        #expect(result.output == "")
    }

    @Test func `a mail system that hangs does not keep the run`() async throws {
        try writeConfig("on_end: {mail: ops@example.org}", sendmail: "sleep 100000")
        let result = try await run("--quiet")
        #expect(result.code == 0)
        #expect(
            result.errors == """
                test: the notification to mail ops@example.org was not delivered: \(workspace.path)/sendmail took too long, \
                and was ended

                """)
    }

    @Test func `with --no-notify nobody is told`() async throws {
        try writeConfig("on_end: {mail: ops@example.org}")
        #expect(try await run("--no-notify").code == 0)
        #expect(try mails() == [])
    }

    @Test func `JSON lines stay JSON lines, and the last one is the summary`() async throws {
        try writeConfig("on_end: {mail: ops@example.org}", sendmail: "exit 75")
        let result = try await run("--json")
        #expect(result.code == 0)
        let lines = try result.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(lines.last?["event"] as? String == "summary")
        let notes = lines.compactMap { $0["message"] as? String }.filter { $0.contains("was not delivered") }
        #expect(notes.count == 1)
    }

    @Test func `a run that a signal stopped is told to nobody, because it goes on later`() async throws {
        let gate = try await Gate(in: workspace)
        let config = String(decoding: try workspace.read("config/penumbra/penumbra.yaml"), as: UTF8.self)
        try writeConfig(config + "on_end: {mail: ops@example.org}")
        try workspace.writeManifest(
            filters: "[\(Gate.filter)]", more: "existing: update\nshard: frame\n\(Gate.patience)")
        try gate.open(for: 1)
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        program.wait { workspace.exists("out/a.png") }
        kill(program.processID, SIGTERM)
        try gate.open(for: 3)
        #expect(program.finish().code == 143)
        #expect(try mails() == [])
    }

    @Test func `a watch tells each run's end, and gathers those that come soon`() async throws {
        try writeConfig("on_end: {mail: ops@example.org}")
        try workspace.writeManifest(
            inputs: "photos/*.png", filters: "[{gaussian: {radius: 3}}]", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait {
            !workspace.files(below: "mails").isEmpty && workspace.files(below: "state/penumbra/runs").isEmpty
        }
        try workspace.write(try workspace.read("photos/a.png"), to: "photos/d.png")
        program.wait { workspace.exists("out/d.png") }
        program.wait { workspace.files(below: "state/penumbra/runs").isEmpty }
        kill(program.processID, SIGTERM)
        let code = program.finish().code
        #expect(code == 0 || code == 143)
        let mails = try mails()
        #expect(
            mails.contains { $0.contains("Subject: Penumbra: test is done: 1 published (\(Self.host))\n") }, "\(mails)")
    }

    @Test func `config prints who is told, and no secret part of an address`() async throws {
        try writeConfig(
            "on_end: [{mail: ops@example.org}, {webhook: 'https://hooks.example.org/T0/secret'}]\non_failure: {mail: root}"
        )
        let result = try await Program.run("config", in: workspace)
        #expect(result.code == 0)
        #expect(result.output.contains("mail ops@example.org; webhook hooks.example.org, not signed"))
        #expect(!result.output.contains("T0/secret"))
    }
}
