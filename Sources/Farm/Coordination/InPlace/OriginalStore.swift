import FoundationEssentials
import Glibc
import JobModel
import SafeFiles
import Synchronization

/// Where originals are kept: the bytes under names that tell what they are, and a record of each picture.
///
///     ROOT/{objects/DIGEST-SIZE,records/PATH.GENERATION.DIGEST-SIZE.json,incoming/}
///
/// Files, and no rows in the database: they can lie beside the pictures and move with them, and what puts pictures back
/// does not depend on a database that can be lost.
final class OriginalStore: Sendable {
    let root: String
    /// Names of records by the beginning of their names, which stands for the picture; nil before they were asked for,
    /// which is not before whoever changes them holds the lock.
    private let names = Mutex<[Substring: [String]]?>(nil)

    private var objects: String { "\(root)/objects" }
    private var records: String { "\(root)/records" }
    private var incoming: String { "\(root)/incoming" }

    /// - Parameter root: may not be there yet.
    init(_ root: String) {
        self.root = root
    }

    /// One of the three folders, opened without following a link: somebody else may be able to write where the store lies.
    /// Nil where nothing was kept yet.
    private func part(_ name: String) throws(FileTrouble) -> SafeFolder? {
        do {
            return try SafeFolder.unlinked(root, trusting: .everybody)?.folder(name)
        } catch {
            guard error.code == FileTrouble.refusal, error.reason != nil else { throw error }
            throw FileTrouble(
                path: error.path, code: error.code, action: "keep originals there", reason: error.reason,
                remedy: "put back the folder that Penumbra made, or move the originals elsewhere; nothing was removed")
        }
    }

