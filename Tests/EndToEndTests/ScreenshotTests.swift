import ExamplePictures
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

/// README.md and docs/how-to/use-the-page.md show the page by the screenshots that `make gallery` takes.
///
/// Their pixels are not compared: they depend on the browser's version and on how far a run has come.
@Suite struct ScreenshotTests {
    /// A picture that a document shows.
    private struct Shown {
        let alternative: String
        let name: String
    }

    private static let pictures = ExampleTests.project.appending(path: "docs/page")

    private static let guide = "docs/how-to/use-the-page.md"

    private let files: [URL]

    init() throws {
        files = try FileManager.default.contentsOfDirectory(
            at: Self.pictures, includingPropertiesForKeys: [.fileSizeKey])
    }

    /// - Parameter folder: how the document names the folder of screenshots.
    private func shown(by document: String, folder: String) throws -> [Shown] {
        let text = try String(contentsOf: ExampleTests.project.appending(path: document), encoding: .utf8)
        return text.matches(of: /!\[([^\]]*)\]\(([^)]+)\)/).compactMap { match in
            guard match.2.hasPrefix(folder) else { return nil }
            return Shown(alternative: String(match.1), name: String(match.2.dropFirst(folder.count)))
        }
    }

    @Test
    func `README shows one screenshot, the guide of the page the others, and nobody shows what is not there`()
        throws
    {
        let first = try shown(by: "README.md", folder: "docs/page/")
        let others = try shown(by: Self.guide, folder: "../page/")
        #expect(first.count == 1)
        #expect(others.count >= 4)
        let names = (first + others).map(\.name)
        #expect(names.sorted() == files.map(\.lastPathComponent).sorted(), "run 'make gallery'")
    }

    @Test func `every screenshot is described for those who do not see it`() throws {
        let all = try shown(by: "README.md", folder: "docs/page/") + shown(by: Self.guide, folder: "../page/")
        for one in all { #expect(one.alternative.count >= 40, "\(one.name): \(one.alternative)") }
    }

    @Test func `every screenshot is whole, as wide as a window or a phone, and below 200 kB`() throws {
        for file in files {
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            #expect((10_000..<200_000).contains(size), "\(file.lastPathComponent)")
            let width = try PictureFiles.read(file.path).rect.width
            #expect([1680, 585].contains(width), "\(file.lastPathComponent) is \(width) pixels wide")
        }
    }
}
