import Foundation
import Testing

/// `on_failure`: what becomes of outputs whose pictures fail now.
@Suite(.serialized) struct FailedOutputTests {
    private let workspace: Workspace

    init() async throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try write("remove")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    private func write(_ policy: String) throws {
        try workspace.writeManifest(more: "existing: update\nreceipts: sidecar\non_failure: \(policy)")
    }

    private func spoil(_ name: String) throws { try workspace.write("no picture", to: name) }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run", "job.yaml"] + arguments, in: workspace)
    }

    @Test func `an output whose picture is broken goes, with its receipt, and the others stay`() async throws {
        try spoil("photos/a.png")
        let result = try await run("--quiet")
        #expect(result.code == 1)
        #expect(result.errors.contains("removed 1 output of pictures that failed"), "\(result.errors)")
        #expect(!workspace.exists("out/a.png") && !workspace.exists("out/a.png.receipt.json"))
        #expect(workspace.exists("out/b.png") && workspace.exists("out/c.png"))
        // Nothing is told twice.
        let again = try await run("--quiet")
        #expect(again.code == 0 && again.errors == "", "\(again.errors)")
    }

    @Test func `a plan says what would go`() async throws {
        try spoil("photos/a.png")
        let plan = try await Program.run(Program.penumbra, ["plan", "job.yaml"], in: workspace)
        #expect(
            plan.output.contains(
                "  up to 1 output of pictures that cannot be rendered would be removed, because of 'on_failure: remove'\n"
            ),
            "\(plan.output)")
        #expect(workspace.exists("out/a.png"))
        // What failed in an earlier run and is not tried again counts, too.
        try write("keep")
        #expect(try await run().code == 1)
        try write("remove")
        let later = try await Program.run(Program.penumbra, ["plan", "job.yaml"], in: workspace)
        #expect(later.output.contains("  up to 1 output of pictures"), "\(later.output)")
    }

    @Test func `a value that no picture suits starts nothing, so that no output goes`() async throws {
        try workspace.writeManifest(
            filters: "[{white-balance: {neutral: '#00b49a'}}]", more: "existing: update\non_failure: remove")
        #expect(try await run().code == 65)
        #expect(workspace.exists("out/a.png"))
    }

    @Test func `a repair removes nothing: an output may be the last that is left of a picture`() async throws {
        try workspace.write(
            "job: two\ninputs: photos/a.png\nfilters: [gaussian]\non_failure: remove\n"
                + "outputs: [{path: 'two/{stem}.png'}, {path: 'two/{stem}.webp'}]\n", to: "two.yaml")
        #expect(try await Program.run(Program.penumbra, ["run", "two.yaml"], in: workspace).code == 0)
        try spoil("photos/a.png")
        try workspace.remove("two/a.png")
        let result = try await Program.run(Program.penumbra, ["verify", "--repair", "two.yaml"], in: workspace)
        #expect(result.code == 1)
        #expect(workspace.exists("two/a.webp"))
    }

    @Test func `an output that is gone already is not said to stay`() async throws {
        try spoil("photos/a.png")
        try workspace.remove("out/a.png")
        let result = try await run("--quiet")
        #expect(result.code == 1)
        #expect(!result.errors.contains("of pictures that failed"), "\(result.errors)")
    }

    @Test func `a picture that is whole again has an output again`() async throws {
        let picture = try workspace.read("photos/a.png")
        let output = try workspace.read("out/a.png")
        try spoil("photos/a.png")
        #expect(try await run().code == 1)
        try workspace.write(picture, to: "photos/a.png")
        #expect(try await run().code == 0)
        #expect(try workspace.read("out/a.png") == output)
    }

    @Test func `without the key an output stays, and goes when the key comes`() async throws {
        try write("keep")
        try spoil("photos/a.png")
        #expect(try await run().code == 1)
        #expect(workspace.exists("out/a.png"))
        try write("remove")
        _ = try await run()
        #expect(!workspace.exists("out/a.png"))
    }

    @Test func `what somebody edited stays`() async throws {
        try workspace.write("edited", to: "out/a.png")
        try spoil("photos/a.png")
        let result = try await run("--quiet")
        #expect(result.errors.contains("output was edited or damaged"), "\(result.errors)")
        #expect(try workspace.read("out/a.png") == Data("edited".utf8))
        #expect(try await run("--force").code == 1)
        #expect(try workspace.read("out/a.png") == Data("edited".utf8))
    }

    @Test func `a failure that is not the picture's fault removes nothing`() async throws {
        try FileManager.default.removeItem(atPath: "\(workspace.path)/photos/a.png")
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/photos/a.png", withDestinationPath: "/nowhere/a.png")
        #expect(try await run().code == 1)
        #expect(workspace.exists("out/a.png"))
    }
}
