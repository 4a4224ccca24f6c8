import Foundation
import Testing

/// Help topics, manual pages and the reference of the site, as the programs make them.
@Suite(.serialized) struct ManualTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private static let scripts = ExampleTests.project.appending(path: "Scripts")

    @Test(arguments: ["manifest", "output-names", "exit-codes", "environment", "files"])
    func `a topic is listed, and has a page of its own`(topic: String) async throws {
        let help = try await Program.run("help", in: workspace)
        #expect(help.output.contains("\n  \(topic) "), "\(help.output)")
        let page = try await Program.run("help", topic, in: workspace)
        #expect(page.code == 0)
        #expect(!page.output.contains("USAGE"))
        let command = try await Program.run(topic, in: workspace)
        #expect(command.output == page.output)
    }

    @Test func `the page of the manifest has the keys of filters, and needs no worker`() async throws {
        let page = try await Program.run("help", "manifest", in: workspace)
        #expect(page.output.contains("\n  reduce_transparency\n"))
        let lonely = try await Program.run(
            "help", "manifest", in: workspace, environment: ["PENUMBRA_WORKER": "/nowhere/penumbra-worker"])
        #expect(lonely.code == 0)
        #expect(lonely.output.contains("\n  retries\n"))
        #expect(
            lonely.errors.hasPrefix("/nowhere/penumbra-worker: the worker program cannot be run: "), "\(lonely.errors)")
        #expect(lonely.errors.hasSuffix("\nnote: keys that come from filters are not listed\n"), "\(lonely.errors)")
    }

    @Test func `the reference is one document, and is not listed`() async throws {
        let result = try await Program.run("reference", "--json", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(document["version"] as? Int == 1)
        let filters = try #require(document["filters"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        #expect(filters.contains("gaussian"))
        let help = try await Program.run("help", in: workspace)
        #expect(!help.output.contains("\n  reference "))
        let wrong = try await Program.run("reference", in: workspace)
        #expect(wrong.code == 64)
        #expect(
            wrong.errors.hasPrefix(
                "Error: the reference is printed as JSON only; write 'penumbra reference --json'.\n"))
    }

    /// Whole sentences of the sources are written with a capital. Only plugins of others may have fragments.
    @Test func `filters and formats are described by sentences`() async throws {
        for command in ["filters", "formats"] {
            let result = try await Program.run(command, "--json", in: workspace)
            let listed = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]])
            let summaries = listed.flatMap { entry in
                let parts = (entry["parameters"] ?? entry["options"]) as? [[String: Any]] ?? []
                return ([entry] + parts).compactMap { $0["summary"] as? String }
            }
            #expect(!summaries.isEmpty)
            for summary in summaries {
                #expect(summary.first?.isUppercase == true && !summary.hasSuffix("."), "\(summary)")
            }
        }
    }

    @Test func `docs/reference is as the program says`() async throws {
        let result = try await Program.run(
            "/usr/bin/python3",
            [
                Self.scripts.appending(path: "make-reference").path, "--check", "--program", Program.penumbra,
                "--output",
                ExampleTests.project.appending(path: "docs/reference").path,
            ], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `make-reference says which page is not current`() async throws {
        let script = Self.scripts.appending(path: "make-reference").path
        let made = try await Program.run(
            "/usr/bin/python3", [script, "--program", Program.penumbra, "--output", "pages"], in: workspace)
        #expect(made.code == 0, "\(made.errors)")
        try workspace.write("# Other words\n", to: "pages/metrics.md")
        let checked = try await Program.run(
            "/usr/bin/python3", [script, "--program", Program.penumbra, "--output", "pages", "--check"], in: workspace)
        #expect(checked.code == 1)
        #expect(checked.errors == "not current: metrics.md\n   = run 'make reference', and commit the pages\n")
    }

    @Test func `mandoc finds nothing wrong in the manual pages`() async throws {
        let made = try await Program.run(
            "/usr/bin/python3",
            [Self.scripts.appending(path: "make-manual").path, "--program", Program.penumbra, "--output", "man"],
            in: workspace)
        #expect(made.code == 0, "\(made.errors)")
        let pages = try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/man").sorted()
        for page in ["penumbra.1", "penumbra-run.1", "penumbra-queue-list.1", "penumbra-manifest.5"] {
            #expect(pages.contains(page))
        }
        #expect(!pages.contains { $0.contains("help") || $0.contains("exit-codes") })
        let lint = try await Program.run(
            "/usr/bin/mandoc", ["-T", "lint"] + pages.map { "man/\($0)" }, in: workspace)
        #expect(lint.code == 0)
        #expect(lint.output + lint.errors == "")
    }

    @Test func `a manual page has the options, the codes and the examples of its command`() async throws {
        _ = try await Program.run(
            "/usr/bin/python3",
            [Self.scripts.appending(path: "make-manual").path, "--program", Program.penumbra, "--output", "man"],
            in: workspace)
        let text = try await Program.run(
            "/usr/bin/mandoc", ["-T", "utf8", "-O", "width=200", "man/penumbra-run.1"], in: workspace
        ).output.replacing(/.\u{8}/, with: "")
        for part in [
            "penumbra-run - run jobs", "--deadline time", "EXIT STATUS", "Some frames failed.", "PENUMBRA_WORKERS",
            "penumbra run --deadline 5h night.yaml",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }
}
