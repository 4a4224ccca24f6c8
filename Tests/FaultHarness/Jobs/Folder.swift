import Foundation
import Glibc

/// What lies below a folder.
enum Folder {
    /// Paths of all files below it, hidden ones too, sorted.
    static func files(_ path: String) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: path) else { return [] }
        var result: [String] = []
        while let name = walk.nextObject() as? String {
            if walk.fileAttributes?[.type] as? FileAttributeType != .typeDirectory { result.append(name) }
        }
        return result.sorted()
    }

    static func names(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The inodes of what lies directly in it, but for temporary files and the index.
    static func inodes(_ path: String) -> [String: UInt64] {
        var result: [String: UInt64] = [:]
        for name in names(path) where !isTemporary(name) && !isIndex(name) {
            var found = stat()
            if lstat("\(path)/\(name)", &found) == 0 { result[name] = UInt64(found.st_ino) }
        }
        return result
    }

    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Makes a folder whose name begins so and exists nowhere yet.
    static func createUnique(_ prefix: String, in parent: String) throws -> String {
        let path = "\(parent)/\(prefix)\(getpid())-\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    /// A name that Penumbra gives to what is no output yet.
    static func isTemporary(_ path: String) -> Bool {
        path.split(separator: "/").contains { $0.hasPrefix(".penumbra-") && $0 != ".penumbra-index" }
    }

    static func isIndex(_ path: String) -> Bool { path.split(separator: "/").last == ".penumbra-index" }

    static func isReceipt(_ path: String) -> Bool { path.hasSuffix(".receipt.json") }

    /// All outputs below a folder with their bytes.
    static func outputs(_ path: String) -> [String: Data] {
        var result: [String: Data] = [:]
        for file in files(path) where !isTemporary(file) && !isIndex(file) && !isReceipt(file) {
            result[file] = FileManager.default.contents(atPath: "\(path)/\(file)")
        }
        return result
    }

    static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }
}
