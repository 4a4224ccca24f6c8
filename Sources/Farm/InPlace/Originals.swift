import Glibc
import JobModel
package import Planning
package import SafeFiles
import Synchronization

/// Where originals are kept.
package enum OriginalLocation: String, Hashable, Sendable, CaseIterable {
    /// In the state folder.
    case state
    /// In a hidden folder beside the picture. It can move with the picture.
    case beside
}

/// An original of a picture, and the store that has it.
package struct StoredOriginal: Sendable {
    package let record: KeptOriginal
    let store: OriginalStore
    /// The name of its record in the store.
    let file: String
    /// Whether it was restored under another name.
    package let isRestored: Bool
    private let writers: TrustedWriters

    init(_ found: OriginalStore.Record, in store: OriginalStore) {
        (record, file, isRestored, writers) = (found.original, found.file, found.isRestored, found.writers)
        self.store = store
    }

    /// Whether only this user or root can have written the record and the original.
    var isOwn: Bool { writers.isOwn }

    /// Whether the record decides what a picture of this owner is. (The state folder is trusted, because the
    /// user has chosen it.)
    func isTrusted(with owner: UInt32?) -> Bool { store.isShared || writers.isTrusted(with: owner) }

    /// The path of the file with the original.
    package var path: String { store.path(of: record.objectName) }

    /// The path at which the picture was blurred.
    package var picture: InputFile {
        guard !store.isShared else { return InputFile(bytes: record.key, dir: "") }
        let folder = PathNames.folder(of: store.root) ?? ""
        return InputFile(bytes: Array(folder.utf8) + [PathNames.slash] + record.key, dir: "")
    }

    /// A record beside pictures may have only a name. A path would lead to another folder.
    var isPlausible: Bool { store.isShared || !record.key.contains(PathNames.slash) }
}

