import FoundationEssentials
import Glibc
import JobModel
package import SafeFiles
import Synchronization

/// Who can have made a record, and the original that it names.
struct TrustedWriters: Hashable, Sendable {
    /// Beside root. Nil where anybody can.
    private let users: Set<UInt32>?

    /// Nobody but this user or root.
    var isOwn: Bool { isTrusted(with: nil) }

    init(_ parts: [Set<UInt32>?]) {
        users = parts.contains(nil) ? nil : parts.reduce(into: []) { $0.formUnion($1 ?? []) }
    }

    /// Whether the record decides what a picture is: nobody has made it but this user, root, or the picture's owner. (To an
    /// owner's own picture nothing happens that the owner could not do.)
    func isTrusted(with owner: UInt32?) -> Bool {
        users?.allSatisfy { $0 == geteuid() || $0 == 0 || $0 == owner } ?? false
    }
}

/// What was read of records, by the stores' paths and the records' names: a command looks through the same folder for every
/// few pictures, and a folder may have many thousands of records.
///
/// A record never changes under its name. What this says is a hint all the same: whoever uses a record reads it.
package final class RecordReadings: Sendable {
    struct Reading: Sendable {
        /// Of what was made of the picture; nil where that is the picture itself.
        let size: Int?
        let key: [UInt8]
    }

    private let stores = Mutex<[String: [String: Reading]]>([:])

    package init() {}

    func of(_ root: String) -> [String: Reading] { stores.withLock { $0[root] ?? [:] } }

    func set(_ readings: [String: Reading], of root: String) { stores.withLock { $0[root] = readings } }
}

