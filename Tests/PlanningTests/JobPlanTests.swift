import Catalogs
import Foundation
import JobModel
import Planning
import TestSupport
import Testing

@Suite struct JobPlanTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["b.jpg", "a.png", "x/c.JPG", "x/y/d.jpg", ".hidden.jpg", "notes.txt"] {
            try folder.touch("photos/\(name)")
        }
    }

    private func plan(
        _ inputs: [String], exclude: [String] = [], output: OutputTemplate = .byName,
        selection: JobPlan.Selection = JobPlan.Selection()
    ) throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: inputs, exclude: exclude, output: output), catalog: .small,
            date: "2026-11-21", selection: selection)
    }

    private func inputs(_ plan: JobPlan) -> [String] {
        plan.frames.map { PathText.shown($0.input.path, from: folder.path) }
    }

    private func outputs(_ plan: JobPlan) -> [String] {
        plan.frames.map {
            PathText.shown(
                plan.naming.path(
                    plan.naming.templates[0], for: $0.input, index: $0.index, page: 0, measures: nil), from: folder.path
            )
        }
    }

    @Test func `inputs are sorted, and wildcards skip dot files`() throws {
        #expect(try inputs(plan(["photos/**/*.jpg"])) == ["photos/b.jpg", "photos/x/c.JPG", "photos/x/y/d.jpg"])
    }

    @Test func `where it is allowed, an entry whose folder or file is not there matches nothing`() throws {
        func plan(_ inputs: [String], allowsMissing: Bool = true) throws -> JobPlan {
            try JobPlan(
                .make(in: folder.path, inputs: inputs), catalog: .small, date: "2026-11-21",
                selection: JobPlan.Selection(), allowsMissing: allowsMissing)
        }
        let entries = ["gone/*.jpg", "photos/*.jpg", "gone.jpg"]
        let gone = [folder.file("gone/*.jpg"), folder.file("gone.jpg")]
        #expect(throws: PlanError.missingFolder(folder.file("gone"), pattern: gone[0])) {
            try plan(entries, allowsMissing: false)
        }
        let found = try plan(entries)
        #expect(inputs(found) == ["photos/b.jpg"])
        #expect(found.unmatchedPatterns == gone)
        #expect(
            found.matches == [PathKey(gone[0]): 0, PathKey(gone[1]): 0, PathKey(folder.file("photos/*.jpg")): 1])
        #expect(throws: PlanError.nothingMatched(patterns: ["gone.jpg"])) { try plan(["gone.jpg"]) }
    }

    @Test func `inputs that two patterns find come once`() throws {
        #expect(try inputs(plan(["photos/*.jpg", "photos/b.*"])) == ["photos/b.jpg"])
    }

    @Test func `what is excluded is left out`() throws {
        #expect(try inputs(plan(["photos/**/*.jpg"], exclude: ["photos/x/**"])) == ["photos/b.jpg"])
    }

    @Test func `dir is the folder below the fixed part of the pattern`() throws {
        #expect(try outputs(plan(["photos/**/*.jpg"])) == ["out/b.png", "out/x/c.png", "out/x/y/d.png"])
        #expect(try outputs(plan(["**/y/*.jpg"])) == ["out/photos/x/y/d.png"])
    }

    @Test func `a linked folder is not walked by a double star`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("photos/loop"), withDestinationPath: folder.file("photos"))
        #expect(try inputs(plan(["photos/**/*.jpg"])).count == 3)
    }

    @Test func `the fields of a template are filled in`() throws {
        let pieces: [OutputTemplate.Piece] = [
            .field(.job), .literal("-"), .field(.index(digits: 3)), .literal("-"), .field(.ext), .literal("-"),
            .field(.date), .literal(".png"),
        ]
        #expect(
            try outputs(plan(["photos/x/*.jpg"], output: OutputTemplate(source: "", pieces: pieces))) == [
                "job-001-jpg-2026-11-21.png"
            ])
    }

    @Test func `a missing folder is told with its pattern`() {
        #expect(throws: PlanError.missingFolder(folder.file("nowhere"), pattern: folder.file("nowhere/*.jpg"))) {
            try plan(["nowhere/*.jpg"])
        }
    }

    @Test func `a missing file is told`() {
        #expect(throws: PlanError.missingFile(folder.file("photos/z.jpg"))) { try plan(["photos/z.jpg"]) }
    }

    @Test func `a missing file or folder is told with the ways out`() {
        #expect(
            PlanError.missingFile("/jobs/photos").message == """
                /jobs/photos: no such file or folder
                   = is a disk not mounted, or the path misspelt? If it was removed on purpose, 'penumbra run --allow-gone' \
                continues without it. If it may be away, --allow-empty does
                """)
        #expect(
            PlanError.missingFolder("/jobs/photos", pattern: "/jobs/photos/*").message == """
                /jobs/photos: no such folder, wanted by the input '/jobs/photos/*'
                   = is a disk not mounted, or the path misspelt? If it was removed on purpose, 'penumbra run --allow-gone' \
                continues without it. If it may be away, --allow-empty does
                """)
    }

    @Test func `whoever has sent a manifest as text is told no options of commands`() {
        #expect(
            PlanError.missingFolder("/jobs/photos", pattern: "/jobs/photos/*").message(in: .submission) == """
                /jobs/photos: no such folder, wanted by the input '/jobs/photos/*'
                   = is a disk not mounted, or the path misspelt?
                """)
        #expect(
            PlanError.nothingMatched(patterns: ["photos/*.jpg"]).message(in: .submission) == """
                no file matches 'photos/*.jpg'
                   = correct 'inputs', or put pictures there
                """)
        #expect(
            PlanError.allExcluded(count: 3).message(in: .submission) == """
                'exclude' leaves none of the 3 files that match 'inputs'
                   = correct 'exclude', or put more pictures there
                """)
    }

    @Test func `braces that stand for thousands of names are refused`() {
        let pattern = "photos/" + String(repeating: "{a,b}", count: 18)
        #expect(throws: PlanError.patternTooWide(folder.file(pattern))) { try plan([pattern]) }
    }

    @Test func `only that matches nothing is told`() {
        #expect(throws: PlanError.nothingMatched(patterns: ["zzz*"])) {
            try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["zzz*"]))
        }
    }

    @Test func `only chooses by path or by name, and numbers stay`() throws {
        let byName = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["d.jpg"]))
        #expect(byName.frames.map(\.index) == [3])
        let byPath = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["photos/x/**"], limit: 1))
        #expect(byPath.frames.map(\.index) == [2])
    }

    @Test func `inputs are chosen by their paths, or by that of a folder they lie in`() throws {
        func chosen(_ names: String...) throws -> [String] {
            let keys = Set(names.map { PathKey(folder.file("photos/\($0)")) })
            return try inputs(plan(["photos/**/*.jpg"], selection: JobPlan.Selection(inputs: keys)))
        }
        #expect(try chosen("b.jpg", "x/y/d.jpg") == ["photos/b.jpg", "photos/x/y/d.jpg"])
        #expect(try chosen("x") == ["photos/x/c.JPG", "photos/x/y/d.jpg"])
        #expect(try chosen("d.jpg") == [])
    }

    @Test func `several choices add up, and one that nothing matches is known`() throws {
        let selection = JobPlan.Selection(only: ["d.jpg", "zzz*", "photos/x/**"])
        let plan = try plan(["photos/**/*.jpg"], selection: selection)
        #expect(plan.frames.map(\.index) == [2, 3])
        #expect(plan.unmatchedChoices == ["zzz*"])
    }

    @Test func `only counts from the folder of the command, too`() throws {
        let selection = JobPlan.Selection(only: ["x/**"], from: folder.file("photos"))
        #expect(try plan(["photos/**/*.jpg"], selection: selection).frames.map(\.index) == [2, 3])
        #expect(throws: PlanError.nothingMatched(patterns: ["x/**"])) {
            try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["x/**"]))
        }
    }

    @Test func `an output format that cannot be written is refused`() {
        let pieces: [OutputTemplate.Piece] = [.field(.stem), .literal("."), .field(.ext)]
        #expect(
            throws: PlanError.formatUnknown(
                extension: "txt", input: folder.file("photos/notes.txt"), known: ["dzi", "png"])
        ) { try plan(["photos/*.txt"], output: OutputTemplate(source: "", pieces: pieces)) }
    }

    private func check(_ plan: JobPlan, _ path: String) throws {
        let output = PlannedOutput(
            frame: plan.frames[0], path: folder.file(path), stamp: FileStamp(of: folder.file(path)))
        _ = try plan.check([output], inputStamps: plan.inputStamps())
    }

    @Test func `an output over an input is refused, even through a linked folder`() throws {
        let plan = try plan(["photos/b.jpg"])
        #expect(throws: PlanError.self) { try check(plan, "photos/b.jpg") }
        try folder.link("linked", to: "photos")
        #expect(
            throws: PlanError.overwritesInput(
                output: folder.file("linked/b.jpg"), input: folder.file("photos/b.jpg"))
        ) { try check(plan, "linked/b.jpg") }
    }

    @Test func `an output that is a hard link of an input fails alone`() throws {
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        try FileManager.default.linkItem(atPath: folder.file("photos/b.jpg"), toPath: folder.file("out/b.png"))
        let problem = PlanError.linkedToInput(output: folder.file("out/b.png"), input: folder.file("photos/b.jpg"))
        let problems = try plan(["photos/**/*.jpg"]).checkAll(below: folder.file("photos"))
        #expect(problems == [PathKey("b.jpg"): problem])
        #expect(
            problem.message(of: "/in/b.jpg")
                == "/in/b.jpg: the output \(folder.file("out/b.png")) is the same file as the input "
                + "\(folder.file("photos/b.jpg")) (a hard link); Penumbra never writes to its inputs: remove the output"
        )
        #expect(throws: problem) { try plan(["photos/b.jpg"]).checkAll() }
    }

    @Test func `a file that would be in the place of another output's folder fails alone`() throws {
        for name in ["t.jpg", "t.png/inner.jpg"] { try folder.touch("photos/\(name)") }
        let problem = PlanError.folderOfAnother(
            output: folder.file("out/t.png"), other: folder.file("out/t.png/inner.png"))
        let problems = try plan(["photos/**/*.jpg"]).checkAll(below: folder.file("photos"))
        #expect(problems == [PathKey("t.jpg"): problem])
        #expect(
            problem.message(of: "/in/t.jpg")
                == "/in/t.jpg: the output \(folder.file("out/t.png")) would be a file in the place of a folder: "
                + "\(folder.file("out/t.png/inner.png")) is to be in it; add {ext} or {index} to 'output', or exclude one of the "
                + "inputs")
    }

    @Test func `outputs collide through two names of one folder, too`() throws {
        for name in ["photos/one/c.jpg", "photos/two/c.jpg", "out/one/kept.txt"] { try folder.touch(name) }
        try folder.link("out/two", to: "out/one")
        let problems = try plan(["photos/**/*.jpg"]).checkAll(below: folder.file("photos"))
        let problem = PlanError.oneFile(
            outputs: [folder.file("out/one/c.png"), folder.file("out/two/c.png")],
            inputs: [folder.file("photos/one/c.jpg"), folder.file("photos/two/c.jpg")])
        #expect(problems == [PathKey("one/c.jpg"): problem, PathKey("two/c.jpg"): problem])
    }

    @Test func `outputs collide also if their neighbours lie in other folders`() throws {
        for name in ["one/p.jpg", "one/q.jpg", "two/p.jpg", "two/r.jpg"] { try folder.touch("photos/\(name)") }
        let template = OutputTemplate(source: "", pieces: [.literal("out/"), .field(.stem), .literal("/picture.png")])
        let problems = try plan(["photos/one/*", "photos/two/*"], output: template).checkAll(
            below: folder.file("photos"))
        let problem = PlanError.collision(
            output: folder.file("out/p/picture.png"),
            inputs: [folder.file("photos/one/p.jpg"), folder.file("photos/two/p.jpg")])
        #expect(problems[PathKey("one/p.jpg")] == problem)
        #expect(problems[PathKey("two/p.jpg")] == problem)
        #expect(problems[PathKey("one/q.jpg")] == nil)
        #expect(problems[PathKey("two/r.jpg")] == nil)
    }

    @Test func `a collision with an input outside the selection is found`() throws {
        try folder.touch("photos/b.png")
        let problem = PlanError.collision(
            output: folder.file("out/b.png"), inputs: [folder.file("photos/b.jpg"), folder.file("photos/b.png")])
        for selection in [JobPlan.Selection(only: ["b.jpg"]), JobPlan.Selection(limit: 1)] {
            #expect(throws: problem) { try plan(["photos/b.*"], selection: selection).checkAll() }
        }
        #expect(try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["b.jpg"])).checkAll() == [:])
    }

    @Test func `a chosen input is told its own problem, and not that of others`() throws {
        try folder.touch("photos/b.png")
        let stem = String(repeating: "c", count: 250)
        try folder.touch("photos/\(stem).jpg")
        let output = OutputTemplate(source: "", pieces: [.literal("out/blurred-"), .field(.stem), .literal(".png")])
        #expect(
            throws: PlanError.nameTooLong(
                output: folder.file("out/blurred-\(stem).png"), input: folder.file("photos/\(stem).jpg"))
        ) {
            try plan(["photos/*"], output: output, selection: JobPlan.Selection(only: ["c*"])).checkAll()
        }
    }

    @Test func `an output over an input outside the selection is refused`() throws {
        let plan = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["d.jpg"]))
        #expect(
            throws: PlanError.overwritesInput(
                output: folder.file("photos/b.jpg"), input: folder.file("photos/b.jpg"))
        ) { try check(plan, "photos/b.jpg") }
    }

    @Test func `two inputs of one output are refused, and both are named`() throws {
        try folder.touch("photos/b.png")
        let problem = PlanError.collision(
            output: folder.file("out/b.png"), inputs: [folder.file("photos/b.jpg"), folder.file("photos/b.png")])
        #expect(throws: problem) { try plan(["photos/b.*"]).checkAll() }
    }

    @Test func `an output folder around an input is refused`() throws {
        try folder.touch("photos/b/old.jpg")
        let tiles = OutputTemplate(source: "", pieces: [.literal("photos/"), .field(.stem), .literal(".dzi")])
        let plan = try plan(["photos/*.jpg", "photos/b/*.jpg"], output: tiles)
        #expect(
            throws: PlanError.overwritesInput(
                output: folder.file("photos/b"), input: folder.file("photos/b/old.jpg"))
        ) { try plan.checkAll() }
    }

    @Test func `an output that reaches the inputs through a linked folder is refused`() throws {
        try folder.link("out", to: "photos")
        let problem = PlanError.wouldBecomeInput(
            output: folder.file("out/b.png"), pattern: folder.file("photos/*"), exclude: "out/**/*.png")
        #expect(throws: problem) { try plan(["photos/*"], exclude: ["**/*.txt", "**/a.png"]).checkAll() }
    }

    @Test func `an output that the inputs would match later is refused with the line to add`() throws {
        let plan = try plan(["**/*.png"])
        #expect(
            throws: PlanError.wouldBecomeInput(
                output: folder.file("out/z.png"), pattern: folder.file("**/*.png"), exclude: "out/**/*.png")
        ) { try check(plan, "out/z.png") }
    }

    @Test func `an exclude that begins with a double star holds everywhere`() throws {
        #expect(try inputs(plan(["photos/**/*.jpg"], exclude: ["**/y/**"])) == ["photos/b.jpg", "photos/x/c.JPG"])
    }

    @Test func `excluding everything is told as such`() {
        #expect(throws: PlanError.allExcluded(count: 1)) { try plan(["photos/*.jpg"], exclude: ["photos/*.jpg"]) }
        #expect(throws: PlanError.allExcluded(count: 0)) { try plan(["photos/*.jpg"], exclude: ["photos/**"]) }
        #expect(
            PlanError.allExcluded(count: 0).message
                == "'exclude' leaves none of the files that match 'inputs'\n   = if that can happen, --allow-empty makes it no error"
        )
    }

    @Test func `control characters of names are made visible`() {
        #expect(PathText.visible("a\nb\u{1b}[31m.jpg") == "a\\u{a}b\\u{1b}[31m.jpg")
    }

    @Test func `names of over 255 bytes are refused`() throws {
        let plan = try plan(["photos/b.jpg"])
        let name = String(repeating: "é", count: 126) + ".png"
        #expect(
            throws: PlanError.nameTooLong(output: folder.file(name), input: folder.file("photos/b.jpg"))
        ) { try check(plan, name) }
    }
}
