import Coordination
import JobModel
import JobStorage
import Testing
import WorkerProtocol

@Suite struct FreshnessTests {
    private func verdict(after change: FileChange, _ set: (inout RecordedFrame) -> Void = { _ in }) -> FrameVerdict {
        var recorded = RecordedFrame()
        set(&recorded)
        change.happen(&recorded)
        return recorded.verdict
    }

    @Test(arguments: [("/srv/state", "/srv/state"), ("/srv/my state", #""/srv/my state""#)])
    func `the command for kept outputs names a state folder that is not the usual one`(folder: String, word: String) {
        #expect(
            verdict(after: FileChange("a foreign file", .foreign) { ($0.record, $0.stateFolder) = (nil, folder) })
                == .kept(
                    reason:
                        "no record in the state folder \(folder); accept with 'penumbra adopt --state-dir \(word)', "
                        + "replace with --force"))
        #expect(
            verdict(
                after: FileChange("an edit", .edited) { ($0.outputStamp, $0.stateFolder) = (.make(size: 7), folder) })
                == .kept(
                    reason:
                        "output was edited or damaged; accept with 'penumbra adopt --state-dir \(word)', render again with --force"
                ))
    }

    /// Changes whose verdict does not depend on `compare`.
    private static let everyCompare = [
        FileChange("nothing", .upToDate) { _ in },
        FileChange("a new picture", .new("new")) { ($0.record, $0.outputStamp) = (nil, nil) },
        FileChange("an output is deleted", .new("output missing")) { $0.outputStamp = nil },
        FileChange("an output is deleted and its picture has changed", .new("output missing")) {
            ($0.outputStamp, $0.inputStamp) = (nil, .make(inode: 9, size: 7))
        },
        FileChange("another file is where an output would be", .foreign) { $0.record = nil },
        FileChange("the picture has another size", .again("input changed")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
        },
        FileChange("the picture is gone", .again("input changed")) { $0.inputStamp = nil },
        FileChange("the output is of another picture now", .again("input changed")) {
            $0.record?.input = "/jobs/photos/a.png"
        },
        FileChange("the output has another size", .edited) {
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
        },
        FileChange("picture and output have other sizes", .keptEdited("input changed")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
        },
        FileChange("the picture is only touched", .upToDate) { $0.inputStamp = $0.inputStamp?.touched },
        FileChange("the output is only touched", .upToDate) { $0.outputStamp = $0.outputStamp?.touched },
        FileChange("both are only touched", .upToDate) {
            ($0.inputStamp, $0.outputStamp) = ($0.inputStamp?.touched, $0.outputStamp?.touched)
        },
        FileChange("the chain has changed", .again("radius 12 → 14")) { $0.recipe = .make([.gaussian(14)]) },
        FileChange("the picture and the chain have changed", .again("input changed, radius 12 → 14")) {
            ($0.inputStamp, $0.inputDigest) = (.make(size: 101), .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        FileChange("an output is edited and the chain has changed", .keptEdited("radius 12 → 14")) {
            ($0.outputStamp, $0.outputDigest) = (.make(inode: 2, size: 101), .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        FileChange(
            "an output is only touched and the chain has changed",
            .again("radius 12 → 14", FileStamp.make(inode: 2).touched)
        ) {
            $0.outputStamp = $0.outputStamp?.touched
            $0.recipe = .make([.gaussian(14)])
        },
        FileChange("an output keeps its size, is edited, and the chain has changed", .keptEdited("radius 12 → 14")) {
            ($0.outputStamp, $0.outputDigest) = ($0.outputStamp?.touched, .make(9))
            $0.recipe = .make([.gaussian(14)])
        },
        FileChange("an adopted output's chain has changed", .again("radius 12 → 14")) {
            $0.record?.isAdopted = true
            $0.recipe = .make([.gaussian(14)])
        },
        FileChange("a version wrote the ledger that nobody knows", .again("made by another version of Penumbra")) {
            $0.oldRecipe = "{}"
        },
        FileChange("filters give other pixels", .upToDate) {
            $0.catalog = .make(gaussian: 2)
            $0.recipe = .make(catalog: $0.catalog)
        },
    ]

    @Test func `the reason for keeping another job's output names that job`() {
        var recorded = RecordedFrame()
        recorded.record = nil
        let recipes = recorded.recipes
        func verdict(_ origin: PriorOutput.Origin) -> FrameVerdict {
            let prior = PriorOutput(
                record: .make(), recipe: "{}", job: "web", manifest: "/old/web.yaml", origin: origin)
            return recorded.freshness(recipes).knowing([PathKey(RecordedFrame.output): prior]).verdict(
                of: recorded.frame(recipes))
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
            verdict(.owned)
                == .kept(
                    reason:
                        "published by the job 'web' of /old/web.yaml, which is still there; write to another folder, or "
                        + "remove that manifest and give 'penumbra adopt --moved'"))
    }

    @Test func `a picture whose time was not known then is not said to have changed since`() {
        var recorded = RecordedFrame()
        recorded.record = nil
        let recipes = recorded.recipes
        func isSaid(_ recordedStamp: FileStamp) -> Bool {
            let record = OutputRecord.make(source: FileFacts(stamp: recordedStamp, digest: .make(1)))
            let prior = PriorOutput(
                record: record, recipe: "{}", job: "web", manifest: "/old/web.yaml", origin: .renamed)
            let verdict = recorded.freshness(recipes).knowing([PathKey(RecordedFrame.output): prior]).verdict(
                of: recorded.frame(recipes))
            guard case .kept(let outputs) = verdict else { return false }
            return outputs.allSatisfy { $0.reason.hasSuffix("; the picture was changed since") }
        }
        let stamp = FileStamp.make(inode: 1)
        func earlier(size: Int, modified: Int64) -> FileStamp {
            FileStamp(device: 0, inode: 1, size: size, modified: modified, changed: 0)
        }
        #expect(!isSaid(stamp))
        #expect(!isSaid(earlier(size: stamp.size, modified: 0)))
        #expect(isSaid(earlier(size: stamp.size + 1, modified: 0)))
        #expect(isSaid(earlier(size: stamp.size, modified: stamp.modified + 1)))
    }

    @Test(arguments: everyCompare, ComparePolicy.allCases)
    func `what has changed since the last recorded is made again, and nothing else`(
        change: FileChange, compare: ComparePolicy
    ) {
        #expect(verdict(after: change) { $0.job.compare = compare } == change.expected)
    }

    /// Changes that `stat` does not show, and the policies that notice them.
    @Test(
        arguments: [
            (ComparePolicy.stamp, FrameVerdict.again("input changed"), FrameVerdict.edited),
            (.size, .upToDate, .upToDate), (.content, .again("input changed"), .edited),
        ])
    func `other bytes of the same size and another time`(
        compare: ComparePolicy, ofInput: FrameVerdict, ofOutput: FrameVerdict
    ) {
        let input = FileChange("input", ofInput) {
            ($0.inputStamp, $0.inputDigest) = ($0.inputStamp?.touched, .make(9))
        }
        let output = FileChange("output", ofOutput) {
            ($0.outputStamp, $0.outputDigest) = ($0.outputStamp?.touched, .make(9))
        }
        for change in [input, output] {
            #expect(verdict(after: change) { $0.job.compare = compare } == change.expected)
        }
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
            verdict(after: FileChange("", ofInput) { $0.inputDigest = .make(9) }) { $0.job.compare = compare }
                == ofInput)
        #expect(
            verdict(after: FileChange("", ofOutput) { $0.outputDigest = .make(9) }) { $0.job.compare = compare }
                == ofOutput)
    }

    @Test func `a changed picture whose output was touched is made again`() {
        for compare in [ComparePolicy.stamp, .content] {
            var recorded = RecordedFrame()
            recorded.job.compare = compare
            (recorded.inputStamp, recorded.inputDigest) = (recorded.inputStamp?.touched, .make(9))
            recorded.outputStamp = recorded.outputStamp?.touched
            #expect(recorded.verdict == .again("input changed", FileStamp.make(inode: 2).touched))
        }
    }

    @Test func `files are read only if stamps do not decide`() {
        var recorded = RecordedFrame()
        #expect(recorded.firstVerdict == .upToDate)
        recorded.inputStamp = recorded.inputStamp?.touched
        #expect(recorded.firstVerdict == .compare([DigestTask.File(path: RecordedFrame.input)]))
        recorded.outputStamp = nil
        #expect(recorded.firstVerdict == .new("output missing"))
        recorded = RecordedFrame()
        recorded.outputStamp = recorded.outputStamp?.touched
        #expect(recorded.firstVerdict == .compare([DigestTask.File(path: RecordedFrame.output)]))
        recorded.job.compare = .size
        #expect(recorded.firstVerdict == .upToDate)
    }

    @Test func `a touched file with the same bytes gets a record with its new stamp`() {
        var recorded = RecordedFrame()
        (recorded.inputStamp, recorded.outputStamp) = (recorded.inputStamp?.touched, recorded.outputStamp?.touched)
        let recipes = recorded.recipes
        let findings = recorded.findings(of: [
            DigestTask.File(path: RecordedFrame.input), DigestTask.File(path: RecordedFrame.output),
        ])
        let refreshed = recorded.freshness(recipes).refreshed(recorded.frame(recipes), findings)
        #expect(refreshed.map(\.source.stamp) == [recorded.inputStamp])
        #expect(refreshed.map(\.file.stamp) == [recorded.outputStamp])
        recorded.record = refreshed.first
        #expect(recorded.firstVerdict == .upToDate)
    }

    @Test func `a file with other bytes does not count as the published one`() {
        var recorded = RecordedFrame()
        (recorded.inputStamp, recorded.inputDigest) = (recorded.inputStamp?.touched, .make(9))
        (recorded.outputStamp, recorded.outputDigest) = (recorded.outputStamp?.touched, .make(9))
        let recipes = recorded.recipes
        let findings = recorded.findings(of: [
            DigestTask.File(path: RecordedFrame.input), DigestTask.File(path: RecordedFrame.output),
        ])
        #expect(recorded.freshness(recipes).refreshed(recorded.frame(recipes), findings) == [])
    }

    @Test func `an output whose name only looks the same is another one`() throws {
        var recorded = RecordedFrame()
        recorded.record?.path = "/jobs/out/caf\u{E9}.webp"
        let recipes = recorded.recipes
        let freshness = recorded.freshness(recipes)
        #expect(freshness.record(at: "/jobs/out/caf\u{E9}.webp") != nil)
        #expect(freshness.record(at: "/jobs/out/cafe\u{301}.webp") == nil)
    }

    @Test func `a picture whose name only looks the same is another one`() {
        let frame = { (input: String, recorded: RecordedFrame, recipes: RecipeTable) in
            FrameFiles(
                input: input, inputBytes: nil, page: 0, stamp: recorded.inputStamp,
                outputs: recorded.frame(recipes).outputs)
        }
        var recorded = RecordedFrame()
        recorded.record?.input = "/jobs/photos/caf\u{E9}.jpg"
        let recipes = recorded.recipes
        let freshness = recorded.freshness(recipes)
        #expect(freshness.verdict(of: frame("/jobs/photos/caf\u{E9}.jpg", recorded, recipes)) == .upToDate)
        #expect(
            freshness.verdict(of: frame("/jobs/photos/cafe\u{301}.jpg", recorded, recipes)) == .again("input changed"))
    }

    @Test func `the digest of a file does not count for one whose name only looks the same`() {
        let files = ["/caf\u{E9}.jpg", "/cafe\u{301}.jpg"].map { DigestTask.File(path: $0) }
        #expect(files[0] != files[1])
        #expect(Set(files).count == 2)
    }
}
