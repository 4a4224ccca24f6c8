import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import Reports

/// The report of `penumbra verify` on outputs that differ from what was published.
enum VerificationText {
    /// Lists damaged outputs in groups, by the kind of damage.
    ///
    /// - Parameter folder: paths below this folder are shown relative to it.
    static func damage(_ outputs: [VerifiedOutput], folder: String) -> [String] {
        let damaged = outputs.filter(\.condition.isDamage)
        return ["missing", "truncated", "changed", "swapped", "replaced", "unreadable"].flatMap { word in
            let group = damaged.filter { $0.condition.word == word }
            return SummaryText.list(
                "\(Figures.plural(group.count, "output")) \(word)", group.map(\.output.record.path),
                reasons: group.map { $0.words(folder: folder) }, folder: folder)
        }
    }

    /// What the outputs were compared with, and what to do about those that are not as published.
    ///
    /// - Parameter state: the state folder.
    static func remedies(_ outputs: [VerifiedOutput], state: String, folder: String) -> [String] {
        let damaged = outputs.filter(\.condition.isDamage)
        guard !damaged.isEmpty else { return [] }
        var remedies = [
            "compared with the records in \(PathText.shown(state, from: folder)), or else with an index or a receipt beside the output"
        ]
        let gone = damaged.filter(\.isInputGone)
        if !gone.isEmpty { remedies.append(remedy(forGone: gone, folder: folder)) }
        let words = Set(damaged.filter { !$0.isInputGone }.map(\.condition.word))
        if !words.isDisjoint(with: ["truncated", "changed", "swapped"]) {
            remedies.append("if nobody edited such an output on purpose, remove it: the next run renders it again")
        }
        if words.contains("replaced") {
            remedies.append("a replaced output belongs to the other job now: let each job write to a folder of its own")
        }
        if words.contains("missing") { remedies.append("the next run renders a missing output again") }
        return remedies
    }

    /// What to do about damaged outputs whose pictures are gone: nothing can render these outputs.
    static func remedy(forGone outputs: [VerifiedOutput], folder: String) -> String {
        let inputs = Set(outputs.map { PathKey($0.output.record.input) }).sorted()
        let first = inputs.first.map { PathText.shown($0.path, from: folder) } ?? ""
        let others = inputs.count > 1 ? " and \(Figures.plural(inputs.count - 1, "other picture"))" : ""
        let (are, them) = inputs.count > 1 ? ("are", "them") : ("is", "it")
        let folders = inputs.filter { PathNames.folder(of: $0.path).map { access($0, F_OK) != 0 } ?? false }
        let remedy =
            folders.isEmpty
            ? "restore \(them), or the outputs, from a backup"
            : "is a disk not mounted, or a folder moved? Else restore \(them), or the outputs, from a backup"
        return "\(first)\(others) \(are) not there, so that no run can render "
            + "\(Figures.plural(outputs.count, "damaged output")) of \(them) again: \(remedy)"
    }

    static func unknown(_ paths: [String], folder: String) -> [String] {
        SummaryText.list(
            "\(Figures.plural(paths.count, "file")) not known", paths,
            reasons: paths.map(reason(ofUnknown:)), folder: folder)
    }

    private static func reason(ofUnknown path: String) -> String {
        guard access(path, F_OK) == 0 else { return "not known, and not there" }
        var found = stat()
        let isFolder = stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
        return isFolder
            ? "not known: no job of this state folder published anything in it"
            : "not known: no job of this state folder published it"
    }
}

/// The report of `penumbra verify --rerender`.
struct RerenderingText {
    private let outputs: [RerenderedOutput]
    private let folder: String

    init(_ outputs: [RerenderedOutput], folder: String) { (self.outputs, self.folder) = (outputs, folder) }

    /// Outputs on which somebody has to act.
    var damage: [String] { lists(outputs.filter(\.condition.isDamage)) }

    /// Other outputs that did not come out as published.
    var remarks: [String] { lists(outputs.filter { !$0.condition.isDamage && $0.condition != .asPublished }) }

    /// Groups outputs by their titles, in the order of the first output with each title.
    private func lists(_ outputs: [RerenderedOutput]) -> [String] {
        var (titles, groups): ([String], [String: [RerenderedOutput]]) = ([], [:])
        for output in outputs {
            let title = output.condition.title
            if groups[title] == nil { titles.append(title) }
            groups[title, default: []].append(output)
        }
        return titles.flatMap { title in
            let group = groups[title] ?? []
            let reasons = group.compactMap(\.condition.message).map(PathText.visible)
            return SummaryText.list(
                "\(Figures.plural(group.count, "output")): \(title)", group.map(\.output.record.path),
                reasons: reasons.count == group.count ? reasons : nil, folder: folder)
        }
    }
}

