import Catalogs
import JobModel
import Planning
import TestSupport
import Testing

/// Plans whose inputs come from a list.
@Suite struct ListedPlanTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["photos/b.jpg", "photos/x/c.JPG", "other/y/d.jpg", "e.jpg"] { try folder.touch(name) }
    }

    private func plan(
        _ list: String, inputs: [String] = ["photos/**/*.jpg"], exclude: [String] = [],
        selection: JobPlan.Selection = JobPlan.Selection()
    ) throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: inputs, exclude: exclude),
            list: FileList(Array(list.utf8), name: "-", folder: folder.path), catalog: .small, date: "2026-11-21",
            selection: selection)
    }

    private func names(_ frames: [PlannedFrame]) -> [String] {
        frames.map { PathText.shown($0.input.path, from: folder.path) }
    }

    private func dirs(_ plan: JobPlan) -> [String] { plan.frames.map(\.input.dir) }

    @Test func `a list's files are the inputs, sorted, each once`() throws {
        #expect(
            try names(plan("photos/x/c.JPG\nphotos/b.jpg\nphotos/b.jpg\n").frames) == [
                "photos/b.jpg", "photos/x/c.JPG",
            ])
    }

    @Test func `dir is what the first pattern that matches would give`() throws {
        #expect(try dirs(plan("photos/x/c.JPG", inputs: ["*.png", "photos/**/*.jpg", "**/*.jpg"])) == ["x"])
        #expect(try dirs(plan("photos/x/c.JPG", inputs: ["photos"])) == ["x"])
        #expect(try dirs(plan("photos/x/c.JPG", inputs: ["photos/x/c.JPG"])) == [""])
    }

    @Test func `dir of a file that no pattern matches is its folder below the manifest's`() throws {
        #expect(try dirs(plan("other/y/d.jpg\ne.jpg")) == ["", "other/y"])
    }

    @Test func `dir of a file elsewhere is empty`() throws {
        let elsewhere = try TemporaryFolder()
        try elsewhere.touch("x/a.jpg")
        #expect(try dirs(plan(elsewhere.file("x/a.jpg"))) == [""])
    }

    @Test func `patterns of a listed run need not find anything`() throws {
        #expect(try plan("e.jpg", inputs: ["nowhere/*.jpg", "gone.jpg", "s3://bucket/*"]).unmatchedPatterns.isEmpty)
    }

    @Test func `excludes hold for listed files, too`() throws {
        #expect(try names(plan("photos/x/c.JPG\ne.jpg", exclude: ["**/x/**"]).frames) == ["e.jpg"])
        let problem = PlanError.allListedExcluded(count: 2)
        #expect(throws: problem) { try plan("photos/x/c.JPG\ne.jpg", exclude: ["**"]) }
        #expect(
            problem.message == """
                'exclude' leaves none of the 2 listed files
                   = if that can happen, --allow-empty makes it no error
                """)
    }

    @Test func `an empty list is told`() {
        let problem = PlanError.emptyList("standard input")
        #expect(throws: problem) { try plan("\n") }
        #expect(problem.isMissingInput)
        #expect(
            problem.message == """
                standard input: the list names no file
                   = if that can happen, --allow-empty makes it no error
                """)
    }

    @Test func `files that are not there are missing, and the others keep their numbers`() throws {
        let plan = try plan("photos/b.jpg\nphotos/a.jpg\nphotos/z.jpg\ne.jpg")
        #expect(names(plan.frames) == ["e.jpg", "photos/b.jpg"])
        #expect(plan.frames.map(\.index) == [1, 3])
        #expect(names(plan.missing) == ["photos/a.jpg", "photos/z.jpg"])
        #expect(plan.missing.map(\.index) == [2, 4])
        #expect(plan.inputStamps() == plan.frames.map { FileStamp(of: $0.input) })
        #expect(throws: Never.self) { try plan.checkAll() }
    }

    @Test func `a list whose files are all missing is a plan`() throws {
        let plan = try plan("a.jpg\nb.jpg")
        #expect(plan.frames.isEmpty)
        #expect(plan.missing.count == 2)
    }

    @Test func `a selection holds for listed files`() throws {
        let list = "photos/b.jpg\nphotos/a.jpg\ne.jpg"
        #expect(try names(plan(list, selection: JobPlan.Selection(only: ["photos/*"])).frames) == ["photos/b.jpg"])
        #expect(try plan(list, selection: JobPlan.Selection(limit: 2)).missing.count == 1)
        #expect(throws: PlanError.nothingMatched(patterns: ["z*"])) {
            try plan(list, selection: JobPlan.Selection(only: ["z*"]))
        }
    }

    @Test func `frames with equal settings share them`() throws {
        let plan = try plan(
            """
            {"path": "e.jpg", "set": {"save.quality": 90}}
            photos/b.jpg
            {"path": "photos/x/c.JPG", "set": {"save.quality": 80}}
            {"path": "other/y/d.jpg", "set": {"save.quality": 90}}
            """)
        #expect(names(plan.frames) == ["e.jpg", "other/y/d.jpg", "photos/b.jpg", "photos/x/c.JPG"])
        #expect(plan.frames.map(\.settings) == [0, 0, nil, 1])
        #expect(plan.settings.map { $0.map(\.argument) } == [["save.quality=90"], ["save.quality=80"]])
        #expect(plan.frames[0].page(2).settings == 0)
    }

    @Test func `listed names that are not UTF-8 are inputs`() throws {
        try folder.touch([0xE9] + Array(".jpg".utf8))
        let list = try FileList([0xE9] + Array(".jpg\n".utf8), name: "-", folder: folder.path)
        let plan = try JobPlan(
            .make(in: folder.path, inputs: ["photos"]), list: list, catalog: .small, date: "",
            selection: JobPlan.Selection())
        #expect(plan.frames.map(\.input.bytes) == [Array(folder.path.utf8) + [0x2F, 0xE9] + Array(".jpg".utf8)])
        #expect(plan.outputs(of: plan.frames[0], measures: nil) == [folder.file("out/%E9.png")])
    }
}
