import Foundation
import Testing

/// A package of somebody else's can use FilterKit as any package is used: by a version.
struct OutsidePackageTests {
    /// What a toolchain needs of the surroundings, which workspaces otherwise keep away.
    private static let surroundings = ProcessInfo.processInfo.environment.filter { ["PATH", "HOME"].contains($0.key) }

    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func run(_ program: String, _ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            "/usr/bin/env", [program] + arguments, in: workspace, environment: Self.surroundings)
    }

    /// A repository with this project's sources under a version.
    private func publishProject() async throws {
        let folder = "\(workspace.path)/penumbra"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["Package.swift", "Sources", "Plugins", "Tests"] {
            try FileManager.default.copyItem(
                atPath: ExampleTests.project.appending(path: name).path, toPath: "\(folder)/\(name)")
        }
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        for command in [
            ["init", "--quiet"], ["add", "."], identity + ["commit", "--quiet", "-m", "1"], ["tag", "1.0.0"],
        ] {
            let result = try await Program.run(
                "/usr/bin/env", ["git", "-C", folder] + command, in: workspace, environment: Self.surroundings)
            try #require(result.code == 0, "\(result.errors)")
        }
    }

    @Test func `a plugin that was just begun builds outside of this tree, by version, and keeps the contract`()
        async throws
    {
        try await publishProject()
        let begun = try await Program.run(
            Program.penumbra, ["plugin", "new", "less-color", "--sdk", "penumbra"], in: workspace)
        #expect(begun.code == 0, "\(begun.errors)")
        let manifest = String(decoding: try workspace.read("less-color/Package.swift"), as: UTF8.self)
        #expect(manifest.contains(".package(path: \"\(workspace.path)/penumbra\")"))
        // Packages that are named by a path may have unsafe flags; those that are named by a version may not.
        try workspace.write(
            manifest.replacing(
                ".package(path: \"\(workspace.path)/penumbra\")",
                with: ".package(url: \"file://\(workspace.path)/penumbra\", from: \"1.0.0\")"),
            to: "less-color/Package.swift")
        let built = try await run("swift", "build", "-c", "release", "--package-path", "less-color")
        try #require(built.code == 0, "\(built.output)\(built.errors)")
        let checked = try await Program.run(
            Program.penumbra, ["plugin", "check", "less-color/.build/release/libLessColor.so"], in: workspace)
        #expect(checked.code == 0, "\(checked.output)")
        #expect(checked.output.contains("  ok       identity"))
    }

    /// The filters in Swift that the guide shows: each block that declares one.
    private static let guideFilters: [(name: String, code: String)] = {
        let path = ExampleTests.project.appending(path: "docs/how-to/write-a-plugin.md")
        let guide = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        let blocks = guide.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        return blocks.compactMap { block in
            block.firstMatch(of: /struct (\w+): \w*Filter/).map { (String($0.1), String(block)) }
        }
    }()

    /// A block as a file of its own: what an earlier one shows is not shown again.
    private static func file(_ name: String, _ code: String) -> String {
        (code.contains("import FilterKit") ? "" : "import FilterKit\n\n") + code
            + (code.contains("penumbra_plugin_entry")
                ? ""
                : "\n@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? "
                    + "{ Plugin.export(\(name).self, to: host) }\n")
    }

    @Test func `the filters that the guide shows build as they stand there, and keep the contract`() async throws {
        #expect(Self.guideFilters.map(\.name) == ["Sepia", "Emboss"])
        for (name, code) in Self.guideFilters {
            let folder = name.lowercased()
            let begun = try await Program.run("plugin", "new", folder, in: workspace)
            try #require(begun.code == 0, "\(begun.errors)")
            try workspace.write(Self.file(name, code), to: "\(folder)/Sources/\(name)/\(name).swift")
            let built = try await run(
                "swift", "build", "-c", "release", "--package-path", folder, "--scratch-path", "build")
            try #require(built.code == 0, "\(name): \(built.output)\(built.errors)")
            #expect(!built.output.contains("warning: "), "\(name): \(built.output)")
            let checked = try await Program.run("plugin", "check", "build/release/lib\(name).so", in: workspace)
            #expect(checked.code == 0, "\(name): \(checked.output)")
            #expect(checked.output.contains("  ok       tile invariance"))
        }
    }
}
