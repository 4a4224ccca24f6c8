import ExamplePictures
import Foundation
import Testing

/// Every file of `jobs/` and `config/` works as it stands.
@Suite(.serialized) struct ExampleTests {
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// By their paths below `jobs`.
    static let manifests: [String] = ["", "effects/"].flatMap { folder in
        let path = project.appending(path: "jobs/\(folder)").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".yaml") }.map { folder + $0 }.sorted()
    }

    let workspace: Workspace

    /// A copy of `jobs/`.
    init() throws {
        workspace = try Workspace()
        try FileManager.default.copyItem(
            at: Self.project.appending(path: "jobs"), to: URL(filePath: "\(workspace.path)/jobs"))
        for made in ["jobs/out", "jobs/generated"] where workspace.exists(made) {
            try FileManager.default.removeItem(atPath: "\(workspace.path)/\(made)")
        }
    }

    @Test func `there are examples`() { #expect(Self.manifests.count >= 35) }

    @Test(arguments: manifests.filter { $0 != "wrong.yaml" })
    func `an example runs and publishes`(name: String) async throws {
        // Smaller than the demo's.
        if name == "tiled.yaml" { try workspace.draw("jobs/generated/eclipse.jpg", width: 1500, height: 1000) }
        // The copies have only just been made.
        let result = try await Program.run("run", "jobs/\(name)", "--set", "min_age=0", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(!result.output.contains(": 0 published"))
        #expect(!workspace.files(below: "jobs/out").isEmpty)
    }

    @Test func `the wrong example is refused with the messages beside it`() async throws {
        let result = try await Program.run("check", "jobs/wrong.yaml", in: workspace)
        let expected = try String(
            contentsOf: Self.project.appending(path: "jobs/wrong.expected.txt"), encoding: .utf8)
        #expect(result.code == 65)
        #expect(result.errors == expected)
    }

    @Test func `the commented config is accepted`() async throws {
        let path = Self.project.appending(path: "config/penumbra.yaml").path
        let result = try await Program.run("config", "--config", path, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test(arguments: ["config/systemd/penumbra-nightly.service", "packaging/systemd/penumbra@.service"])
    func `systemd units of jobs allow the calls by which a process confines itself`(unit: String) throws {
        let path = Self.project.appending(path: unit)
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        let allowed = try #require(lines.first { $0.hasPrefix("SystemCallFilter=") }).dropFirst(17).split(
            separator: " ")
        #expect(
            Set(["seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"])
                .isSubset(of: allowed.map(String.init)))
    }

    @Test(arguments: manifests.filter { $0 != "wrong.yaml" })
    func `an example has no mistake and no warning`(name: String) async throws {
        let result = try await Program.run("check", "jobs/\(name)", in: workspace)
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
    }
}
