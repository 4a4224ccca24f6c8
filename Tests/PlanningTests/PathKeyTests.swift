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
        #expect(PathText.shown("/\(mark)a", from: "/") == "/\(mark)a")
    }

    @Test func `what only looks as if it were in a folder is not below it`() {
        #expect(PathNames.relative("/\(composed)/a", to: "/\(composed)") == "a")
        #expect(PathNames.relative("/\(composed)/a", to: "/\(decomposed)") == nil)
        #expect(PathNames.relative("/outer/a", to: "/out") == nil)
        #expect(PathNames.relative("/out", to: "/out") == nil)
        #expect(PathNames.relative("/out/a/b", to: "/out") == "a/b")
        #expect(PathNames.relative("/a", to: "/") == "a")
    }

    @Test(arguments: [
        "", "/", "a", "a/b", "/a", "/a/", "/a/b", "//a", "/a//b", "/./a", "/a/.", "/a/..", "/a/../b", "/a/./b/c", "/..",
        "/.../b", "/a/...", "/.a/..b/c.", "/é/ü.png", "/a/b/c/d.png", "/photos.d/.hidden/.a",
    ])
    func `the folder of a path has all of its names but the last`(path: String) {
        #expect(PathText.folder(of: path) == PathText.joined(PathText.components(path).dropLast()))
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
        let problem = PlanError.collision(output: folder.file("out/\(composed).png"), inputs: inputs)
        let refused = [PathKey("photos/\(composed).jpg"): problem, PathKey("photos/\(composed).png"): problem]
        #expect(try plan().checkAll(below: folder.path) == refused)
    }

    private func plan(exclude: [String] = [], only: String? = nil) throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: ["photos/**/*"], exclude: exclude), catalog: .small, date: "2026-11-21",
            selection: JobPlan.Selection(only: only.map { [$0] } ?? []))
    }

    private func names(_ plan: JobPlan) -> [PathKey] {
        plan.frames.map { PathKey(PathNames.relative($0.input.path, to: folder.file("photos")) ?? "") }
    }

    @Test(arguments: ["%.jpg", "photos/%.jpg", "*%.jpg", "%.{jpg,png}", "**/%.jpg"])
    func `a pattern means the picture that has its bytes, for 'exclude' and '--only' alike`(pattern: String) throws {
        for name in [composed, decomposed] { try folder.touch("photos/\(name).jpg") }
        for (name, other) in [(composed, decomposed), (decomposed, composed)] {
            let pattern = pattern.replacing("%", with: name)
            let exclude = pattern.contains("/") ? pattern : "photos/\(pattern)"
            #expect(try names(plan(only: pattern)) == [PathKey("\(name).jpg")])
            #expect(try names(plan(exclude: [exclude])) == [PathKey("\(other).jpg")])
        }
    }

    @Test func `a pattern whose bytes no picture has means what looks the same`() throws {
        for name in ["\(decomposed).jpg", "\(decomposed)/b.jpg", "a.jpg"] { try folder.touch("photos/\(name)") }
        #expect(try names(plan(only: "\(composed).jpg")) == [PathKey("\(decomposed).jpg")])
        let plan = try plan(exclude: ["photos/\(composed)/**", "**/\(composed).jpg"])
        #expect(names(plan) == [PathKey("a.jpg")])
        #expect(plan.unmatchedExcludes == [])
    }

    @Test func `names that are one file to a file system fail their frames`() throws {
        for name in ["A.jpg", "a.jpg", "b.jpg", "c.jpg"] { try folder.touch("photos/\(name)") }
        let plan = try plan()
        func outputs(_ inodes: [UInt64?]) -> [PlannedOutput] {
            zip(plan.frames, inodes).map { frame, inode in
                let stamp = inode.map { FileStamp(device: 1, inode: $0, size: 1, modified: 1, changed: 1) }
                return PlannedOutput(frame: frame, path: plan.outputs(of: frame, measures: nil)[0], stamp: stamp)
            }
        }
        let stamps = [FileStamp?](repeating: nil, count: 4)
        #expect(try plan.check(outputs([7, 7, nil, nil]), inputStamps: stamps).keys.map(\.index).sorted() == [1, 2])
        // Hard links have names that differ to everybody.
        #expect(try plan.check(outputs([7, 8, 9, 9]), inputStamps: stamps) == [:])
        #expect(try plan.check(outputs([nil, nil, nil, nil]), inputStamps: stamps) == [:])
        let problem = PlanError.oneFile(outputs: ["/out/A.png", "/out/a.png"], inputs: ["/in/A.jpg", "/in/a.jpg"])
        #expect(
            problem.message(of: "/in/A.jpg")
                == "/in/A.jpg: would be written to /out/A.png and /out/a.png, as would /in/a.jpg: this file system takes the names "
                + "for the same; rename or exclude all but one")
    }
}
