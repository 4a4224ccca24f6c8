import Foundation
import Glibc

/// What proxies and plugins of one scenario have done, in files that all of them see.
///
/// Claims are files that only one process can create, so that no task is struck twice and no scenario too often.
struct FaultBook: Sendable {
    let folder: String

    /// True for the one who comes first.
    func claim(_ name: String) -> Bool {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { return false }
        close(file)
        return true
    }

    /// One of so many; false when all are taken.
    func claimOne(of count: Int, _ name: String) -> Bool {
        (0..<count).contains { claim("\(name)-\($0)") }
    }

    /// True when the task may be struck: so often, and only as many tasks of a scenario as its plan says.
    func claimTask(_ name: String, _ plan: FaultPlan) -> Bool {
        if claim("task-\(name)-0") { return claimOne(of: plan.limit, "slot") && claim("struck-\(name)") }
        let wasStruck = access("\(folder)/struck-\(name)", F_OK) == 0
        return wasStruck && (1..<max(1, plan.perTask)).contains { claim("task-\(name)-\($0)") }
    }

    /// One write call, so that lines of several processes never mix.
    func note(_ words: String...) {
        let file = open("\(folder)/notes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        defer { close(file) }
        Bytes.write(Array((words.joined(separator: "\t") + "\n").utf8), to: file)
    }

    struct Note: Hashable, Sendable {
        let what: String
        let subject: String
        let detail: String
    }

    var notes: [Note] {
        let text = (try? String(contentsOfFile: "\(folder)/notes", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Note(
                what: words[0], subject: words.count > 1 ? words[1] : "",
                detail: words.dropFirst(2).joined(separator: " "))
        }
    }
}

/// Damage to a file that somebody has written and somebody else will read.
enum FileDamage: String, CaseIterable, Sendable {
    case flip
    case truncate
    case zero

    /// - Returns: what was done, or nil when the file is gone or empty.
    func strike(_ path: String, _ random: inout SplitMix64) -> String? {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > 0 else { return nil }
        switch self {
        case .truncate:
            let length = Int.random(in: 0..<size, using: &random)
            return ftruncate(file, length) == 0 ? "cut from \(size) to \(length) bytes" : nil
        case .flip: return Self.flip(file, size, &random)
        case .zero: return Self.zero(file, size, &random) ?? Self.flip(file, size, &random)
        }
    }

    private static func flip(_ file: Int32, _ size: Int, _ random: inout SplitMix64) -> String? {
        let offset = Int.random(in: 0..<size, using: &random)
        let bit = UInt8.random(in: 0..<8, using: &random)
        var byte: UInt8 = 0
        guard pread(file, &byte, 1, offset) == 1 else { return nil }
        byte ^= 1 << bit
        return pwrite(file, &byte, 1, offset) == 1 ? "bit \(bit) of byte \(offset) of \(size) flipped" : nil
    }

    /// Nil where all is zero already.
    private static func zero(_ file: Int32, _ size: Int, _ random: inout SplitMix64) -> String? {
        let start = Int.random(in: 0..<size, using: &random)
        let count = min(size - start, Int.random(in: 1...65536, using: &random))
        var old = [UInt8](repeating: 0, count: count)
        guard pread(file, &old, count, start) == count, old.contains(where: { $0 != 0 }) else { return nil }
        let zeros = [UInt8](repeating: 0, count: count)
        return pwrite(file, zeros, count, start) == count ? "\(count) bytes from \(start) of \(size) zeroed" : nil
    }
}
