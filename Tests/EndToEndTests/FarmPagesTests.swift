import Foundation
import Testing

/// The pages for users of other schedulers: what of them can be run here works as it stands.
@Suite(.serialized) struct FarmPagesTests {
    let workspace: Workspace

    /// Some pictures in `photos`.
    init() throws {
        workspace = try Workspace()
        for name in ["cat.jpg", "coffee.jpg", "rocket.jpg"] {
            let photo = ExampleTests.project.appending(path: "jobs/photos/\(name)")
            try workspace.write(Data(contentsOf: photo), to: "photos/\(name)")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the page about Deadline Cloud shows what its commands do`() async throws {
        let page = try ShownPage(ExampleTests.project.appending(path: "docs/deadline-cloud.md"))
        #expect(page.commands.count >= 9)
        try await page.run(in: workspace, programs: [OpenJD.folder])
    }

    @Test(.timeLimit(.minutes(5)))
    func `the page about Slurm shows what exports write`() async throws {
        try workspace.write(
            """
            job: photos
            inputs: photos/*.jpg
            filters: [{gaussian: {radius: 14}}]
            output: out/{stem}.png
            slurm: {partition: batch, time: 30m, cpus_per_task: 2, throttle: 32}

            """, to: "photos.yaml")
        let page = try ShownPage(ExampleTests.project.appending(path: "docs/slurm.md"))
        #expect(page.commands.count >= 3)
        try await page.run(in: workspace)
    }
}
