import Foundation
import TestSupport
import Testing

/// Links of README.md, of the other documents beside it, and of the pages of docs.
@Suite struct PageLinkTests {
    /// A link to a file of the project, or within a page.
    private struct Link {
        let page: ShownPage
        /// Empty for the page itself.
        let path: String
        let anchor: String?
    }

    private static let pages: [ShownPage] =
        ShownPage.all
        + ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].compactMap { name in
            let text = try? String(contentsOf: ExampleTests.project.appending(path: name), encoding: .utf8)
            return text.map { ShownPage(name: name, text: $0) }
        }

    /// A page without its code, which may have brackets of its own.
    private static func prose(of page: ShownPage) -> String {
        var isCode = false
        let lines = page.text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            defer { if line.hasPrefix("```") { isCode.toggle() } }
            return !isCode && !line.hasPrefix("```")
        }
        return lines.joined(separator: "\n").replacing(/`[^`\n]*`/, with: "code")
    }

    private static let links: [Link] = pages.flatMap { page in
        prose(of: page).matches(of: /\]\(([^)#\s]*)(?:#([^)\s]+))?\)/).compactMap { match in
            if match.1.contains(":") { return nil }
            return Link(page: page, path: String(match.1), anchor: match.2.map(String.init))
        }
    }

    /// The anchors of a page's headings, as GitHub and the site make them.
    private static func anchors(of text: String) -> Set<String> {
        var isCode = false
        var anchors: Set<String> = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, let heading = line.wholeMatch(of: /#+ (.+)/)?.1 else { continue }
            let words = heading.replacing(/\]\([^)]*\)/, with: "").lowercased()
            let kept = words.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            anchors.insert(kept.replacingOccurrences(of: " ", with: "-"))
        }
        return anchors
    }

    @Test func `links lead to files and headings that are there`() throws {
        #expect(Self.links.count >= 300)
        for link in Self.links {
            let page = ExampleTests.project.appending(path: link.page.name)
            let target =
                link.path.isEmpty
                ? page
                : URL(filePath: "\(page.deletingLastPathComponent().path)/\(link.path)").standardizedFileURL
            let context: Comment = "\(link.page.name): \(link.path)#\(link.anchor ?? "")"
            #expect(FileManager.default.fileExists(atPath: target.path), context)
            guard let anchor = link.anchor, target.pathExtension == "md" else { continue }
            let text = try String(contentsOf: target, encoding: .utf8)
            #expect(Self.anchors(of: text).contains(anchor), context)
        }
    }
}
