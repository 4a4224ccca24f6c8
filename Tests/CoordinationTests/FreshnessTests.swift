import Catalogs
import Coordination
import JobModel
import JobStorage
import Testing
import WorkerProtocol

/// One frame with one output, as a night finds them; at first all is as the night before has left it.
struct Night: Sendable {
    static let input = "/jobs/photos/a.jpg"
    static let output = "/jobs/out/a.webp"
    /// 100 seconds since 1970.
    static let now: Int64 = 100_000_000_000

    var job = JobSpec.make()
    var isForced = false
    var inputStamp: FileStamp? = .make(inode: 1)
    var outputStamp: FileStamp? = .make(inode: 2)
    var inputDigest: Digest? = .make(1)
    var outputDigest: Digest? = .make(2)
    var record: OutputRecord? = .make()
    var broken: BrokenRecord?
    var oldRecipe: String = Recipe.make().text
    var recipe = Recipe.make()
    var catalog = Catalog.make()
    var book: RecipeBook { RecipeBook(catalog: catalog, texts: [RecipeID(place: 0): oldRecipe]) }

    func freshness(_ book: RecipeBook) -> Freshness {
        Freshness(
            job: job, isForced: isForced, records: record.map { [$0] } ?? [], broken: broken.map { [$0] } ?? [],
            book: book, now: Self.now)
    }

    func frame(_ book: RecipeBook) -> FrameFiles {
        let output = FrameFiles.Output(path: Self.output, stamp: outputStamp, recipe: book.key(of: recipe))
        return FrameFiles(input: Self.input, inputBytes: nil, page: 0, stamp: inputStamp, outputs: [output])
    }

    /// What a run says before it has read any file.
    var firstVerdict: FrameVerdict {
        let book = book
        return freshness(book).verdict(of: frame(book))
    }

    /// What it says in the end. Workers read files once for a frame, so that all that matters is asked for at once.
    var verdict: FrameVerdict {
        let book = book
        let (freshness, frame) = (freshness(book), frame(book))
        let verdict = freshness.verdict(of: frame)
        guard case .compare(let files) = verdict else { return verdict }
        return freshness.verdict(of: frame, findings: findings(of: files))
    }

    func findings(of files: [CompareTask.File]) -> Freshness.Findings {
        var findings: Freshness.Findings = [:]
        for file in files {
            let isInput = file.path == Self.input
            let (stamp, digest) = isInput ? (inputStamp, inputDigest) : (outputStamp, outputDigest)
            findings[file] = .some(stamp.flatMap { stamp in digest.map { FileFacts(stamp: stamp, digest: $0) } })
        }
        return findings
    }
}

/// What happened between two nights, and what the second one is to make of it.
struct Event: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: FrameVerdict
    let happen: @Sendable (inout Night) -> Void

    init(_ name: String, _ expected: FrameVerdict, _ happen: @escaping @Sendable (inout Night) -> Void) {
        testDescription = name
        self.expected = expected
        self.happen = happen
    }
}

extension FrameVerdict {
    static let upToDate = FrameVerdict.current(reason: "up to date")
    static let edited = FrameVerdict.current(reason: "output was edited")
    static let foreign = FrameVerdict.kept(
        reason: "not published by Penumbra; 'penumbra adopt' accepts it, --force replaces it")

    /// Where nothing is at the path.
    static func new(_ reason: String) -> FrameVerdict {
        .render([Replacement(path: Night.output, rule: .nothing)], reason: reason)
    }

    /// In place of what was published.
    static func again(_ reason: String, _ stamp: FileStamp = .make(inode: 2)) -> FrameVerdict {
        .render([Replacement(path: Night.output, rule: .published(stamp))], reason: reason)
    }

    /// In place of anything.
    static func anyway(_ reason: String) -> FrameVerdict {
        .render([Replacement(path: Night.output, rule: .anything)], reason: reason)
    }

    static func keptEdited(_ changes: String) -> FrameVerdict {
        .kept(reason: "output was edited, and would be made anew (\(changes)); --force replaces it")
    }
}

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
        #expect(night.firstVerdict == .compare([CompareTask.File(path: Night.input)]))
        night.outputStamp = nil
        #expect(night.firstVerdict == .new("output missing"))
        night = Night()
        night.outputStamp = night.outputStamp?.touched
        #expect(night.firstVerdict == .compare([CompareTask.File(path: Night.output)]))
        night.job.compare = .size
        #expect(night.firstVerdict == .upToDate)
    }

    @Test func `what was only touched is known by its new stamp from then on`() {
        var night = Night()
        (night.inputStamp, night.outputStamp) = (night.inputStamp?.touched, night.outputStamp?.touched)
        let book = night.book
        let findings = night.findings(of: [CompareTask.File(path: Night.input), CompareTask.File(path: Night.output)])
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
        let findings = night.findings(of: [CompareTask.File(path: Night.input), CompareTask.File(path: Night.output)])
        #expect(night.freshness(book).refreshed(night.frame(book), findings) == [])
    }
}

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
                FrameVerdict.young(reason: "changed \($0) s ago; 'min_age' leaves it for the next run")
            }
            #expect(night.verdict == young ?? (isForced ? .anyway("--force") : .upToDate))
        }
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

