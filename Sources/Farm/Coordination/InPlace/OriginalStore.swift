import FoundationEssentials
import Glibc
import JobModel
import SafeFiles
import Synchronization

/// Where originals are kept: the bytes under names that tell what they are, and a record of each picture.
///
///     ROOT/{objects/SHA256-SIZE,records/PATH.GENERATION.SHA256-SIZE.json,incoming/}
///
/// Files, and no rows in the database: they can lie beside the pictures and move with them, and what puts pictures back
/// does not depend on a database that can be lost. Somebody else may be able to write where a store lies: so its folders are
/// opened one in the other, without following links, and all is done from the open folders.
final class OriginalStore: Sendable {
    let root: String
    /// Names of records by the beginning of their names, which stands for the picture; nil before they were asked for,
    /// which is not before whoever changes them holds the lock.
    private let names = Mutex<[Substring: [String]]?>(nil)

    private enum Part: String, CaseIterable {
        case objects, records, incoming
    }

    /// Records as they were found.
    struct Records {
        var originals: [(record: KeptOriginal, isOwn: Bool)] = []
        /// Why the others are not believed.
        var odd: [FileTrouble] = []
    }

    /// The copy of a picture, which is not an original yet.
    struct Copy: Hashable, Sendable {
        let path: String
        let sha256: String
        fileprivate let name: String
    }

    /// The largest record that is read. Attributes of a file have at most 64 KB each.
    private static let largestRecord = 16 << 20

    /// - Parameter root: may not be there yet.
    init(_ root: String) {
        self.root = root
    }

    // MARK: Folders

    private func parentFolder() throws(FileTrouble) -> SafeFolder {
        let path = PathNames.folder(of: root) ?? ""
        return try SafeFolder(path.isEmpty ? "/" : path, trusting: .everybody)
    }

    /// Nil where nothing was kept yet.
    private func rootFolder() throws(FileTrouble) -> SafeFolder? {
        do {
            return try SafeFolder.unlinked(root, trusting: .everybody)
        } catch {
            throw Self.refusal(error)
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
            // What lies there may be the originals of another store, whose records nobody sees here.
            guard try !folder.isMounted(in: root) else {
                throw FileTrouble(
                    path: folder.path, code: FileTrouble.refusal, action: "open the folder",
                    reason: "another folder is mounted there, which may be another store's")
            }
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

    func create() throws(FileTrouble) {
        let (parent, name) = (try parentFolder(), PathNames.last(of: root))
        var isNew = try parent.status(of: name) == nil
        // Pictures that few may see lie in it.
        let folder: SafeFolder
        do {
            folder = try parent.makingFolder(name, mode: 0o700)
        } catch {
            throw Self.refusal(error)
        }
        if isNew { try parent.sync() }
        for part in Part.allCases {
            guard try self.part(part, in: folder) == nil else { continue }
            _ = try folder.makingFolder(part.rawValue)
            isNew = true
        }
        if isNew { try folder.sync() }
    }

    // MARK: Records

    private func known() throws(FileTrouble) -> [Substring: [String]] {
        if let known = names.withLock(\.self) { return known }
        // A list that cannot be read does not say that nothing is kept.
        let all = try part(.records)?.names().filter { $0.hasSuffix(".json") } ?? []
        let known = Dictionary(grouping: all) { $0.prefix { $0 != "." } }
        names.withLock { $0 = known }
        return known
    }

    /// Of one picture.
    func originals(of key: [UInt8]) throws(FileTrouble) -> Records {
        var records = try read(known()[FNV.name(of: key)[...]] ?? [])
        records.originals.removeAll { $0.record.key != key }
        return records
    }

    func all() throws(FileTrouble) -> Records { try read(known().values.flatMap { $0 }.sorted()) }

    private func read(_ names: [String]) throws(FileTrouble) -> Records {
        var found = Records()
        guard !names.isEmpty, let root = try rootFolder(), let records = try part(.records, in: root) else {
            return found
        }
        let objects = try part(.objects, in: root)
        for name in names {
            do throws(FileTrouble) {
                guard let record = try read(name, in: records) else { continue }
                let isOwn = try Self.isOwn(record, name, root, records, objects)
                found.originals.append((record, isOwn))
            } catch {
                // An odd record costs itself alone.
                found.odd.append(error)
            }
        }
        return found
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
            guard let found = try records.contents(of: name, limit: Self.largestRecord) else { return nil }
            bytes = found
        } catch {
            throw odd(error.code, error.reason)
        }
        guard let record = try? JSONDecoder().decode(KeptOriginal.self, from: Data(bytes)), record.isPlausible else {
            throw odd(EBADMSG, nil)
        }
        return record
    }

    /// Whether nobody but this user or root can have made the record, and the original that it names.
    private static func isOwn(
        _ record: KeptOriginal, _ name: String, _ root: SafeFolder, _ records: SafeFolder, _ objects: SafeFolder?
    ) throws(FileTrouble) -> Bool {
        let isShut = try root.isShut()
        guard let objects, try root.isOwn(isShut: isShut), try records.isOwn(name, isShut: isShut) else { return false }
        return try objects.isOwn(record.objectName, isShut: isShut)
    }

    /// A record's name ends with that of its original.
    private static func object(of name: String) -> Substring { name.dropLast(5).split(separator: ".").last ?? "" }

    /// When this returns, the disk has it.
    func write(_ original: KeptOriginal) throws(FileTrouble) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (incoming, records) = (try needed(.incoming), try needed(.records))
        // It holds texts, numbers and bytes alone, which JSON always can.
        guard let json = try? encoder.encode(original) else {
            throw FileTrouble(path: records.path, code: EINVAL, action: "write a record")
        }
        let temporary = "\(Self.unique()).\(original.name)"
        try incoming.create(temporary, Array(json) + [UInt8(ascii: "\n")], syncs: true)
        try incoming.rename(temporary, to: records, as: original.name)
        try records.sync()
        names.withLock { names in
            let own = original.name.prefix { $0 != "." }
            if names?[own]?.contains(original.name) != true { names?[own, default: []].append(original.name) }
        }
    }

