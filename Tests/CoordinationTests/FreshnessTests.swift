import Coordination
import JobModel
import JobStorage
import Testing
import WorkerProtocol

@Suite struct FreshnessTests {
    private func verdict(after event: Event, _ set: (inout Night) -> Void = { _ in }) -> FrameVerdict {
        var night = Night()
        set(&night)
        event.happen(&night)
        return night.verdict
    }

    /// All that can happen to files, whatever `compare` says.
    private static let everyCompare = [
        Event("nothing", .upToDate) { _ in },
        Event("a new picture", .new("new")) { ($0.record, $0.outputStamp) = (nil, nil) },
        Event("an output is deleted", .new("output missing")) { $0.outputStamp = nil },
        Event("an output is deleted and its picture has changed", .new("output missing")) {
            ($0.outputStamp, $0.inputStamp) = (nil, .make(inode: 9, size: 7))
        },
        Event("another file is where an output would be", .foreign) { $0.record = nil },
        Event("the picture has another size", .again("input changed")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
        },
        Event("the picture is gone", .again("input changed")) { $0.inputStamp = nil },
        Event("the output is of another picture now", .again("input changed")) {
            $0.record?.input = "/jobs/photos/a.png"
        },
        Event("the output has another size", .edited) {
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
        },
        Event("picture and output have other sizes", .keptEdited("input changed")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
        },
        Event("the picture is only touched", .upToDate) { $0.inputStamp = $0.inputStamp?.touched },
        Event("the output is only touched", .upToDate) { $0.outputStamp = $0.outputStamp?.touched },
        Event("both are only touched", .upToDate) {
            ($0.inputStamp, $0.outputStamp) = ($0.inputStamp?.touched, $0.outputStamp?.touched)
        },
        Event("the chain has changed", .again("radius 12 → 14")) { $0.recipe = .make([.gaussian(14)]) },
        Event("the picture and the chain have changed", .again("input changed, radius 12 → 14")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        Event("an output is edited and the chain has changed", .keptEdited("radius 12 → 14")) {
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        Event(
            "an output is only touched and the chain has changed",
            .again("radius 12 → 14", FileStamp.make(inode: 2).touched)
        ) {
            $0.outputStamp = $0.outputStamp?.touched
            $0.recipe = .make([.gaussian(14)])
        },
        Event("an output keeps its size, is edited, and the chain has changed", .keptEdited("radius 12 → 14")) {
            ($0.outputStamp, $0.outputDigest) = ($0.outputStamp?.touched, .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        Event("an adopted output's chain has changed", .again("radius 12 → 14")) {
            $0.record?.isAdopted = true
            $0.recipe = .make([.gaussian(14)])
        },
        Event("a version wrote the ledger that nobody knows", .again("made by another version of Penumbra")) {
            $0.oldRecipe = "{}"
        },
        Event("filters give other pixels", .upToDate) {
            $0.catalog = .make(gaussian: 2)
            $0.recipe = .make(catalog: $0.catalog)
        },
    ]

    @Test func `an output that another job published is told by that job, and stays`() {
        var night = Night()
        night.record = nil
        let book = night.book
        func verdict(_ origin: PriorOutput.Origin) -> FrameVerdict {
            let former = PriorOutput(
                record: .make(), recipe: "{}", job: "web", manifest: "/old/web.yaml", origin: origin)
            return night.freshness(book).knowing([PathKey(Night.output): former]).verdict(of: night.frame(book))
        }
        #expect(
            verdict(.gone)
                == .kept(
                    reason:
                        "published by the job 'web' of /old/web.yaml, which is gone; if it was moved here, 'penumbra adopt "
                        + "--moved' takes its outputs over, --force replaces them"))
        #expect(
            verdict(.renamed)
                == .kept(
                    reason:
                        "published by this manifest's job when it was called 'web'; 'penumbra adopt --moved' takes its "
                        + "outputs over, --force replaces them"))
        #expect(
            verdict(.there)
                == .kept(
                    reason:
                        "published by the job 'web' of /old/web.yaml, which is still there; write to another folder, or "
                        + "remove that manifest and give 'penumbra adopt --moved'"))
    }

    @Test(arguments: everyCompare, ComparePolicy.allCases)
    func `what has changed since the last night is made again, and nothing else`(event: Event, compare: ComparePolicy) {
        #expect(verdict(after: event) { $0.job.compare = compare } == event.expected)
    }

    /// Who sees what `stat` alone does not show.
    @Test(
        arguments: [
            (ComparePolicy.stamp, FrameVerdict.again("input changed"), FrameVerdict.edited),
            (.size, .upToDate, .upToDate), (.content, .again("input changed"), .edited),
        ])
    func `other bytes of the same size and another time`(
        compare: ComparePolicy, ofInput: FrameVerdict, ofOutput: FrameVerdict
    ) {
        let input = Event("input", ofInput) { ($0.inputStamp, $0.inputDigest) = ($0.inputStamp?.touched, .make(9)) }
        let output = Event("output", ofOutput) {
            ($0.outputStamp, $0.outputDigest) = ($0.outputStamp?.touched, .make(9))
        }
        for event in [input, output] { #expect(verdict(after: event) { $0.job.compare = compare } == event.expected) }
    }

    @Test(
        arguments: [
            (ComparePolicy.stamp, FrameVerdict.upToDate, FrameVerdict.upToDate), (.size, .upToDate, .upToDate),
            (.content, .again("input changed"), .edited),
        ])
    func `other bytes of the same size and the same time`(
        compare: ComparePolicy, ofInput: FrameVerdict, ofOutput: FrameVerdict
    ) {
        #expect(
            verdict(after: Event("", ofInput) { $0.inputDigest = .make(9) }) { $0.job.compare = compare } == ofInput)
        #expect(
            verdict(after: Event("", ofOutput) { $0.outputDigest = .make(9) }) { $0.job.compare = compare } == ofOutput)
    }

