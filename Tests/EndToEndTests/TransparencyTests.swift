import Foundation
import Testing

/// `reduce_transparency`, of a filter, a job or a user, in jobs that run every night.
@Suite(.serialized) struct TransparencyTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    private func write(filter: String = "style: dark", more: String = "") throws {
        try workspace.writeManifest(
            filters: "[{material: {\(filter)}}]", more: "existing: update\nshard: frame\n\(more)")
    }

    private func configure(_ line: String) throws {
        try workspace.write("\(line)\n", to: "config/penumbra/penumbra.yaml")
    }

    /// Why frames are rendered, or not; one reason for all.
    private func reason() async throws -> String? {
        let reasons = Set(try await Program.reasons(workspace).values)
        #expect(reasons.count == 1)
        return reasons.first
    }

    @Test func `outputs are made again when the config file asks for it, as with the filter's own value`() async throws
    {
        try write(filter: "style: dark, reduce_transparency: true")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let opaque = try workspace.contents(below: "out")

        try write()
        #expect(try await reason() == "reduce_transparency true → false")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try workspace.contents(below: "out") != opaque)

        try configure("reduce_transparency: true")
        #expect(try await reason() == "reduce_transparency false → true")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        #expect(try workspace.contents(below: "out") == opaque)
    }

    @Test func `the job wins over the config file, and --set over the job`() async throws {
        try write()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try configure("reduce_transparency: true")
        try write(more: "reduce_transparency: false")
        #expect(try await reason() == "skipped: up to date")
        let set = ["--set", "reduce_transparency=true"]
        #expect(try await Program.night(workspace, set[0], set[1]) == NightSummary(published: 3))
        #expect(try await reason() == "reduce_transparency true → false")
    }

    @Test func `previews and chains without a manifest follow the config file`() async throws {
        try write()
        func shown() async throws -> [Data] {
            let preview = try await Program.run(
                "preview", "job.yaml", "photos/a.png", "--size", "40", "-o", "p.png", in: workspace)
            let apply = try await Program.run(
                "apply", "material: {style: dark}", "photos/a.png", "-o", "q.png", "--force", in: workspace)
            #expect(preview.code == 0 && apply.code == 0, "\(preview.errors)\(apply.errors)")
            return [try workspace.read("p.png"), try workspace.read("q.png")]
        }
        let before = try await shown()
        try configure("reduce_transparency: true")
        let after = try await shown()
        #expect(before[0] != after[0] && before[1] != after[1])
    }

    @Test func `the schema knows the key of the job, and the filter's description tells of it`() async throws {
        let schema = try JSONSerialization.jsonObject(
            with: Data(try await Program.run("schema", in: workspace).output.utf8))
        let properties = (schema as? [String: Any])?["properties"] as? [String: [String: Any]]
        #expect(properties?["reduce_transparency"]?["default"] as? Bool == false)
        let description = try await Program.run("filters", "material", in: workspace).output
        #expect(
            description.contains(
                "Makes the glass opaque: there is only the tint, and no blur. It is also a key of the job"))
    }

    @Test func `config tells where it comes from`() async throws {
        try configure("reduce_transparency: true")
        let rows = try await Program.run("config", in: workspace).output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(rows.contains("reduce_transparency true \(workspace.path)/config/penumbra/penumbra.yaml"))
    }
}
