import Coordination
import JobModel
import JobStorage
import Testing

/// Frames with several outputs, and output names that are known from records.
@Suite struct SeveralOutputsTests {
    private let table = RecipeTable(catalog: .make(), texts: [RecipeID(index: 0): Recipe.make().text])
    private let paths = ["/jobs/out/a.webp", "/jobs/thumbs/a.webp"]

    private func record(_ part: Int, recipe: RecipeID = RecipeID(index: 0)) -> OutputRecord {
        .make(
            paths[part], part: part, recipe: recipe,
            file: FileFacts(stamp: .make(inode: UInt64(part) + 2), digest: .make(UInt64(part) + 2)))
    }

    private func verdict(
        _ records: [OutputRecord], there: [Bool] = [true, true], recipes: [Recipe] = [.make(), .make()],
        existing: ExistingPolicy = .update
    ) -> FrameVerdict {
        var job = JobSpec.make(outputs: [.stem(), .stem("thumbs/")])
        job.existing = existing
        let freshness = Freshness(
            job: job, isForced: false, records: records, broken: [], recipes: table, now: RecordedFrame.now)
        let outputs = paths.indices.map { part in
            FrameFiles.Output(
                path: paths[part], stamp: there[part] ? .make(inode: UInt64(part) + 2) : nil,
                recipe: table.key(of: recipes[part]))
        }
        return freshness.verdict(
            of: FrameFiles(
                input: RecordedFrame.input, inputBytes: nil, page: 0, stamp: .make(inode: 1), outputs: outputs))
    }

    @Test func `a missing output is rendered without the other one`() {
        #expect(
            verdict([record(0), record(1)], there: [true, false])
                == .render([nil, Replacement(path: paths[1], rule: .nothing)], reason: "output missing"))
        #expect(
            verdict([record(0)], there: [true, false])
                == .render([nil, Replacement(path: paths[1], rule: .nothing)], reason: "new"))
    }

    @Test func `each reason is given once`() {
        let changed = verdict([record(0), record(1)], recipes: [.make([.gaussian(14)]), .make([.gaussian(14)])])
        #expect(
            changed
                == .render(
                    [
                        Replacement(path: paths[0], rule: .published(.make(inode: 2))),
                        Replacement(path: paths[1], rule: .published(.make(inode: 3))),
                    ], reason: "radius 12 → 14"))
        guard case .render(_, let reason, _) = verdict([record(0)], there: [false, false]) else {
            Issue.record("nothing is rendered")
            return
        }
        #expect(reason == "output missing; new")
    }

    private func foreign(_ part: Int) -> KeptOutput {
        KeptOutput(
            path: paths[part],
            reason: "no record in this state folder; accept with 'penumbra adopt', replace with --force")
    }

    @Test func `an output that is not Penumbra's is kept and reported while the other one is rendered`() {
        #expect(
            verdict([record(0)], recipes: [.make([.gaussian(14)]), .make()])
                == .render(
                    [Replacement(path: paths[0], rule: .published(.make(inode: 2))), nil], reason: "radius 12 → 14",
                    kept: [foreign(1)]))
        #expect(
            verdict([record(1)], there: [true, false])
                == .render(
                    [nil, Replacement(path: paths[1], rule: .nothing)], reason: "output missing",
                    kept: [foreign(0)]))
    }

    @Test func `each kept output is reported by its path`() {
        #expect(verdict([record(0)]) == .kept([foreign(1)]))
        #expect(verdict([record(1)]) == .kept([foreign(0)]))
        #expect(verdict([]) == .kept([foreign(0), foreign(1)]))
    }

    @Test func `'skip' and 'error' decide for each output`() {
        #expect(verdict([], existing: .skip) == .current(reason: "all outputs are there"))
        #expect(
            verdict([record(0)], there: [false, true], existing: .skip)
                == .render([Replacement(path: paths[0], rule: .nothing), nil], reason: "output missing"))
        let both = paths.map { Replacement(path: $0, rule: .nothing) }
        #expect(
            verdict([record(1)], there: [false, false], existing: .skip)
                == .render(both, reason: "new; output missing"))
        #expect(verdict([], there: [false, true], existing: .error) == .refused(output: paths[1]))
    }

    private func knownNames(
        _ records: [OutputRecord], stamp: FileStamp = .make(inode: 1), recipe: Recipe = .make(), isForced: Bool = false,
        madeSince: Int64? = nil, _ change: (inout JobSpec) -> Void = { _ in }
    ) -> [String]? {
        let key = table.key(of: recipe)
        return freshness(records, isForced: isForced, madeSince: madeSince, change).knownNames(
            input: RecordedFrame.input, stamp: stamp, recipes: [key, key])
    }

    private func freshness(
        _ records: [OutputRecord], isForced: Bool = false, madeSince: Int64? = nil,
        _ change: (inout JobSpec) -> Void = { _ in }
    ) -> Freshness {
        var job = JobSpec.make(outputs: [.width, .width])
        change(&job)
        return Freshness(
            job: job, isForced: isForced, madeSince: madeSince, records: records, broken: [], recipes: table,
            now: RecordedFrame.now
        )
    }

    @Test func `names of an unchanged picture are known without opening it`() {
        #expect(knownNames([record(0), record(1)]) == paths)
        #expect(knownNames([record(1), record(0)]) == paths)
    }

    @Test func `names are found out again if anything has changed`() {
        let records = [record(0), record(1)]
        #expect(knownNames([record(0)]) == nil)
        #expect(knownNames(records, stamp: FileStamp.make(inode: 1).touched) == nil)
        #expect(knownNames(records, recipe: .make([.gaussian(14)])) == nil)
        #expect(knownNames(records) { $0.existing = .overwrite } == nil)
        #expect(knownNames([record(0), record(1, recipe: RecipeID(index: 5))]) == nil)
    }

    @Test func `a run in parts that renders everything knows the names of its earlier parts`() {
        // Their files were modified at the time 5.
        let records = [record(0), record(1)]
        #expect(knownNames(records, isForced: true) == nil)
        #expect(knownNames(records, isForced: true, madeSince: 5) == paths)
        #expect(knownNames(records, madeSince: 5) { $0.existing = .overwrite } == paths)
        #expect(knownNames(records, isForced: true, madeSince: 6) == nil)
        #expect(knownNames(records, stamp: FileStamp.make(inode: 1).touched, isForced: true, madeSince: 5) == nil)
    }

    @Test func `pictures with outputs are probed after others`() {
        let records = [record(0), record(1)]
        #expect(!freshness([]).hasOutputs(RecordedFrame.input))
        #expect(freshness(records).hasOutputs(RecordedFrame.input))
        #expect(freshness(records) { $0.existing = .skip }.hasOutputs(RecordedFrame.input))
        #expect(!freshness(records, isForced: true).hasOutputs(RecordedFrame.input))
        #expect(freshness(records, isForced: true, madeSince: 5).hasOutputs(RecordedFrame.input))
        #expect(!freshness(records, isForced: true, madeSince: 6).hasOutputs(RecordedFrame.input))
    }

    @Test func `stamps do not give a name that depends on the bytes if 'compare' is content`() {
        #expect(knownNames([record(0), record(1)]) { $0.compare = .content } == nil)
    }
}
