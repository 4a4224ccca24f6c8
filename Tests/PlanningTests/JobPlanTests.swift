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
        #expect(throws: PlanProblem.missingFolder(folder.file("nowhere"), pattern: folder.file("nowhere/*.jpg"))) {
            try plan(["nowhere/*.jpg"])
        }
    }

    @Test func `a missing file is told`() {
        #expect(throws: PlanProblem.missingFile(folder.file("photos/z.jpg"))) { try plan(["photos/z.jpg"]) }
    }

    @Test func `braces that stand for thousands of names are refused`() {
        let pattern = "photos/" + String(repeating: "{a,b}", count: 18)
        #expect(throws: PlanProblem.patternTooWide(folder.file(pattern))) { try plan([pattern]) }
    }

    @Test func `only that matches nothing is told`() {
        #expect(throws: PlanProblem.nothingMatched(patterns: ["zzz*"])) {
            try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["zzz*"]))
        }
    }

    @Test func `only chooses by path or by name, and numbers stay`() throws {
        let byName = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["d.jpg"]))
        #expect(byName.frames.map(\.index) == [3])
        let byPath = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["photos/x/**"], limit: 1))
        #expect(byPath.frames.map(\.index) == [2])
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
        #expect(throws: PlanProblem.nothingMatched(patterns: ["x/**"])) {
            try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["x/**"]))
        }
    }

    @Test func `an output format that cannot be written is refused`() {
        let pieces: [OutputTemplate.Piece] = [.field(.stem), .literal("."), .field(.ext)]
        #expect(
            throws: PlanProblem.formatUnknown(
                extension: "txt", input: folder.file("photos/notes.txt"), known: ["dzi", "png"])
        ) { try plan(["photos/*.txt"], output: OutputTemplate(source: "", pieces: pieces)) }
    }

    private func check(_ plan: JobPlan, _ path: String) throws {
        let output = PlannedOutput(
            frame: plan.frames[0], path: folder.file(path), stamp: FileStamp(of: folder.file(path)))
        _ = try plan.check([output], inputStamps: plan.inputStamps())
    }

    @Test func `an output over an input is refused, even through a link`() throws {
        let plan = try plan(["photos/b.jpg"])
        #expect(throws: PlanProblem.self) { try check(plan, "photos/b.jpg") }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link.jpg"), withDestinationPath: folder.file("photos/b.jpg"))
        #expect(
            throws: PlanProblem.overwritesInput(output: folder.file("link.jpg"), input: folder.file("photos/b.jpg"))
        ) { try check(plan, "link.jpg") }
    }

    @Test func `an output over an input outside the selection is refused`() throws {
        let plan = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: ["d.jpg"]))
        #expect(
            throws: PlanProblem.overwritesInput(
                output: folder.file("photos/b.jpg"), input: folder.file("photos/b.jpg"))
        ) { try check(plan, "photos/b.jpg") }
    }

    @Test func `two inputs of one output are refused, and both are named`() throws {
        try folder.touch("photos/b.png")
        let problem = PlanProblem.collision(
            output: folder.file("out/b.png"), inputs: [folder.file("photos/b.jpg"), folder.file("photos/b.png")])
        #expect(throws: problem) { try plan(["photos/b.*"]).checkAll() }
    }

    @Test func `an output folder around an input is refused`() throws {
        try folder.touch("photos/b/old.jpg")
        let tiles = OutputTemplate(source: "", pieces: [.literal("photos/"), .field(.stem), .literal(".dzi")])
        let plan = try plan(["photos/*.jpg", "photos/b/*.jpg"], output: tiles)
        #expect(
            throws: PlanProblem.overwritesInput(
                output: folder.file("photos/b"), input: folder.file("photos/b/old.jpg"))
        ) { try plan.checkAll() }
    }

    @Test func `an output that reaches the inputs through a linked folder is refused`() throws {
        try folder.link("out", to: "photos")
        let problem = PlanProblem.wouldBecomeInput(
            output: folder.file("out/b.png"), pattern: folder.file("photos/*"), exclude: "out/**/*.png")
        #expect(throws: problem) { try plan(["photos/*"], exclude: ["**/*.txt", "**/a.png"]).checkAll() }
    }

    @Test func `an output that the inputs would match later is refused with the line to add`() throws {
        let plan = try plan(["**/*.png"])
        #expect(
            throws: PlanProblem.wouldBecomeInput(
                output: folder.file("out/z.png"), pattern: folder.file("**/*.png"), exclude: "out/**/*.png")
        ) { try check(plan, "out/z.png") }
    }

    @Test func `an exclude that begins with a double star holds everywhere`() throws {
        #expect(try inputs(plan(["photos/**/*.jpg"], exclude: ["**/y/**"])) == ["photos/b.jpg", "photos/x/c.JPG"])
    }

    @Test func `excluding everything is told as such`() {
        #expect(throws: PlanProblem.allExcluded(count: 1)) { try plan(["photos/*.jpg"], exclude: ["photos/**"]) }
    }

    @Test func `control characters of names are made visible`() {
        #expect(PathText.visible("a\nb\u{1b}[31m.jpg") == "a\\u{a}b\\u{1b}[31m.jpg")
    }

    @Test func `names of over 255 bytes are refused`() throws {
        let plan = try plan(["photos/b.jpg"])
        let name = String(repeating: "é", count: 126) + ".png"
        #expect(
            throws: PlanProblem.nameTooLong(output: folder.file(name), input: folder.file("photos/b.jpg"))
        ) { try check(plan, name) }
    }
}
