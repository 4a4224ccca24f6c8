import Foundation
import Glibc
import Synchronization

/// Looks at the final paths all the time: each holds what may be there, whole, or nothing.
final class OutputWatch: Sendable {
    /// What may be at one path: a file or a folder with files, as paths below it with their bytes.
    typealias Contents = [String: Data]

    private struct State {
        var seen: [String: Mark] = [:]
        var violations: [String] = []
        var looks = 0
        var ends = false
        var hasEnded = false
    }

    private struct Mark: Equatable {
        let inode: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let folder: String
    private let allowed: [String: [Contents]]
    private let state = Mutex(State())

    /// - Parameter allowed: whole sets of outputs; a final path may hold what it holds in any of them.
    init(_ folder: String, allowed sets: [[String: Data]]) {
        self.folder = folder
        self.allowed = Self.units(sets)
        Thread { [self] in
            while !state.withLock({ $0.ends }) {
                look()
                pause(0.002)
            }
            state.withLock { $0.hasEnded = true }
        }.start()
    }

    /// What belongs together: a file of the folder itself or of a folder below it, or a Deep Zoom folder.
    private static func units(_ sets: [[String: Data]]) -> [String: [Contents]] {
        var result: [String: [Contents]] = [:]
        for set in sets {
            for (unit, files) in Dictionary(grouping: set, by: { unit(of: $0.key) }) {
                let contents = Contents(files.map { (String($0.key.dropFirst(unit.count)), $0.value) }) { $1 }
                result[unit, default: []].append(contents)
            }
        }
        return result
    }

    static func unit(of path: String) -> String {
        let names = path.split(separator: "/")
        let isZoom = names.contains { $0.hasSuffix(".dzi") || $0.hasSuffix("_files") }
        guard names.count > 1, isZoom, let first = names.first else { return path }
        return String(first)
    }

    /// - Returns: what was seen and should not have been.
    func stop() -> [String] {
        state.withLock { $0.ends = true }
        while !state.withLock({ $0.hasEnded }) { pause(0.001) }
        look()
        return state.withLock { $0.violations }
    }

    private func look() {
        for (unit, allowed) in allowed { look(at: unit, allowed) }
        state.withLock { $0.looks += 1 }
    }

    private func look(at unit: String, _ allowed: [Contents]) {
        let path = "\(folder)/\(unit)"
        guard let before = mark(path), state.withLock({ $0.seen[unit] != before }) else { return }
        let contents = read(path)
        // What was replaced in this very moment is looked at again.
        guard mark(path) == before else { return }
        state.withLock { state in
            state.seen[unit] = before
            guard let contents, !allowed.contains(contents), state.violations.count < 5 else { return }
            state.violations.append("\(unit): held \(describe(contents)), which is neither the old nor the new output")
        }
    }

    private func describe(_ contents: Contents) -> String {
        contents.count == 1 ? "\(contents.values.first?.count ?? 0) bytes" : "\(contents.count) files"
    }

    private func mark(_ path: String) -> Mark? {
        var found = stat()
        guard lstat(path, &found) == 0 else { return nil }
        return Mark(
            inode: UInt64(found.st_ino), size: Int(found.st_size), seconds: found.st_mtim.tv_sec,
            nanoseconds: found.st_mtim.tv_nsec)
    }

    private func read(_ path: String) -> Contents? {
        guard Folder.isFolder(path) else { return FileManager.default.contents(atPath: path).map { ["": $0] } }
        var result: Contents = [:]
        for file in Folder.files(path) {
            guard let data = FileManager.default.contents(atPath: "\(path)/\(file)") else { return nil }
            result["/\(file)"] = data
        }
        return result
    }
}