/// The originals of all pictures that were blurred in place.
///
///     STATE/originals/{objects,records,incoming,lock,beside/}    and beside pictures    .penumbra-originals/
package final class Originals: Sendable {
    /// The name of the hidden folder with originals beside pictures.
    package static let folderName = ".penumbra-originals"

    /// `STATE/originals`
    package let root: String
    private let shared: OriginalStore
    private let beside = Mutex<[PathKey: OriginalStore]>([:])
    private let readings = RecordReadings()
    /// The folders with originals beside their pictures, by the sizes of the blurred pictures. Nil until they
    /// are asked for.
    private let remembered = Mutex<[Int: [String]]?>(nil)

    package init(state: String) {
        root = "\(state)/originals"
        shared = OriginalStore(shared: root)
    }

    /// Whether a picture was ever blurred in place with this state folder.
    package static func areKept(in state: String) -> Bool { FileSystem.isFolder("\(state)/originals") }

    /// Takes the lock that every command holds that changes originals. Nil if another command still holds it
    /// after the wait.
    package static func lock(state: String, wait: Duration) async throws -> KernelLock? {
        let root = "\(state)/originals"
        // The originals may be pictures that other users must not see. The rights are set before anything is
        // written.
        if try !FileSystem.createFolders(root).isEmpty { try FileSystem.makePrivate(root, trusting: .everybody) }
        return try await KernelLock.take("\(root)/lock", until: .now + wait)
    }

    // MARK: Pictures

    /// The originals of a picture.
    package struct Kept: Sendable {
        /// The originals, the latest first.
        package let originals: [StoredOriginal]
        /// Why a record of the picture is not trusted; nil if all are.
        package let distrust: FileError?

        package var isNothing: Bool { originals.isEmpty && distrust == nil }
    }

    /// The originals of a picture. A store that cannot be read affects only its own pictures.
    package func all(of picture: InputFile) -> Kept {
        var found: [StoredOriginal] = []
        var distrusted: [FileError] = []
        for store in [shared] + (besideStore(of: picture).map { [$0] } ?? []) {
            do throws(FileError) {
                let key = store.isShared ? picture.exactPath : picture.nameBytes
                let records = try store.originals(of: key)
                found += records.records.map { StoredOriginal($0, in: store) }
                distrusted += records.distrusted
            } catch {
                distrusted.append(error)
            }
        }
        return Kept(originals: found.sorted { $0.record.generation > $1.record.generation }, distrust: distrusted.first)
    }

    /// Prepares the store for a picture's original, and gives the key of its record.
    ///
    /// - Parameter owner: the owner of the picture.
    /// - Throws: if no originals can be kept beside the picture.
    func prepareStore(
        for picture: InputFile, _ location: OriginalLocation, owner: UInt32
    ) throws(FileError) -> (OriginalStore, key: [UInt8]) {
        switch location {
        case .state:
            try shared.create(for: owner)
            return (shared, picture.exactPath)
        case .beside:
            guard let store = besideStore(of: picture), let folder = picture.folderPath else {
                throw FileError(
                    path: PathText.folder(of: picture.path), code: EILSEQ, action: "keep originals beside the picture",
                    remedy: "the folder's name is not UTF-8: rename it, or use --keep state")
            }
            try store.create(for: owner)
            // The folder is remembered only after its store exists: a remembered folder without a store has
            // lost it (``foldersWithoutStore()``).
            try remember(folder)
            return (store, picture.nameBytes)
        }
    }

    private func besideStore(of picture: InputFile) -> OriginalStore? {
        picture.folderPath.map { besideStore(in: $0) }
    }

    private func besideStore(in folder: String) -> OriginalStore {
        beside.withLock { stores in
            if let known = stores[PathKey(folder)] { return known }
            let store = OriginalStore(beside: folder, readings: readings)
            stores[PathKey(folder)] = store
            return store
        }
    }

    // MARK: Pictures under other names

    /// Originals of pictures at other paths whose blurred pictures have this size. A blurred picture that was
    /// renamed, moved or copied is recognised by its content. The search covers the state folder, the stores
    /// beside the picture and in all folders above it, and the stores that this state folder remembers.
    func elsewhere(_ picture: InputFile, size: Int) -> [StoredOriginal] {
        var (found, seen): ([StoredOriginal], Set<String>) = ([], [])
        for store in [shared] + besideStores(near: picture, size: size) where seen.insert(store.root).inserted {
            // A store that cannot be read is reported for its own pictures.
            guard let keys = try? store.keys(ofSize: size) else { continue }
            for key in keys {
                guard let records = try? store.originals(of: key).records else { continue }
                found += records.map { StoredOriginal($0, in: store) }.filter {
                    $0.record.blurred.bytes == size && $0.record.isChanged && $0.isPlausible
                        && $0.picture.exactPath != picture.exactPath
                }
            }
        }
        return found
    }

    private func besideStores(near picture: InputFile, size: Int) -> [OriginalStore] {
        var folders: [String] = []
        if var folder = picture.folderPath {
            folders.append(folder)
            while folder != "/" {
                folder = PathText.folder(of: folder)
                folders.append(folder)
            }
        }
        return (folders + (rememberedSizes()[size] ?? [])).map { besideStore(in: $0) }
    }

    private func rememberedSizes() -> [Int: [String]] {
        if let known = remembered.withLock(\.self) { return known }
        var found: [Int: [String]] = [:]
        for folder in rememberedFolders() {
            // The disk may not be mounted, or the folder may not be readable.
            guard let sizes = try? besideStore(in: folder).allSizes() else { continue }
            for size in sizes.keys { found[size, default: []].append(folder) }
        }
        remembered.withLock { [found] in $0 = found }
        return found
    }

    /// Whether a picture without originals may have been blurred under another name.
    package func mayBeElsewhere(_ picture: InputFile) -> Bool {
        FileStamp(of: picture).map { !elsewhere(picture, size: $0.size).isEmpty } ?? false
    }

    // MARK: Everything

    /// All pictures with originals that this state folder knows, and the records and stores that are not
    /// trusted.
    ///
    /// - Parameter more: folders that may have come from elsewhere, with originals beside their pictures.
    package func pictures(andIn more: [String]) -> (known: [InputFile], distrusted: [FileError]) {
        var (paths, distrusted): (Set<[UInt8]>, [FileError]) = ([], [])
        for store in allStores(andIn: more) {
            do throws(FileError) {
                try store.all { record in
                    let original = StoredOriginal(record, in: store)
                    if original.isPlausible { paths.insert(original.picture.exactPath) }
                } distrusted: {
                    distrusted.append($0)
                }
            } catch {
                distrusted.append(error)
            }
        }
        let known = paths.sorted { $0.lexicographicallyPrecedes($1) }.map { InputFile(bytes: $0, dir: "") }
        return (known, distrusted)
    }

    /// Whether only this user or root can have written a record of the picture.
    package func hasTrustedOriginal(_ picture: InputFile) -> Bool {
        all(of: picture).originals.contains { $0.isTrusted(with: nil) }
    }

    private func allStores(andIn more: [String] = []) -> [OriginalStore] {
        [shared] + Set((rememberedFolders() + more).map(PathKey.init)).sorted().map { besideStore(in: $0.path) }
    }

    /// The folder of notes. A note is the path of a folder with originals beside its pictures.
    private static let notesName = "beside"
    /// The largest note that is read.
    private static let largestNote = 1 << 16

    private func rememberedFolders() -> [String] {
        // If notes cannot be read, the stores are still found beside their pictures.
        guard let notes = try? SafeFolder.unlinked(root, trusting: .everybody)?.folder(Self.notesName),
            let names = try? notes.names()
        else { return [] }
        return names.sorted().compactMap { name in
            // The store of a note that cannot be read is still found beside its pictures.
            (try? notes.contents(of: name, limit: Self.largestNote)).flatMap {
                String(validating: $0, as: UTF8.self)
            }
        }
    }

    /// The remembered folders whose stores are gone.
    package func foldersWithoutStore() -> [String] {
        rememberedFolders().filter { folder in
            do throws(FileError) {
                let found = try SafeFolder(folder, trusting: .everybody)
                // An empty folder may be the mount point of a disk.
                guard try found.status(of: Self.folderName) == nil else { return false }
                return try !found.names().isEmpty
            } catch {
                // It has moved with its originals, or its disk is not mounted, or it may not be read.
                return false
            }
        }
    }

    /// The remembered folders that are not there: they were moved or removed, or their disk is not mounted.
    package func missingFolders() -> [String] {
        rememberedFolders().filter { folder in
            do throws(FileError) {
                // An empty folder may be the mount point of a disk.
                return try SafeFolder(folder, trusting: .everybody).names().isEmpty
            } catch {
                return error.code == ENOENT || error.code == ENOTDIR
            }
        }
    }

    /// Forgets remembered folders that are not there. No original is removed. The lock is held.
    ///
    /// - Parameter isMeant: whether the user gives up a picture at this path.
    /// - Returns: how many.
    package func forgetMissingFolders(_ isMeant: (InputFile) -> Bool) -> Int {
        let folders = missingFolders().filter {
            isMeant(InputFile(path: PathNames.joined($0, Self.folderName), dir: ""))
        }
        folders.forEach(forget)
        return folders.count
    }

    /// Writes the note of a folder, before the first original is kept in it.
    private func remember(_ folder: String) throws(FileError) {
        let name = FNV.name(of: folder.utf8)
        guard let store = try SafeFolder.unlinked(root, trusting: .everybody) else {
            throw FileError(path: root, code: ENOENT, action: "open the folder")
        }
        let notes = try store.makingFolder(Self.notesName)
        guard try notes.status(of: name) == nil else { return }
        let temporary = "\(name)-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        try store.create(temporary, Array(folder.utf8), syncs: true)
        try store.rename(temporary, to: notes, as: name)
        try notes.sync()
    }

    private func forget(_ folder: String) {
        let notes = try? SafeFolder.unlinked(root, trusting: .everybody)?.folder(Self.notesName)
        // A superfluous note only costs time.
        try? notes?.remove(FNV.name(of: folder.utf8))
    }

    /// Removes unneeded originals of these folders and of the state folder, and releases the stores.
    func removeUnneeded(in folders: OpenFolders) {
        shared.removeUnneeded()
        for (folder, _) in folders.held {
            tidy(folder)
            release(folder)
        }
    }

    private func release(_ folder: String) {
        beside.withLock { $0.removeValue(forKey: PathKey(folder)) }?.unlock()
    }

    /// Opens and locks the stores of these folders, and forgets what was known of them before. If another
    /// command holds a store, its folder is marked as busy.
    func open(in folders: inout OpenFolders) {
        for (folder, opened) in folders.held {
            let store = OriginalStore(beside: folder, try? opened.open(), readings: readings)
            beside.withLock { $0[PathKey(folder)] = store }
            // If a store cannot be locked, the error is reported when an original is kept in it.
            if (try? store.takeLock()) == false { folders.markBusy(folder) }
        }
    }

    @discardableResult
    private func tidy(_ folder: String) -> Int {
        let store = besideStore(in: folder)
        // The store may be on a disk that is not mounted.
        guard FileSystem.exists(store.root) else { return 0 }
        let count = store.removeUnneeded()
        // The note is removed first. Otherwise a kill between the two steps would make the originals look lost.
        store.removeIfEmpty(before: { forget(folder) })
        return count
    }

    /// Calls `body` for each store while its folder is locked. Folders that are busy or not mounted are left to
    /// the next command.
    ///
    /// - Parameter more: folders that may have come from elsewhere, with originals beside their pictures.
    private func eachStore(
        andIn more: [String] = [], _ body: (_ store: OriginalStore, _ folder: String?) -> Int
    ) -> Int {
        let folders = Set((rememberedFolders() + more).map(PathKey.init)).sorted().map(\.path)
        return folders.reduce(body(shared, nil)) { count, folder in
            let anywhere = InputFile(path: PathNames.joined(folder, "picture"), dir: "")
            // A folder that is gone, and a store that cannot be used or that another command holds, is left for later.
            guard let held = try? PictureFolder(of: anywhere) else { return count }
            let store = OriginalStore(beside: folder, try? held.open(), readings: readings)
            guard (try? store.takeLock()) == true else { return count }
            beside.withLock { $0[PathKey(folder)] = store }
            defer { release(folder) }
            return withExtendedLifetime(held) { count + body(store, folder) }
        }
    }

    /// Removes all files of killed commands. The lock is held.
    ///
    /// - Returns: how many unneeded originals were removed.
    package func sweep() -> Int {
        removeUnfinishedNotes()
        let folders = Dictionary(grouping: pictures(andIn: []).known) { $0.folderBytes }
        for picture in folders.values.compactMap(\.first) {
            // A folder that is busy or not mounted is left to the next command.
            (try? PictureFolder(of: picture))?.removeLeftovers()
        }
        return eachStore { store, folder in folder.map { tidy($0) } ?? store.removeUnneeded() }
    }

    /// Forgets originals that were restored under other names, if no picture is at the paths at which they were
    /// blurred. The lock is held.
    ///
    /// - Returns: how many were forgotten, and how many stay because their pictures' folders are gone: a disk
    ///   may not be mounted.
    package func forgetRestored() -> (forgotten: Int, left: Int) {
        forgetRemoved(andIn: [], where: \.isRestored, ifLost: isFolderThere)
    }

    /// Forgets originals of pictures that their user has removed. The lock is held.
    ///
    /// - Parameters:
    ///   - more: folders that may have come from elsewhere, with originals beside their pictures.
    ///   - isMeant: whether the user abandons the picture at this path.
    /// - Returns: how many were forgotten, and how many stay because their pictures may be on a disk that is
    ///   not mounted.
    package func abandon(andIn more: [String], _ isMeant: (InputFile) -> Bool) -> (forgotten: Int, left: Int) {
        forgetRemoved(andIn: more) {
            // Only another user may remove that user's record.
            $0.isPlausible && $0.isTrusted(with: nil) && isMeant($0.picture)
        } ifLost: {
            !$0.store.isShared || isFolderThere($0) || isDiskThere($0)
        }
    }

    /// - Parameter isLost: whether a picture that is not at its path is lost.
    private func forgetRemoved(
        andIn more: [String], where isMeant: (StoredOriginal) -> Bool, ifLost isLost: (StoredOriginal) -> Bool
    ) -> (forgotten: Int, left: Int) {
        var left = 0
        let forgotten = eachStore(andIn: more) { store, folder in
            var meant: [StoredOriginal] = []
            // Records that are not trusted stay.
            try? store.all {
                let original = StoredOriginal($0, in: store)
                if isMeant(original) { meant.append(original) }
            } distrusted: { _ in
            }
            var count = 0
            for original in meant where !FileSystem.exists(original.picture.exactPath) {
                // An original that cannot be removed counts as left.
                if isLost(original), (try? store.remove(original.file)) != nil {
                    count += 1
                } else {
                    left += 1
                }
            }
            if let folder { tidy(folder) } else { store.removeUnneeded() }
            return count
        }
        return (forgotten, left)
    }

    /// Forgets the remembered folders whose stores are gone. The lock is held.
    ///
    /// - Returns: how many.
    package func forgetLostStores() -> Int {
        let folders = foldersWithoutStore()
        folders.forEach(forget)
        return folders.count
    }

    private func isFolderThere(_ original: StoredOriginal) -> Bool {
        guard let found = FileStamp(of: original.picture.folderBytes) else { return false }
        guard original.record.folder.map({ $0 == found.inode }) ?? true else { return false }
        let path = original.picture.folderPath
        if let disk = original.record.disk { return path.map { DiskMark.of($0) == disk } ?? false }
        // The roots of all disks have the same inode. Without a mark it is not known which disk this is.
        return path.map { !FileSystem.isMountPoint($0) || $0 == "/" } ?? true
    }

    /// Whether the picture's folder was removed from its disk. If the disk has no mark, the nearest existing
    /// folder must not be empty, because an empty one may be a mount point.
    private func isDiskThere(_ original: StoredOriginal) -> Bool {
        guard var folder = original.picture.folderPath else { return false }
        let isRemoved = !FileSystem.exists(folder)
        while folder != "/", !FileSystem.exists(folder) { folder = PathText.folder(of: folder) }
        if let disk = original.record.disk { return DiskMark.of(folder) == disk }
        // If the folder cannot be read, nothing is known of the disk, and the original stays.
        guard isRemoved, let names = try? SafeFolder(folder, trusting: .everybody).names() else { return false }
        return !names.isEmpty
    }

    /// Removes the temporary files of a killed ``remember(_:)``: `FNV-RANDOM`.
    private func removeUnfinishedNotes() {
        // What cannot be removed now is removed by a later command.
        guard let store = try? SafeFolder.unlinked(root, trusting: .everybody), let names = try? store.names() else {
            return
        }
        for name in names {
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].count == 16, (1...16).contains(parts[1].count),
                parts.joined().allSatisfy(\.isHexDigit)
            else { continue }
            try? store.remove(name)
        }
    }
}
