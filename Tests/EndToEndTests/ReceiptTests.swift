import Foundation
import Glibc
import Testing

/// `receipts: sidecar`: what third parties check outputs by.
@Suite(.serialized) struct ReceiptTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly(more: "receipts: sidecar")
    }

    private static let names = ["a.png", "b.png", "c.png"]
    private static let schema = ExampleTests.project.appending(path: "docs/receipt.schema.json").path

    private func receipt(_ name: String) throws -> [String: Any] {
        let data = try workspace.read("out/\(name).receipt.json")
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func text(_ receipt: [String: Any], _ part: String, _ key: String) -> String? {
        (receipt[part] as? [String: Any])?[key] as? String
    }

    private func published(_ name: String) throws -> Bool? {
        (try receipt(name)["run"] as? [String: Any])?["published"] as? Bool
    }

    /// Runs a command of a shell in the workspace.
    private func shell(_ command: String) async throws -> Program.Result {
        try await Program.run("/bin/bash", ["-e", "-o", "pipefail", "-c", command], in: workspace)
    }

    /// By the checker of Debian's `python3-jsonschema`.
    private func validate(_ files: [String]) async throws {
        let script = """
            import json, sys, jsonschema
            schema = json.load(open(sys.argv[1]))
            jsonschema.Draft202012Validator.check_schema(schema)
            for name in sys.argv[2:]: jsonschema.Draft202012Validator(schema).validate(json.load(open(name)))
            """
        let result = try await Program.run("/usr/bin/python3", ["-c", script, Self.schema] + files, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `every output has a receipt that fits the schema and the file`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(workspace.files(below: "out") == Self.names.flatMap { [$0, "\($0).receipt.json"] })
        try await validate(Self.names.map { "out/\($0).receipt.json" })
        for name in Self.names {
            let digest = try #require(try text(receipt(name), "output", "digest"))
            let input = try #require(try text(receipt(name), "input", "digest"))
            let path = try #require(try text(receipt(name), "input", "path"))
            try workspace.write("\(digest)  out/\(name)\n\(input)  \(path)\n", to: "sums")
            #expect(try await shell("xxhsum --check sums").code == 0)
        }
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `the pixels' digest is that of the samples, whole or in tiles`() async throws {
        try workspace.draw("photos/d.png", width: 300, height: 600)
        var digests: Set<String> = []
        for shard in ["frame", "tile"] {
            try workspace.write(
                """
                job: test
                inputs: photos/d.png
                filters: [{gaussian: {radius: 3}}]
                output: out/{stem}.ppm
                shard: \(shard)
                tile: 100
                existing: overwrite
                receipts: sidecar
                """, to: "job.yaml")
            #expect(try await Program.night(workspace).published == 1)
            digests.insert(try #require(try text(receipt("d.ppm"), "output", "pixels")))
        }
        // A PPM's samples follow its header.
        let found = try await shell(
            """
            tail -c \(300 * 600 * 3) out/d.ppm > raw
            split --bytes \(256 * 300 * 3) raw band-
            for band in band-*; do xxhsum -H2 < $band | cut -d' ' -f1; done > bands
            python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' < bands | xxhsum -H2
            """)
        #expect(digests == [String(found.output.prefix(32))], "\(found.errors)")
        let bands = try shellLines("bands")
        #expect((try receipt("d.ppm")["output"] as? [String: Any])?["bands"] as? [String] == bands)
    }

    private func shellLines(_ name: String) throws -> [String] {
        String(decoding: try workspace.read(name), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `a Deep Zoom folder has its receipt beside it, and a digest that a shell can take`() async throws {
        try workspace.writeNightly(output: "out/{stem}.dzi", more: "receipts: sidecar")
        #expect(try await Program.night(workspace).published == 3)
        try await validate(["a", "b", "c"].map { "out/\($0).receipt.json" })
        let digest = try await shell(
            #"""
            cd out/a
            find . -type f -printf '%P\n' | LC_ALL=C sort | while read -r file; do
              printf '%s\0%s\0%s\0' "$file" "$(stat -c %s "$file")" "$(xxhsum -H2 < "$file" | cut -d' ' -f1)"
            done | xxhsum -H2
            """#)
        #expect(try text(receipt("a"), "output", "digest") == String(digest.output.prefix(32)))
        #expect(try await Program.run("verify", "out", in: workspace).code == 0)
    }

    @Test func `receipts that are lost or tell of other bytes are written anew without rendering`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let whole = try receipt("b.png")
        try workspace.remove("out/a.png.receipt.json")
        try workspace.copy("out/a.png", to: "saved")
        let other = try workspace.read("out/b.png.receipt.json")
        try workspace.write(other, to: "out/c.png.receipt.json")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.output.contains("test: 2 receipts written of outputs that were published before\n"))
        #expect(try workspace.read("out/a.png") == workspace.read("saved"))
        try await validate(Self.names.map { "out/\($0).receipt.json" })
        #expect(try published("a.png") == false)
        #expect(try published("b.png") == true)
        #expect(try text(receipt("c.png"), "output", "name") == "c.png")
        #expect(try text(receipt("b.png"), "output", "digest") == text(whole, "output", "digest"))
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).output == "")
        #expect(workspace.leftovers() == [])
    }

    @Test func `the receipt of an output without its picture is not written again, whatever the picture's name`()
        async throws
    {
        #expect(try await shell(#"cp photos/a.png $'photos/n\xe9.png'"#).code == 0)
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        let before = try workspace.read("out/n%E9.png.receipt.json")
        #expect(try text(receipt("n%E9.png"), "input", "path_base64") != nil)
        #expect(try await shell(#"mv $'photos/n\xe9.png' elsewhere.png"#).code == 0)
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(!result.output.contains("receipt"), "\(result.output)")
        #expect(try workspace.read("out/n%E9.png.receipt.json") == before)
    }

    @Test func `a receipt that is written again keeps what no record has`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let before = try receipt("a.png")
        let changed = String(decoding: try workspace.read("out/a.png.receipt.json"), as: UTF8.self)
            .replacingOccurrences(of: "\"encoder\" : \"", with: "\"encoder\" : \"other ")
        try workspace.write(changed, to: "out/a.png.receipt.json")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.output.contains("test: 1 receipt written of outputs that were published before\n"))
        #expect(try published("a.png") == false)
        let bands = try #require((before["output"] as? [String: Any])?["bands"] as? [String])
        #expect((try receipt("a.png")["output"] as? [String: Any])?["bands"] as? [String] == bands)
    }

    @Test func `receipts come and go with the manifest's wish`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(workspace.files(below: "out") == Self.names)
        try workspace.writeNightly(more: "receipts: sidecar")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        #expect(workspace.files(below: "out").count == 6)
        // What is made anew without a job has none that tells of the old bytes.
        let applied = try await Program.run(
            "apply", "gaussian: {radius: 9}", "photos/a.png", "-o", "out/a.png", "--force", in: workspace)
        #expect(applied.code == 0 && !workspace.exists("out/a.png.receipt.json"))
        #expect(try await Program.night(workspace, "--force") == NightSummary(published: 3))
        // What is made anew without a receipt has none that tells of the old bytes.
        try workspace.writeNightly(radius: "6")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(workspace.files(below: "out") == Self.names)
    }

    @Test func `an edited output keeps its receipt, and an orphan takes its receipt along`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let before = try workspace.read("out/a.png.receipt.json")
        try workspace.write("edited", to: "out/a.png")
        try workspace.remove("photos/b.png")
        let night = try await Program.night(workspace, "--delete-orphans=all")
        #expect(night == NightSummary(skipped: 1, kept: 1))
        #expect(try workspace.read("out/a.png.receipt.json") == before)
        #expect(!workspace.exists("out/b.png") && !workspace.exists("out/b.png.receipt.json"))
    }

    @Test func `what is no receipt stays in its place, and is told of`() async throws {
        try workspace.write("{\"mine\": true}", to: "out/a.png.receipt.json")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(
            result.errors.contains(
                "test: 1 output without a receipt: another file is in its place, and stays\n  out/a.png\n"))
        #expect(try workspace.read("out/a.png.receipt.json") == Data("{\"mine\": true}".utf8))
        #expect(workspace.files(below: "out").count == 6)
    }

    @Test func `receipts are nobody's input`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.writeNightly("second.yaml", inputs: "out/*", output: "second/{stem}.png")
        let result = try await Program.run("run", "second.yaml", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "second") == Self.names)
        // Not even where outputs and inputs lie together.
        try workspace.writeNightly(
            "third.yaml", inputs: "photos/*", output: "photos/{stem}.webp",
            more: "exclude: ['photos/*.webp']\nreceipts: sidecar")
        for _ in 0..<2 { #expect(try await Program.run("run", "third.yaml", in: workspace).code == 0) }
        #expect(workspace.files(below: "photos").count == 9)
    }

    @Test func `a file alone is known by its receipt`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        for name in ["a.png", "a.png.receipt.json"] { try workspace.copy("out/\(name)", to: "elsewhere/\(name)") }
        #expect(try await Program.run("verify", "elsewhere/a.png", in: workspace).code == 0)
        try workspace.corrupt("elsewhere/a.png", .flipped(bit: 800))
        for argument in ["elsewhere", "elsewhere/a.png"] {
            let result = try await Program.run("verify", argument, in: workspace)
            #expect(result.code == 1)
            #expect(result.errors.hasPrefix("1 output changed\n  elsewhere/a.png: changed ("))
        }
    }

    @Test func `a run that is killed leaves outputs and receipts whole, and the next one completes them`() async throws
    {
        for number in 0..<40 { try workspace.copy("photos/a.png", to: "photos/n\(number).png") }
        for round in 0..<4 {
            let run = try RunningProgram(["run", "job.yaml", "--force"], in: workspace)
            let wanted = 10 * round + 3
            run.wait { workspace.files(below: "out").count >= wanted }
            kill(run.processID, SIGKILL)
            _ = run.finish()
            for name in workspace.files(below: "out") where name.hasSuffix(".receipt.json") && !name.hasPrefix(".") {
                let data = try workspace.read("out/\(name)")
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: data) }
            }
        }
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "out").count == 2 * 43)
        #expect(workspace.leftovers() == [])
        try await validate(workspace.files(below: "out").filter { $0.hasSuffix(".json") }.map { "out/\($0)" })
        let names = workspace.files(below: "out").filter { !$0.hasSuffix(".json") }
        for name in names {
            let digest = try #require(try text(receipt(name), "output", "digest"))
            try workspace.write("\(digest)  out/\(name)\n", to: "sums-\(name)")
        }
        #expect(try await shell("cat sums-* | xxhsum --check --quiet -").code == 0)
    }
}
