import Foundation
import TestSupport
import Testing

/// Workers that were taken over by a picture, and say of their work what is not so.
@Suite struct LyingWorkerTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 700, height: 500)
        try workspace.age("photos/a.png")
        try workspace.write("secret", to: "home/key")
    }

    private func penumbra(_ arguments: String..., lying lie: String, path: String = "home/key") async throws
        -> Program.Result
    {
        try await Program.run(
            Program.penumbra, arguments, in: workspace, environment: environment(lying: lie, path: path))
    }

    private func environment(lying lie: String, path: String) -> [String: String] {
        let liar = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Support/liar.py").path
        return [
            "PENUMBRA_WORKER": liar, "LIAR_WORKER": Program.worker, "LIAR_LIE": lie,
            "LIAR_PATH": "\(workspace.path)/\(path)", "LIAR_TOLD": "\(workspace.path)/told",
            "PENUMBRA_WORKER_ENVIRONMENT": "LIAR_*",
        ]
    }

    private func writeManifest(_ shard: String) throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 8}}]",
            more: "shard: \(shard)\ntile: 256\nverify: full\nretries: 0\nexisting: update\ncompare: content")
    }

    private static let lies = [
        "output-path", "output-bytes", "output-size", "output-frames", "output-format", "output-bands", "probe-size",
        "probe-pages", "probe-outputs", "probe-extent", "probe-grid", "probe-tiles", "probe-sources", "probe-halo",
        "probe-cost", "probe-amount", "probe-bytes", "compared-size",
        "probe-costs", "probe-amounts", "probe-area", "output-small", "failure-damage", "failure-plugin",
    ]
    private static let liesOfTiles = [
        "output-path", "tile-path", "tile-rect", "canvas-path", "canvas-rect", "metadata-path",
    ]

    @Test(arguments: lies.map { ($0, "frame") } + liesOfTiles.map { ($0, "tile") })
    func `a lie costs the frame and nothing else`(lie: String, shard: String) async throws {
        try writeManifest(shard)
        let result = try await penumbra("run", "job.yaml", "--workers", "1", lying: lie)
        #expect(workspace.exists("told"), "the lie was not told, so the test says nothing")
        #expect(result.code == 1, "\(result.output)\(result.errors)")
        #expect(result.errors.contains("the worker sent what is no answer to its task: "), "\(result.errors)")
        #expect(try workspace.read("home/key") == Data("secret".utf8))
        #expect(!workspace.exists("out/a.png"))
        #expect(workspace.leftovers() == [])
    }

    @Test func `a worker that reports of an order it was never given is not waited for`() async throws {
        try writeManifest("frame")
        let result = try await penumbra("run", "job.yaml", "--workers", "1", lying: "order-number")
        #expect(workspace.exists("told"))
        #expect(result.code == 1, "\(result.output)\(result.errors)")
        #expect(result.errors.contains("which it was never given"), "\(result.errors)")
        #expect(!workspace.exists("out/a.png"))
    }

    @Test(arguments: ["frame", "tile"]) func `the same worker, when it does not lie, is believed`(shard: String)
        async throws
    {
        try writeManifest(shard)
        let result = try await penumbra("run", "job.yaml", "--workers", "2", lying: "nothing")
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.exists("told"))
        #expect(workspace.exists("out/a.png"))
    }

    @Test func `rendering again to verify removes no folder that a worker names`() async throws {
        try writeManifest("frame")
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        let result = try await penumbra("verify", "job.yaml", "--rerender", lying: "output-path", path: "home")
        #expect(workspace.exists("told"))
        #expect(result.code != 0, "\(result.output)")
        #expect(try workspace.read("home/key") == Data("secret".utf8))
    }

    @Test func `blurring in place puts nothing in a picture's place that a worker names`() async throws {
        let before = try workspace.read("photos/a.png")
        let result = try await penumbra("blur", "--radius", "4", "photos/a.png", lying: "output-path")
        #expect(workspace.exists("told"))
        #expect(result.code != 0, "\(result.output)")
        #expect(try workspace.read("photos/a.png") == before)
        #expect(try workspace.read("home/key") == Data("secret".utf8))
    }

    @Test func `words of a worker are seen in no output as they are`() async throws {
        try writeManifest("frame")
        var texts: [String] = []
        for options in [["--report", "report.html", "--metrics", "metrics.prom"], ["--force", "--json"]] {
            let run = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--workers", "1"] + options, in: workspace,
                environment: environment(lying: "failure-words", path: "home/key"))
            #expect(run.code == 1, "\(run.output)\(run.errors)")
            #expect((run.output + run.errors).contains("gpj.exe"), "the words were not told, so the test says nothing")
            texts += [run.output, run.errors]
        }
        for command in [["show", "test"], ["logs", "test"], ["status"]] {
            for options in [[], ["--json"]] {
                let shown = try await Program.run(Program.penumbra, command + options, in: workspace)
                #expect(shown.code == 0, "\(shown.errors)")
                texts += [shown.output, shown.errors]
            }
        }
        texts += try ["report.html", "metrics.prom"].map { String(decoding: try workspace.read($0), as: UTF8.self) }
        for text in texts {
            #expect(HostileText.remains(in: text.replacing("\t", with: ""), lines: true) == [])
            let lines = text.split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("forged") || $0.hasPrefix("openjd_env") }, "\(text)")
        }
    }
}