extension OutputCondition {
    /// The name of the case in JSON and in counts.
    var word: String {
        switch self {
        case .asPublished: "as published"
        case .missing: "missing"
        case .truncated: "truncated"
        case .changed, .copied: "changed"
        case .swapped: "swapped"
        case .replaced: "replaced"
        case .unreadable: "unreadable"
        }
    }
}

extension VerifiedOutput {
    /// Whether the picture that it was rendered from is not there, as a run would need it.
    var isInputGone: Bool {
        switch condition {
        case .replaced, .unreadable: false
        default: access(output.record.input, F_OK) != 0 && [ENOENT, ENOTDIR].contains(errno)
        }
    }

    fileprivate func words(folder: String) -> String {
        let before = output.record.file.stamp.size
        switch condition {
        case .asPublished: return "as published"
        case .missing: return "missing"
        case .truncated(let bytes): return "truncated (\(Figures.count(bytes)) of \(Figures.count(before)) bytes)"
        case .swapped(let other): return "swapped with \(PathText.shown(other, from: folder))"
        case .copied(let other): return "changed (it holds the bytes of \(PathText.shown(other, from: folder)))"
        case .replaced(let job, let manifest):
            let place = manifest.map { " of \(PathText.visible($0))" } ?? ""
            return "replaced: published since by the job '\(PathText.visible(job))'\(place)"
        case .unreadable(let message):
            // The line begins with the path.
            let path = "\(output.record.path): "
            let reason = message.hasPrefix(path) ? String(message.dropFirst(path.count)) : message
            return "unreadable: \(PathText.visible(reason))"
        case .changed:
            guard let size = found?.stamp.size else { return "changed (no file, or a link)" }
            return size == before
                ? "changed (\(Figures.count(size)) bytes, as before)"
                : "changed (\(Figures.count(size)) bytes, \(Figures.count(before)) before)"
        }
    }
}

extension RerenderedCondition {
    /// The name of the case in JSON and in counts.
    var word: String {
        switch self {
        case .asPublished: "as published"
        case .encoderDiffers: "encoder differs"
        case .bytesDiffer: "bytes differ"
        case .pixelsDiffer: "pixels differ"
        case .versionsDiffer: "versions differ"
        case .unknownDiffers: "differs"
        case .skipped: "skipped"
        case .failed: "failed"
        }
    }

    /// The title of the list that the output belongs to.
    fileprivate var title: String {
        switch self {
        case .asPublished: "as published"
        case .encoderDiffers(let recorded, let now): "pixels equal, encoder differs: \(recorded) → \(now)"
        case .bytesDiffer: "pixels equal, bytes differ, though the encoder is the same"
        case .pixelsDiffer: "pixels differ"
        case .versionsDiffer(let versions): "pixels differ, rendered by \(versions)"
        case .unknownDiffers: "differs; pixels were not recorded"
        case .skipped(let reason): "not rendered again, \(reason)"
        case .failed: "not rendered again, since that failed"
        }
    }

    var message: String? { if case .failed(let message) = self { message } else { nil } }
}

/// The JSON line of a verified output.
struct VerifiedLine: JSONLine {
    let event = "verified"
    let path: String
    /// `as published`, `missing`, `truncated`, `changed`, `swapped`, `replaced`, `unreadable`, `unknown`.
    let state: String
    var job: String?
    /// The file as it is now; nil if it cannot be read.
    var bytes: Int?
    var digest: String?
    var publishedBytes: Int?
    var publishedDigest: String?
    /// The other output, if the bytes of the two were swapped.
    var swappedWith: String?
    /// The output whose bytes it has, if the two were not swapped.
    var copyOf: String?
    /// The job that published it since.
    var replacedBy: String?
    var message: String?

    init(_ output: VerifiedOutput) {
        let record = output.output.record
        (path, job, state) = (record.path, output.output.job, output.condition.word)
        (bytes, digest) = (output.found?.stamp.size, output.found?.digest.description)
        (publishedBytes, publishedDigest) = (record.file.stamp.size, record.file.digest.description)
        switch output.condition {
        case .swapped(let other): swappedWith = other
        case .copied(let other): copyOf = other
        case .replaced(let job, _): replacedBy = job
        case .unreadable(let message): self.message = message
        case .asPublished, .missing, .truncated, .changed: break
        }
    }

