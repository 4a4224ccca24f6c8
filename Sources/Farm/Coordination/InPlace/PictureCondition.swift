import JobModel
package import Planning
package import Scheduling
import WorkerProtocol

/// What a picture is, compared with what is known of it.
package enum PictureCondition: Sendable {
    /// Nothing is kept of it.
    case unknown
    /// It is what a command has made of this original.
    case blurred(StoredOriginal)
    /// It is the original: a command was killed before it replaced it, or somebody has put it back.
    case original(StoredOriginal)
    /// It is something else; the latest original that is kept of it.
    case edited(StoredOriginal)
    /// Nothing is there; the latest original that is kept of it.
    case missing(StoredOriginal)

    /// - Parameters:
    ///   - originals: the latest first.
    ///   - content: nil when nothing is there.
    init(_ originals: [StoredOriginal], _ content: FileContent?) {
        guard let latest = originals.first else {
            self = .unknown
            return
        }
        guard let content else {
            self = .missing(latest)
            return
        }
        // A filter may change nothing: then it is blurred, since undoing that does no harm.
        if let own = originals.first(where: { $0.record.blurred == content }) {
            self = .blurred(own)
        } else if let own = originals.first(where: { $0.record.original == content }) {
            self = .original(own)
        } else {
            self = .edited(latest)
        }
    }
}

/// A picture that was looked at.
package struct LookedAtPicture: Sendable {
    package let picture: InputFile
    /// The latest first.
    package let originals: [StoredOriginal]
    package let condition: PictureCondition
    /// The picture is there, and a worker could not read it.
    package let isUnreadable: Bool
    /// Something is at its path.
    package var isThere: Bool { FileSystem.exists(picture.exactPath) }
    /// It was blurred under another name, and something is at that path, too: the original is needed there.
    let isCopy: Bool
    /// Paths of originals that are gone, or are not what they were.
    let damaged: Set<PathKey>

    /// Reads pictures of which originals are kept. Those of which nothing is kept are not read.
    ///
    /// - Parameter readsOriginals: whether the originals are read, too.
    package static func look(
        at pictures: [InputFile], _ originals: Originals, readsOriginals: Bool, settings: RunSettings,
        loop: () -> RunLoop
    ) async throws -> (found: [LookedAtPicture], stop: StopReason?) {
        let kept = try pictures.map { try originals.all(of: $0) }
        let strange = try pictures.map { picture in
            try FileStamp(of: picture).map { try originals.elsewhere(picture, size: $0.size) } ?? []
        }
        var files = zip(pictures, zip(kept, strange)).filter { !$1.0.isEmpty || !$1.1.isEmpty }.map { file(of: $0.0) }
        if readsOriginals {
            files += Set((kept + strange).joined().map { PathKey($0.path) }).sorted().map {
                CompareTask.File(path: $0.path)
            }
        }
        guard !files.isEmpty else {
            return (
                zip(pictures, kept).map { LookedAtPicture($0, $1, nil, [:], readsOriginals) }, nil
            )
        }
        let (findings, stop) = await Comparison.run(files, job: .inquiring, settings: settings, loop: loop())
        let found = zip(pictures, zip(kept, strange)).map { picture, known in
            let content = (findings[file(of: picture)] ?? nil).map(FileContent.init)
            let moved = known.1.first { $0.record.blurred == content }
            return LookedAtPicture(
                picture, known.0, moved.map { ($0, originals.picture(of: $0, beside: picture)) }, findings,
                readsOriginals)
        }
        return (found, stop)
    }

    private static func file(of picture: InputFile) -> CompareTask.File {
        CompareTask.File(path: picture.path, bytes: picture.bytes)
    }

    /// - Parameter moved: the original of a picture that has this one's bytes now, and where that picture was blurred.
    private init(
        _ picture: InputFile, _ own: [StoredOriginal], _ moved: (original: StoredOriginal, from: InputFile)?,
        _ findings: Freshness.Findings, _ readsOriginals: Bool
    ) {
        self.picture = picture
        let found = findings[Self.file(of: picture)]
        isUnreadable = found == nil && !own.isEmpty
        let condition = PictureCondition(own, (found ?? nil).map(FileContent.init))
        switch (condition, moved) {
        case (.unknown, let moved?), (.edited, let moved?):
            self.condition = .blurred(moved.original)
            originals = [moved.original] + own
            isCopy = FileSystem.exists(moved.from.exactPath)
        default:
            self.condition = condition
            originals = own
            isCopy = false
        }
        let originals = originals
        guard readsOriginals else {
            damaged = []
            return
        }
        damaged = Set(
            originals.filter { original in
                let found = findings[CompareTask.File(path: original.path)] ?? nil
                return found.map(FileContent.init) != original.record.original
            }.map { PathKey($0.path) })
    }
}
