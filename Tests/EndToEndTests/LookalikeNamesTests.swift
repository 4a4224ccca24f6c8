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

    @Test func `the index lists each of them, and a pattern means one of them`() async throws {
        try workspace.writeNightly(output: "out/{stem}/{stem}.png", more: "index: out/index.json")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let index = String(decoding: try workspace.read("out/index.json"), as: UTF8.self)
        for name in [Self.composed, Self.decomposed, Self.marked] {
            let line = Array("{\"path\": \"\(name)/\(name).png\"".utf8)
            #expect(Array(index.utf8).split(separator: line).count == 2)
        }
        for name in [Self.composed, Self.decomposed] {
            #expect(try await Program.night(workspace, "--only", "\(name).png") == NightSummary(skipped: 1))
            try workspace.writeNightly(
                output: "out/{stem}/{stem}.png", more: "index: out/index.json\nexclude: [photos/\(name).png]")
            #expect(try await Program.night(workspace) == NightSummary(skipped: 2))
        }
    }

    @Test func `each is blurred in place, and put back`() async throws {
        let names = [Self.composed, Self.decomposed].map { "photos/\($0).png" }
        let before = try names.map { try workspace.read($0) }
        let blurred = try await Program.run(
            Program.penumbra, ["blur", "--radius", "3"] + names, in: workspace)
        #expect(blurred.code == 0, "\(blurred.errors)")
        #expect(blurred.output.hasPrefix("blurred 2 pictures "))
        let after = try names.map { try workspace.read($0) }
        #expect(after[0] != before[0] && after[1] != before[1] && after[0] != after[1])
        let back = try await Program.run(Program.penumbra, ["unblur", names[1]], in: workspace)
        #expect(back.code == 0, "\(back.errors)")
        #expect(try names.map { try workspace.read($0) } == [after[0], before[1]])
        #expect(try await Program.run("unblur", names[0], in: workspace).code == 0)
        #expect(try names.map { try workspace.read($0) } == before)
    }

    @Test func `of two pictures whose names look the same one can be gone`() async throws {
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.remove("photos/\(Self.composed).png")
        #expect(try await Program.night(workspace, "--delete-orphans=all") == NightSummary(skipped: 2))
        #expect(outputs == bytes([Self.decomposed, Self.marked]))
    }
}
