package import Coordination
import Glibc
import JobModel
package import Planning
package import SafeFiles
import Synchronization

/// Where an original is kept.
package enum OriginalLocation: String, Hashable, Sendable, CaseIterable {
    /// In the state folder.
    case state
    /// In a hidden folder beside the picture, with which it can move.
    case beside
}

/// An original that is kept of a picture.
package struct StoredOriginal: Sendable {
    package let record: KeptOriginal
    let store: OriginalStore
    /// The record's name in the store.
    let file: String
    /// It was put back under another name.
    package let isRestored: Bool
    private let writers: TrustedWriters

    init(_ found: OriginalStore.Record, in store: OriginalStore) {
        (record, file, isRestored, writers) = (found.original, found.file, found.isRestored, found.writers)
        self.store = store
    }

    /// Nobody but this user or root can have made the record, and the original.
    var isOwn: Bool { writers.isOwn }

    /// Whether the record decides what a picture of this owner is. (A state folder the user has chosen.)
    func isTrusted(with owner: UInt32?) -> Bool { store.isShared || writers.isTrusted(with: owner) }

    /// The file that holds it.
    package var path: String { store.path(of: record.objectName) }

    /// The path at which the picture was blurred.
    package var picture: InputFile {
        guard !store.isShared else { return InputFile(bytes: record.key, dir: "") }
        let folder = PathNames.folder(of: store.root) ?? ""
        return InputFile(bytes: Array(folder.utf8) + [PathNames.slash] + record.key, dir: "")
    }

    /// What lies beside pictures knows their names alone: a path would lead elsewhere.
    var isPlausible: Bool { store.isShared || !record.key.contains(PathNames.slash) }
}

