import Catalogs
import Foundation
import JobModel
import Planning
import TestSupport
import Testing

/// Names and folders as people have them.
@Suite struct InputFinderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func plan(_ inputs: [String], exclude: [String] = [], only: String? = nil) throws -> JobPlan {
        try JobPlan(
            .make(in: folder.path, inputs: inputs, exclude: exclude), catalog: .small, date: "2026-11-21",
            selection: JobPlan.Selection(only: only.map { [$0] } ?? []))
    }

    private func inputs(_ plan: JobPlan) -> [String] {
        plan.frames.map { String($0.input.path.dropFirst(folder.path.count + 1)) }
    }

    private func outputs(_ plan: JobPlan) -> [String] {
        plan.frames.flatMap { plan.outputs(of: $0, measures: nil) }.map { String($0.dropFirst(folder.path.count + 1)) }
    }

    @Test func `a folder means all pictures in it and below`() throws {
        for name in ["b.jpg", "c.JPG", "x/d.Jpeg", "x/y/e.png", "notes.txt", "x/f.xcf", "jpg"] {
            try folder.touch("photos/\(name)")
        }
        let plan = try plan(["photos"])
        #expect(inputs(plan) == ["photos/b.jpg", "photos/c.JPG", "photos/x/d.Jpeg", "photos/x/y/e.png"])
        #expect(outputs(plan) == ["out/b.png", "out/c.png", "out/x/d.png", "out/x/y/e.png"])
    }

    @Test func `a folder means its clips, too, where videos are written`() throws {
        for name in ["a.mov", "b.jpg", "c.MP4"] { try folder.touch("photos/\(name)") }
        let catalog = Catalog(
            versions: [:], filters: [],
            formats: Catalog.small.formats
                + [("mov", false), ("mp4", true)].map { name, canWrite in
                    FormatDescriptor(
                        name: name, extensions: [name], canRead: true, canWrite: canWrite, sampleFormats: [.u8],
                        holdsAlpha: false, frameTime: 1, isVideo: true, isLossless: false, largestSide: 100, options: []
                    )
                })
        func inputs(_ ending: String, in out: String = "out/") throws -> [String] {
            let output = OutputTemplate(source: "", pieces: [.literal(out), .field(.stem), .literal(ending)])
            return self.inputs(
                try JobPlan(
                    .make(in: folder.path, inputs: ["photos"], output: output), catalog: catalog, date: "2026-11-21",
                    selection: JobPlan.Selection()))
        }
        #expect(try inputs(".mp4") == ["photos/a.mov", "photos/b.jpg", "photos/c.MP4"])
        #expect(try inputs(".png") == ["photos/b.jpg"])
        // Otherwise the videos of one night would be inputs of the next.
        #expect(try inputs(".mp4", in: "photos/") == ["photos/b.jpg"])
        #expect(try inputs(".mp4", in: "photos/of/") == ["photos/b.jpg"])
    }

    @Test func `a folder does not stand for raw pictures, and a pattern does`() throws {
        for name in ["a.jpg", "a.NEF", "b.nef"] { try folder.touch("photos/\(name)") }
        let catalog = Catalog(
            versions: [:], filters: [],
            formats: Catalog.small.formats + [
                FormatDescriptor(
                    name: "raw", extensions: ["dng", "nef"], canRead: true, canWrite: false, sampleFormats: [],
                    holdsAlpha: false, isCameraRaw: true, isLossless: false, largestSide: 0, options: [])
            ])
        func plan(_ inputs: [String]) throws -> JobPlan {
            try JobPlan(
                .make(in: folder.path, inputs: inputs), catalog: catalog, date: "2026-11-21",
                selection: JobPlan.Selection())
        }
        let all = try plan(["photos"])
        #expect(inputs(all) == ["photos/a.jpg"] && all.passedBy == [".nef": 2] && all.rawKinds == [".nef"])
        #expect(try inputs(plan(["photos/*.nef"])).contains("photos/b.nef"))
        try folder.touch("raws/c.dng")
        try folder.touch("raws/c.nef")
        let hint = PatternHint.rawPictures(folder: "raws", extensions: ["dng", "nef"])
        #expect(
            hint.message
                == "a folder does not stand for the raw pictures of cameras in it, so write 'raws/**/*.{dng,nef}'")
        #expect(throws: PlanError.nothingMatched(patterns: ["raws"], hints: [hint])) { try plan(["raws"]) }
        let both = try plan(["photos", "raws"])
        #expect(both.unmatchedPatterns.map { both.hint(ofInput: $0) } == [hint])
    }

    @Test func `what a folder holds beside pictures is counted by its kind, and what a pattern does not match is not`()
        throws
    {
        for name in ["b.jpg", "a.NEF", "x/b.nef", "notes.txt", "jpg", ".hidden", "x/old.nef"] {
            try folder.touch("photos/\(name)")
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("photos/more"), withDestinationPath: folder.file("photos/x"))
        let plan = try plan(["photos"], exclude: ["photos/x/old.nef"])
        #expect(plan.passedBy == [".nef": 2, ".txt": 1, "without an extension": 1, "links to folders": 1])
        #expect(try self.plan(["photos/*.jpg"]).passedBy == [:])
    }

    @Test func `pictures that only a dot or an extension keeps out are counted once`() throws {
        for name in ["a.jpg", "b.JPEG", "x/c.jpeg", "x/d.png", "x/.e.jpg", ".f.png", "notes.txt", ".penumbra-1.jpg"] {
            try folder.touch("photos/\(name)")
        }
        let all = try plan(["photos"])
        #expect(all.hiddenPictures == 2 && all.otherPictures == [:])
        let one = try plan(["photos/**/*.jpg"])
        #expect(one.hiddenPictures == 1 && one.otherPictures == [".jpeg": 2, ".png": 1])
        let two = try plan(["photos/**/*.jpg", "photos/**/*.jpeg"], exclude: ["photos/x/.e.jpg"])
        #expect(two.hiddenPictures == 0 && two.otherPictures == [".png": 1])
        let chosen = try plan(["photos/**/*.{jpg,jpeg}"])
        #expect(chosen.hiddenPictures == 0 && chosen.otherPictures == [:])
        #expect(try plan(["photos/*.jpg"]).otherPictures == [".jpeg": 1])
    }

    @Test func `a pipe with a picture's name is passed by and counted, and refused where an entry names it`() throws {
        try folder.touch("photos/b.jpg")
        #expect(mkfifo(folder.file("photos/a.jpg"), 0o600) == 0 && mkfifo(folder.file("photos/notes"), 0o600) == 0)
        #expect(try inputs(plan(["photos"])) == ["photos/b.jpg"])
        #expect(try plan(["photos"]).passedBy == ["neither file nor folder": 2])
        #expect(try plan(["photos/*.jpg"]).passedBy == ["neither file nor folder": 1])
        #expect(try plan(["photos"], exclude: ["photos/a.jpg"]).passedBy == ["neither file nor folder": 1])
        #expect(throws: PlanError.notAFile(folder.file("photos/a.jpg"))) { try plan(["photos/a.jpg"]) }
        #expect(
            PlanError.notAFile("/photos/a.jpg").message
                == "/photos/a.jpg: is a pipe, a socket or a device, and no picture file\n   = name files or folders in 'inputs'"
        )
    }

    @Test(arguments: ["current", "current/*.jpg", "current/x/b.jpg"])
    func `a link on the way to an entry that leads nowhere is named with its target`(entry: String) throws {
        try folder.link("current", to: "disk/photos")
        let link = try #require(DeadLink(onWayTo: folder.file("current")))
        #expect(link.link == folder.file("current") && link.target == folder.file("disk/photos"))
        #expect(throws: PlanError.deadLink(link, pattern: folder.file(entry))) { try plan([entry]) }
        #expect(
            PlanError.deadLink(link, pattern: "/jobs/current").message == """
                \(folder.path)/current is a link to \(folder.path)/disk/photos, which does not exist, wanted by the input '/jobs/current'
                   = is a disk not mounted, or the path misspelt? If it was removed on purpose, 'penumbra run --allow-gone' \
                continues without it. If it may be away, --allow-empty does
                """)
        try folder.touch("disk/photos/x/b.jpg")
        #expect(DeadLink(onWayTo: folder.file("current/x/b.jpg")) == nil)
    }

    @Test func `the folders that entries name and that are missing are known, and of a missing file its folder`() throws
    {
        try folder.touch("photos/b.jpg")
        let job = JobSpec.make(
            in: folder.path, inputs: ["photos/*", "a/*.jpg", "b", "c/d/e.jpg", "photos/gone.jpg"])
        let plan = try JobPlan(
            job, catalog: .small, date: "2026-11-21", selection: JobPlan.Selection(), allowsMissing: true)
        #expect(plan.missingPaths == ["a", "b", "c/d", "c/d/e.jpg", "photos/gone.jpg"].map(folder.file))
    }

    @Test(arguments: ["site[1]", "p[1] {a,b}", "a*"])
    func `the names of the manifest's folder are no wildcards`(name: String) throws {
        for path in ["\(name)/photos/a.png", "\(name)/photos/x/b.png", "site1/photos/c.png", "ab/photos/d.png"] {
            try folder.touch(path)
        }
        func plan(_ inputs: [String], exclude: [String] = [], only: [String] = []) throws -> [String] {
            let job = JobSpec.make(in: folder.file(name), inputs: inputs, exclude: exclude)
            let plan = try JobPlan(
                job, catalog: .small, date: "2026-11-21",
                selection: JobPlan.Selection(only: only, from: folder.file("\(name)/photos")))
            try plan.checkAll()
            return plan.frames.map { PathText.shown($0.input.path, from: job.folder) }
        }
        let all = ["photos/a.png", "photos/x/b.png"]
        #expect(try plan(["photos"]) == all)
        #expect(try plan(["photos/**/*.png"]) == all)
        #expect(try plan(["photos/*.png"]) == ["photos/a.png"])
        #expect(try plan(["photos/x/b.png", "photos/a.png"]) == all)
        #expect(try plan(["photos"], exclude: ["photos/x"]) == ["photos/a.png"])
        #expect(try plan(["photos"], exclude: ["photos/a.*"]) == ["photos/x/b.png"])
        #expect(try plan(["photos"], only: ["./x/*"]) == ["photos/x/b.png"])
        try folder.touch("\(name)/out/old.png")
        #expect(try plan(["**/*.png"], exclude: ["out/**"]) == all)
        #expect(throws: PlanError.self) { try plan(["**/*.png"]) }
    }

    @Test func `a folder's dot files and dot folders are no pictures`() throws {
        for name in ["a.jpg", "._a.jpg", ".b.jpg", ".thumbnails/a.jpg", ".jpg"] { try folder.touch("photos/\(name)") }
        #expect(try inputs(plan(["photos/"])) == ["photos/a.jpg"])
    }

    @Test func `a folder without pictures is told like a pattern that nothing matches`() throws {
        try folder.touch("photos/a.jpg")
        try folder.touch("empty/notes.txt")
        #expect(try plan(["photos", "empty"]).unmatchedPatterns == [folder.file("empty")])
        #expect(throws: PlanError.nothingMatched(patterns: ["empty"])) { try plan(["empty"]) }
    }

    @Test func `an output in a folder that is an input is refused`() throws {
        try folder.touch("photos/a.jpg")
        try folder.link("out", to: "photos")
        let problem = PlanError.wouldBecomeInput(
            output: folder.file("out/a.png"), pattern: folder.file("photos"), exclude: "out/**/*.png")
        #expect(throws: problem) { try plan(["photos"]).checkAll() }
    }

    @Test func `links to files are inputs under their own names`() throws {
        try folder.touch("store/a.jpg")
        try folder.touch("photos/b.jpg")
        try folder.link("photos/c.jpg", to: "store/a.jpg")
        try folder.link("photos/gone.jpg", to: "nowhere.jpg")
        #expect(try inputs(plan(["photos"])) == ["photos/b.jpg", "photos/c.jpg"])
    }

    @Test func `a linked folder is walked where it is named, and not by a double star`() throws {
        try folder.touch("store/x/a.jpg")
        try folder.touch("photos/b.jpg")
        try folder.link("photos/store", to: "store")
        #expect(try inputs(plan(["photos"])) == ["photos/b.jpg"])
        #expect(try inputs(plan(["photos/store"])) == ["photos/store/x/a.jpg"])
        #expect(try inputs(plan(["photos/*/x/*.jpg"])) == ["photos/store/x/a.jpg"])
    }

    @Test(arguments: [
        "a b.jpg", "a\nb.jpg", "it's \"a\".jpg", "ünï.jpg", "a\u{301}.jpg", "%E9.jpg", "a\\b.jpg", "-a.jpg",
    ])
    func `names of every kind are inputs`(name: String) throws {
        try folder.touch("photos/\(name)")
        for pattern in ["photos", "photos/*.jpg", "**/*.JPG"] {
            #expect(try inputs(plan([pattern])) == ["photos/\(name)"])
        }
        #expect(try plan(["photos"]).frames[0].input.bytes == nil)
    }

    @Test func `names that differ in the encoding of an accent are two files`() throws {
        try folder.touch("photos/\u{e9}.jpg")
        try folder.touch("photos/e\u{301}.jpg")
        #expect(try plan(["photos/*.jpg", "photos"]).frames.count == 2)
        #expect(try plan(["photos/?.jpg"]).frames.count == 2)
    }

    /// `caf\xE9/\xFFx.jpg`
    private static let odd = Array("caf".utf8) + [0xE9] + Array("/".utf8) + [0xFF] + Array("x.JPG".utf8)

    @Test(arguments: ["**/*.jpg", "photos", "photos/caf?/?x.jpg", "photos/caf[!a]/[!a-z]*", "photos/*/*"])
    func `names that are not UTF-8 are matched by wildcards`(pattern: String) throws {
        try folder.touch(Array("photos/".utf8) + Self.odd)
        let frame = try #require(try plan([pattern]).frames.first)
        #expect(frame.input.path == folder.file("photos/caf%E9/%FFx.JPG"))
        #expect(frame.input.bytes == Array(folder.file("photos/").utf8) + Self.odd)
        #expect(FileStamp(of: frame.input)?.size == 0)
    }

    @Test func `outputs of names that are not UTF-8 are UTF-8`() throws {
        try folder.touch(Array("photos/".utf8) + Self.odd)
        #expect(try outputs(plan(["photos"])) == ["out/caf%E9/%FFx.png"])
        #expect(try plan(["photos"], only: "?x.jpg").frames.count == 1)
    }

    @Test func `names that are not UTF-8 are excluded by wildcards`() throws {
        try folder.touch(Array("photos/".utf8) + Self.odd)
        try folder.touch("photos/a.jpg")
        #expect(try inputs(plan(["photos"], exclude: ["**/caf?/**"])) == ["photos/a.jpg"])
    }

    @Test func `a name that is not UTF-8 and one that reads the same are two files with one output`() throws {
        try folder.touch("photos/%E9.jpg")
        try folder.touch(Array("photos/".utf8) + [0xE9] + Array(".jpg".utf8))
        let plan = try plan(["photos", "photos/*"])
        #expect(inputs(plan) == ["photos/%E9.jpg", "photos/%E9.jpg"])
        let path = folder.file("photos/%E9.jpg")
        #expect(throws: PlanError.collision(output: folder.file("out/%E9.png"), inputs: [path, path])) {
            try plan.checkAll()
        }
    }

    @Test(arguments: [
        "s3://bucket/a.jpg", "gs://bucket/*.jpg", "https://example.org/a.jpg", "http://a/b", "az://c/d",
        "abfs+x://c/**",
    ])
    func `an object store is refused`(input: String) {
        let problem = PlanError.remotePath(input)
        #expect(throws: problem) { try plan(["nowhere/*.jpg", input]) }
        #expect(!problem.isMissingInput)
        #expect(
            problem.message == """
                \(input): Penumbra reads files, not object stores or URLs
                   = mount the bucket or copy the files first; the page 'Work with object stores' of the documentation shows how
                """)
    }

    @Test func `a double star at the end takes files at every depth, and several take no longer`() throws {
        for name in ["a.jpg", "x/b.jpg", "x/y/c.jpg"] { try folder.touch("photos/\(name)") }
        let all = ["photos/a.jpg", "photos/x/b.jpg", "photos/x/y/c.jpg"]
        #expect(try inputs(plan(["photos/**"])) == all)
        #expect(try inputs(plan(["photos/**/**/**"])) == all)
        #expect(try inputs(plan(["**/x/**/*.jpg"])) == ["photos/x/b.jpg", "photos/x/y/c.jpg"])
    }

    @Test func `files that two patterns match and one exclude leaves out count once`() throws {
        for name in ["a.jpg", "b.jpg"] { try folder.touch("photos/\(name)") }
        #expect(throws: PlanError.allExcluded(count: 2)) { try plan(["photos", "photos/*"], exclude: ["photos/*"]) }
    }

    @Test func `a folder that cannot be listed is told`() throws {
        #expect(throws: PlanError.missingFolder(folder.file("nowhere"), pattern: folder.file("nowhere/*.jpg"))) {
            try plan(["nowhere/*.jpg"])
        }
        #expect(throws: PlanError.missingFile(folder.file("nowhere"))) { try plan(["nowhere"]) }
    }

    @Test func `stamps of many files come in their order, and nil for what is gone`() throws {
        for index in 0..<40 { try folder.touch("\(index).jpg") }
        let paths = (0..<5000).map { folder.file("\($0 % 50).jpg") }
        let stamps = FileStamp.ofEach(paths)
        #expect(stamps.map { $0 != nil } == (0..<5000).map { $0 % 50 < 40 })
        #expect(stamps[39] == stamps[89])
        #expect(stamps[38] != stamps[39])
        #expect(stamps[3]?.identity == FileStamp(of: Array(paths[3].utf8))?.identity)
    }
}