    /// The original itself goes with the next ``removeUnneeded()``.
    func remove(_ original: KeptOriginal) throws(FileTrouble) {
        let records = try needed(.records)
        try records.remove(original.name)
        try records.sync()
        names.withLock { names in
            let own = original.name.prefix { $0 != "." }
            names?[own]?.removeAll { $0 == original.name }
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
    func copy<Beside>(
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
    func keep(_ copy: Copy, as content: FileContent) throws(FileTrouble) -> String {
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
            while true {
                let (a, b) = (try first.next(), try second.next())
                if a != b { return false }
                if a.isEmpty { return true }
            }
        } catch {
            // A link or a pipe under that name is no original.
            guard error.code == FileTrouble.refusal, error.reason != nil else { throw error }
            return false
        }
    }

    /// Opens an original; nil where it is gone.
    func original(of record: KeptOriginal) throws(FileTrouble) -> SafeFile? {
        try part(.objects)?.file(record.objectName)
    }

    /// Removes what commands have left that were killed, and originals that no record needs. The lock is held. None is
    /// removed unless all records are known: of those that cannot be listed nobody knows what they need. Files whose names
    /// Penumbra does not give stay, and nothing is removed where a folder of the store is a link or mounted.
    ///
    /// - Returns: how many originals.
    @discardableResult
    func removeUnneeded() -> Int {
        // Where a folder was exchanged, the next command that wants to keep something says so.
        guard let root = try? rootFolder(), let objects = try? part(.objects, in: root),
            let records = try? part(.records, in: root), let incoming = try? part(.incoming, in: root),
            let all = try? records.names()
        else { return 0 }
        for name in (try? incoming.names()) ?? [] where Self.isIncoming(name) { try? incoming.remove(name) }
        // From the disk: a record that was written by another store of this folder counts, too.
        let needed = Set(all.map { String(Self.object(of: $0)) })
        let unneeded = ((try? objects.names()) ?? []).filter { ObjectName($0) != nil && !needed.contains($0) }
        for name in unneeded { try? objects.remove(name) }
        return unneeded.count
    }

    /// Copies of pictures, and records before they are in their place.
    private static func isIncoming(_ name: String) -> Bool {
        if name.hasSuffix(".json") { return ObjectName(String(object(of: name))) != nil }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Earlier versions gave them a number alone.
        guard (1...2).contains(parts.count), Int(parts[0]) != nil else { return false }
        return parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHexDigit) }
    }

    /// Removes the folders of a store that keeps nothing.
    func removeIfEmpty() {
        guard let folder = try? rootFolder(), let parent = try? parentFolder() else { return }
        folder.removeIfEmpty(Part.objects.rawValue)
        do {
            guard try folder.status(of: Part.objects.rawValue) == nil else { return }
        } catch {
            // Nobody knows whether it is empty.
            return
        }
        for part in [Part.records, .incoming] { folder.removeIfEmpty(part.rawValue) }
        parent.removeIfEmpty(PathNames.last(of: root))
    }
}
