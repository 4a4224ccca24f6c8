import Foundation
import TestSupport
import Testing

/// README.md stays short, and its figures are right.
@Suite struct ReadmeTests {
    private let readme: String
    let workspace: Workspace

    init() throws {
        readme = try Self.page("README.md")
        workspace = try Workspace()
    }

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: ExampleTests.project.appending(path: name), encoding: .utf8)
    }

    @Test func `README has at most 800 words`() {
        #expect(readme.split(whereSeparator: \.isWhitespace).count <= 800)
    }

    @Test func `README counts the filters and formats that the program lists`() async throws {
        let counts = try #require(readme.firstMatch(of: /\*\*([0-9]+) filters and ([0-9]+) formats\.\*\*/))
        for (command, count) in [("filters", counts.1), ("formats", counts.2)] {
            let answer = try await Program.run(command, "--json", in: workspace)
            #expect(answer.code == 0)
            let listed = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [Any]
            #expect(listed?.count == Int(count), "\(command)")
        }
    }

    /// `make bench` measures the figures of that page.
    @Test func `README takes its figure of speed from the page of all figures`() throws {
        let shown = try #require(
            readme.firstMatch(of: /\[([0-9]+) to ([0-9]+) ms on one core\]\(docs\/explanation\/speed\.md\)/))
        let row = try #require(
            try Self.page("docs/explanation/speed.md").firstMatch(of: /\| Penumbra, AVX-512 \|([^\n]*)\|[^|\n]*\|\n/))
        let times = row.1.split(separator: "|").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        #expect(times.count == 9)
        #expect(times.min() == Int(shown.1) && times.max() == Int(shown.2))
    }
}
