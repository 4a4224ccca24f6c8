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
            try touch("photos/\(name)")
        }
    }

    private func touch(_ name: String) throws {
        let url = URL(filePath: folder.file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(name.utf8).write(to: url)
    }

    private static let png = FormatDescriptor(
        name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8], holdsAlpha: true,
        isLossless: true, largestSide: 1000, options: [])

    private func plan(
        _ inputs: [String], exclude: [String] = [], output: [OutputTemplate.Piece] = Self.byName,
        selection: JobPlan.Selection = JobPlan.Selection()
    ) throws -> JobPlan {
        let job = JobSpec(
            name: "job", manifestPath: folder.file("job.yaml"), folder: folder.path, inputs: inputs, exclude: exclude,
            chain: [], outputs: [JobOutput(template: OutputTemplate(source: "", pieces: output))])
        return try JobPlan(
            job, catalog: Catalog(versions: [:], filters: [], formats: [Self.png]), date: "2026-11-21",
            selection: selection)
    }

    static let byName: [OutputTemplate.Piece] = [
        .literal("out/"), .field(.dir), .literal("/"), .field(.stem), .literal(".png"),
    ]

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
        #expect(try outputs(plan(["photos/x/*.jpg"], output: pieces)) == ["job-001-jpg-2026-11-21.png"])
    }

    @Test func `a missing folder is told with its pattern`() {
        #expect(throws: PlanProblem.missingFolder(folder.file("nowhere"), pattern: folder.file("nowhere/*.jpg"))) {
            try plan(["nowhere/*.jpg"])
        }
    }

    @Test func `a folder is no input, and the message says what to write`() {
        let problem = PlanProblem.inputIsFolder(folder.file("photos"))
        #expect(throws: problem) { try plan(["photos"]) }
        #expect(problem.message.hasSuffix("for all that it holds write '\(folder.file("photos"))/**/*'"))
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
            try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: "zzz*"))
        }
    }

    @Test func `only chooses by path or by name, and numbers stay`() throws {
        let byName = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: "d.jpg"))
        #expect(byName.frames.map(\.index) == [3])
        let byPath = try plan(["photos/**/*.jpg"], selection: JobPlan.Selection(only: "photos/x/**", limit: 1))
        #expect(byPath.frames.map(\.index) == [2])
    }

    @Test func `an output format that cannot be written is refused`() {
        let pieces: [OutputTemplate.Piece] = [.field(.stem), .literal("."), .field(.ext)]
        #expect(
            throws: PlanProblem.formatUnknown(extension: "txt", input: folder.file("photos/notes.txt"), known: ["png"])
        ) { try plan(["photos/*.txt"], output: pieces) }
    }

    private func check(_ plan: JobPlan, _ path: String) throws {
        try plan.check([(plan.frames[0], folder.file(path))])
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
