import Catalogs
import JobModel
import Planning
import TestSupport
import Testing

/// What patterns that match nothing may have meant.
@Suite struct PatternHintTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["photos/a.jpg", "photos/IMG [1].jpg", "photos/{x}.jpg", "set [2]/b.jpg", "photos/deep/d.jpg"] {
            try folder.touch(name)
        }
    }

    private func plan(_ inputs: [String], exclude: [String] = [], only: [String] = [], from start: String? = nil)
        throws -> JobPlan
    {
        try JobPlan(
            .make(in: folder.path, inputs: inputs, exclude: exclude), catalog: .small, date: "2026-11-21",
            selection: JobPlan.Selection(only: only, from: start.map(folder.file)))
    }

    @Test(arguments: [
        ("photos/IMG [1].jpg", "photos/IMG [1].jpg", "photos/IMG [[]1].jpg"),
        ("photos/{x}.jpg", "photos/{x}.jpg", "photos/{{}x}.jpg"), ("set [2]/*.jpg", "set [2]", "set [[]2]/*.jpg"),
        ("./photos/../set [2]/b.*", "./photos/../set [2]", "./photos/../set [[]2]/b.*"),
    ])
    func `an input that is there as it is written is told with its pattern`(
        entry: String, name: String, pattern: String
    ) throws {
        let hint = PatternHint.literalName(name, pattern: pattern)
        #expect(throws: PlanError.nothingMatched(patterns: [entry], hints: [hint])) { try plan([entry]) }
        let found = try plan([entry, "photos/a.jpg"])
        #expect(found.unmatchedPatterns.map(found.hint(ofInput:)) == [hint])
        #expect(try plan([pattern]).frames.count == 1)
    }

    @Test(arguments: [
        ("*.jpg, *.png", ["*.jpg", "*.png"]), ("photos/*.gif,  photos/*.png", ["photos/*.gif", "photos/*.png"]),
        ("*.jpg,*.png,scan.tif", ["*.jpg", "*.png", "scan.tif"]), ("{a,b}*, [c,d]*", ["{a,b}*", "[c,d]*"]),
    ])
    func `an input that is several patterns with commas is told to be a list`(
        entry: String, patterns: [String]
    ) throws {
        let hint = PatternHint.list(entry, patterns: patterns)
        #expect(throws: PlanError.nothingMatched(patterns: [entry], hints: [hint])) { try plan([entry]) }
        let found = try plan([entry, "photos/a.jpg"])
        #expect(found.unmatchedPatterns.map(found.hint(ofInput:)) == [hint])
        #expect(try plan(["photos/*.jpg"], exclude: [entry]).hint(ofExclude: entry) == hint)
    }

    @Test(arguments: ["Berlin, 2026*", "photos/*.gif,", "*.gif, ", ", *.gif", "{a, b}*.jpg", "x[1, 2].*"])
    func `a comma in a name makes no list`(entry: String) throws {
        #expect(throws: PlanError.nothingMatched(patterns: [entry])) { try plan([entry]) }
    }

    @Test(arguments: ["photos/IMG [2].jpg", "nowhere [1]/*.jpg", "photos/*.gif"])
    func `a pattern by which nothing is there has no hint`(entry: String) throws {
        #expect(throws: PlanError.nothingMatched(patterns: [entry])) { try plan([entry]) }
    }

    @Test func `an exclude that is there as it is written is told with its pattern`() throws {
        let plan = try plan(["photos/*.jpg"], exclude: ["photos/IMG [1].jpg", "photos/z*"])
        #expect(plan.unmatchedExcludes == ["photos/IMG [1].jpg", "photos/z*"])
        #expect(
            plan.unmatchedExcludes.map(plan.hint(ofExclude:)) == [
                .literalName("photos/IMG [1].jpg", pattern: "photos/IMG [[]1].jpg"), nil,
            ])
    }

    @Test(arguments: [
        ("photos", PatternHint.folder("photos", pattern: "photos/**")),
        ("photos/", .folder("photos/", pattern: "photos/**")), ("d*p", .folder("d*p", pattern: "d*p/**")),
        ("set [2]", .folder("set [2]", pattern: "set [[]2]/**")),
        ("IMG [1].jpg", .literalName("IMG [1].jpg", pattern: "IMG [[]1].jpg")),
        ("photos/IMG [1].jpg", .literalName("photos/IMG [1].jpg", pattern: "photos/IMG [[]1].jpg")),
    ])
    func `a choice of a folder, or of a name with brackets, is told with what chooses it`(
        choice: String, hint: PatternHint
    ) throws {
        let inputs = ["photos/**/*.jpg", "set*/*.jpg"]
        #expect(throws: PlanError.nothingMatched(patterns: [choice], hints: [hint])) {
            try plan(inputs, only: [choice], from: "photos")
        }
        let found = try plan(inputs, only: [choice, "a.jpg"], from: "photos")
        #expect(found.unmatchedChoices.map(found.hint(ofChoice:)) == [hint])
        let chooses =
            switch hint {
            case .literalName(_, let pattern), .folder(_, let pattern): pattern
            case .list(let entry, _), .rawPictures(let entry, _): entry
            }
        #expect(try !plan(inputs, only: [chooses], from: "photos").frames.isEmpty)
    }

    @Test func `hints say what is there, and what to write`() {
        #expect(
            PatternHint.literalName("IMG [1].jpg", pattern: "IMG [[]1].jpg").message
                == "'IMG [1].jpg' is there: '*', '?', '[' and '{' are wildcards, so write 'IMG [[]1].jpg'")
        #expect(
            PatternHint.folder("photos", pattern: "photos/**").message
                == "'photos' names a folder: 'photos/**' chooses the files in it")
        let list = PatternHint.list("*.jpg, l'été*.png", patterns: ["*.jpg", "l'été*.png"])
        #expect(
            list.message == "'*.jpg, l'été*.png' is a single pattern, so write a list: ['*.jpg', 'l''été*.png']")
        #expect(
            PlanError.nothingMatched(
                patterns: ["*.jpg, *.png"], hints: [.list("*.jpg, *.png", patterns: ["*.jpg", "*.png"])]
            ).message(in: .submission) == """
                no file matches '*.jpg, *.png'
                   = '*.jpg, *.png' is a single pattern, so write a list: ['*.jpg', '*.png']
                """)
        #expect(
            PlanError.nothingMatched(patterns: ["photos"], hints: [.folder("photos", pattern: "photos/**")]).message
                == "no file matches 'photos'\n   = 'photos' names a folder: 'photos/**' chooses the files in it")
    }
}