/// The originals of all pictures that were blurred in place.
///
///     STATE/originals/{objects,records,incoming,lock,beside/}    and beside pictures    .penumbra-originals/
package final class Originals: Sendable {
    /// What hides the originals that are kept beside pictures.
    package static let folderName = ".penumbra-originals"

    /// `STATE/originals`
    package let root: String
    private let shared: OriginalStore
    private let beside = Mutex<[PathKey: OriginalStore]>([:])
    private let readings = RecordReadings()
    /// The folders with originals beside their pictures, by the sizes of what was made of these; nil before they were asked
    /// for.
    private let remembered = Mutex<[Int: [String]]?>(nil)

    package init(state: String) {
        root = "\(state)/originals"
        shared = OriginalStore(shared: root)
    }

    /// Whether a picture was ever blurred in place with this state folder.
    package static func areKept(in state: String) -> Bool { FileSystem.isFolder("\(state)/originals") }

    /// Held by whoever changes anything here. Nil when another one still holds it after that time.
    package static func lock(state: String, wait: Duration) async throws -> KernelLock? {
        let root = "\(state)/originals"
        // What others may not see they may not see here. Before anything is in it.
        if try !FileSystem.createFolders(root).isEmpty { try FileSystem.makePrivate(root, trusting: .everybody) }
        let clock = ContinuousClock()
        return try await KernelLock.take("\(root)/lock", until: clock.now + wait, clock)
    }

    // MARK: Pictures

    /// What is kept of a picture.
    package struct Kept: Sendable {
        /// The latest first.
        package let originals: [StoredOriginal]
        /// Why a record of the picture is not believed, if one is not.
        package let distrust: FileTrouble?

        package var isNothing: Bool { originals.isEmpty && distrust == nil }
    }

    /// A store that cannot be read costs its own pictures alone.
    package func all(of picture: InputFile) -> Kept {
        var found: [StoredOriginal] = []
        var distrusted: [FileTrouble] = []
        for store in [shared] + (besideStore(of: picture).map { [$0] } ?? []) {
            do throws(FileTrouble) {
                let key = store.isShared ? picture.exactPath : Self.name(of: picture)
                let records = try store.originals(of: key)
                found += records.records.map { StoredOriginal($0, in: store) }
                distrusted += records.distrusted
            } catch {
                distrusted.append(error)
            }
        }
        return Kept(originals: found.sorted { $0.record.generation > $1.record.generation }, distrust: distrusted.first)
    }

    /// Where a picture's original goes, and by what key.
    ///
    /// - Parameter owner: the picture's.
    /// - Throws: where nothing can be kept beside a picture.
    func prepareStore(
        for picture: InputFile, _ location: OriginalLocation, owner: UInt32
    ) throws(FileTrouble) -> (OriginalStore, key: [UInt8]) {
        switch location {
        case .state:
            try shared.create(for: owner)
            return (shared, picture.exactPath)
        case .beside:
            guard let store = besideStore(of: picture), let folder = Self.folder(of: picture) else {
                throw FileTrouble(
                    path: PathText.folder(of: picture.path), code: EILSEQ, action: "keep originals beside the picture",
                    remedy: "the folder's name is not UTF-8: rename it, or use --keep state")
            }
            try store.create(for: owner)
            // Only now: a folder that is remembered and has no store has lost it (``foldersWithoutStore()``).
            try remember(folder)
            return (store, Self.name(of: picture))
        }
    }

    private static func name(of picture: InputFile) -> [UInt8] {
        let path = picture.exactPath
        return Array(path[(path.lastIndex(of: PathNames.slash).map { $0 + 1 } ?? 0)...])
    }

    /// Nil where its name is not UTF-8.
    private static func folder(of picture: InputFile) -> String? {
        let path = picture.exactPath
        let folder = path[..<(path.lastIndex(of: PathNames.slash) ?? 0)]
        return folder.isEmpty ? "/" : String(validating: folder, as: UTF8.self)
    }

    private func besideStore(of picture: InputFile) -> OriginalStore? {
        Self.folder(of: picture).map { besideStore(in: $0) }
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

    /// Originals of pictures at other paths, of which blurring has made files of this size. A blurred picture that was
    /// renamed, moved or copied is known by what it holds. Looked through are the state folder, the stores beside the picture
    /// and in all folders above it, and those that this state folder knows of.
    func elsewhere(_ picture: InputFile, size: Int) -> [StoredOriginal] {
        var (found, seen): ([StoredOriginal], Set<String>) = ([], [])
        for store in [shared] + besideStores(near: picture, size: size) where seen.insert(store.root).inserted {
            // Of what cannot be read here its own pictures tell.
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
        if var folder = Self.folder(of: picture) {
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
            // A disk that is not mounted, or a folder that may not be read.
            guard let sizes = try? besideStore(in: folder).allSizes() else { continue }
            for size in sizes.keys { found[size, default: []].append(folder) }
        }
        remembered.withLock { [found] in $0 = found }
        return found
    }

    /// Whether a picture of which nothing is kept may be one that was blurred under another name.
    package func mayBeElsewhere(_ picture: InputFile) -> Bool {
        FileStamp(of: picture).map { !elsewhere(picture, size: $0.size).isEmpty } ?? false
    }

    // MARK: Everything

    /// All pictures of which anything is kept, as far as this state folder knows of them, and the records and stores that are
    /// not believed.
    ///
    /// - Parameter more: folders that may have come from elsewhere, with originals beside their pictures.
    package func pictures(andIn more: [String]) -> (known: [InputFile], distrusted: [FileTrouble]) {
        var (paths, distrusted): (Set<[UInt8]>, [FileTrouble]) = ([], [])
        for store in allStores(andIn: more) {
            do throws(FileTrouble) {
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

    private func allStores(andIn more: [String] = []) -> [OriginalStore] {
        [shared] + Set((rememberedFolders() + more).map(PathKey.init)).sorted().map { besideStore(in: $0.path) }
    }

    /// Where it is noted which folders have originals beside their pictures.
    private static let notesName = "beside"
    /// Of a note, which is a path.
    private static let largestNote = 1 << 16

    private func rememberedFolders() -> [String] {
        // Of what cannot be read the pictures' own folder knows.
        guard let notes = try? SafeFolder.unlinked(root, trusting: .everybody)?.folder(Self.notesName),
            let names = try? notes.names()
        else { return [] }
        return names.sorted().compactMap { name in
            (try? notes.contents(of: name, limit: Self.largestNote)).flatMap {
                String(validating: $0, as: UTF8.self)
            }
        }
    }

    /// The folders in which originals were kept beside pictures, and whose stores are not there any more.
    package func foldersWithoutStore() -> [String] {
        rememberedFolders().filter { folder in
            do throws(FileTrouble) {
                let found = try SafeFolder(folder, trusting: .everybody)
                // An empty one may be where a disk is to be mounted.
                guard try found.status(of: Self.folderName) == nil else { return false }
                return try !found.names().isEmpty
            } catch {
                // It moved with its originals, is on a disk that is not mounted, or may not be read.
                return false
            }
        }
    }

    /// Before the first original is kept beside a picture.
    private func remember(_ folder: String) throws(FileTrouble) {
        let name = FNV.name(of: folder.utf8)
        guard let store = try SafeFolder.unlinked(root, trusting: .everybody) else {
            throw FileTrouble(path: root, code: ENOENT, action: "open the folder")
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
        // A note too many costs a look.
        try? notes?.remove(FNV.name(of: folder.utf8))
    }

    /// Removes originals that are not needed any more beside pictures in these folders, and in the state folder, and lets go
    /// of the stores.
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

    /// Forgets what was known of originals beside pictures before these folders were locked, and locks the stores there. Where
    /// another command holds a store nothing is done in its folder.
    func open(in folders: inout OpenFolders) {
        for (folder, opened) in folders.held {
            let store = OriginalStore(beside: folder, try? opened.open(), readings: readings)
            beside.withLock { $0[PathKey(folder)] = store }
            // What cannot be locked is told by whoever wants to keep something there.
            if (try? store.takeLock()) == false { folders.markBusy(folder) }
        }
    }

    @discardableResult
    private func tidy(_ folder: String) -> Int {
        let store = besideStore(in: folder)
        // What lies on a disk that is not mounted is not gone.
        guard FileSystem.exists(store.root) else { return 0 }
        let count = store.removeUnneeded()
        // In this order: a kill between the two must not look as if the originals were lost.
        store.removeIfEmpty(before: { forget(folder) })
        return count
    }

    /// Does something in each store, while its folder is locked. Where another run or command works, or which is not mounted,
    /// the next command looks again.
    ///
    /// - Parameter more: folders that may have come from elsewhere, with originals beside their pictures.
    private func eachStore(
        andIn more: [String] = [], _ body: (_ store: OriginalStore, _ folder: String?) -> Int
    ) -> Int {
        let folders = Set((rememberedFolders() + more).map(PathKey.init)).sorted().map(\.path)
        return folders.reduce(body(shared, nil)) { count, folder in
            let anywhere = InputFile(path: PathNames.joined(folder, "picture"), dir: "")
            guard let held = try? PictureFolder(of: anywhere) else { return count }
            let store = OriginalStore(beside: folder, try? held.open(), readings: readings)
            guard (try? store.takeLock()) == true else { return count }
            beside.withLock { $0[PathKey(folder)] = store }
            defer { release(folder) }
            return withExtendedLifetime(held) { count + body(store, folder) }
        }
    }

    /// Removes all that commands have left that were killed. The lock is held.
    ///
    /// - Returns: how many originals that no picture needs.
    package func sweep() -> Int {
        removeUnfinishedNotes()
        let folders = Dictionary(grouping: pictures(andIn: []).known) { OpenFolders.key(of: $0) }
        for picture in folders.values.compactMap(\.first) {
            // Where another run writes, or which is not mounted, the next command looks again.
            (try? PictureFolder(of: picture))?.removeLeftovers()
        }
        return eachStore { store, folder in folder.map { tidy($0) } ?? store.removeUnneeded() }
    }

    /// Forgets originals that were put back under other names, if nothing is at the paths at which their pictures were blurred.
    /// The lock is held.
    ///
    /// - Returns: how many, and how many stay since their pictures' folders are not there: a disk may not be mounted.
    package func forgetRestored() -> (forgotten: Int, left: Int) {
        forgetRemoved(andIn: [], where: \.isRestored, ifLost: isFolderThere)
    }

    /// Forgets originals of pictures that their user has removed since they were blurred. The lock is held.
    ///
    /// - Parameters:
    ///   - more: folders that may have come from elsewhere, with originals beside their pictures.
    ///   - isMeant: whether the user gives up what was at this path.
    /// - Returns: how many, and how many stay since their pictures may be on a disk that is not mounted.
    package func abandon(andIn more: [String], _ isMeant: (InputFile) -> Bool) -> (forgotten: Int, left: Int) {
        forgetRemoved(andIn: more) {
            // Another user's record is that user's to remove.
            $0.isPlausible && $0.isTrusted(with: nil) && isMeant($0.picture)
        } ifLost: {
            !$0.store.isShared || isFolderThere($0) || isDiskThere($0)
        }
    }

    /// - Parameter isLost: whether a picture that is not at its path is nowhere.
    private func forgetRemoved(
        andIn more: [String], where isMeant: (StoredOriginal) -> Bool, ifLost isLost: (StoredOriginal) -> Bool
    ) -> (forgotten: Int, left: Int) {
        var left = 0
        let forgotten = eachStore(andIn: more) { store, folder in
            var meant: [StoredOriginal] = []
            // Records that are not believed stay.
            try? store.all {
                let original = StoredOriginal($0, in: store)
                if isMeant(original) { meant.append(original) }
            } distrusted: { _ in
            }
            var count = 0
            for original in meant where !FileSystem.exists(original.picture.exactPath) {
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

    /// Forgets the folders whose stores of originals are not there any more. The lock is held.
    ///
    /// - Returns: how many.
    package func forgetLostStores() -> Int {
        let folders = foldersWithoutStore()
        folders.forEach(forget)
        return folders.count
    }

    private func isFolderThere(_ original: StoredOriginal) -> Bool {
        let folder = OpenFolders.key(of: original.picture)
        guard let found = FileStamp(of: InputFile(bytes: folder.isEmpty ? [PathNames.slash] : folder, dir: "")) else {
            return false
        }
        guard original.record.folder.map({ $0 == found.inode }) ?? true else { return false }
        let path = folder.isEmpty ? "/" : String(validating: folder, as: UTF8.self)
        if let disk = original.record.disk { return path.map { DiskMark.of($0) == disk } ?? false }
        // The root of a disk has the same number on every disk, and without a mark nobody knows which one this is.
        return path.map { !FileSystem.isMountPoint($0) || $0 == "/" } ?? true
    }

    /// The picture's folder is not there, and that on the disk on which it was. Where that disk has no mark it is on none that
    /// could be mounted in an empty folder.
    private func isDiskThere(_ original: StoredOriginal) -> Bool {
        guard var folder = String(validating: OpenFolders.key(of: original.picture), as: UTF8.self) else {
            return false
        }
        if folder.isEmpty { folder = "/" }
        let isRemoved = !FileSystem.exists(folder)
        while folder != "/", !FileSystem.exists(folder) { folder = PathText.folder(of: folder) }
        if let disk = original.record.disk { return DiskMark.of(folder) == disk }
        guard isRemoved, let names = try? SafeFolder(folder, trusting: .everybody).names() else { return false }
        return !names.isEmpty
    }

    /// What ``remember(_:)`` has left that was killed: `FNV-RANDOM`.
    private func removeUnfinishedNotes() {
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
