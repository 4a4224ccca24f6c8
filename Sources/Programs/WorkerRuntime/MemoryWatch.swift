import Glibc

/// Notices that this process keeps more memory than it may, as a leak in a plugin or a decoder makes it.
struct MemoryWatch: Sendable {
    /// In bytes; nil where nobody set one.
    private let limit: Int?

    /// What a worker takes for itself and for caches that are not a leak.
    private static let least = 256_000_000

    /// - Parameter variable: of the environment, as the coordinator sets it.
    init(variable: (String) -> String?) {
        limit = variable("PENUMBRA_WORKER_MEMORY").flatMap { Int($0) }.map { max($0, Self.least) }
    }

    /// True when a fresh process should take this one's place. Asked for between two tasks, when pixels have been freed.
    ///
    /// - Parameter kept: bytes that are kept on purpose, for the next task.
    func isExceeded(beside kept: Int) -> Bool {
        guard let limit, let pages = Self.residentPages() else { return false }
        return pages * Int(getpagesize()) - kept > limit
    }

    /// The second number of `/proc/self/statm`.
    private static func residentPages() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }
}

/// Notices that this process keeps files open that no task needs, as a leak in a plugin or a decoder makes it.
struct FileWatch: Sendable {
    /// Before the first task.
    private let start = ProcessState.lowestFreeDescriptor

    /// True when a fresh process should take this one's place. Asked for between two tasks, when files have been closed.
    var isExceeded: Bool { ProcessState.lowestFreeDescriptor - start > ProcessState.toleratedFiles }
}
