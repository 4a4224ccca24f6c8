import Glibc

/// Detects that this process holds more memory than it may, for example because a plugin or a decoder leaks.
struct MemoryWatch: Sendable {
    /// In bytes. Nil for no limit.
    private let limit: Int?

    /// The memory that a worker needs for itself and for caches, without a leak.
    private static let least = 256_000_000

    /// - Parameter variable: Reads a variable of the environment, which the coordinator sets.
    init(variable: (String) -> String?) {
        limit = variable("PENUMBRA_WORKER_MEMORY").flatMap { Int($0) }.map { max($0, Self.least) }
    }

    /// True if a fresh process should replace this one. Asked between two tasks, when pixels have been freed.
    ///
    /// - Parameter kept: Bytes that are kept on purpose for the next task.
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

/// Detects that this process keeps files open that no task needs, for example because a plugin or a decoder leaks.
struct FileWatch: Sendable {
    /// The value before the first task.
    private let start = ProcessState.lowestFreeDescriptor

    /// True if a fresh process should replace this one. Asked between two tasks, when files have been closed.
    var isExceeded: Bool { ProcessState.lowestFreeDescriptor - start > ProcessState.toleratedFiles }
}