/// Where originals are kept: the bytes under names that tell what they are, and a record of each picture.
///
///     ROOT/{objects/SHA256-SIZE,records/PICTURE.GENERATION.RANDOM.SHA256-SIZE.json,incoming/,lock}
///
/// Files, and no rows in the database: they can lie beside the pictures and move with them, and what puts pictures back
/// does not depend on a database that can be lost. Somebody else may be able to write where a store lies: so its folders are
/// opened one in the other, without following links, and all is done from the open folders.
///
/// Whoever changes a store beside pictures holds the lock on its file `lock`. What is done is safe where locks keep nobody
/// out, too: see ``removeUnneeded()``.
package final class OriginalStore: Sendable {
    let root: String
    /// It lies in the state folder, and has records of pictures by their paths.
    let isShared: Bool
    /// The folder that the store lies in, where it is open; else it is opened by its path.
    private let parent: SafeFolder?
    /// Once it was opened. So a record and its original lie in one store, whatever is put in the store's place.
    private let opened = Mutex<SafeFolder?>(nil)
    private let lock = Mutex<KernelLock?>(nil)
    /// Names of records by the beginning of their names, which stands for the picture; nil before they were asked for,
    /// which is not before whoever changes them holds the lock.
    private let names = Mutex<[Substring: [String]]?>(nil)
    /// The keys of pictures by the sizes of what was made of them; nil before they were asked for.
    private let sizes = Mutex<[Int: Set<[UInt8]>]?>(nil)
    /// What other values of this store have read.
    private let readings: RecordReadings

    private enum Part: String, CaseIterable {
        case objects, records, incoming
    }

    /// A record as it was found.
    package struct Record: Sendable {
        package let original: KeptOriginal
        package let file: String
        /// Its original was put back under another name.
        package let isRestored: Bool
        let makers: TrustedWriters
    }

    /// Records as they were found.
    package struct Records {
        package var records: [Record] = []
        /// Why the others are not believed.
        package var odd: [FileTrouble] = []
    }

    /// The copy of a picture, which is not an original yet.
    package struct Copy: Hashable, Sendable {
        let path: String
        let sha256: String
        fileprivate let name: String
    }

    /// The largest record that is read. Attributes of a file have at most 64 KB each.
    private static let largestRecord = 16 << 20
    /// Of other users, who may have made many of them to take this process's memory.
    private static let largestForeignRecord = 1 << 20
    private static let lockName = "lock"

    /// In the state folder.
    ///
    /// - Parameter root: may not be there yet.
    package init(shared root: String) {
        (self.root, isShared, parent) = (root, true, nil)
        readings = RecordReadings()
    }

    /// Beside the pictures of a folder.
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

    private func parentFolder() throws(FileTrouble) -> SafeFolder {
        if let parent { return parent }
        let path = PathNames.folder(of: root) ?? ""
        return try SafeFolder(path.isEmpty ? "/" : path, trusting: .everybody)
    }

    /// Nil where nothing was kept yet.
    private func rootFolder() throws(FileTrouble) -> SafeFolder? {
        if let opened = opened.withLock(\.self) { return opened }
        let parent: SafeFolder
        do throws(FileTrouble) {
            parent = try parentFolder()
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
        do throws(FileTrouble) {
            guard let found = try parent.folder(PathNames.last(of: root)) else { return nil }
            if !isShared { try Self.refuseMounted(found, in: parent) }
            // Of stores that are only looked through there may be more than a process may have open.
            if isShared || self.parent != nil { opened.withLock { $0 = found } }
            return found
        } catch {
            throw Self.refusal(error)
        }
    }

    /// What lies there may be the originals of another store, whose records, or whose lock, nobody sees here.
    private static func refuseMounted(_ folder: SafeFolder, in parent: SafeFolder) throws(FileTrouble) {
        guard try !folder.isMounted(in: parent) else {
            throw FileTrouble(
                path: folder.path, code: FileTrouble.refusal, action: "open the folder",
                reason: "another folder is mounted there, which may be another store's")
        }
    }

    /// One of the three folders; nil where nothing was kept yet.
    private func part(_ part: Part) throws(FileTrouble) -> SafeFolder? {
        guard let root = try rootFolder() else { return nil }
        return try self.part(part, in: root)
    }

    private func part(_ part: Part, in root: SafeFolder) throws(FileTrouble) -> SafeFolder? {
        do throws(FileTrouble) {
            guard let folder = try root.folder(part.rawValue) else { return nil }
            try Self.refuseMounted(folder, in: root)
            return folder
        } catch {
            throw Self.refusal(error)
        }
    }

    private func needed(_ part: Part) throws(FileTrouble) -> SafeFolder {
        guard let folder = try self.part(part) else {
            throw FileTrouble(path: "\(root)/\(part)", code: ENOENT, action: "open the folder")
        }
        return folder
    }

    private static func refusal(_ trouble: FileTrouble) -> FileTrouble {
        guard trouble.code == FileTrouble.refusal, trouble.reason != nil else { return trouble }
        return FileTrouble(
            path: trouble.path, code: trouble.code, action: "keep originals there", reason: trouble.reason,
            remedy: "put back the folder that Penumbra made, or move the originals elsewhere; nothing was removed")
    }

    /// Makes the store's folders, and takes its lock.
    ///
    /// - Parameter owner: the picture's.
    /// - Throws: ``FileTrouble``, also where another user could take the originals away; with ``busyCode`` where another
    ///   command holds the lock.
    package func create(for owner: UInt32) throws(FileTrouble) {
        let parent = try parentFolder()
        var isNew = try parent.status(of: PathNames.last(of: root)) == nil
        let folder = try makingRoot(in: parent, for: owner)
        if isNew { try parent.sync() }
        let makers = TrustedWriters([try folder.writers(isPrivate: folder.isPrivate())])
        // The user has chosen the state folder.
        guard isShared || makers.isTrusted(with: owner) else {
            throw FileTrouble(
                path: root, code: FileTrouble.refusal, action: "keep originals there",
                reason: "the folder belongs to another user, or others may write to it", remedy: "use --keep state")
        }
        for part in Part.allCases {
            guard try self.part(part, in: folder) == nil else { continue }
            _ = try folder.makingFolder(part.rawValue)
            isNew = true
        }
        if isNew { try folder.sync() }
    }

    private func makingRoot(in parent: SafeFolder, for owner: UInt32) throws(FileTrouble) -> SafeFolder {
        for _ in 0..<4 {
            do throws(FileTrouble) {
                // Pictures that few may see lie in it.
                _ = try parent.makingFolder(PathNames.last(of: root), mode: 0o700)
            } catch {
                throw Self.refusal(error)
            }
            do throws(FileTrouble) {
                guard try takeLock(for: owner) else {
                    throw FileTrouble(path: root, code: Self.busyCode, action: "keep originals there")
                }
                if let folder = try rootFolder() { return folder }
            } catch {
                guard error.code == ENOENT else { throw error }
            }
            // Another command has just removed it: it was empty.
            opened.withLock { $0 = nil }
        }
        throw FileTrouble(path: root, code: ENOENT, action: "create the folder")
    }

    /// Of troubles where another command uses the store.
    static let busyCode = EWOULDBLOCK

    /// The store of another user stays unlocked: nothing is changed there, and whoever holds its lock keeps nobody waiting.
    ///
    /// - Parameter owner: who may have the store, beside this user and root; nil for the folder's owner.
    /// - Returns: false where another command holds the lock; true also where nothing was kept yet.
    package func takeLock(for owner: UInt32? = nil) throws(FileTrouble) -> Bool {
        guard !isHeld, let root = try rootFolder() else { return true }
        let (own, folder) = (try root.status().st_uid, try parentFolder().status().st_uid)
        guard [geteuid(), 0, owner ?? folder].contains(own) else { return true }
        let taken = try root.withDescriptor { (folder) throws(FileTrouble) in
            try KernelLock.takeFile(Self.lockName, in: folder, root.path)
        }
        guard let taken else { return false }
        lock.withLock { $0 = taken }
        // What was known before may not be so any more.
        names.withLock { $0 = nil }
        sizes.withLock { $0 = nil }
        return true
    }

    /// Nothing is changed afterwards.
    package func unlock() { lock.withLock { $0 = nil } }

    /// That of a state folder is held by the command.
    private var isHeld: Bool { isShared || lock.withLock { $0 != nil } }

    // MARK: Records

    private func known() throws(FileTrouble) -> [Substring: [String]] {
        if let known = names.withLock(\.self) { return known }
        // A list that cannot be read does not say that nothing is kept.
        let all = try part(.records)?.names().filter { $0.hasSuffix(RecordName.ending) } ?? []
        let known = Dictionary(grouping: all) { $0.prefix { $0 != "." } }
        names.withLock { $0 = known }
        return known
    }

    /// Of one picture.
    package func originals(of key: [UInt8]) throws(FileTrouble) -> Records {
        let known = try known()
        if known.isEmpty { return Records() }
        let files = [try KeptOriginal.name(of: key), KeptOriginal.formerName(of: key)].flatMap { known[$0[...]] ?? [] }
        var records = Records()
        try read(files) { record in
            if record.original.key == key { records.records.append(record) }
        } odd: {
            records.odd.append($0)
        }
        return records
    }

    /// Tells of all records, one by one: there may be many.
    package func all(_ body: (Record) -> Void, odd: (FileTrouble) -> Void) throws(FileTrouble) {
        try read(known().values.flatMap { $0 }.sorted(), body, odd: odd)
    }

    /// The keys of pictures of which files of this size were made.
    package func keys(ofSize size: Int) throws(FileTrouble) -> Set<[UInt8]> { try allSizes()[size] ?? [] }

    /// By size. Each record is read once; what this process writes is added.
    func allSizes() throws(FileTrouble) -> [Int: Set<[UInt8]>] {
        if let known = sizes.withLock(\.self) { return known }
        let names = try known().values.flatMap(\.self)
        var readings = readings.of(root).filter { [names = Set(names)] in names.contains($0.key) }
        try read(names.filter { readings[$0] == nil }.sorted()) { record in
            let original = record.original
            readings[record.file] = RecordReadings.Reading(
                size: original.isChanged ? original.blurred.bytes : nil, key: original.key)
        } odd: { _ in
            // It is told where its picture is looked at, and in lists.
        }
        self.readings.set(readings, of: root)
        let keys = readings.values.reduce(into: [Int: Set<[UInt8]>]()) { keys, reading in
            if let size = reading.size { keys[size, default: []].insert(reading.key) }
        }
        sizes.withLock { [keys] in $0 = keys }
        return keys
    }

    private func read(
        _ names: [String], _ body: (Record) -> Void, odd: (FileTrouble) -> Void
    ) throws(FileTrouble) {
        guard !names.isEmpty, let root = try rootFolder(), let records = try part(.records, in: root) else { return }
        let objects = try part(.objects, in: root)
        let isPrivate = try root.isPrivate()
        let rootMakers = try root.writers(isPrivate: isPrivate)
        for name in names {
            do throws(FileTrouble) {
                guard let original = try read(name, in: records) else { continue }
                var parts = [rootMakers, try records.writers(of: name, isPrivate: isPrivate)]
                // An original that is gone has no maker.
                if let objects { parts.append(try objects.writers(of: original.objectName, isPrivate: isPrivate)) }
                let makers = TrustedWriters(parts)
                let isRestored = RecordName(name)?.isRestored ?? false
                body(Record(original: original, file: name, isRestored: isRestored, makers: makers))
            } catch {
                // An odd record costs itself alone.
                odd(error)
            }
        }
    }

    /// Nil when it has just been removed.
    private func read(_ name: String, in records: SafeFolder) throws(FileTrouble) -> KeptOriginal? {
        func odd(_ code: Int32, _ reason: String?) -> FileTrouble {
            FileTrouble(
                path: "\(records.path)/\(name)", code: code, action: "read this record of an original", reason: reason,
                remedy:
                    "the original itself is \(path(of: String(Self.object(of: name)))); once it is safe, remove the record"
            )
        }
        let bytes: [UInt8]
        do throws(FileTrouble) {
            guard let owner = try records.status(of: name)?.st_uid else { return nil }
            let isForeign = owner != geteuid() && owner != 0
            let limit = isForeign ? Self.largestForeignRecord : Self.largestRecord
            guard let found = try records.contents(of: name, limit: limit) else { return nil }
            bytes = found
        } catch {
            throw odd(error.code, error.reason)
        }
        guard let record = try? JSONDecoder().decode(KeptOriginal.self, from: Data(bytes)), record.isPlausible,
            let parts = RecordName(name), try record.fits(parts)
        else { throw odd(EBADMSG, nil) }
        return record
    }

    /// A record's name ends with that of its original.
    private static func object(of name: String) -> Substring { RecordName(name)?.object ?? "" }

    /// When this returns, the disk has it.
    ///
    /// - Returns: the record's file.
    package func write(_ original: KeptOriginal) throws(FileTrouble) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (incoming, records) = (try needed(.incoming), try needed(.records))
        // It holds texts, numbers and bytes alone, which JSON always can.
        guard let json = try? encoder.encode(original) else {
            throw FileTrouble(path: records.path, code: EINVAL, action: "write a record")
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

    /// The original itself goes with the next ``removeUnneeded()``.
    package func remove(_ record: String) throws(FileTrouble) {
        let records = try needed(.records)
        try records.remove(record)
        try records.sync()
        forget(record)
    }

    /// Notes that an original was put back under another name. Its record stays: there may be further copies of the blurred
    /// picture, and the picture itself may be on a disk that is not mounted.
    package func markRestored(_ record: String) throws(FileTrouble) {
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

    /// Nobody else has it, be it on another machine whose locks are not seen here.
    private static func unique() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Takes the copy of a picture in.
    ///
    /// - Parameter fill: makes a new file of this name in this folder, and gives its SHA-256.
    package func copy<Beside>(
        _ number: Int, _ fill: (SafeFolder, String) throws(FileTrouble) -> (Beside, sha256: String)
    ) throws(FileTrouble) -> (Copy, Beside) {
        let (folder, name) = (try needed(.incoming), "\(number)-\(Self.unique())")
        let (beside, sha256) = try fill(folder, name)
        return (Copy(path: "\(folder.path)/\(name)", sha256: sha256, name: name), beside)
    }

    /// Keeps a copy. An original of the same bytes stays as it is. Bytes are compared, since a kept original may be damaged:
    /// a file of other bytes gets a name of its own.
    ///
    /// - Returns: the name that it is kept by.
    package func keep(_ copy: Copy, as content: FileContent) throws(FileTrouble) -> String {
        let (incoming, objects) = (try needed(.incoming), try needed(.objects))
        guard let size = try incoming.status(of: copy.name)?.st_size, size == content.bytes else {
            throw FileTrouble(path: copy.path, code: EIO, action: "keep the copy")
        }
        try incoming.file(copy.name)?.sync()
        for number in 1...100 {
            let name = ObjectName.text(sha256: copy.sha256, bytes: content.bytes, number: number)
            if try objects.status(of: name) == nil {
                do throws(FileTrouble) {
                    try incoming.renameWithoutReplacing(copy.name, to: objects, as: name)
                    try objects.sync()
                    return name
                } catch {
                    // Somebody has just kept another one there.
                    guard error.code == EEXIST else { throw error }
                }
            }
            if try Self.areSame(incoming, copy.name, objects, name) {
                try incoming.remove(copy.name)
                return name
            }
        }
        throw FileTrouble(path: path(of: copy.sha256), code: EEXIST, action: "keep the original beside others")
    }

    private static func areSame(
        _ folder: SafeFolder, _ name: String, _ other: SafeFolder, _ otherName: String
    ) throws(FileTrouble) -> Bool {
        do throws(FileTrouble) {
            guard let first = try folder.file(name), let second = try other.file(otherName) else { return false }
            return try areSame(first, second)
        } catch {
            // A link or a pipe under that name is no original.
            guard error.code == FileTrouble.refusal, error.reason != nil else { throw error }
            return false
        }
    }

    private static func areSame(
        _ first: borrowing SafeFile, _ second: borrowing SafeFile
    ) throws(FileTrouble) -> Bool {
        while true {
            let (a, b) = (try first.next(), try second.next())
            if a != b { return false }
            if a.isEmpty { return true }
        }
    }

    /// Whether the original has its name still. Asked after its record was written, and before the picture is replaced: where
    /// locks keep nobody out, another command may have taken the original for one that no record needs.
    package func isKept(_ object: String) throws(FileTrouble) -> Bool {
        guard let root = try rootFolder(), root.isInPlace else { return false }
        return try part(.objects, in: root)?.status(of: object) != nil
    }

    /// Opens an original; nil where it is gone.
    package func original(of record: KeptOriginal) throws(FileTrouble) -> SafeFile? {
        guard let objects = try part(.objects) else { return nil }
        if let found = try objects.file(record.objectName) { return try Self.whole(found, record) }
        // A command that looked whether it is needed was killed.
        guard let aside = try objects.names().first(where: { Self.aside($0)?.object == record.objectName }),
            let found = try objects.file(aside)
        else { return nil }
        return try Self.whole(found, record)
    }

    /// Nil for one of another size: it is damaged, and may be so large that it is read for hours.
    private static func whole(
        _ found: consuming SafeFile, _ record: KeptOriginal
    ) throws(FileTrouble) -> SafeFile? {
        guard try Int(found.status().st_size) == record.original.bytes else { return nil }
        return found
    }

    /// Whether a file has an original's bytes. For records of earlier versions, which have no SHA-256 of them.
    func holds(_ record: KeptOriginal, _ file: borrowing SafeFile) throws(FileTrouble) -> Bool {
        guard let original = try original(of: record) else { return false }
        return try Self.areSame(file, original)
    }

    /// Removes what commands have left that were killed, and originals that no record needs. The lock is held. None is
    /// removed unless all records are known: of those that cannot be listed nobody knows what they need. Files whose names
    /// Penumbra does not give stay, and nothing is removed where a folder of the store is a link or mounted.
    ///
    /// Where locks keep nobody out an original is safe nonetheless. It gets another name first, and then the records are listed
    /// once more: one that was written before is seen now, and the original gets its name back. Whoever writes a record later
    /// sees that the original has lost its name, and replaces nothing (``isKept(_:)``).
    ///
    /// - Returns: how many originals.
    @discardableResult
    package func removeUnneeded() -> Int {
        // Where a folder was exchanged, the next command that wants to keep something says so.
        guard isHeld, let root = try? rootFolder(), let objects = try? part(.objects, in: root),
            let records = try? part(.records, in: root), let incoming = try? part(.incoming, in: root),
            let there = try? objects.names(), let needed = try? Self.needed(by: records)
        else { return 0 }
        for name in (try? incoming.names()) ?? [] where Self.isIncoming(name) && Self.isLeft(name, in: incoming) {
            try? incoming.remove(name)
        }
        var aside = there.compactMap { Self.aside($0) }
        for name in there where ObjectName(name) != nil && !needed.contains(name) {
            let other = "\(name)~\(Self.unique())"
            // What has gone meanwhile somebody else has taken.
            if (try? objects.rename(name, as: other)) != nil { aside.append((other, name)) }
        }
        guard !aside.isEmpty else { return 0 }
        let now = try? Self.needed(by: records)
        var count = 0
        for (name, object) in aside {
            if let now, !now.contains(object) {
                if (try? objects.remove(name)) != nil { count += 1 }
            } else if (try? objects.renameWithoutReplacing(name, to: objects, as: object)) == nil,
                (try? Self.areSame(objects, name, objects, object)) == true
            {
                // The same bytes were kept once more.
                try? objects.remove(name)
            }
        }
        return count
    }

    /// From the disk: a record that was written by another store of this folder counts, too.
    private static func needed(by records: SafeFolder) throws(FileTrouble) -> Set<String> {
        Set(try records.names().map { String(object(of: $0)) })
    }

    /// An original that had its name taken: `SHA256-SIZE~RANDOM`.
    private static func aside(_ name: String) -> (name: String, object: String)? {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 2, ObjectName(String(parts[0])) != nil, !parts[1].isEmpty,
            parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        return (name, String(parts[0]))
    }

    /// Copies of pictures, and records before they are in their place.
    private static func isIncoming(_ name: String) -> Bool {
        if name.hasSuffix(RecordName.ending) {
            let object = name.dropLast(RecordName.ending.count).split(separator: ".").last ?? ""
            return ObjectName(String(object)) != nil
        }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Earlier versions gave them a number alone.
        guard (1...2).contains(parts.count), Int(parts[0]) != nil else { return false }
        return parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHexDigit) }
    }

    /// In seconds. No command takes as long for what it keeps together.
    private static let longestCommand = 86_400

    /// Another user's command may go on, on a machine whose locks are not seen here.
    private static func isLeft(_ name: String, in incoming: SafeFolder) -> Bool {
        guard let found = try? incoming.status(of: name) else { return false }
        return found.st_uid == geteuid() || time(nil) - found.st_mtim.tv_sec > longestCommand
    }

    /// Removes the folders of a store that keeps nothing. The lock is held; afterwards it is not.
    ///
    /// - Parameter before: is done as soon as it is known that it will be removed.
    package func removeIfEmpty(before: () -> Void = {}) {
        guard isHeld, let folder = try? rootFolder(), let parent = try? parentFolder() else { return }
        folder.removeIfEmpty(Part.objects.rawValue)
        do {
            guard try folder.status(of: Part.objects.rawValue) == nil else { return }
            for part in [Part.records, .incoming] { folder.removeIfEmpty(part.rawValue) }
            guard try folder.names().allSatisfy({ $0 == Self.lockName }) else { return }
        } catch {
            // Nobody knows whether it is empty.
            return
        }
        before()
        // While it is locked: whoever has it open looks whether it is still there. Nothing is done here after it.
        try? folder.remove(Self.lockName)
        parent.removeIfEmpty(PathNames.last(of: root))
        opened.withLock { $0 = nil }
        lock.withLock { $0 = nil }
    }
}
