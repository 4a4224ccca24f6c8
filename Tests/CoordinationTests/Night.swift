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
    var madeSince: Int64?
    var inputStamp: FileStamp? = .make(inode: 1)
    var outputStamp: FileStamp? = .make(inode: 2)
    var inputDigest: Digest? = .make(1)
    var outputDigest: Digest? = .make(2)
    var record: OutputRecord? = .make()
    var broken: BrokenRecord?
    var oldRecipe: String = Recipe.make().text
    var recipe = Recipe.make()
    var catalog = Catalog.make()
    var book: RecipeTable { RecipeTable(catalog: catalog, texts: [RecipeID(place: 0): oldRecipe]) }

    func freshness(_ book: RecipeTable) -> Freshness {
        Freshness(
            job: job, isForced: isForced, madeSince: madeSince, records: record.map { [$0] } ?? [],
            broken: broken.map { [$0] } ?? [],
            recipes: book, now: Self.now)
    }

    func frame(_ book: RecipeTable) -> FrameFiles {
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

    func findings(of files: [DigestTask.File]) -> Freshness.Findings {
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
    static func kept(reason: String) -> FrameVerdict { .kept([KeptOutput(path: Night.output, reason: reason)]) }

    static let upToDate = FrameVerdict.current(reason: "up to date")
    static let edited = FrameVerdict.kept(
        reason: "output was edited; 'penumbra adopt' accepts it, --force makes it again")
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
