import Foundation
import Glibc

/// What a file holds for certain: its size and time when it was synced last.
struct SafeState: Hashable, Sendable {
    let size: Int
    let modified: Int
}

/// What the shim `power.c` wrote down, line by line:
///
///     S inode size time       the bytes of this file were synced
///     B id, D id folder       a folder was synced; what was done in it before B is safe
///     B id, Y id              the whole file system was
///     R from to backup        renamed; what was replaced is in the backup
///     X one other             exchanged
///     L from to               linked
///     U path backup           removed
struct PowerLog {
    /// A change of names.
    enum Change: Hashable {
        case rename(from: String, to: String, backup: String)
        case exchange(String, String)
        case link(to: String)
        case remove(String, backup: String)

        var folders: Set<String> {
            switch self {
            case .rename(let from, let to, _): [Self.folder(from), Self.folder(to)]
            case .exchange(let one, let other): [Self.folder(one), Self.folder(other)]
            case .link(let to): [Self.folder(to)]
            case .remove(let path, _): [Self.folder(path)]
            }
        }

        private static func folder(_ path: String) -> String {
            path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        }
    }

    private(set) var safe: [UInt64: SafeState]
    /// In their order; those that a power loss may undo.
    private(set) var unsafe: [Change] = []

    /// - Parameter baseline: what was safe before.
    init(_ path: String, baseline: [UInt64: SafeState]) {
        safe = baseline
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var changes: [(line: Int, change: Change)] = []
        var begins: [String: Int] = [:]
        for (number, line) in text.split(separator: "\n").enumerated() {
            let words = line.split(separator: "\t").map(String.init)
            switch words.first {
            case "B" where words.count == 2: begins[words[1]] = number
            case "D" where words.count == 3:
                let begin = begins[words[1]] ?? 0
                changes.removeAll { $0.line < begin && $0.change.folders.contains(words[2]) }
            case "Y" where words.count == 2:
                let begin = begins[words[1]] ?? 0
                changes.removeAll { $0.line < begin }
            case "S" where words.count == 4: markSafe(words)
            default: if let change = Self.change(words) { changes.append((number, change)) }
            }
        }
        unsafe = changes.map(\.change)
    }

    private mutating func markSafe(_ words: [String]) {
        guard let inode = UInt64(words[1]), let size = Int(words[2]), let time = Int(words[3]) else { return }
        safe[inode] = SafeState(size: size, modified: time)
    }

    private static func change(_ words: [String]) -> Change? {
        switch (words.first, words.count) {
        case ("R", 4): .rename(from: words[1], to: words[2], backup: words[3])
        case ("X", 3...): .exchange(words[1], words[2])
        case ("L", 3): .link(to: words[2])
        case ("U", 3): .remove(words[1], backup: words[2])
        default: nil
        }
    }

    /// What files below some folders hold, as if all of it had been synced.
    static func states(below roots: [String]) -> [UInt64: SafeState] {
        var result: [UInt64: SafeState] = [:]
        for root in roots {
            for file in Folder.files(root) {
                guard let (inode, state) = state("\(root)/\(file)") else { continue }
                result[inode] = state
            }
        }
        return result
    }

    static func state(_ path: String) -> (UInt64, SafeState)? {
        var found = stat()
        guard lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        let time = Int(found.st_mtim.tv_sec) * 1_000_000_000 + Int(found.st_mtim.tv_nsec)
        return (UInt64(found.st_ino), SafeState(size: Int(found.st_size), modified: time))
    }
}
