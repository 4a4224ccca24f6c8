import Foundation
import Testing

/// `index:`, which picture became which outputs.
@Suite(.serialized) struct IndexFileTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    /// The outputs' paths by their sources' names.
    private func index() throws -> [String: [String]] {
        struct Index: Decodable {
            struct Output: Decodable { let path: String }
            let outputs: [String: [Output]]
        }
        let index = try JSONDecoder().decode(Index.self, from: workspace.read("web/index.json"))
        return Dictionary(
            uniqueKeysWithValues: index.outputs.map { ($0.key.replacing("photos/", with: ""), $0.value.map(\.path)) })
    }

    @Test func `it has the outputs that are in place as they were published, and no others`() async throws {
        try workspace.writeNightly(output: "web/{stem}.png", more: "index: web/index.json")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try index() == ["a.png": ["a.png"], "b.png": ["b.png"], "c.jpg": ["c.png"]])
        try workspace.write("edited", to: "web/a.png")
        try workspace.remove("photos/c.jpg")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1, kept: 1))
        #expect(try index() == ["b.png": ["b.png"]])
        // A run of some frames leaves the others' entries.
        try workspace.draw("photos/d.png", width: 20, height: 20)
        #expect(try await Program.night(workspace, "--only", "d.png") == NightSummary(published: 1))
        #expect(try index() == ["b.png": ["b.png"], "c.jpg": ["c.png"], "d.png": ["d.png"]])
        try workspace.remove("web/c.png")
        #expect(try await Program.night(workspace, "--only", "d.png") == NightSummary(skipped: 1))
        #expect(try index() == ["b.png": ["b.png"], "d.png": ["d.png"]])
    }

    @Test(arguments: ["web/{stem}.png", "web/{stem}-{hash8}.png"])
    func `a picture that fails keeps the entry of the output that is still there`(output: String) async throws {
        try workspace.writeNightly(output: output, more: "index: web/index.json")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let before = try index()
        try workspace.write("no picture", to: "photos/a.png")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2, failed: 1, exitCode: 1))
        #expect(try index() == before)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 2, stillBroken: 1))
        #expect(try index() == before)
    }

    @Test func `two jobs do not write one index, in one command or one after the other`() async throws {
        try workspace.writeNightly(output: "web/{stem}.png", more: "index: web/index.json")
        let text = String(decoding: try workspace.read("job.yaml"), as: UTF8.self)
        try workspace.write(
            text.replacing("job: test", with: "job: other").replacing("{stem}", with: "{stem}-2"), to: "other.yaml")
        let both = try await Program.run("run", "job.yaml", "other.yaml", in: workspace)
        #expect(both.code == 65)
        #expect(
            both.errors == """
                \(workspace.path)/web/index.json: both 'test' and 'other' would write this index
                   = give each job an index of its own

                """)
        let planned = try await Program.run("plan", "job.yaml", "other.yaml", in: workspace)
        #expect((planned.code, planned.errors) == (both.code, both.errors))
        #expect(workspace.files(below: "web") == [])
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let plan = try await Program.run("plan", "other.yaml", in: workspace)
        let other = try await Program.run("run", "other.yaml", in: workspace)
        #expect((plan.code, other.code) == (65, 65))
        #expect(plan.errors == other.errors)
        #expect(
            other.errors == """
                index: web/index.json is the index of the job 'test'
                   = give each job an index of its own; if that job is no more, or has a new name, remove the file

                """)
        #expect(try index().count == 3)
    }
}
