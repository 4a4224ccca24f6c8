import Foundation
import Glibc
import TestSupport

/// What happens to files on disks.
enum Corruption {
    case flipped(bit: Int)
    case truncated(at: Int)
    case zeroed(Range<Int>)
    case appended(Int)
    case removed

    /// Any of them, that surely changes a file of some bytes.
    static func random(of bytes: Data, using random: inout SplitMix64) -> Corruption {
        switch random.next() % 5 {
        case 0: return .flipped(bit: Int(random.next() % UInt64(bytes.count * 8)))
        case 1: return .truncated(at: Int(random.next() % UInt64(bytes.count)))
        case 2:
            let start = Int(random.next() % UInt64(bytes.count))
            let range = start..<min(bytes.count, start + 1 + Int(random.next() % 64))
            // What is zero already stays as it is.
            return bytes[range].contains { $0 != 0 } ? .zeroed(range) : .flipped(bit: start * 8)
        case 3: return .appended(1 + Int(random.next() % 100))
        default: return .removed
        }
    }

    /// Nil for no file.
    func applied(to bytes: Data) -> Data? {
        var bytes = bytes
        switch self {
        case .flipped(let bit): bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        case .truncated(let size): bytes = bytes.prefix(size)
        case .zeroed(let range): bytes.replaceSubrange(range, with: Data(count: range.count))
        case .appended(let count): bytes += Data(repeating: 0, count: count)
        case .removed: return nil
        }
        return bytes
    }

    /// How `penumbra verify` has to call it.
    var state: String {
        switch self {
        case .flipped, .zeroed, .appended: "changed"
        case .truncated: "truncated"
        case .removed: "missing"
        }
    }
}

extension Workspace {
    /// Damages a file in its place, so that its name, inode and time are as before.
    func corrupt(_ name: String, _ corruption: Corruption) throws {
        guard let bytes = corruption.applied(to: try read(name)) else { return try remove(name) }
        try overwrite(name, bytes)
    }

    /// Other bytes in the same file, with its old time.
    func overwrite(_ name: String, _ bytes: Data) throws {
        let time = try modified(name)
        let file = try FileHandle(forWritingTo: URL(filePath: "\(path)/\(name)"))
        try file.write(contentsOf: bytes)
        try file.truncate(atOffset: UInt64(bytes.count))
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: time as Any], ofItemAtPath: "\(path)/\(name)")
    }

    /// Every file of the workspace with its bytes and its time; folders and links by their names.
    func everything() throws -> [String: String] {
        var result: [String: String] = [:]
        for name in FileManager.default.subpaths(atPath: path) ?? [] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            let isFile = attributes[.type] as? FileAttributeType == .typeRegular
            // The database's working files come and go with whoever has it open.
            if name.hasSuffix("-shm") || name.hasSuffix("-wal") { continue }
            result[name] = isFile ? "\(try modified(name) ?? .distantPast) \(try read(name).hashValue)" : ""
        }
        return result
    }
}

/// A line of `penumbra verify --json`.
struct VerifyLine: Decodable {
    let event: String?
    let path: String?
    let job: String?
    let state: String?
    let reason: String?
    let bytes: Int?
    let digest: String?
    let publishedDigest: String?
    let encoder: String?
    let publishedEncoder: String?
    let swappedWith: String?
    let copyOf: String?
    let states: [String: Int]?
    let exitCode: Int?

    static func all(in output: String) throws -> [VerifyLine] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(VerifyLine.self, from: Data($0.utf8)) }
    }
}
