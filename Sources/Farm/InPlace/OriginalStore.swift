import FoundationEssentials
import Glibc
import JobModel
package import SafeFiles
import Synchronization

/// The users who can have written a record and its original.
struct TrustedWriters: Hashable, Sendable {
    /// The users in addition to root; nil if anybody can have written them.
    private let users: Set<UInt32>?

    /// Whether only this user or root can have written them.
    var isOwn: Bool { isTrusted(with: nil) }

    init(_ parts: [Set<UInt32>?]) {
        users = parts.contains(nil) ? nil : parts.reduce(into: []) { $0.formUnion($1 ?? []) }
    }

    /// Whether the record decides what a picture is: only this user, root or the picture's owner can have
    /// written it. (The owner could do the same to the picture without Penumbra.)
    func isTrusted(with owner: UInt32?) -> Bool {
        users?.allSatisfy { $0 == geteuid() || $0 == 0 || $0 == owner } ?? false
    }
}

/// A cache of what was read of records, by the stores' paths and the records' names. A command searches the
/// same store for every few pictures, and a store may have thousands of records.
///
/// The content of a record never changes. The cache is nevertheless only a hint: a record is read before it is
/// used.
package final class RecordReadings: Sendable {
    struct Reading: Sendable {
        /// The size of the blurred picture; nil if it is the same as the original.
        let size: Int?
        let key: [UInt8]
    }

    private let stores = Mutex<[String: [String: Reading]]>([:])

    package init() {}

    func of(_ root: String) -> [String: Reading] { stores.withLock { $0[root] ?? [:] } }

    func set(_ readings: [String: Reading], of root: String) { stores.withLock { $0[root] = readings } }
}