    @Test func `a changed picture whose output was touched is made again`() {
        for compare in [ComparePolicy.stamp, .content] {
            var night = Night()
            night.job.compare = compare
            (night.inputStamp, night.inputDigest) = (night.inputStamp?.touched, .make(9))
            night.outputStamp = night.outputStamp?.touched
            #expect(night.verdict == .again("input changed", FileStamp.make(inode: 2).touched))
        }
    }

    @Test func `files are read only where nothing else can tell`() {
        var night = Night()
        #expect(night.firstVerdict == .upToDate)
        night.inputStamp = night.inputStamp?.touched
        #expect(night.firstVerdict == .compare([DigestTask.File(path: Night.input)]))
        night.outputStamp = nil
        #expect(night.firstVerdict == .new("output missing"))
        night = Night()
        night.outputStamp = night.outputStamp?.touched
        #expect(night.firstVerdict == .compare([DigestTask.File(path: Night.output)]))
        night.job.compare = .size
        #expect(night.firstVerdict == .upToDate)
    }

    @Test func `what was only touched is known by its new stamp from then on`() {
        var night = Night()
        (night.inputStamp, night.outputStamp) = (night.inputStamp?.touched, night.outputStamp?.touched)
        let book = night.book
        let findings = night.findings(of: [DigestTask.File(path: Night.input), DigestTask.File(path: Night.output)])
        let refreshed = night.freshness(book).refreshed(night.frame(book), findings)
        #expect(refreshed.map(\.source.stamp) == [night.inputStamp])
        #expect(refreshed.map(\.file.stamp) == [night.outputStamp])
        night.record = refreshed.first
        #expect(night.firstVerdict == .upToDate)
    }

    @Test func `what has other bytes is not taken for what was published`() {
        var night = Night()
        (night.inputStamp, night.inputDigest) = (night.inputStamp?.touched, .make(9))
        (night.outputStamp, night.outputDigest) = (night.outputStamp?.touched, .make(9))
        let book = night.book
        let findings = night.findings(of: [DigestTask.File(path: Night.input), DigestTask.File(path: Night.output)])
        #expect(night.freshness(book).refreshed(night.frame(book), findings) == [])
    }

    @Test func `an output whose name only looks the same is another one`() throws {
        var night = Night()
        night.record?.path = "/jobs/out/caf\u{E9}.webp"
        let book = night.book
        let freshness = night.freshness(book)
        #expect(freshness.record(at: "/jobs/out/caf\u{E9}.webp") != nil)
        #expect(freshness.record(at: "/jobs/out/cafe\u{301}.webp") == nil)
    }

    @Test func `a picture whose name only looks the same is another one`() {
        let frame = { (input: String, night: Night, book: RecipeTable) in
            FrameFiles(
                input: input, inputBytes: nil, page: 0, stamp: night.inputStamp,
                outputs: night.frame(book).outputs)
        }
        var night = Night()
        night.record?.input = "/jobs/photos/caf\u{E9}.jpg"
        let book = night.book
        let freshness = night.freshness(book)
        #expect(freshness.verdict(of: frame("/jobs/photos/caf\u{E9}.jpg", night, book)) == .upToDate)
        #expect(freshness.verdict(of: frame("/jobs/photos/cafe\u{301}.jpg", night, book)) == .again("input changed"))
    }

    @Test func `what was read of a file is not known of one whose name only looks the same`() {
        let files = ["/caf\u{E9}.jpg", "/cafe\u{301}.jpg"].map { DigestTask.File(path: $0) }
        #expect(files[0] != files[1])
        #expect(Set(files).count == 2)
    }
}
