package import Coordination
import Glibc
import JobModel
import Planning
import SafeFiles
package import Scheduling

/// Puts originals back.
package struct Unblurring: Sendable {
    private let originals: Originals
    /// Whether pictures that were edited since they were blurred are replaced, too.
    private let isForced: Bool
    /// The folders, as the file system has them, whose originals beside pictures are not there any more.
    private let lost: Set<[UInt8]>

    private static let partSize = 64

    /// - Parameters:
    ///   - loop: a new one each time.
    ///   - ended: is told what became of pictures, some at a time, in their order.
    package static func unblur(
        _ pictures: [RequestedPicture], _ originals: Originals, isForced: Bool, settings: RunSettings,
        loop: () -> RunLoop, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        let lost = originals.foldersWithoutStore().map { $0 == "/" ? [] : Array($0.utf8) }
        let unblurring = Unblurring(originals: originals, isForced: isForced, lost: Set(lost))
        // What a killed command has left is removed even where there is nothing to put back.
        originals.removeUnneeded(in: OpenFolders(of: []))
        for start in stride(from: 0, to: pictures.count, by: partSize) {
            let part = pictures[start..<min(start + partSize, pictures.count)].map(\.picture)
            // Before anything is looked at.
            var folders = OpenFolders(of: part)
            originals.open(in: &folders)
            let before = part.map { folders.look(at: $0) }
            let (looked, stop) = try await InspectedPicture.look(
                at: part, in: folders, originals, readsOriginals: true, settings: settings, loop: loop)
            if let stop {
                ended(pictures[start...].map { InPlaceResult($0.picture, .left) })
                return stop
            }
            ended(
                zip(zip(looked, before), pictures[start...]).compactMap { pair, wanted in
                    let (looked, found) = pair
                    // Its original was put back under the name that the picture has now.
                    if !wanted.isNamed, found == nil, unblurring.isSettled(looked) { return nil }
                    return InPlaceResult(looked.picture, unblurring.unblur(looked, wanted, found: found, folders))
                })
            originals.removeUnneeded(in: folders)
            withExtendedLifetime(folders) {}
        }
        return nil
    }

    /// Nothing is kept of it any more, or only for copies of it.
    private func isSettled(_ looked: InspectedPicture) -> Bool {
        let kept = originals.all(of: looked.picture)
        return kept.odd == nil && kept.originals.allSatisfy(\.isRestored)
    }

    /// - Parameter found: what was there before it was read.
    private func unblur(
        _ looked: InspectedPicture, _ wanted: RequestedPicture, found: PictureFolder.Found?, _ folders: OpenFolders
    ) -> InPlaceResult.Outcome {
        do throws(InPlaceTrouble) {
            guard let folder = try folders.folder(of: wanted) else {
                guard isForced, let original = looked.originals.first else {
                    return gone(looked.originals.first, wanted)
                }
                throw .refused(
                    "its folder is not there, and its original is kept at \(original.path): create the folder, and 'unblur "
                        + "--force' puts it back, or let 'gc --give-up' forget it")
            }
            if let odd = looked.odd { throw InPlaceTrouble.refused(odd.message) }
            if !looked.originals.isEmpty { folder.removeLeftovers() }
            switch looked.condition {
            // It may have been edited: nobody replaces it unread.
            case .missing where found != nil: return .refused(reason: "cannot be read")
            case .missing(let original) where !isForced: return gone(original, wanted)
            case .missing(let original): return try putBack(original, looked, found, folder, isEdited: true)
            case .unknown where found == nil: return .gone(nil)
            case .unknown where wanted.isNamed && lost.contains(OpenFolders.key(of: wanted.picture)):
                throw .refused(
                    "may be blurred: \(Originals.folderName), with the originals of its folder's pictures, is not there; restore "
                        + "it, or let 'penumbra gc --originals' forget it")
            case .unknown: return .notBlurred
            case _ where looked.isUnreadable: return .refused(reason: "cannot be read")
            // The record is another user's to remove.
            case .original where looked.isStrange: return .notBlurred
            case .original(let original):
                // While it was read it may have become another one.
                guard found != nil, found == folder.look(at: looked.picture) else { throw .changed }
                try forget(original)
                return .notBlurred
            case .edited(let original) where !isForced: return .edited(original)
            case .edited(let original): return try putBack(original, looked, found, folder, isEdited: true)
            case .blurred(let original) where looked.isStrange && !isForced:
                throw .refused(
                    "a record of another user says that it is blurred (\(original.record.filters)), and is not believed; "
                        + "--force puts the original that it names in its place")
            case .blurred(let original) where looked.isForeign:
                throw .refused(
                    "holds what was made of another user's picture, \(original.picture.path), whose original is put back "
                        + "there alone")
            case .blurred(let original): return try putBack(original, looked, found, folder, isEdited: false)
            }
        } catch {
            return error.outcome
        }
    }

    private func gone(_ original: StoredOriginal?, _ wanted: RequestedPicture) -> InPlaceResult.Outcome {
        guard let original, !wanted.isNamed else { return .gone(original) }
        return .removed(original)
    }

    private func putBack(
        _ original: StoredOriginal, _ looked: InspectedPicture, _ found: PictureFolder.Found?, _ folder: PictureFolder,
        isEdited: Bool
    ) throws(InPlaceTrouble) -> InPlaceResult.Outcome {
        guard !looked.damaged.contains(PathKey(original.path)) else {
            throw .refused("its original, \(original.path), is gone or damaged; nothing was changed")
        }
        guard found?.isFile ?? true else { throw .refused("is not a file") }
        if let links = found?.links, links > 1, !isForced {
            throw .refused(
                "has \(links) names now (hard links), of which the others would go on showing the blurred picture; --force puts "
                    + "the original back under this one")
        }
        var attributes = original.record.attributes
        var strange: [String] = []
        if !original.isOwn {
            attributes = attributes.restricted(to: found?.user ?? geteuid(), found?.group ?? getegid())
            if attributes != original.record.attributes {
                strange = ["its owner and special rights, which a record of another user does not decide"]
            }
        }
        let missing = strange + (try replace(looked.picture, found, by: original, attributes, folder))
        if looked.isMoved {
            // A record that cannot be marked is told of once more.
            try? original.store.markRestored(original.file)
        } else if !looked.isStrange {
            try forget(original)
        }
        let older = looked.originals.filter { $0.file != original.file }
        return .unblurred(edited: isEdited, missing: missing, older: older, isKept: looked.isMoved)
    }

    private func replace(
        _ picture: InputFile, _ found: PictureFolder.Found?, by original: StoredOriginal, _ attributes: FileAttributes,
        _ folder: PictureFolder
    ) throws(InPlaceTrouble) -> [String] {
        let opened: SafeFile?
        do throws(FileTrouble) {
            opened = try original.store.original(of: original.record)
        } catch {
            throw InPlaceTrouble(error)
        }
        guard let source = opened else {
            throw .refused("its original, \(original.path), is gone or damaged; nothing was changed")
        }
        return try folder.replace(
            picture, found, by: source, sha256: original.record.sha256, attributes, .original)
    }

    /// The picture is its original.
    private func forget(_ original: StoredOriginal) throws(InPlaceTrouble) {
        try InPlaceTrouble.on { () throws(FileTrouble) in try original.store.remove(original.file) }
    }
}
