import Glibc
import JobModel
package import Planning
package import SafeFiles
import Synchronization

/// Where an original is kept.
package enum OriginalPlace: String, Hashable, Sendable, CaseIterable {
    /// In the state folder.
    case state
    /// In a hidden folder beside the picture, with which it can move.
    case beside
}

/// An original that is kept of a picture.
package struct StoredOriginal: Sendable {
    package let record: KeptOriginal
    let store: OriginalStore
    /// Nobody but this user or root can have made the record, and the original.
    let isOwn: Bool

    /// The file that holds it.
    package var path: String { store.path(of: record.objectName) }
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
    /// See ``keys(in:)``, by the stores' folders.
    private let sizes = Mutex<[String: [Int: Set<[UInt8]>]]>([:])

    package init(state: String) {
        root = "\(state)/originals"
        shared = OriginalStore(root)
    }

    /// Whether a picture was ever blurred in place with this state folder.
    package static func areKept(in state: String) -> Bool { FileSystem.isFolder("\(state)/originals") }

    /// Held by whoever changes anything here. Nil when another one still holds it after that time.
    package static func lock(state: String, wait: Duration) async throws -> KernelLock? {
        let root = "\(state)/originals"
        // What others may not see they may not see here. Before anything is in it.
        if try !FileSystem.createFolders(root).isEmpty { FileSystem.makePrivate(root) }
        let clock = ContinuousClock()
        return try await KernelLock.take("\(root)/lock", until: clock.now + wait, clock)
    }

    // MARK: Pictures

    /// What is kept of a picture.
    package struct Kept: Sendable {
        /// The latest first.
        package let originals: [StoredOriginal]
        /// Why a record of the picture is not believed, if one is not.
        package let odd: FileTrouble?

        package var isNothing: Bool { originals.isEmpty && odd == nil }
    }

    package func all(of picture: InputFile) throws(FileTrouble) -> Kept {
        var stores = [(shared, try shared.originals(of: picture.exactPath))]
        if let store = besideStore(of: picture) {
            stores.append((store, try store.originals(of: Self.name(of: picture))))
        }
        let found = stores.flatMap { store, records in
            records.originals.map { StoredOriginal(record: $0.record, store: store, isOwn: $0.isOwn) }
        }
        return Kept(
            originals: found.sorted { $0.record.generation > $1.record.generation },
            odd: stores.lazy.compactMap { $0.1.odd.first }.first)
    }

    /// Where a picture's original goes, and by what key.
    ///
    /// - Throws: where nothing can be kept beside a picture.
    func place(of picture: InputFile, _ place: OriginalPlace) throws(FileTrouble) -> (OriginalStore, key: [UInt8]) {
        switch place {
        case .state:
            try shared.create()
            return (shared, picture.exactPath)
        case .beside:
            guard let store = besideStore(of: picture), let folder = Self.folder(of: picture) else {
                throw FileTrouble(
                    path: PathText.folder(of: picture.path), code: EILSEQ, action: "keep originals beside the picture",
                    remedy: "the folder's name is not UTF-8: rename it, or use --keep state")
            }
            try remember(folder)
            try store.create()
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
            let store = OriginalStore(PathNames.joined(folder, Self.folderName))
            stores[PathKey(folder)] = store
            return store
        }
    }

    // MARK: Pictures under other names

    /// Originals of pictures at other paths, of which blurring has made files of this size. A blurred picture that was
    /// renamed, or copied, is known by what it holds.
    func elsewhere(_ picture: InputFile, size: Int) throws(FileTrouble) -> [StoredOriginal] {
        var found: [StoredOriginal] = []
        for store in [shared] + (besideStore(of: picture).map { [$0] } ?? []) {
            let own = store === shared ? picture.exactPath : Self.name(of: picture)
            for key in try keys(in: store)[size] ?? [] where key != own {
                found += try store.originals(of: key).originals.filter {
                    $0.record.blurred.bytes == size && $0.record.isChanged
                }
                .map { StoredOriginal(record: $0.record, store: store, isOwn: $0.isOwn) }
            }
        }
        return found
    }

    /// Whether a picture of which nothing is kept may be one that was blurred under another name.
    package func mayBeElsewhere(_ picture: InputFile) throws(FileTrouble) -> Bool {
        guard let size = FileStamp(of: picture)?.size else { return false }
        return try !elsewhere(picture, size: size).isEmpty
    }

    /// The path of the picture that an original was kept of.
    func picture(of original: StoredOriginal, beside picture: InputFile) -> InputFile {
        guard original.store !== shared else { return InputFile(bytes: original.record.key, dir: "") }
        let path = picture.exactPath
        let folder = path[..<(path.lastIndex(of: PathNames.slash) ?? 0)]
        return InputFile(bytes: folder + [PathNames.slash] + original.record.key, dir: "")
    }

    /// The keys of pictures by the sizes of what was made of them. Read once: commands know of what they do themselves.
    private func keys(in store: OriginalStore) throws(FileTrouble) -> [Int: Set<[UInt8]>] {
        if let known = sizes.withLock({ $0[store.root] }) { return known }
        var keys: [Int: Set<[UInt8]>] = [:]
        for (record, _) in try store.all().originals where record.isChanged {
            keys[record.blurred.bytes, default: []].insert(record.key)
        }
        sizes.withLock { [keys] in $0[store.root] = keys }
        return keys
    }

    // MARK: Everything

    /// All pictures of which anything is kept, as far as this state folder knows of them, and the records that are not
    /// believed.
    ///
    /// - Parameter more: folders that may have come from elsewhere, with originals beside their pictures.
    package func pictures(andIn more: [String]) throws(FileTrouble) -> (known: [InputFile], odd: [FileTrouble]) {
        let all = try shared.all()
        var (paths, odd) = (Set(all.originals.map(\.record.key)), all.odd)
        for folder in Set((rememberedFolders() + more).map(PathKey.init)).sorted() {
            let start = folder.path == "/" ? [] : Array(folder.path.utf8)
            let found = try besideStore(in: folder.path).all()
            odd += found.odd
            // What lies beside pictures knows their names alone: a path would lead elsewhere.
            for (record, _) in found.originals where !record.key.contains(PathNames.slash) {
                paths.insert(start + [PathNames.slash] + record.key)
            }
        }
        let known = paths.sorted { $0.lexicographicallyPrecedes($1) }.map { InputFile(bytes: $0, dir: "") }
        return (known, odd)
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

    /// Removes originals that are not needed any more beside pictures in these folders, and in the state folder.
    func removeUnneeded(in folders: HeldFolders) {
        shared.removeUnneeded()
        for folder in folders.held { tidy(folder) }
    }

    /// Forgets what was known of originals beside pictures before these folders were locked.
    func reread(in folders: HeldFolders) {
        beside.withLock { stores in
            for folder in folders.held { stores[PathKey(folder)] = nil }
        }
    }

    @discardableResult
    private func tidy(_ folder: String) -> Int {
        let store = besideStore(in: folder)
        // What lies on a disk that is not mounted is not gone.
        guard FileSystem.exists(store.root) else { return 0 }
        let count = store.removeUnneeded()
        store.removeIfEmpty()
        if !FileSystem.exists(store.root) { forget(folder) }
        return count
    }

    /// Removes all that commands have left that were killed. The lock is held.
    ///
    /// - Returns: how many originals that no picture needs.
    package func sweep() throws(FileTrouble) -> Int {
        let pictures = try pictures(andIn: []).known
        let folders = Dictionary(grouping: pictures) { HeldFolders.key(of: $0) }
        for picture in folders.values.compactMap(\.first) {
            // Where another run writes, or which is not mounted, the next command looks again.
            (try? PictureFolder(of: picture))?.removeLeftovers()
        }
        return rememberedFolders().reduce(shared.removeUnneeded()) { count, folder in
            let anywhere = InputFile(path: PathNames.joined(folder, "picture"), dir: "")
            guard let held = try? PictureFolder(of: anywhere) else { return count }
            return withExtendedLifetime(held) { count + tidy(folder) }
        }
    }
}
