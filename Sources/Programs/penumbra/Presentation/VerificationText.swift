import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import Reports

/// What `penumbra verify` says of outputs that are not as they were published.
enum VerificationText {
    /// Grouped by what became of them.
    ///
    /// - Parameter folder: paths below it are shown relative to it.
    static func damage(_ outputs: [VerifiedOutput], folder: String) -> [String] {
        let damaged = outputs.filter(\.condition.isDamage)
        return ["missing", "truncated", "changed", "swapped", "unreadable"].flatMap { word in
            let group = damaged.filter { $0.condition.word == word }
            return SummaryText.list(
                "\(Figures.plural(group.count, "output")) \(word)", group.map(\.output.record.path),
                reasons: group.map { $0.words(folder: folder) }, folder: folder)
        }
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

/// What came of rendering outputs again.
struct RerenderingText {
    private let outputs: [RerenderedOutput]
    private let folder: String

    init(_ outputs: [RerenderedOutput], folder: String) { (self.outputs, self.folder) = (outputs, folder) }

    /// What somebody has to act on.
    var damage: [String] { lists(outputs.filter(\.condition.isDamage)) }

    /// What is worth knowing.
    var remarks: [String] { lists(outputs.filter { !$0.condition.isDamage && $0.condition != .asPublished }) }

    /// By their titles, which many have in common, in the order in which these first come.
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
    /// One for each case, in JSON and in counts.
    var word: String {
        switch self {
        case .asPublished: "as published"
        case .missing: "missing"
        case .truncated: "truncated"
        case .changed, .copied: "changed"
        case .swapped: "swapped"
        case .unreadable: "unreadable"
        }
    }
}

extension VerifiedOutput {
    fileprivate func words(folder: String) -> String {
        let before = output.record.file.stamp.size
        switch condition {
        case .asPublished: return "as published"
        case .missing: return "missing"
        case .truncated(let bytes): return "truncated (\(Figures.count(bytes)) of \(Figures.count(before)) bytes)"
        case .swapped(let other): return "swapped with \(PathText.shown(other, from: folder))"
        case .copied(let other): return "changed (it holds the bytes of \(PathText.shown(other, from: folder)))"
        case .unreadable(let message): return "unreadable: \(PathText.visible(message))"
        case .changed:
            guard let size = found?.stamp.size else { return "changed (no file, or a link)" }
            return size == before
                ? "changed (\(Figures.count(size)) bytes, as before)"
                : "changed (\(Figures.count(size)) bytes, \(Figures.count(before)) before)"
        }
    }
}

extension RerenderedCondition {
    /// One for each case, in JSON and in counts.
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

    /// What outputs have in common that are listed together.
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
