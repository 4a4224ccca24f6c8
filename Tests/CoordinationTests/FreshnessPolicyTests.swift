import Coordination
import JobModel
import JobStorage
import Testing

/// Policies other than `existing: update`, and what goes before all of them.
@Suite struct FreshnessPolicyTests {
    private static let anything: [@Sendable (inout Night) -> Void] = [
        { _ in }, { $0.outputStamp = nil }, { $0.record = nil }, { $0.outputStamp = $0.outputStamp?.touched },
    ]

    @Test(arguments: anything.indices)
    func `overwrite and force make everything again`(index: Int) {
        var night = Night()
        Self.anything[index](&night)
        night.isForced = true
        #expect(night.verdict == .anyway("--force"))
        night.isForced = false
        night.job.existing = .overwrite
        #expect(night.verdict == .anyway("existing: overwrite"))
    }

    @Test func `a run in parts makes nothing again that an earlier part has made`() {
        var night = Night()
        night.isForced = true
        night.madeSince = night.outputStamp?.modified
        #expect(night.verdict == .current(reason: Freshness.madeBefore))
        night.madeSince = night.outputStamp.map { $0.modified + 1 }
        #expect(night.verdict == .anyway("--force"))
    }

    @Test(
        arguments: [
            { $0.outputStamp = nil }, { $0.record = nil }, { $0.recipe = .make([.gaussian(14)]) },
            { $0.outputStamp = .make(inode: 2, size: 3) },
        ] as [@Sendable (inout Night) -> Void])
    func `what has changed since that part is made again`(happen: @Sendable (inout Night) -> Void) {
        var night = Night()
        happen(&night)
        (night.isForced, night.madeSince) = (true, 0)
        #expect(night.verdict == .anyway("--force"))
    }

    @Test(arguments: anything.indices)
    func `skip makes what is missing, and error refuses what is there`(index: Int) {
        var night = Night()
        Self.anything[index](&night)
        let isThere = night.outputStamp != nil
        night.job.existing = .skip
        #expect(night.verdict == (isThere ? .current(reason: "the output is there") : .new("output missing")))
        night.job.existing = .error
        #expect(night.verdict == (isThere ? .refused(output: Night.output) : .new("output missing")))
    }

    @Test(arguments: [ExistingPolicy.skip, .error])
    func `what was never published is new, whatever the policy`(existing: ExistingPolicy) {
        var night = Night()
        (night.record, night.outputStamp, night.job.existing) = (nil, nil, existing)
        #expect(night.verdict == .new("new"))
    }

    @Test func `an upgrade is kept and told, or rendered again`() {
        var night = Night()
        night.catalog = .make(gaussian: 2)
        night.recipe = .make(catalog: night.catalog)
        let book = night.book
        #expect(night.verdict == .upToDate)
        #expect(
            night.freshness(book).keptUpgrades(of: night.frame(book)) == ["gaussian's pixels (rendering version 1 → 2)"]
        )
        night.job.upgrade = .rerender
        #expect(night.verdict == .again("gaussian's pixels (rendering version 1 → 2)"))
        #expect(night.freshness(book).keptUpgrades(of: night.frame(book)) == [])
    }

    struct Age: Sendable {
        let minAge: Double
        let seconds: Double
        let shown: Int?
    }

    /// A time in the future is no reason to wait for it.
    @Test(arguments: [
        Age(minAge: 5, seconds: 0, shown: 0), Age(minAge: 5, seconds: 3.9, shown: 3),
        Age(minAge: 5, seconds: 5, shown: nil),
        Age(minAge: 5, seconds: 60, shown: nil), Age(minAge: 5, seconds: -1, shown: nil),
        Age(minAge: 0, seconds: 0, shown: nil), Age(minAge: 0.5, seconds: 0.4, shown: 0),
    ])
    func `a file that was changed within min_age is left for the next run`(age: Age) {
        for isForced in [false, true] {
            var night = Night()
            night.isForced = isForced
            night.job.minAge = age.minAge
            night.inputStamp = .make(changed: Night.now - Int64(age.seconds * 1e9))
            let young = age.shown.map {
                FrameVerdict.tooRecent(reason: "changed \($0) s ago; 'min_age' leaves it for the next run")
            }
            #expect(night.verdict == young ?? (isForced ? .anyway("--force") : .upToDate))
        }
    }

    /// As a file system may have them: before 1677, and after 2262.
    @Test(arguments: [Int64.min, .max]) func `a file may have been changed at any time`(changed: Int64) {
        var night = Night()
        night.job.minAge = 5
        night.inputStamp = .make(changed: changed)
        #expect(night.verdict == .upToDate)
    }

    /// The picture failed, and has no output.
    private var brokenNight: Night {
        var night = Night()
        (night.record, night.outputStamp) = (nil, nil)
        night.broken = BrokenRecord(
            input: Night.input, page: 0, stamp: .make(inode: 1), recipe: RecipeID(place: 0), message: "cut off",
            since: 7)
        return night
    }

    @Test(arguments: [ExistingPolicy.update, .skip])
    func `a picture that is still broken is not tried again`(existing: ExistingPolicy) {
        var night = brokenNight
        night.job.existing = existing
        #expect(night.verdict == .stillBroken(since: 7, message: "cut off"))
        night.isForced = true
        #expect(night.verdict == .anyway("--force"))
    }

    @Test(arguments: [
        Event("another time", .new("new")) { $0.inputStamp = $0.inputStamp?.touched },
        Event("another size", .new("new")) { $0.inputStamp = .make(size: 3) },
        Event("another chain", .new("new")) { $0.recipe = .make([.gaussian(3)]) },
        Event("other pixels", .new("new")) {
            $0.catalog = .make(gaussian: 2)
            $0.recipe = .make(catalog: $0.catalog)
        },
        Event("an old ledger", .new("new")) { $0.oldRecipe = "{}" },
        Event("overwrite", .anyway("existing: overwrite")) { $0.job.existing = .overwrite },
    ])
    func `a broken picture is tried again when something has changed`(event: Event) {
        var night = brokenNight
        event.happen(&night)
        #expect(night.verdict == event.expected)
    }

    @Test func `an output that was good stays when its picture breaks`() {
        var night = Night()
        night.broken = brokenNight.broken
        night.broken?.stamp = .make(inode: 9)
        night.inputStamp = .make(inode: 9)
        #expect(night.verdict == .stillBroken(since: 7, message: "cut off"))
    }
}
