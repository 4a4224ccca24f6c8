import Foundation
import Testing

/// Names that are one to a reader, or to Swift's strings, and two to a file system.
@Suite struct LookalikeNamesTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"
    /// A reader sees the mark on the slash before it.
    private static let marked = "\u{301}e"

    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for (place, name) in [Self.composed, Self.decomposed, Self.marked].enumerated() {
            try workspace.draw("photos/\(name).png", width: 40 + place, height: 30)
            try workspace.age("photos/\(name).png")
        }
        try workspace.writeNightly(output: "out/{stem}/{stem}.png")
    }

    /// (Foundation takes the mark and the slash before it for one character, and leaves it.)
    private var outputs: Set<[UInt8]> {
        func path(_ text: String) -> [UInt8] {
            String(decoding: text.utf8.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self).utf8.split(
                separator: UInt8(ascii: "/")
            ).joined(separator: [UInt8(ascii: "/")]).map { $0 }
        }
        return Set(workspace.files(below: "out").map(path))
    }

    private func bytes(_ names: [String]) -> Set<[UInt8]> { Set(names.map { Array("\($0)/\($0).png".utf8) }) }

    @Test func `each picture has its output, and is known the next night`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(outputs == bytes([Self.composed, Self.decomposed, Self.marked]))
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
        try workspace.remove("state")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `of two pictures whose names look the same one can be gone`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.remove("photos/\(Self.composed).png")
        #expect(try await Program.night(workspace, "--delete-orphans=all") == NightSummary(skipped: 2))
        #expect(outputs == bytes([Self.decomposed, Self.marked]))
    }
}
