package import Coordination
import Glibc
import JobModel
package import Planning
package import SafeFiles
package import Scheduling
import WorkerProtocol

/// The state of a picture according to the records of it.
package enum PictureState: Sendable {
    /// There is no record.
    case unknown
    /// It is the blurred picture of this original.
    case blurred(StoredOriginal)
    /// It is the original: a command was killed before it replaced it, or a person has restored it.
    case original(StoredOriginal)
    /// It is another picture. The value is its latest original.
    case edited(StoredOriginal)
    /// Nothing is at the path. The value is the latest original.
    case missing(StoredOriginal)

    /// - Parameters:
    ///   - originals: the originals, the latest first.
    ///   - content: the picture's content; nil if nothing is at the path.
    ///   - holds: whether the picture has the bytes of an original whose record has no SHA-256, because an
    ///     earlier version wrote it.
    init(_ originals: [StoredOriginal], _ content: PictureContent?, holds: (StoredOriginal) -> Bool) {
        guard let latest = originals.first else {
            self = .unknown
            return
        }
        guard let content else {
            self = .missing(latest)
            return
        }
        // If the filters changed nothing, both are true. The picture counts as blurred, since undoing that does
        // no harm.
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

/// A picture, its records, and what they say about it.
package struct InspectedPicture: Sendable {
    package let picture: InputFile
    /// The latest first.
    package let originals: [StoredOriginal]
    /// The originals whose records decide what the picture is: those of this user, of root and of the picture's
    /// owner.
    let trusted: [StoredOriginal]
    package let condition: PictureState
    /// Whether the picture exists and could not be read.
    package let isUnreadable: Bool
    /// Why a record of the picture is not trusted. If it is set, the picture is not changed.
    package let distrust: FileError?
    /// Whether only a record of another user supports ``condition``. Such a record decides nothing, unless the
    /// user forces it.
    package let isUntrusted: Bool
    /// Whether a trusted record says that it is a blurred picture.
    package var isBlurred: Bool {
        guard distrust == nil, !isUntrusted, case .blurred = condition else { return false }
        return true
    }
    /// Whether something is at its path.
    package var exists: Bool { FileSystem.exists(picture.exactPath) }
    /// Whether it was blurred at another path and is recognised by its content. Its original belongs to that
    /// path and stays.
    let isMoved: Bool
    /// Whether the picture at that path is another user's. This picture's owner may have no right to see its
    /// original.
    let isForeign: Bool
    /// The paths of damaged or missing originals of earlier versions. (The SHA-256 of others is checked when
    /// they are restored.)
    let damaged: Set<PathKey>

    /// Inspects pictures. Reads only those of which originals are kept.
    ///
    /// - Parameter readsOriginals: whether the originals are read, too.
    package static func inspect(
        at pictures: [InputFile], _ originals: Originals, readsOriginals: Bool, settings: RunSettings,
        loop: () -> RunLoop
    ) async throws -> (found: [InspectedPicture], stop: StopReason?) {
        try await inspect(
            at: pictures, in: nil, originals, readsOriginals: readsOriginals, settings: settings, loop: loop)
    }

    /// - Parameter folders: the locked folders of the pictures, for commands that change something. The
    ///   pictures are read from these.
    static func inspect(
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
        var taken: Set<[UInt8]> = []
        let found = known.map { InspectedPicture($0, findings, folders, readsOriginals, &taken) }
        return (found, stop)
    }

    /// A picture's originals, and originals of other paths that may be its own.
    private struct Known {
        let picture: InputFile
        let kept: Originals.Kept
        let elsewhere: [StoredOriginal]

        var all: [StoredOriginal] { kept.originals + elsewhere }
    }

    private static func file(of picture: InputFile) -> DigestTask.File {
        DigestTask.File(path: picture.path, bytes: picture.bytes)
    }

    /// - Parameter taken: the former paths of pictures that are known by other names now.
    private init(
        _ known: Known, _ findings: Freshness.Findings, _ folders: OpenFolders?, _ readsOriginals: Bool,
        _ taken: inout Set<[UInt8]>
    ) {
        let (picture, own) = (known.picture, known.kept.originals)
        (self.picture, distrust) = (picture, known.kept.distrust)
        let found = findings[Self.file(of: picture)]
        var (content, isRead): (PictureContent?, Bool) = (nil, found != nil)
        do throws(FileError) {
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
            let alike = known.elsewhere.filter { $0.isTrusted(with: content.user) && $0.record.isBlurred(content) }
            // Several pictures may have had the same bytes. One that has another name now is no longer at its path.
            return alike.first { original in
                let path = original.picture.exactPath
                return !original.isRestored && !taken.contains(path) && !FileSystem.exists(path)
            } ?? alike.first
        }
        switch (condition, moved) {
        case (.unknown, let moved?), (.edited, let moved?):
            self.condition = .blurred(moved)
            originals = [moved] + own
            (isMoved, isUntrusted) = (true, false)
            isForeign = content?.user != moved.record.attributes.user
            taken.insert(moved.picture.exactPath)
        case (.edited, nil) where trusted.allSatisfy(\.isRestored):
            // The blurred picture has another name now, and its original was restored there.
            self.condition = .unknown
            originals = own
            (isMoved, isUntrusted, isForeign) = (false, false, false)
        case (.unknown, nil):
            self.condition = PictureState(own, content, holds: holds)
            originals = own
            (isMoved, isUntrusted, isForeign) = (false, !own.isEmpty, false)
        default:
            self.condition = condition
            originals = own
            (isMoved, isUntrusted, isForeign) = (false, false, false)
        }
        let former = readsOriginals ? originals.filter { $0.record.sha256 == nil } : []
        damaged = Set(
            former.filter { original in
                let found = findings[DigestTask.File(path: original.path)] ?? nil
                return found.map(FileContent.init) != original.record.original
            }.map { PathKey($0.path) })
    }

    /// Reads the content in this process. A worker's report is not enough to remove an original or to replace a
    /// picture.
    ///
    /// - Returns: nil if there is no regular file.
    private static func content(
        of picture: InputFile, _ reported: FileContent, _ originals: [StoredOriginal], _ folders: OpenFolders?
    ) throws(FileError) -> PictureContent? {
        guard let file = try open(picture, folders) else { return nil }
        let status = try file.status()
        let bytes = Int(status.st_size)
        let isLike = originals.contains { $0.record.mayBe(bytes) }
        return PictureContent(
            bytes: bytes, user: status.st_uid, sha256: isLike ? try PictureFolder.sha256(of: file) : nil,
            reported: reported)
    }

    private static func open(_ picture: InputFile, _ folders: OpenFolders?) throws(FileError) -> SafeFile? {
        if let folders { return try folders.open(picture) }
        return try PictureFolder.open(at: picture)
    }

    private static func holds(_ picture: InputFile, _ original: StoredOriginal, _ folders: OpenFolders?) -> Bool {
        do throws(FileError) {
            guard let file = try open(picture, folders) else { return false }
            return try original.store.holds(original.record, file)
        } catch {
            // An error keeps both the original and the picture.
            return false
        }
    }
}
