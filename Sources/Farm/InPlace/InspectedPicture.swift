package import Coordination
import Glibc
import JobModel
package import Planning
package import SafeFiles
package import Scheduling
import WorkerProtocol

/// What a picture is, compared with what is known of it.
package enum PictureState: Sendable {
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
    ///   - holds: whether the picture has the bytes of an original whose record, of an earlier version, has no SHA-256.
    init(_ originals: [StoredOriginal], _ content: PictureContent?, holds: (StoredOriginal) -> Bool) {
        guard let latest = originals.first else {
            self = .unknown
            return
        }
        guard let content else {
            self = .missing(latest)
            return
        }
        // A filter may change nothing: then it is blurred, since undoing that does no harm.
        if let own = originals.first(where: { $0.record.isBlurred(content) }) {
            self = .blurred(own)
        } else if let own = originals.first(where: {
            $0.record.isOriginal(content) && ($0.record.sha256 != nil || holds($0))
        }) {
            self = .original(own)
        } else {
            self = .edited(latest)
        }
    }
}

/// A picture that was looked at.
package struct InspectedPicture: Sendable {
    package let picture: InputFile
    /// The latest first.
    package let originals: [StoredOriginal]
    /// Those whose records decide what the picture is: the user's own, root's, and those of the picture's owner.
    let trusted: [StoredOriginal]
    package let condition: PictureState
    /// The picture is there, and could not be read.
    package let isUnreadable: Bool
    /// Why a record of the picture is not believed: then nothing is done with it.
    package let odd: FileTrouble?
    /// Only a record of another user says so: it decides nothing, unless the user insists.
    package let isStrange: Bool
    /// It is what 'blur' has made of a picture, by a record that is believed.
    package var isBlurred: Bool {
        guard odd == nil, !isStrange, case .blurred = condition else { return false }
        return true
    }
    /// Something is at its path.
    package var isThere: Bool { FileSystem.exists(picture.exactPath) }
    /// It was blurred at another path, and is known by what it holds. The original stays, since it is that path's.
    let isMoved: Bool
    /// That was another user's picture. Its original may be one that this picture's owner was not to see.
    let isForeign: Bool
    /// Paths of originals of earlier versions that are gone, or are not what they were. (Others have their SHA-256 taken when
    /// they are put back.)
    let damaged: Set<PathKey>

    /// Reads pictures of which originals are kept. Those of which nothing is kept are not read.
    ///
    /// - Parameter readsOriginals: whether the originals are read, too.
    package static func look(
        at pictures: [InputFile], _ originals: Originals, readsOriginals: Bool, settings: RunSettings,
        loop: () -> RunLoop
    ) async throws -> (found: [InspectedPicture], stop: StopReason?) {
        try await look(
            at: pictures, in: nil, originals, readsOriginals: readsOriginals, settings: settings, loop: loop)
    }

    /// - Parameter folders: the pictures' folders, where something will be changed: pictures are read from these.
    static func look(
        at pictures: [InputFile], in folders: OpenFolders?, _ originals: Originals, readsOriginals: Bool,
        settings: RunSettings, loop: () -> RunLoop
    ) async throws -> (found: [InspectedPicture], stop: StopReason?) {
        let known = pictures.map { picture in
            let elsewhere = FileStamp(of: picture).map { originals.elsewhere(picture, size: $0.size) } ?? []
            return Known(picture: picture, kept: originals.all(of: picture), elsewhere: elsewhere)
        }
        var files = known.filter { !$0.all.isEmpty }.map { file(of: $0.picture) }
        if readsOriginals {
            let former = known.flatMap(\.all).filter { $0.record.sha256 == nil }
            files += Set(former.map { PathKey($0.path) }).sorted().map { DigestTask.File(path: $0.path) }
        }
        let (findings, stop): (Freshness.Findings, StopReason?) =
            files.isEmpty
            ? ([:], nil) : await DigestQuery.run(files, job: FileQuery.job, settings: settings, loop: loop())
        return (known.map { InspectedPicture($0, findings, folders, readsOriginals) }, stop)
    }

    /// What is kept of a picture, and what may have been kept of it under another name.
    private struct Known {
        let picture: InputFile
        let kept: Originals.Kept
        let elsewhere: [StoredOriginal]

        var all: [StoredOriginal] { kept.originals + elsewhere }
    }

    private static func file(of picture: InputFile) -> DigestTask.File {
        DigestTask.File(path: picture.path, bytes: picture.bytes)
    }

    private init(
        _ known: Known, _ findings: Freshness.Findings, _ folders: OpenFolders?, _ readsOriginals: Bool
    ) {
        let (picture, own) = (known.picture, known.kept.originals)
        (self.picture, odd) = (picture, known.kept.odd)
        let found = findings[Self.file(of: picture)]
        var (content, isRead): (PictureContent?, Bool) = (nil, found != nil)
        do throws(FileTrouble) {
            if let found, let facts = found {
                content = try Self.content(of: picture, FileContent(facts), known.all, folders)
            }
        } catch {
            isRead = false
        }
        isUnreadable = !isRead && !own.isEmpty
        let holds = { Self.holds(picture, $0, folders) }
        trusted = own.filter { [user = content?.user] in $0.isTrusted(with: user) }
        let condition = PictureState(trusted, content, holds: holds)
        let moved = content.flatMap { content in
            known.elsewhere.first { $0.isTrusted(with: content.user) && $0.record.isBlurred(content) }
        }
        switch (condition, moved) {
        case (.unknown, let moved?), (.edited, let moved?):
            self.condition = .blurred(moved)
            originals = [moved] + own
            (isMoved, isStrange) = (true, false)
            isForeign = content?.user != moved.record.attributes.user
        case (.edited, nil) where trusted.allSatisfy(\.isRestored):
            // The picture that was blurred here has another name now, and its original.
            self.condition = .unknown
            originals = own
            (isMoved, isStrange, isForeign) = (false, false, false)
        case (.unknown, nil):
            self.condition = PictureState(own, content, holds: holds)
            originals = own
            (isMoved, isStrange, isForeign) = (false, !own.isEmpty, false)
        default:
            self.condition = condition
            originals = own
            (isMoved, isStrange, isForeign) = (false, false, false)
        }
        let former = readsOriginals ? originals.filter { $0.record.sha256 == nil } : []
        damaged = Set(
            former.filter { original in
                let found = findings[DigestTask.File(path: original.path)] ?? nil
                return found.map(FileContent.init) != original.record.original
            }.map { PathKey($0.path) })
    }

    /// Read by this process: what a worker says is not enough to drop an original, or to replace a picture.
    ///
    /// - Returns: nil where nothing is, or no file.
    private static func content(
        of picture: InputFile, _ told: FileContent, _ originals: [StoredOriginal], _ folders: OpenFolders?
    ) throws(FileTrouble) -> PictureContent? {
        guard let file = try open(picture, folders) else { return nil }
        let status = try file.status()
        let bytes = Int(status.st_size)
        let isLike = originals.contains { $0.record.mayBe(bytes) }
        return PictureContent(
            bytes: bytes, user: status.st_uid, sha256: isLike ? try PictureFolder.sha256(of: file) : nil, told: told)
    }

    private static func open(_ picture: InputFile, _ folders: OpenFolders?) throws(FileTrouble) -> SafeFile? {
        if let folders { return try folders.open(picture) }
        return try PictureFolder.open(at: picture)
    }

    private static func holds(_ picture: InputFile, _ original: StoredOriginal, _ folders: OpenFolders?) -> Bool {
        do throws(FileTrouble) {
            guard let file = try open(picture, folders) else { return false }
            return try original.store.holds(original.record, file)
        } catch {
            // Then the original stays, and so does the picture.
            return false
        }
    }
}
