import Foundation
import Testing

/// Warnings of a job that runs nevertheless.
@Suite struct HintTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `an exclude that leaves nothing out is told, and one that names a folder leaves it out`() async throws {
        try workspace.draw("photos/drafts/x.png", width: 20, height: 20)
        try workspace.writeManifest(
            inputs: "photos", output: "out/{dir}/{stem}.png", more: "exclude: [photos/drafts/, photos/draft]")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.errors == "job.yaml: warning: nothing matches 'photos/draft' of 'exclude'\n")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `links that lead nowhere are told`() async throws {
        for number in 1...7 {
            try FileManager.default.createSymbolicLink(
                atPath: "\(workspace.path)/photos/n\(number).png", withDestinationPath: "nowhere.png")
        }
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 0)
        let told = (1...5).map {
            "job.yaml: warning: photos/n\($0).png is a link that leads nowhere, and is no input: what it led to is gone, or "
                + "not mounted\n"
        }
        #expect(result.errors == told.joined() + "job.yaml: warning: 2 more links lead nowhere\n")
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }
}