    /// Whether a file among the originals has a name that Penumbra gives: a digest, a size and perhaps a number.
    static func isObject(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].count == 32, parts[0].allSatisfy(\.isHexDigit) else {
            return false
        }
        return parts.dropFirst().allSatisfy { part in
            (1...19).contains(part.utf8.count) && part.utf8.allSatisfy { (48...57).contains($0) }
        }
    }

    private func known() throws(FileTrouble) -> [Substring: [String]] {
        if let known = names.withLock(\.self) { return known }
        // A list that cannot be read does not say that nothing is kept.
        let all = try part("records")?.names().filter { $0.hasSuffix(".json") } ?? []
        let known = Dictionary(grouping: all) { $0.prefix { $0 != "." } }
        names.withLock { $0 = known }
        return known
    }

    func create() throws(FileTrouble) {
        var created: [String] = []
        for name in ["objects", "records", "incoming"] { _ = try part(name) }
        for folder in [objects, records, incoming] { created += try FileSystem.createFolders(folder) }
        // Pictures that few may see lie in them.
        if created.first == root { FileSystem.makePrivate(root) }
        for folder in created { try FileSystem.syncFolder(FileSystem.folder(of: folder)) }
    }

    // MARK: Records

    /// Of one picture.
    func originals(of key: [UInt8]) throws(FileTrouble) -> [(record: KeptOriginal, isOwn: Bool)] {
        try read(known()[FNV.name(of: key)[...]] ?? []).filter { $0.record.key == key }
    }

    func all() throws(FileTrouble) -> [(record: KeptOriginal, isOwn: Bool)] {
        try read(known().values.flatMap { $0 })
    }

    /// Those that can be read: of the others their own pictures tell.
    func readable() throws(FileTrouble) -> [KeptOriginal] {
        try known().values.joined().compactMap { name in (try? read(name))?.0 }
    }

    private func read(_ names: [String]) throws(FileTrouble) -> [(record: KeptOriginal, isOwn: Bool)] {
        var originals: [(KeptOriginal, Bool)] = []
        for name in names {
            if let original = try read(name) { originals.append(original) }
        }
        return originals
    }

    /// Nil when it has just been removed.
    private func read(_ name: String) throws(FileTrouble) -> (KeptOriginal, Bool)? {
        guard let found = try part("records")?.read(name) else { return nil }
        guard let record = try? JSONDecoder().decode(KeptOriginal.self, from: Data(found.bytes)), record.isPlausible
        else {
            throw FileTrouble(
                path: "\(records)/\(name)", code: EBADMSG, action: "read this record of an original",
                remedy: "the original itself is \(objects)/\(Self.object(of: name)); once it is safe, remove the record"
            )
        }
        return (record, found.isOwn)
    }

    /// A record's name ends with that of its original.
    private static func object(of name: String) -> Substring { name.dropLast(5).split(separator: ".").last ?? "" }

    /// When this returns, the disk has it.
    func write(_ original: KeptOriginal) throws(FileTrouble) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // It holds texts, numbers and bytes alone, which JSON always can.
        guard let json = try? encoder.encode(original) else {
            throw FileTrouble(path: records, code: EINVAL, action: "write a record")
        }
        let temporary = "\(incoming)/\(original.name)"
        FileSystem.remove(temporary)
        try FileSystem.append(Array(json) + [UInt8(ascii: "\n")], to: temporary, syncs: true)
        try FileSystem.rename(temporary, to: "\(records)/\(original.name)")
        try FileSystem.syncFolder(records)
        names.withLock { names in
            let own = original.name.prefix { $0 != "." }
            if names?[own]?.contains(original.name) != true { names?[own, default: []].append(original.name) }
        }
    }

    /// The original itself goes with the next ``removeUnneeded()``.
    func remove(_ original: KeptOriginal) throws(FileTrouble) {
        FileSystem.remove("\(records)/\(original.name)")
        try FileSystem.syncFolder(records)
        names.withLock { names in
            let own = original.name.prefix { $0 != "." }
            names?[own]?.removeAll { $0 == original.name }
            if names?[own]?.isEmpty == true { names?[own] = nil }
        }
    }

    // MARK: Originals

    func path(of object: String) -> String { "\(objects)/\(object)" }

    /// Where the copy of a picture is written. No other command writes there, be it on another machine whose locks are not
    /// seen here.
    func incomingPath(_ number: Int) throws(FileTrouble) -> String {
        let path = "\(incoming)/\(number)-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        FileSystem.remove(path)
        return path
    }

    /// Keeps a file that came in. One of the same bytes stays as it is. Two files of one digest and size can be made on
    /// purpose, and a kept one may be damaged: so bytes are compared, and a file of other bytes gets a name of its own.
    ///
    /// - Returns: the name that it is kept by.
    func keep(_ incoming: String, as content: FileContent) throws(FileTrouble) -> String {
        guard FileSystem.size(incoming) == content.bytes else {
            throw FileTrouble(path: incoming, code: EIO, action: "keep the copy")
        }
        try FileSystem.syncFile(incoming)
        for number in 1...100 {
            let name = number == 1 ? content.name : "\(content.name)-\(number)"
            guard FileSystem.exists(path(of: name)) else {
                try FileSystem.renameWithoutReplacing(incoming, to: path(of: name))
                try FileSystem.syncFolder(objects)
                return name
            }
            if try Self.areSame(incoming, path(of: name)) {
                FileSystem.remove(incoming)
                return name
            }
        }
        throw FileTrouble(path: path(of: content.name), code: EEXIST, action: "keep the original beside others")
    }

    private static func areSame(_ one: String, _ other: String) throws(FileTrouble) -> Bool {
        guard let first = try OpenFile(one), let second = try OpenFile(other) else { return false }
        while true {
            let (a, b) = (try first.next(), try second.next())
            if a != b { return false }
            if a.isEmpty { return true }
        }
    }

    /// Removes what commands have left that were killed, and originals that no record needs. The lock is held. None is
    /// removed unless all records are known: of those that cannot be listed nobody knows what they need. Files whose names
    /// Penumbra does not give stay, and nothing is removed where a folder of the store is a link.
    ///
    /// - Returns: how many originals.
    @discardableResult
    func removeUnneeded() -> Int {
        // Where a folder was exchanged, the next command that wants to keep something says so.
        guard let objects = try? part("objects"), let records = try? part("records"),
            let incoming = try? part("incoming"), let all = try? records.names()
        else { return 0 }
        for name in (try? incoming.names()) ?? [] where Self.isIncoming(name) { try? incoming.remove(name) }
        // From the disk: a record that was written by another store of this folder counts, too.
        let needed = Set(all.map { String(Self.object(of: $0)) })
        let unneeded = ((try? objects.names()) ?? []).filter { Self.isObject($0) && !needed.contains($0) }
        for name in unneeded { try? objects.remove(name) }
        return unneeded.count
    }

    /// Copies of pictures, and records before they are in their place.
    private static func isIncoming(_ name: String) -> Bool {
        if name.hasSuffix(".json") { return isObject(String(object(of: name))) }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        // Earlier versions gave them a number alone.
        guard (1...2).contains(parts.count), Int(parts[0]) != nil else { return false }
        return parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHexDigit) }
    }

    /// Removes the folders of a store that keeps nothing.
    func removeIfEmpty() {
        FileSystem.removeIfEmpty(objects)
        guard !FileSystem.exists(objects) else { return }
        for folder in [records, incoming, root] { FileSystem.removeIfEmpty(folder) }
    }
}
