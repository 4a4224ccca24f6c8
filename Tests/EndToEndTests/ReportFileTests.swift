import Foundation
import Testing

/// `--metrics`, `--report` and `index`: files for others.
@Suite struct ReportFileTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func text(_ name: String) throws -> String { String(decoding: try workspace.read(name), as: UTF8.self) }

    private func run(_ more: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + more, in: workspace)
    }

    @Test func `metrics tell of the last run, and of the last one that was well`() async throws {
        try workspace.writeManifest(more: "existing: update")
        let night = try await run("--metrics", "m.prom")
        #expect(night.code == 0, "\(night.errors)\(night.output)")
        let first = try text("m.prom")
        #expect(first.contains(#"penumbra_frames{job="test",state="published"} 3"#))
        let success = first.split(separator: "\n").first { $0.hasPrefix("penumbra_last_success") }
        try workspace.write("no picture", to: "photos/d.png")
        #expect(try await run("--metrics", "m.prom").code == 1)
        let second = try text("m.prom")
        #expect(second.contains(#"penumbra_frames{job="test",state="failed"} 1"#))
        #expect(second.contains(#"penumbra_frames{job="test",state="skipped"} 3"#))
        #expect(second.contains(#"penumbra_exit_code{job="test"} 1"#))
        let kept = try #require(success)
        #expect(second.contains(kept))
    }

    @Test func `metrics tell of runs that could not start, and keep what is known of other jobs`() async throws {
        try workspace.writeManifest(more: "existing: update")
        try workspace.writeManifest("other.yaml", inputs: "none/*", more: "existing: update")
        let other = String(decoding: try workspace.read("other.yaml"), as: UTF8.self)
        try workspace.write(other.replacing("job: test", with: "job: other"), to: "other.yaml")
        #expect(try await run("--metrics", "m.prom").code == 0)
        let before = try text("m.prom").split(separator: "\n").filter { $0.contains(#"job="test""#) }
        let missing = try await Program.run("run", "other.yaml", "--metrics", "m.prom", in: workspace)
        #expect(missing.code == 66)
        let after = try text("m.prom")
        #expect(after.contains("penumbra_exit_code{job=\"other\"} 66\n"))
        #expect(after.contains("penumbra_last_run_timestamp_seconds{job=\"other\"} "))
        #expect(!after.contains("penumbra_last_success_timestamp_seconds{job=\"other\"}"))
        #expect(after.split(separator: "\n").filter { $0.contains(#"job="test""#) } == before)

        let busy = try await Program.run(
            "/usr/bin/flock", ["out", Program.penumbra, "run", "job.yaml", "--metrics", "m.prom"], in: workspace)
        #expect(busy.code == 75)
        #expect(try text("m.prom").contains("penumbra_exit_code{job=\"test\"} 75\n"))
        #expect(try text("m.prom").contains("penumbra_frames{job=\"test\",state=\"published\"} 3\n"))
        #expect(workspace.leftovers() == [])
    }

    @Test func `metrics that are too large to be read are told, and cost only themselves`() async throws {
        try workspace.writeManifest(more: "existing: update")
        #expect(try await run("--metrics", "m.prom").code == 0)
        let path = "\(workspace.path)/m.prom"
        #expect(truncate(path, 1 << 29) == 0)
        let result = try await run("--metrics", "m.prom", "--report", "r.html")
        #expect(result.code == 74)
        #expect(
            result.errors
                == "--metrics: \(path): cannot read: it is larger than 268435456 bytes\n   = remove it, or choose another path\n"
        )
        #expect(result.output.contains("3 skipped"))
        #expect(workspace.exists("r.html"))
        // What is known of other jobs is not lost.
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 1 << 29)
        #expect(workspace.leftovers() == [])
    }

    @Test func `an index names every output by its content, and stays when nothing changed`() async throws {
        try workspace.writeManifest(output: "web/{stem}-{hash8}.png", more: "existing: update\nindex: web/index.json")
        #expect(try await run().code == 0)
        struct Index: Decodable {
            struct Output: Decodable {
                let path: String
                let bytes: Int
                let width: Int
            }
            let job: String
            let outputs: [String: [Output]]
        }
        let index = try JSONDecoder().decode(Index.self, from: workspace.read("web/index.json"))
        #expect(index.job == "test")
        #expect(index.outputs.keys.sorted().map { String($0.prefix(8)) } == ["photos/a", "photos/b", "photos/c"])
        for output in index.outputs.values.joined() {
            #expect(try workspace.read("web/\(output.path)").count == output.bytes)
        }
        let time = try FileManager.default.attributesOfItem(atPath: "\(workspace.path)/web/index.json")
        #expect(try await run().code == 0)
        let again = try FileManager.default.attributesOfItem(atPath: "\(workspace.path)/web/index.json")
        #expect(time[.modificationDate] as? Date == again[.modificationDate] as? Date)
        #expect(time[.systemFileNumber] as? Int == again[.systemFileNumber] as? Int)
    }

    @Test(arguments: [("--report", "mine.html"), ("--metrics", "mine.prom")])
    func `a file that Penumbra did not write is not replaced`(option: String, name: String) async throws {
        try workspace.writeManifest()
        try workspace.write("mine", to: name)
        let result = try await run(option, name)
        #expect(result.code == 65)
        #expect(
            result.errors
                == "\(option): \(name) is there, and Penumbra did not write it\n   = take another name, or remove it\n")
        #expect(try text(name) == "mine")
        #expect(!workspace.exists("out"))
        let wrong = try await run(option, "photos/a.png")
        #expect(wrong.code == 64)
    }

    @Test(arguments: [("--report", "pipe.html"), ("--metrics", "pipe.prom")])
    func `a pipe in the place of a file is not waited for`(option: String, name: String) async throws {
        try workspace.writeManifest()
        #expect(mkfifo("\(workspace.path)/\(name)", 0o644) == 0)
        let result = try await run(option, name)
        #expect(result.code == 65)
        #expect(
            result.errors
                == "\(option): \(name) is there, and Penumbra did not write it\n   = take another name, or remove it\n")
    }

    @Test(arguments: ["--report", "--metrics"])
    func `a file that cannot be written is refused before anything is rendered`(option: String) async throws {
        try workspace.writeManifest()
        try workspace.write("no folder", to: "plain")
        let result = try await run(option, option == "--report" ? "plain/r.html" : "plain/m.prom")
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(option): \(workspace.path)/plain: cannot create the folder: Not a directory
                   = something that is no folder is in its place: move it away, or choose another path

                """)
        #expect(!workspace.exists("out"))
    }
}
