package import Coordination
import Glibc
import JobModel
import Planning
import SafeFiles
package import Scheduling

/// Restores originals: the command `unblur`.
package struct Unblurring: Sendable {
    private let originals: Originals
    /// Whether pictures that were edited after they were blurred are replaced, too.
    private let isForced: Bool
    /// The folders, in bytes, whose stores beside the pictures are gone.
    private let lost: Set<[UInt8]>

    private static let partSize = 64

    /// - Parameters:
    ///   - loop: makes a new run loop.
    ///   - ended: receives the results of some pictures at a time, in their order.
    package static func unblur(
        _ pictures: [RequestedPicture], _ originals: Originals, isForced: Bool, settings: RunSettings,
        loop: () -> RunLoop, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        let lost = originals.foldersWithoutStore().map { Array($0.utf8) }
        let unblurring = Unblurring(originals: originals, isForced: isForced, lost: Set(lost))
        // Files of killed commands are removed even if nothing is restored.
        originals.removeUnneeded(in: OpenFolders(of: []))
        for start in stride(from: 0, to: pictures.count, by: partSize) {
            let part = pictures[start..<min(start + partSize, pictures.count)].map(\.picture)
            // The folders are locked before any picture is inspected.
            var folders = OpenFolders(of: part)
            originals.open(in: &folders)
            let before = part.map { folders.inspect(at: $0) }
            let (inspected, stop) = try await InspectedPicture.inspect(
                at: part, in: folders, originals, readsOriginals: true, settings: settings, loop: loop)
            if let stop {
                ended(pictures[start...].map { InPlaceResult($0.picture, .left) })
                return stop
            }
            ended(
                zip(zip(inspected, before), pictures[start...]).compactMap { pair, wanted in
                    let (inspected, found) = pair
                    // Its original was restored under the picture's present name.
                    if !wanted.isNamed, found == nil, unblurring.isSettled(inspected) { return nil }
                    return InPlaceResult(inspected.picture, unblurring.unblur(inspected, wanted, found: found, folders))
                })
            originals.removeUnneeded(in: folders)
            withExtendedLifetime(folders) {}
        }
        return nil
    }

    /// Whether no original is kept, or only originals that were restored under other names.
    private func isSettled(_ inspected: InspectedPicture) -> Bool {
        let kept = originals.all(of: inspected.picture)
        return kept.distrust == nil && kept.originals.allSatisfy(\.isRestored)
    }

    /// - Parameter found: what was at the path before the picture was read.
    private func unblur(
        _ inspected: InspectedPicture, _ wanted: RequestedPicture, found: PictureFolder.Found?, _ folders: OpenFolders
    ) -> InPlaceResult.Outcome {
        do throws(InPlaceError) {
            guard let folder = try folders.folder(of: wanted) else {
                guard isForced, let original = inspected.originals.first else {
                    return gone(inspected.originals.first, wanted)
                }
                throw .refused(
                    "its folder is not there, and its original is kept at \(original.path): create the folder, and 'unblur "
                        + "--force' puts it back, or let 'gc --give-up' forget it")
            }
            if let distrust = inspected.distrust { throw InPlaceError.refused(distrust.message) }
            if !inspected.originals.isEmpty { folder.removeLeftovers() }
            switch inspected.condition {
            // It may have been edited, so it is not replaced unread.
            case .missing where found != nil: return .refused(reason: "cannot be read")
            case .missing(let original) where !isForced: return gone(original, wanted)
            case .missing(let original): return try putBack(original, inspected, found, folder, isEdited: false)
            case .unknown where found == nil: return .gone(nil)
            case .unknown where wanted.isNamed && lost.contains(wanted.picture.folderBytes):
                throw .refused(
                    "may be blurred: \(Originals.folderName), with the originals of its folder's pictures, is not there; restore "
                        + "it, or let 'penumbra gc --originals' forget it")
            case .unknown: return .notBlurred
            case _ where inspected.isUnreadable: return .refused(reason: "cannot be read")
            // Only its user may remove the record.
            case .original where inspected.isUntrusted: return .notBlurred
            case .original(let original):
                // Another picture may have replaced it while it was read.
                guard found != nil, found == folder.inspect(at: inspected.picture) else { throw .changed }
                try forget(original)
                return .notBlurred
            case .edited(let original) where !isForced: return .edited(original)
            case .edited(let original): return try putBack(original, inspected, found, folder, isEdited: true)
            case .blurred(let original) where inspected.isUntrusted && !isForced:
                throw .refused(
                    "a record of another user says that it is blurred (\(original.record.filters)), but that record is not trusted; "
                        + "--force puts the original that it names in its place")
            case .blurred(let original) where inspected.isForeign:
                throw .refused(
                    "was made of another user's picture, \(original.picture.path); its original can only be put back "
                        + "there")
            case .blurred(let original): return try putBack(original, inspected, found, folder, isEdited: false)
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
        _ original: StoredOriginal, _ inspected: InspectedPicture, _ found: PictureFolder.Found?,
        _ folder: PictureFolder,
        isEdited: Bool
    ) throws(InPlaceError) -> InPlaceResult.Outcome {
        guard !inspected.damaged.contains(PathKey(original.path)) else {
            throw .refused("its original, \(original.path), is gone or damaged; nothing was changed")
        }
        guard found?.isFile ?? true else { throw .refused("is not a file") }
        if let links = found?.links, links > 1, !isForced {
            throw .refused(
                "has \(links) names now (hard links), and the others would still show the blurred picture; --force puts "
                    + "the original back under this one")
        }
        var attributes = original.record.attributes
        var withheld: [String] = []
        if !original.isOwn {
            attributes = attributes.restricted(to: found?.user ?? geteuid(), found?.group ?? getegid())
            if attributes != original.record.attributes {
                withheld = ["its owner and special rights, which a record of another user does not decide"]
            }
        }
        let missing = withheld + (try replace(inspected.picture, found, by: original, attributes, folder))
        if inspected.isMoved {
            // A record that cannot be marked is reported again by the next command.
            try? original.store.markRestored(original.file)
        } else if !inspected.isUntrusted {
            try forget(original)
        }
        let older = inspected.originals.filter { $0.file != original.file }
        return .unblurred(edited: isEdited, missing: missing, older: older, isKept: inspected.isMoved)
    }

    private func replace(
        _ picture: InputFile, _ found: PictureFolder.Found?, by original: StoredOriginal, _ attributes: FileAttributes,
        _ folder: PictureFolder
    ) throws(InPlaceError) -> [String] {
        let opened: SafeFile?
        do throws(FileError) {
            opened = try original.store.original(of: original.record)
        } catch {
            throw InPlaceError(error)
        }
        guard let source = opened else {
            throw .refused("its original, \(original.path), is gone or damaged; nothing was changed")
        }
        return try folder.replace(
            picture, found, by: source, sha256: original.record.sha256, attributes, .original)
    }

    /// Removes the record of a picture that is the original again.
    private func forget(_ original: StoredOriginal) throws(InPlaceError) {
        try InPlaceError.on { () throws(FileError) in try original.store.remove(original.file) }
    }
}
