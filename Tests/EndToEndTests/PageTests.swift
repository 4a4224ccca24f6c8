import Foundation
import TestSupport
import Testing

/// README.md and the pages of docs: their commands and manifests work as they stand.
@Suite(.serialized) struct PageTests {
    /// Pages whose commands other suites run, beside a service of their own.
    private static let others = Set(ServicePages.guides + ServicePages.interface)

    private static let withCommands = ShownPage.all.filter { !others.contains($0.name) && !$0.commands.isEmpty }

    let workspace: Workspace

    /// Three photographs in `photos`, which every page begins with. They are not new.
    init() throws {
        workspace = try Workspace()
        for name in ["cat.jpg", "coffee.jpg", "rocket.jpg"] {
            let photo = ExampleTests.project.appending(path: "jobs/photos/\(name)")
            try workspace.write(Data(contentsOf: photo), to: "photos/\(name)")
            try workspace.age("photos/\(name)")
        }
    }

    @Test func `there are pages with commands`() {
        #expect(Self.withCommands.count >= 20)
        #expect(Self.withCommands.reduce(0) { $0 + $1.commands.count } >= 120)
    }

    @Test(arguments: withCommands)
    func `a page shows what its commands do`(page: ShownPage) async throws {
        try await page.run(in: workspace, programs: [OpenJD.folder])
    }

    @Test(arguments: ShownPage.all)
    func `commands that are not run have a reason`(page: ShownPage) {
        for block in page.blocks {
            let context: Comment = "\(page.name):\(block.line): \(block.info)"
            if block.info.hasPrefix("console") {
                #expect(block.info.wholeMatch(of: /console( noexec: .+)?/) != nil, context)
            }
            #expect(!["sh", "bash", "shell"].contains(block.info), context)
        }
    }

    /// Manifests of pages, each with the keys that it leaves out. The gallery's are those of `jobs/effects`, and those that
    /// have a file's name are run by the commands of their pages.
    private static let manifests: [(place: String, text: String)] = {
        let rest = [("job", "shown"), ("inputs", "photos/*.jpg"), ("filters", "[invert]")]
        return ShownPage.all.filter { $0.name != "docs/gallery.md" }.flatMap { page in
            page.blocks.filter { $0.info == "yaml" }.map { block in
                let keys = block.lines.map { $0.prefix { $0 != ":" } }
                let missing = rest.filter { key, _ in !keys.contains { $0 == key } }.map { "\($0): \($1)\n" }
                let output = keys.contains("output") || keys.contains("outputs") ? "" : "output: out/{stem}.png\n"
                return ("\(page.name):\(block.line)", block.text + missing.joined() + output)
            }
        }
    }()

    @Test func `manifests of pages have no mistake and no warning`() async throws {
        #expect(Self.manifests.count >= 7)
        for picture in ["button.png", "label.png"] { try workspace.draw(picture, width: 30, height: 20) }
        try workspace.write("", to: "inks/.keep")
        try Data(ProfileBuilder.ink()).write(to: URL(filePath: "\(workspace.path)/inks/coated.icc"))
        for (place, manifest) in Self.manifests {
            try workspace.write(manifest, to: "shown.yaml")
            let result = try await Program.run("check", "shown.yaml", in: workspace)
            #expect(result.code == 0 && result.errors == "", "\(place): \(result.errors)")
        }
    }

    /// Blocks "```yaml config".
    private static let configs = ShownPage.all.flatMap { page in
        page.blocks.filter { $0.info == "yaml config" }.map { (place: "\(page.name):\($0.line)", text: $0.text) }
    }

    @Test func `config files of pages are accepted`() async throws {
        #expect(Self.configs.count >= 4)
        for (place, text) in Self.configs {
            try workspace.write(text, to: "config.yaml")
            let result = try await Program.run("config", "--config", "config.yaml", in: workspace)
            #expect(result.code == 0, "\(place): \(result.errors)")
        }
    }
}