/// A store of originals. It has their bytes under names that identify them, and a record of each picture.
///
///     ROOT/{objects/SHA256-SIZE,records/PICTURE.GENERATION.RANDOM.SHA256-SIZE.json,incoming/,lock}
///
/// The store consists of files, not of rows in the database, so that it can move with the pictures, and
/// pictures can be restored if the database is lost. Other users may be able to write where a store lies. So
/// its folders are opened one in the other without following links, and all files are used through the open
/// folders.
///
/// A command that changes a store beside pictures holds the lock on its file `lock`. All steps are safe even
/// where locks do not work: see ``removeUnneeded()``.
package final class OriginalStore: Sendable {
    let root: String
    /// Whether it lies in the state folder. Such a store has records of pictures by their paths.
    let isShared: Bool
    /// The open folder that has the store; nil to open it by its path.
    private let parent: SafeFolder?
    /// The open root folder. Records and originals are used in the same store even if another folder takes its
    /// path.
    private let opened = Mutex<SafeFolder?>(nil)
    private let lock = Mutex<KernelLock?>(nil)
    /// The names of records, by the part that stands for the picture. Nil until they are asked for. A command
    /// that changes them holds the lock before.
    private let names = Mutex<[Substring: [String]]?>(nil)
    /// The keys of pictures, by the sizes of the blurred pictures. Nil until they are asked for.
    private let sizes = Mutex<[Int: Set<[UInt8]>]?>(nil)
    /// What other instances of this store have read.
    private let readings: RecordReadings

    private enum Part: String, CaseIterable {
        case objects, records, incoming
    }

    /// A record and who may have written it.
    package struct Record: Sendable {
        package let original: KeptOriginal
        package let file: String
        /// Whether its original was restored under another name.
        package let isRestored: Bool
        let writers: TrustedWriters
    }

    /// The records that were found.
    package struct Records {
        package var records: [Record] = []
        /// Why other records are not trusted.
        package var distrusted: [FileError] = []
    }

    /// The copy of a picture before it becomes an original.
    package struct Copy: Hashable, Sendable {
        let path: String
        let sha256: String
        fileprivate let name: String
    }

    /// The largest record that is read. Each attribute of a file has at most 64 KB.
    private static let largestRecord = 16 << 20
    /// The largest record of another user that is read. The limit is lower because another user may have made
    /// many to exhaust the memory.
    private static let largestForeignRecord = 1 << 20
    private static let lockName = "lock"

    /// The store in the state folder.
    ///
    /// - Parameter root: its folder, which may be missing.
    package init(shared root: String) {
        (self.root, isShared, parent) = (root, true, nil)
        readings = RecordReadings()
    }

    /// The store beside the pictures of a folder.
    ///
    /// - Parameters:
    ///   - opened: the same folder, if it is open.
    ///   - readings: what was read of such stores before.
    package init(beside folder: String, _ opened: SafeFolder? = nil, readings: RecordReadings = RecordReadings()) {
        root = PathNames.joined(folder, Originals.folderName)
        (isShared, parent) = (false, opened)
        self.readings = readings
    }

    // MARK: Folders

    private func parentFolder() throws(FileError) -> SafeFolder {
        if let parent { return parent }
        let path = PathNames.folder(of: root) ?? ""
        return try SafeFolder(path.isEmpty ? "/" : path, trusting: .everybody)
    }

    /// Nil if there is no store yet.
    private func rootFolder() throws(FileError) -> SafeFolder? {
        if let opened = opened.withLock(\.self) { return opened }
        let parent: SafeFolder
        do throws(FileError) {
            parent = try parentFolder()
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
        do throws(FileError) {
            guard let found = try parent.folder(PathNames.last(of: root)) else { return nil }
            if !isShared { try Self.refuseMounted(found, in: parent) }
            // A search may concern more stores than a process may have open files.
            if isShared || self.parent != nil { opened.withLock { $0 = found } }
            return found
        } catch {
            throw Self.refusal(error)
        }
    }

    /// A mounted folder may have the originals of another store, whose records and lock are not visible here.
    private static func refuseMounted(_ folder: SafeFolder, in parent: SafeFolder) throws(FileError) {
        guard try !folder.isMounted(in: parent) else {
            throw FileError(
                path: folder.path, code: FileError.refusal, action: "open the folder",
                reason: "another folder is mounted there, which may be another store's")
        }
    }

    /// One of the three folders; nil if there is no store yet.
    private func part(_ part: Part) throws(FileError) -> SafeFolder? {
        guard let root = try rootFolder() else { return nil }
        return try self.part(part, in: root)
    }

    private func part(_ part: Part, in root: SafeFolder) throws(FileError) -> SafeFolder? {
        do throws(FileError) {
            guard let folder = try root.folder(part.rawValue) else { return nil }
            try Self.refuseMounted(folder, in: root)
            return folder
        } catch {
            throw Self.refusal(error)
        }
    }

    private func needed(_ part: Part) throws(FileError) -> SafeFolder {
        guard let folder = try self.part(part) else {
            throw FileError(path: "\(root)/\(part)", code: ENOENT, action: "open the folder")
        }
        return folder
    }

    private static func refusal(_ trouble: FileError) -> FileError {
        guard trouble.code == FileError.refusal, trouble.reason != nil else { return trouble }
        return FileError(
            path: trouble.path, code: trouble.code, action: "keep originals there", reason: trouble.reason,
            remedy: "put back the folder that Penumbra made, or move the originals elsewhere; nothing was removed")
    }

    /// Creates the folders of the store and takes its lock.
    ///
    /// - Parameter owner: the owner of the picture.
    /// - Throws: ``FileError``, also if another user could remove the originals, and with ``busyCode`` if
    ///   another command holds the lock.
    package func create(for owner: UInt32) throws(FileError) {
        let parent = try parentFolder()
        var isNew = try parent.status(of: PathNames.last(of: root)) == nil
        let folder = try makingRoot(in: parent, for: owner)
        if isNew { try parent.sync() }
        let writers = TrustedWriters([try folder.writers(isPrivate: folder.isPrivate())])
        // The state folder is trusted, because the user has chosen it.
        guard isShared || writers.isTrusted(with: owner) else {
            throw FileError(
                path: root, code: FileError.refusal, action: "keep originals there",
                reason: "the folder belongs to another user, or others may write to it", remedy: "use --keep state")
        }
        for part in Part.allCases {
            guard try self.part(part, in: folder) == nil else { continue }
            _ = try folder.makingFolder(part.rawValue)
            isNew = true
        }
        if isNew { try folder.sync() }
    }

    private func makingRoot(in parent: SafeFolder, for owner: UInt32) throws(FileError) -> SafeFolder {
        for _ in 0..<4 {
            do throws(FileError) {
                // The originals may be pictures that other users must not see.
                _ = try parent.makingFolder(PathNames.last(of: root), mode: 0o700)
            } catch {
                throw Self.refusal(error)
            }
            do throws(FileError) {
                guard try takeLock(for: owner) else {
                    throw FileError(path: root, code: Self.busyCode, action: "keep originals there")
                }
                if let folder = try rootFolder() { return folder }
            } catch {
                guard error.code == ENOENT else { throw error }
            }
            // Another command has just removed the empty store.
            opened.withLock { $0 = nil }
        }
        throw FileError(path: root, code: ENOENT, action: "create the folder")
    }

    /// The code of the error that another command uses the store.
    static let busyCode = EWOULDBLOCK

    /// Takes the lock. The store of another user is not locked: nothing is changed in it, and that user must
    /// not be able to block this command.
    ///
    /// - Parameter owner: an owner of the store whose lock is taken, in addition to this user and root; nil for
    ///   the folder's owner.
    /// - Returns: false if another command holds the lock; true also if there is no store yet.
    package func takeLock(for owner: UInt32? = nil) throws(FileError) -> Bool {
        guard !isHeld, let root = try rootFolder() else { return true }
        let (own, folder) = (try root.status().st_uid, try parentFolder().status().st_uid)
        guard [geteuid(), 0, owner ?? folder].contains(own) else { return true }
        let taken = try root.withDescriptor { (folder) throws(FileError) in
            try KernelLock.takeFile(Self.lockName, in: folder, root.path)
        }
        guard let taken else { return false }
        lock.withLock { $0 = taken }
        // Other commands may have changed the store before.
        names.withLock { $0 = nil }
        sizes.withLock { $0 = nil }
        return true
    }

    /// Releases the lock. Nothing is changed afterwards.
    package func unlock() { lock.withLock { $0 = nil } }

    /// The command itself holds the lock of the state folder's store.
    private var isHeld: Bool { isShared || lock.withLock { $0 != nil } }

    // MARK: Records

    private func known() throws(FileError) -> [Substring: [String]] {
        if let known = names.withLock(\.self) { return known }
        // An unreadable list must not look like an empty store, so the error is thrown.
        let all = try part(.records)?.names().filter { $0.hasSuffix(RecordName.ending) } ?? []
        let known = Dictionary(grouping: all) { $0.prefix { $0 != "." } }
        names.withLock { $0 = known }
        return known
    }

    /// The records of a picture.
    package func originals(of key: [UInt8]) throws(FileError) -> Records {
        let known = try known()
        if known.isEmpty { return Records() }
        let files = [try KeptOriginal.name(of: key), KeptOriginal.formerName(of: key)].flatMap { known[$0[...]] ?? [] }
        var records = Records()
        try read(files) { record in
            if record.original.key == key { records.records.append(record) }
        } distrusted: {
            records.distrusted.append($0)
        }
        return records
    }

    /// Passes all records to `body` one by one, because there may be many.
    package func all(_ body: (Record) -> Void, distrusted: (FileError) -> Void) throws(FileError) {
        try read(known().values.flatMap { $0 }.sorted(), body, distrusted: distrusted)
    }

    /// The keys of the pictures whose blurred pictures have this size.
    package func keys(ofSize size: Int) throws(FileError) -> Set<[UInt8]> { try allSizes()[size] ?? [] }

    /// The keys by size. Each record is read once. Records that this process writes are added.
    func allSizes() throws(FileError) -> [Int: Set<[UInt8]>] {
        if let known = sizes.withLock(\.self) { return known }
        let names = try known().values.flatMap(\.self)
        var readings = readings.of(root).filter { [names = Set(names)] in names.contains($0.key) }
        try read(names.filter { readings[$0] == nil }.sorted()) { record in
            let original = record.original
            readings[record.file] = RecordReadings.Reading(
                size: original.isChanged ? original.blurred.bytes : nil, key: original.key)
        } distrusted: { _ in
            // It is reported when its picture is inspected, and in lists.
        }
        self.readings.set(readings, of: root)
        let keys = readings.values.reduce(into: [Int: Set<[UInt8]>]()) { keys, reading in
            if let size = reading.size { keys[size, default: []].insert(reading.key) }
        }
        sizes.withLock { [keys] in $0 = keys }
        return keys
    }

    private func read(
        _ names: [String], _ body: (Record) -> Void, distrusted: (FileError) -> Void
    ) throws(FileError) {
        guard !names.isEmpty, let root = try rootFolder(), let records = try part(.records, in: root) else { return }
        let objects = try part(.objects, in: root)
        let isPrivate = try root.isPrivate()
        let rootWriters = try root.writers(isPrivate: isPrivate)
        for name in names {
            do throws(FileError) {
                guard let original = try read(name, in: records) else { continue }
                var parts = [rootWriters, try records.writers(of: name, isPrivate: isPrivate)]
                // A missing original was written by nobody.
                if let objects { parts.append(try objects.writers(of: original.objectName, isPrivate: isPrivate)) }
                let writers = TrustedWriters(parts)
                let isRestored = RecordName(name)?.isRestored ?? false
                body(Record(original: original, file: name, isRestored: isRestored, writers: writers))
            } catch {
                // A record that cannot be read does not affect others.
                distrusted(error)
            }
        }
    }

    /// Nil if it has just been removed.
    private func read(_ name: String, in records: SafeFolder) throws(FileError) -> KeptOriginal? {
        func distrust(_ code: Int32, _ reason: String?) -> FileError {
            FileError(
                path: "\(records.path)/\(name)", code: code, action: "read this record of an original", reason: reason,
                remedy:
                    "the original itself is \(path(of: String(Self.object(of: name)))); once it is safe, remove the record"
            )
        }
        let bytes: [UInt8]
        do throws(FileError) {
            guard let owner = try records.status(of: name)?.st_uid else { return nil }
            let isForeign = owner != geteuid() && owner != 0
            let limit = isForeign ? Self.largestForeignRecord : Self.largestRecord
            guard let found = try records.contents(of: name, limit: limit) else { return nil }
            bytes = found
        } catch {
            throw distrust(error.code, error.reason)
        }
        // Whatever is wrong with it, the record is not trusted.
        guard let record = try? JSONDecoder().decode(KeptOriginal.self, from: Data(bytes)), record.isPlausible,
            let parts = RecordName(name), try record.fits(parts)
        else { throw distrust(EBADMSG, nil) }
        return record
    }

    /// The name of the original, with which a record's name ends.
    private static func object(of name: String) -> Substring { RecordName(name)?.object ?? "" }

    /// Writes a record and syncs it.
    ///
    /// - Returns: the name of the record's file.
    package func write(_ original: KeptOriginal) throws(FileError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (incoming, records) = (try needed(.incoming), try needed(.records))
        // Texts, numbers and bytes can always be encoded.
        guard let json = try? encoder.encode(original) else {
            throw FileError(path: records.path, code: EINVAL, action: "write a record")
        }
        let name = try original.recordName(random: Self.unique())
        let temporary = "\(Self.unique()).\(name)"
        try incoming.create(temporary, Array(json) + [UInt8(ascii: "\n")], syncs: true)
        try incoming.renameWithoutReplacing(temporary, to: records, as: name)
        try records.sync()
        names.withLock { $0?[name.prefix { $0 != "." }, default: []].append(name) }
        if original.isChanged {
            sizes.withLock { _ = $0?[original.blurred.bytes, default: []].insert(original.key) }
        }
        return name
    }

    /// Removes a record. The next ``removeUnneeded()`` removes its original.
    package func remove(_ record: String) throws(FileError) {
        let records = try needed(.records)
        try records.remove(record)
        try records.sync()
        forget(record)
    }

    /// Marks an original as restored under another name. Its record stays, because there may be more copies of
    /// the blurred picture, and the picture itself may be on a disk that is not mounted.
    package func markRestored(_ record: String) throws(FileError) {
        guard let parts = RecordName(record), !parts.isRestored else { return }
        let (records, name) = (try needed(.records), RecordName.restored(record, parts))
        try records.rename(record, as: name)
        try records.sync()
        forget(record)
        names.withLock { $0?[name.prefix { $0 != "." }, default: []].append(name) }
    }

    private func forget(_ record: String) {
        names.withLock { names in
            let own = record.prefix { $0 != "." }
            names?[own]?.removeAll { $0 == record }
            if names?[own]?.isEmpty == true { names?[own] = nil }
        }
    }

    // MARK: Originals

    func path(of object: String) -> String { "\(root)/\(Part.objects)/\(object)" }

    /// A unique name, also among machines that do not see each other's locks.
    private static func unique() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Adds the copy of a picture.
    ///
    /// - Parameter fill: creates a file of this name in this folder and returns its SHA-256.
    package func copy<Beside>(
        _ number: Int, _ fill: (SafeFolder, String) throws(FileError) -> (Beside, sha256: String)
    ) throws(FileError) -> (Copy, Beside) {
        let (folder, name) = (try needed(.incoming), "\(number)-\(Self.unique())")
        let (beside, sha256) = try fill(folder, name)
        return (Copy(path: "\(folder.path)/\(name)", sha256: sha256, name: name), beside)
    }

    /// Keeps a copy as an original. An existing original with the same bytes is used instead. The bytes are
    /// compared, because the existing one may be damaged. A file with other bytes gets another name.
    ///
    /// - Returns: the name of the original.
    package func keep(_ copy: Copy, as content: FileContent) throws(FileError) -> String {
        let (incoming, objects) = (try needed(.incoming), try needed(.objects))
        guard let size = try incoming.status(of: copy.name)?.st_size, size == content.bytes else {
            throw FileError(path: copy.path, code: EIO, action: "keep the copy")
        }
        try incoming.file(copy.name)?.sync()
        for number in 1...100 {
            let name = ObjectName.text(sha256: copy.sha256, bytes: content.bytes, number: number)
            if try objects.status(of: name) == nil {
                do throws(FileError) {
                    try incoming.renameWithoutReplacing(copy.name, to: objects, as: name)
                    try objects.sync()
                    return name
                } catch {
                    // Another command has just used this name.
                    guard error.code == EEXIST else { throw error }
                }
            }
            if try Self.areSame(incoming, copy.name, objects, name) {
                try incoming.remove(copy.name)
                return name
            }
        }
        throw FileError(path: path(of: copy.sha256), code: EEXIST, action: "keep the original beside others")
    }

    private static func areSame(
        _ folder: SafeFolder, _ name: String, _ other: SafeFolder, _ otherName: String
    ) throws(FileError) -> Bool {
        do throws(FileError) {
            guard let first = try folder.file(name), let second = try other.file(otherName) else { return false }
            return try areSame(first, second)
        } catch {
            // A link or a pipe under that name is not an original.
            guard error.code == FileError.refusal, error.reason != nil else { throw error }
            return false
        }
    }

    private static func areSame(
        _ first: borrowing SafeFile, _ second: borrowing SafeFile
    ) throws(FileError) -> Bool {
        while true {
            let (a, b) = (try first.next(), try second.next())
            if a != b { return false }
            if a.isEmpty { return true }
        }
    }

    /// Whether an original still has its name. This is checked after its record was written and before the
    /// picture is replaced: where locks do not work, another command may have removed the original because it
    /// saw no record.
    package func isKept(_ object: String) throws(FileError) -> Bool {
        guard let root = try rootFolder(), root.isInPlace else { return false }
        return try part(.objects, in: root)?.status(of: object) != nil
    }

    /// Opens an original; nil if it is gone.
    package func original(of record: KeptOriginal) throws(FileError) -> SafeFile? {
        guard let objects = try part(.objects) else { return nil }
        if let found = try objects.file(record.objectName) { return try Self.whole(found, record) }
        // A command was killed after it had renamed the original.
        guard let retired = try objects.names().first(where: { Self.retired($0)?.object == record.objectName }),
            let found = try objects.file(retired)
        else { return nil }
        return try Self.whole(found, record)
    }

    /// Nil if it has another size: it is damaged, and may be so large that reading it takes hours.
    private static func whole(
        _ found: consuming SafeFile, _ record: KeptOriginal
    ) throws(FileError) -> SafeFile? {
        guard try Int(found.status().st_size) == record.original.bytes else { return nil }
        return found
    }

    /// Whether a file has an original's bytes. Used for records of earlier versions, which have no SHA-256.
    func holds(_ record: KeptOriginal, _ file: borrowing SafeFile) throws(FileError) -> Bool {
        guard let original = try original(of: record) else { return false }
        return try Self.areSame(file, original)
    }

    /// Removes files of killed commands, and originals that no record needs. The lock is held. If the records
    /// cannot be listed, no original is removed. Files with other names than Penumbra's stay. Nothing is
    /// removed if a folder of the store is a link or mounted.
    ///
    /// An original is safe even where locks do not work. It is renamed first, and then the records are listed
    /// again. If a record for it was written meanwhile, it gets its name back. A command that writes a record
    /// later finds the name missing, and does not replace the picture (``isKept(_:)``).
    ///
    /// - Returns: how many originals were removed.
    @discardableResult
    package func removeUnneeded() -> Int {
        // If a folder was replaced, the next command that keeps an original reports it.
        guard isHeld, let root = try? rootFolder(), let objects = try? part(.objects, in: root),
            let records = try? part(.records, in: root), let incoming = try? part(.incoming, in: root),
            let there = try? objects.names(), let needed = try? Self.needed(by: records)
        else { return 0 }
        // What cannot be removed is tried again by the next command. So it is below.
        for name in (try? incoming.names()) ?? [] where Self.isIncoming(name) && Self.isLeft(name, in: incoming) {
            try? incoming.remove(name)
        }
        var retired = there.compactMap { Self.retired($0) }
        for name in there where ObjectName(name) != nil && !needed.contains(name) {
            let other = "\(name)~\(Self.unique())"
            // If it is gone, another command has renamed it.
            if (try? objects.rename(name, as: other)) != nil { retired.append((other, name)) }
        }
        guard !retired.isEmpty else { return 0 }
        let now = try? Self.needed(by: records)
        var count = 0
        for (name, object) in retired {
            if let now, !now.contains(object) {
                if (try? objects.remove(name)) != nil { count += 1 }
            } else if (try? objects.renameWithoutReplacing(name, to: objects, as: object)) == nil,
                (try? Self.areSame(objects, name, objects, object)) == true
            {
                // Another command has kept the same bytes again.
                try? objects.remove(name)
            }
        }
        return count
    }

    /// The names of needed originals, read from the disk, because another instance of this store may have
    /// written records.
    private static func needed(by records: SafeFolder) throws(FileError) -> Set<String> {
        Set(try records.names().map { String(object(of: $0)) })
    }

    /// The parts of the name of an original that was renamed before its removal: `SHA256-SIZE~RANDOM`.
    private static func retired(_ name: String) -> (name: String, object: String)? {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 2, ObjectName(String(parts[0])) != nil, !parts[1].isEmpty,
            parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        return (name, String(parts[0]))
    }

    /// Whether a name is that of a copy, or of a record that has not been renamed yet.
    private static func isIncoming(_ name: String) -> Bool {
        if name.hasSuffix(RecordName.ending) {
            let object = name.dropLast(RecordName.ending.count).split(separator: ".").last ?? ""
            return ObjectName(String(object)) != nil
        }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Earlier versions used a number alone.
        guard (1...2).contains(parts.count), Int(parts[0]) != nil else { return false }
        return parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHexDigit) }
    }

    /// In seconds. No command takes so long to keep an original.
    private static let longestCommand = 86_400

    /// Whether a killed command left the file. Another user's command may still run on a machine whose locks
    /// are not visible here.
    private static func isLeft(_ name: String, in incoming: SafeFolder) -> Bool {
        guard let found = try? incoming.status(of: name) else { return false }
        return found.st_uid == geteuid() || time(nil) - found.st_mtim.tv_sec > longestCommand
    }

    /// Removes the folders of an empty store. The lock is held before and released after that.
    ///
    /// - Parameter before: is called before the folders are removed.
    package func removeIfEmpty(before: () -> Void = {}) {
        guard isHeld, let folder = try? rootFolder(), let parent = try? parentFolder() else { return }
        folder.removeIfEmpty(Part.objects.rawValue)
        do {
            guard try folder.status(of: Part.objects.rawValue) == nil else { return }
            for part in [Part.records, .incoming] { folder.removeIfEmpty(part.rawValue) }
            guard try folder.names().allSatisfy({ $0 == Self.lockName }) else { return }
        } catch {
            // It is not known whether the store is empty.
            return
        }
        before()
        // The lock file is removed while it is locked: a command that has it open checks whether it is still
        // there. Nothing follows this step.
        try? folder.remove(Self.lockName)
        parent.removeIfEmpty(PathNames.last(of: root))
        opened.withLock { $0 = nil }
        lock.withLock { $0 = nil }
    }
}