    init(unknown path: String) {
        (self.path, state) = (path, "not known")
        message = "not known: no job of this state folder published it"
    }
}

/// The JSON line of an output that was rendered again.
struct RerenderedLine: JSONLine {
    let event = "rerendered"
    let path: String
    let job: String
    /// `as published`, `encoder differs`, `bytes differ`, `pixels differ`, `versions differ`, `differs`, `skipped`, `failed`.
    let state: String
    var reason: String?
    /// The new output; nil if it was not rendered.
    var digest: String?
    var pixels: String?
    var encoder: String?
    let publishedDigest: String
    var publishedPixels: String?
    var publishedEncoder: String?

    init(_ output: RerenderedOutput) {
        let record = output.output.record
        (path, job, state) = (record.path, output.output.job, output.condition.word)
        (digest, pixels) = (output.digest?.description, output.pixels?.digest.description)
        encoder = output.pixels?.encoding.encoder
        publishedDigest = record.file.digest.description
        publishedPixels = record.pixels?.digest.description
        publishedEncoder = record.pixels?.encoding.encoder
        switch output.condition {
        case .skipped(let reason), .failed(let reason): self.reason = reason
        case .versionsDiffer(let versions): reason = "rendered by \(versions)"
        case .asPublished, .encoderDiffers, .bytesDiffer, .pixelsDiffer, .unknownDiffers: break
        }
    }
}

/// The JSON line that sums up all outputs.
struct VerificationLine: JSONLine {
    /// `verification` or `rerendering`.
    let event: String
    let outputs: Int
    /// The number of outputs that the sample was taken from, and its seed.
    private(set) var sampleOf: Int?
    private(set) var seed: UInt64?
    /// How many outputs are in each state.
    let states: [String: Int]
    private(set) var bytesRead: Int?

    init(_ outputs: [VerifiedOutput], _ sampling: (total: Int, seed: UInt64)?) {
        event = "verification"
        self.outputs = outputs.count
        (sampleOf, seed) = (sampling?.total, sampling?.seed)
        states = Dictionary(outputs.map { ($0.condition.word, 1) }, uniquingKeysWith: +)
        bytesRead = outputs.reduce(0) { $0 + ($1.found?.stamp.size ?? 0) }
    }

    init(_ outputs: [RerenderedOutput]) {
        event = "rerendering"
        self.outputs = outputs.count
        states = Dictionary(outputs.map { ($0.condition.word, 1) }, uniquingKeysWith: +)
    }

    /// `verified 12 of 1,200 outputs (--seed 7): 11 as published, 1 missing in 1.2 s, 34.1 MB read`
    func text(elapsed: Duration) -> String {
        let whole =
            sampleOf.map { "\(Figures.count(outputs)) of \(Figures.plural($0, "output")) (--seed \(seed ?? 0))" }
            ?? Figures.plural(outputs, "output")
        // Undamaged outputs come first.
        let ordered = states.sorted {
            ($0.key == "as published" ? "" : $0.key) < ($1.key == "as published" ? "" : $1.key)
        }
        let counts = ordered.map { "\(Figures.count($0.value)) \($0.key)" }.joined(separator: ", ")
        let read = bytesRead.map { ", \(Figures.bytes($0)) read" } ?? ""
        let done = bytesRead == nil ? "rendered again" : "verified"
        return "\(done) \(whole): \(counts) in \(Figures.duration(elapsed))\(read)"
    }
}

/// The JSON line about what `--repair` has made again.
struct RepairLine: JSONLine {
    let event = "repair"
    let repaired: Int
    /// Damaged outputs that were not made again, or are damaged still.
    let damaged: Int
    /// Those of them that somebody may have edited.
    let edited: Int
    /// Those of them whose pictures are gone.
    let withoutInput: Int

    /// `repaired 3 outputs; 1 output is not as published`
    ///
    /// - Parameter canReplace: whether `--force` could render edited outputs again.
    func text(canReplace: Bool) -> String {
        let rest =
            damaged == 0
            ? "" : "; \(Figures.plural(damaged, "output")) \(damaged == 1 ? "is" : "are") not as published"
        let remedy =
            edited == 0
            ? ""
            : "\n   = \(Figures.plural(edited, "output")) may have been edited: 'penumbra adopt' accepts edits"
                + (canReplace ? ", and --force replaces them" : "")
        return "repaired \(Figures.plural(repaired, "output"))\(rest)\(remedy)"
    }
}
