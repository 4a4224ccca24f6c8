import Coordination
import JobModel
import JobStorage
import Testing

/// Policies other than `existing: update`, and the rules that precede all policies.
@Suite struct FreshnessPolicyTests {
    private static let anything: [@Sendable (inout RecordedFrame) -> Void] = [
        { _ in }, { $0.outputStamp = nil }, { $0.record = nil }, { $0.outputStamp = $0.outputStamp?.touched },
    ]

    @Test(arguments: anything.indices)
    func `overwrite and force make everything again`(index: Int) {
        var recorded = RecordedFrame()
        Self.anything[index](&recorded)
        recorded.isForced = true
        #expect(recorded.verdict == .anyway("--force"))
        recorded.isForced = false
        recorded.job.existing = .overwrite
        #expect(recorded.verdict == .anyway("existing: overwrite"))
    }

    @Test func `a run in parts does not repeat what an earlier part has rendered`() {
        var recorded = RecordedFrame()
        recorded.isForced = true
        recorded.madeSince = recorded.outputStamp?.modified
        #expect(recorded.verdict == .current(reason: Freshness.madeBefore))
        recorded.madeSince = recorded.outputStamp.map { $0.modified + 1 }
        #expect(recorded.verdict == .anyway("--force"))
    }

    @Test(
        arguments: [
            { $0.outputStamp = nil }, { $0.record = nil }, { $0.recipe = .make([.gaussian(14)]) },
            { $0.outputStamp = .make(inode: 2, size: 3) },
        ] as [@Sendable (inout RecordedFrame) -> Void])
    func `what has changed since that part is made again`(happen: @Sendable (inout RecordedFrame) -> Void) {
        var recorded = RecordedFrame()
        happen(&recorded)
        (recorded.isForced, recorded.madeSince) = (true, 0)
        #expect(recorded.verdict == .anyway("--force"))
    }

    @Test(arguments: anything.indices)
    func `skip makes what is missing, and error refuses what is there`(index: Int) {
        var recorded = RecordedFrame()
        Self.anything[index](&recorded)
        let isThere = recorded.outputStamp != nil
        recorded.job.existing = .skip
        #expect(recorded.verdict == (isThere ? .current(reason: "the output is there") : .new("output missing")))
        recorded.job.existing = .error
        #expect(recorded.verdict == (isThere ? .refused(output: RecordedFrame.output) : .new("output missing")))
    }

    @Test(arguments: [ExistingPolicy.skip, .error])
    func `what was never published is new, whatever the policy`(existing: ExistingPolicy) {
        var recorded = RecordedFrame()
        (recorded.record, recorded.outputStamp, recorded.job.existing) = (nil, nil, existing)
        #expect(recorded.verdict == .new("new"))
    }

    @Test func `an upgrade is reported or rendered, as 'upgrade' says`() {
        var recorded = RecordedFrame()
        recorded.catalog = .make(gaussian: 2)
        recorded.recipe = .make(catalog: recorded.catalog)
        let pixels = "gaussian's pixels (rendering version 1 → 2)"
        #expect(recorded.verdict == .upToDate)
        #expect(recorded.keptUpgrades == [RecipeUpgrade(pixels: pixels)])
        recorded.job.upgrade = .rerender
        #expect(recorded.verdict == .again(pixels))
        #expect(recorded.keptUpgrades == [])
    }

    @Test func `an upgrade is not reported of outputs that are rendered anyway, or edited`() {
        var recorded = RecordedFrame()
        recorded.catalog = .make(gaussian: 2)
        recorded.recipe = .make([.gaussian(14)], catalog: recorded.catalog)
        #expect(recorded.verdict == .again("radius 12 → 14"))
        #expect(recorded.keptUpgrades == [])
        recorded.recipe = .make(catalog: recorded.catalog)
        recorded.outputStamp = .make(inode: 9, size: 7)
        #expect(recorded.verdict == .edited)
        #expect(recorded.keptUpgrades == [])
    }

    struct Age: Sendable {
        let minAge: Double
        let seconds: Double
        let shown: Int?
    }

    /// A change in the future does not delay a picture.
    @Test(arguments: [
        Age(minAge: 5, seconds: 0, shown: 0), Age(minAge: 5, seconds: 3.9, shown: 3),
        Age(minAge: 5, seconds: 5, shown: nil),
        Age(minAge: 5, seconds: 60, shown: nil), Age(minAge: 5, seconds: -1, shown: nil),
        Age(minAge: 0, seconds: 0, shown: nil), Age(minAge: 0.5, seconds: 0.4, shown: 0),
    ])
    func `a file that was changed within min_age is left for the next run`(age: Age) {
        for isForced in [false, true] {
            var recorded = RecordedFrame()
            recorded.isForced = isForced
            recorded.job.minAge = age.minAge
            recorded.inputStamp = .make(changed: RecordedFrame.now - Int64(age.seconds * 1e9))
            let young = age.shown.map {
                FrameVerdict.tooRecent(reason: "changed \($0) s ago; 'min_age' leaves it for the next run")
            }
            #expect(recorded.verdict == young ?? (isForced ? .anyway("--force") : .upToDate))
        }
    }

    /// File systems may have such times: before 1677, and after 2262.
    @Test(arguments: [Int64.min, .max]) func `a file may have been changed at any time`(changed: Int64) {
        var recorded = RecordedFrame()
        recorded.job.minAge = 5
        recorded.inputStamp = .make(changed: changed)
        #expect(recorded.verdict == .upToDate)
    }

    /// The picture failed and has no output.
    private var brokenNight: RecordedFrame {
        var recorded = RecordedFrame()
        (recorded.record, recorded.outputStamp) = (nil, nil)
        recorded.broken = BrokenRecord(
            input: RecordedFrame.input, page: 0, stamp: .make(inode: 1), recipe: RecipeID(index: 0), message: "cut off",
            since: 7)
        return recorded
    }

    @Test(arguments: [ExistingPolicy.update, .skip])
    func `a picture that is still broken is not tried again`(existing: ExistingPolicy) {
        var recorded = brokenNight
        recorded.job.existing = existing
        #expect(recorded.verdict == .stillBroken(since: 7, message: "cut off"))
        recorded.isForced = true
        #expect(recorded.verdict == .anyway("--force"))
    }

    @Test(arguments: [
        FileChange("another time", .new("new")) { $0.inputStamp = $0.inputStamp?.touched },
        FileChange("another size", .new("new")) { $0.inputStamp = .make(size: 3) },
        FileChange("another chain", .new("new")) { $0.recipe = .make([.gaussian(3)]) },
        FileChange("other pixels", .new("new")) {
            $0.catalog = .make(gaussian: 2)
            $0.recipe = .make(catalog: $0.catalog)
        },
        FileChange("an old ledger", .new("new")) { $0.oldRecipe = "{}" },
        FileChange("overwrite", .anyway("existing: overwrite")) { $0.job.existing = .overwrite },
    ])
    func `a broken picture is tried again when something has changed`(change: FileChange) {
        var recorded = brokenNight
        change.happen(&recorded)
        #expect(recorded.verdict == change.expected)
    }

    @Test func `an output that was good stays when its picture breaks`() {
        var recorded = RecordedFrame()
        recorded.broken = brokenNight.broken
        recorded.broken?.stamp = .make(inode: 9)
        recorded.inputStamp = .make(inode: 9)
        #expect(recorded.verdict == .stillBroken(since: 7, message: "cut off"))
    }
}
