import Catalogs
import Coordination
import JobModel
import JobStorage
import Testing
import WorkerProtocol

/// A frame with one output that an earlier run has published. At first nothing has changed since then.
struct RecordedFrame: Sendable {
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
    var stateFolder: String?
    var recipes: RecipeTable { RecipeTable(catalog: catalog, texts: [RecipeID(index: 0): oldRecipe]) }

    func freshness(_ recipes: RecipeTable) -> Freshness {
        Freshness(
            job: job, isForced: isForced, madeSince: madeSince, records: record.map { [$0] } ?? [],
            broken: broken.map { [$0] } ?? [],
            recipes: recipes, stateFolder: stateFolder, now: Self.now)
    }

    func frame(_ recipes: RecipeTable) -> FrameFiles {
        let output = FrameFiles.Output(path: Self.output, stamp: outputStamp, recipe: recipes.key(of: recipe))
        return FrameFiles(input: Self.input, inputBytes: nil, page: 0, stamp: inputStamp, outputs: [output])
    }

    /// The verdict before any file was read.
    var firstVerdict: FrameVerdict {
        let recipes = recipes
        return freshness(recipes).verdict(of: frame(recipes))
    }

    /// The final verdict. Workers read the files of a frame once, so everything that matters is requested at
    /// once.
    var verdict: FrameVerdict {
        let recipes = recipes
        let (freshness, frame) = (freshness(recipes), frame(recipes))
        let verdict = freshness.verdict(of: frame)
        guard case .compare(let files) = verdict else { return verdict }
        return freshness.verdict(of: frame, findings: findings(of: files))
    }

    /// The upgrades that the output does not have after the run.
    var keptUpgrades: [RecipeUpgrade] {
        let recipes = recipes
        return freshness(recipes).keptUpgrades(of: frame(recipes), verdict)
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

/// A change between two runs, and the expected verdict of the second one.
struct FileChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: FrameVerdict
    let happen: @Sendable (inout RecordedFrame) -> Void

    init(_ name: String, _ expected: FrameVerdict, _ happen: @escaping @Sendable (inout RecordedFrame) -> Void) {
        testDescription = name
        self.expected = expected
        self.happen = happen
    }
}

extension FrameVerdict {
    static func kept(reason: String) -> FrameVerdict { .kept([KeptOutput(path: RecordedFrame.output, reason: reason)]) }

    static let upToDate = FrameVerdict.current(reason: "up to date")
    static let edited = FrameVerdict.kept(
        reason: "output was edited or damaged; accept with 'penumbra adopt', render again with --force")
    static let foreign = FrameVerdict.kept(
        reason: "no record in this state folder; accept with 'penumbra adopt', replace with --force")

    /// Nothing is at the path.
    static func new(_ reason: String) -> FrameVerdict {
        .render([Replacement(path: RecordedFrame.output, rule: .nothing)], reason: reason)
    }

    /// The published output is replaced.
    static func again(_ reason: String, _ stamp: FileStamp = .make(inode: 2)) -> FrameVerdict {
        .render([Replacement(path: RecordedFrame.output, rule: .published(stamp))], reason: reason)
    }

    /// Anything is replaced.
    static func anyway(_ reason: String) -> FrameVerdict {
        .render([Replacement(path: RecordedFrame.output, rule: .anything)], reason: reason)
    }

    static func keptEdited(_ changes: String) -> FrameVerdict {
        .kept(reason: "output was edited or damaged, and would be rendered again (\(changes)); --force replaces it")
    }
}
