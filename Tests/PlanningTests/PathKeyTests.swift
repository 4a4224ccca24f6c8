import JobModel
import Planning
import TestSupport
import Testing

/// The same to a reader and to Swift's strings, and two names to a file system.
private let composed = "caf\u{E9}"
private let decomposed = "cafe\u{301}"
/// A name may begin with a mark that a reader sees on the slash.
private let mark = "\u{301}"

@Suite struct PathKeyTests {
    @Test func `names that look the same and have other bytes are two paths`() {
        #expect(composed == decomposed)
        #expect(PathKey(composed) != PathKey(decomposed))
        #expect(Set([composed, decomposed].map(PathKey.init)).count == 2)
    }

    /// Bytes are compared eight at a time.
    @Test(arguments: 0...20)
    func `paths are one when all of their bytes are`(count: Int) {
        let path = String("/srv/photos/été/2026/a.jpg".prefix(count))
        #expect(PathKey(path) == PathKey(String(Array(path))))
        #expect(Set([PathKey(path), PathKey(String(Array(path)))]).count == 1)
        #expect(PathKey(path + "a") != PathKey(path + "b"))
        #expect(PathKey("a" + path) != PathKey("b" + path))
        #expect(PathKey(path + "a") != PathKey(path))
    }

    @Test func `paths are in the order of their bytes`() {
        #expect(PathKey(decomposed) < PathKey(composed))
        #expect(!(PathKey(composed) < PathKey(composed)))
    }
}

@Suite struct PathNamesTests {
    private let path = "/jobs/\(mark)out/\(mark)a.png"

    @Test func `a name that begins with a combining mark is a name of its own`() {
        #expect(path.split(separator: "/").count == 1)
        #expect(PathNames.all(in: path).map(String.init) == ["jobs", "\(mark)out", "\(mark)a.png"])
        #expect(PathNames.last(of: path) == "\(mark)a.png")
        #expect(PathNames.folder(of: path) == "/jobs/\(mark)out")
        #expect(PathText.name(of: path) == "\(mark)a.png")
        #expect(PathText.folder(of: path) == "/jobs/\(mark)out")
        #expect(PathNames.isAbsolute("/\(mark)a"))
        #expect(PathNames.isHidden(".\(mark)a"))
        #expect(PathText.shown(path, from: "/jobs") == "\(mark)out/\(mark)a.png")
        #expect(PathText.shown("/\(mark)a", from: "/") == "\(mark)a")
    }

    @Test func `what only looks as if it were in a folder is not below it`() {
        #expect(PathNames.relative("/\(composed)/a", to: "/\(composed)") == "a")
        #expect(PathNames.relative("/\(composed)/a", to: "/\(decomposed)") == nil)
        #expect(PathNames.relative("/outer/a", to: "/out") == nil)
        #expect(PathNames.relative("/out", to: "/out") == nil)
        #expect(PathNames.relative("/out/a/b", to: "/out") == "a/b")
        #expect(PathNames.relative("/a", to: "/") == "a")
    }

    @Test func `a path without a slash has a last name and no folder`() {
        #expect(PathNames.last(of: "a.png") == "a.png")
        #expect(PathNames.folder(of: "a.png") == nil)
        #expect(PathNames.folder(of: "/a.png") == "")
    }
}

@Suite struct LookalikeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func plan() throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: ["photos/*"]), catalog: .small, date: "2026-11-21",
            selection: JobPlan.Selection())
    }

    @Test func `two pictures whose names look the same have two outputs`() throws {
        for name in [composed, decomposed] {
            try folder.touch("photos/\(name).jpg")
            try folder.touch("out/\(name).png")
        }
        let plan = try plan()
        let outputs = plan.frames.flatMap { plan.outputs(of: $0, measures: nil) }
        #expect(outputs.map(PathKey.init) == [decomposed, composed].map { PathKey(folder.file("out/\($0).png")) })
        try plan.checkAll()
    }

    @Test func `two pictures for one output are still told, with names that look the same among them`() throws {
        for name in ["\(composed).jpg", "\(composed).png", "\(decomposed).jpg"] { try folder.touch("photos/\(name)") }
        let inputs = ["\(composed).jpg", "\(composed).png"].map { folder.file("photos/\($0)") }
        #expect(throws: PlanProblem.collision(output: folder.file("out/\(composed).png"), inputs: inputs)) {
            try plan().checkAll()
        }
    }
}
