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

    private func known() throws(FileTrouble) -> [Substring: [String]] {
        if let known = names.withLock(\.self) { return known }
        var all: [String] = []
        do {
            all = try FileSystem.allNames(in: records).filter { $0.hasSuffix(".json") }
        } catch {
            // Nothing was kept here yet. A list that cannot be read says nothing of the kind.
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
        }
        let known = Dictionary(grouping: all) { $0.prefix { $0 != "." } }
        names.withLock { $0 = known }
        return known
    }

    func create() throws(FileTrouble) {
        var created: [String] = []
        for folder in [objects, records, incoming] { created += try FileSystem.createFolders(folder) }
        // Pictures that few may see lie in them.
        if created.first == root { FileSystem.makePrivate(root) }
        for folder in created { try FileSystem.syncFolder(FileSystem.folder(of: folder)) }
    }

    // MARK: Records

    /// Of one picture.
    func originals(of key: [UInt8]) throws(FileTrouble) -> [KeptOriginal] {
        try read(known()[FNV.name(of: key)[...]] ?? []).filter { $0.key == key }
    }

    func all() throws(FileTrouble) -> [KeptOriginal] {
        try read(known().values.flatMap { $0 })
    }

    private func read(_ names: [String]) throws(FileTrouble) -> [KeptOriginal] {
        var originals: [KeptOriginal] = []
        for name in names {
            if let original = try read(name) { originals.append(original) }
        }
        return originals
    }

    /// Nil when it has just been removed.
    private func read(_ name: String) throws(FileTrouble) -> KeptOriginal? {
        let path = "\(records)/\(name)"
        guard let bytes = try FileSystem.contents(of: path) else { return nil }
        do {
            return try JSONDecoder().decode(KeptOriginal.self, from: Data(bytes))
        } catch {
            throw FileTrouble(
                path: path, code: EBADMSG, action: "read this record of an original",
                remedy: "the original itself is \(objects)/\(Self.object(of: name)); once it is safe, remove the record"
            )
        }
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

    func path(of content: FileContent) -> String { "\(objects)/\(content.name)" }

    /// Where the copy of a picture is written.
    func incomingPath(_ number: Int) throws(FileTrouble) -> String {
        let path = "\(incoming)/\(number)"
        FileSystem.remove(path)
        return path
    }

    /// Keeps a file that came in. One of the same bytes is replaced: it may have been damaged since.
    func keep(_ incoming: String, as content: FileContent) throws(FileTrouble) {
        guard FileSystem.size(incoming) == content.bytes else {
            throw FileTrouble(path: incoming, code: EIO, action: "keep the copy")
        }
        try FileSystem.syncFile(incoming)
        try FileSystem.rename(incoming, to: path(of: content))
        try FileSystem.syncFolder(objects)
    }

    /// Removes what commands have left that were killed, and originals that no record needs. The lock is held. None is
    /// removed unless all records are known: of those that cannot be listed nobody knows what they need.
    ///
    /// - Returns: how many originals.
    @discardableResult
    func removeUnneeded() -> Int {
        for name in FileSystem.names(in: incoming) { FileSystem.remove("\(incoming)/\(name)") }
        // From the disk: a record that was written by another store of this folder counts, too.
        guard let all = try? FileSystem.allNames(in: records) else { return 0 }
        let needed = Set(all.map { String(Self.object(of: $0)) })
        let unneeded = FileSystem.names(in: objects).filter { !needed.contains($0) }
        for name in unneeded { FileSystem.remove("\(objects)/\(name)") }
        return unneeded.count
    }

    /// Removes the folders of a store that keeps nothing.
    func removeIfEmpty() {
        FileSystem.removeIfEmpty(objects)
        guard !FileSystem.exists(objects) else { return }
        for folder in [records, incoming, root] { FileSystem.removeIfEmpty(folder) }
    }
}
