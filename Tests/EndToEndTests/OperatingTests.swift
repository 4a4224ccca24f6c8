import Foundation
import Testing

/// The operator's page: its commands work as they stand, one after the other, and answer what is shown below them.
@Suite(.serialized) struct OperatingTests {
    static let page = ExampleTests.project.appending(path: "docs/operating.md")

    let workspace: Workspace

    /// The folder that the page begins with.
    init() throws {
        workspace = try Workspace()
        for name in ["cat.jpg", "coffee.jpg", "rocket.jpg"] {
            let photo = ExampleTests.project.appending(path: "jobs/photos/\(name)")
            try workspace.write(Data(contentsOf: photo), to: "photos/\(name)")
            try workspace.age("photos/\(name)")
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `the operator's page shows what its commands do`() async throws {
        let page = try ShownPage(Self.page)
        #expect(page.commands.count >= 50)
        try await page.run(in: workspace)
    }
}