/// Frames with several outputs, and names that are known by heart.
@Suite struct SeveralOutputsTests {
    private let book = RecipeBook(catalog: .make(), texts: [RecipeID(place: 0): Recipe.make().text])
    private let paths = ["/jobs/out/a.webp", "/jobs/thumbs/a.webp"]

    private func record(_ part: Int, recipe: RecipeID = RecipeID(place: 0)) -> OutputRecord {
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
        let freshness = Freshness(job: job, isForced: false, records: records, broken: [], book: book, now: Night.now)
        let outputs = paths.indices.map { part in
            FrameFiles.Output(
                path: paths[part], stamp: there[part] ? .make(inode: UInt64(part) + 2) : nil,
                recipe: book.key(of: recipes[part]))
        }
        return freshness.verdict(
            of: FrameFiles(input: Night.input, inputBytes: nil, page: 0, stamp: .make(inode: 1), outputs: outputs))
    }

    @Test func `one output that is missing is made without the other one`() {
        #expect(
            verdict([record(0), record(1)], there: [true, false])
                == .render([nil, Replacement(path: paths[1], rule: .nothing)], reason: "output missing"))
        #expect(
            verdict([record(0)], there: [true, false])
                == .render([nil, Replacement(path: paths[1], rule: .nothing)], reason: "new"))
    }

    @Test func `each reason is told once`() {
        let changed = verdict([record(0), record(1)], recipes: [.make([.gaussian(14)]), .make([.gaussian(14)])])
        #expect(
            changed
                == .render(
                    [
                        Replacement(path: paths[0], rule: .published(.make(inode: 2))),
                        Replacement(path: paths[1], rule: .published(.make(inode: 3))),
                    ], reason: "radius 12 → 14"))
        guard case .render(_, let reason) = verdict([record(0)], there: [false, false]) else {
            Issue.record("nothing is rendered")
            return
        }
        #expect(reason == "output missing; new")
    }

    @Test func `an output that is not Penumbra's stays while the other one is made`() {
        #expect(
            verdict([record(0)], recipes: [.make([.gaussian(14)]), .make()])
                == .render(
                    [Replacement(path: paths[0], rule: .published(.make(inode: 2))), nil], reason: "radius 12 → 14"))
        #expect(verdict([record(0)]) == .foreign)
    }

    @Test func `skip and error look at each output`() {
        #expect(verdict([], existing: .skip) == .current(reason: "all outputs are there"))
        #expect(
            verdict([], there: [false, true], existing: .skip)
                == .render([Replacement(path: paths[0], rule: .nothing), nil], reason: "output missing"))
        #expect(verdict([], there: [false, true], existing: .error) == .refused(output: paths[1]))
    }

    private func knownNames(
        _ records: [OutputRecord], stamp: FileStamp = .make(inode: 1), recipe: Recipe = .make(),
        _ change: (inout JobSpec) -> Void = { _ in }
    ) -> [String]? {
        var job = JobSpec.make(outputs: [.width, .width])
        change(&job)
        let freshness = Freshness(job: job, isForced: false, records: records, broken: [], book: book, now: Night.now)
        let key = book.key(of: recipe)
        return freshness.knownNames(input: Night.input, stamp: stamp, recipes: [key, key])
    }

    @Test func `names of an unchanged picture are known without opening it`() {
        #expect(knownNames([record(0), record(1)]) == paths)
        #expect(knownNames([record(1), record(0)]) == paths)
    }

    @Test func `names are looked for again when anything has changed`() {
        let records = [record(0), record(1)]
        #expect(knownNames([record(0)]) == nil)
        #expect(knownNames(records, stamp: FileStamp.make(inode: 1).touched) == nil)
        #expect(knownNames(records, recipe: .make([.gaussian(14)])) == nil)
        #expect(knownNames(records) { $0.existing = .overwrite } == nil)
        #expect(knownNames([record(0), record(1, recipe: RecipeID(place: 5))]) == nil)
    }

    @Test func `stamps do not tell a name that comes from the bytes where compare reads them`() {
        #expect(knownNames([record(0), record(1)]) { $0.compare = .content } == nil)
    }
}
