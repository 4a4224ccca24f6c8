import SystemPackage

/// How many processes the kernel has killed for want of memory, as this process's control group counts them.
///
/// A SIGKILL looks the same whoever sent it; only a count that rose in the meantime proves the kernel's hand.
enum OutOfMemoryKills {
    /// 0 where the kernel or the container tells nothing.
    static func count() -> Int {
        for path in ["/sys/fs/cgroup/memory.events", "/proc/vmstat"] {
            if let text = read(path), let count = field("oom_kill", of: text) { return count }
        }
        return 0
    }

    /// Asked for every task: bytes are a tenth of the work that characters are.
    static func field(_ name: String, of text: [UInt8]) -> Int? {
        let start = Array("\(name) ".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: start) {
            return Int(String(decoding: line.dropFirst(start.count), as: UTF8.self))
        }
        return nil
    }

    private static func read(_ path: String) -> [UInt8]? {
        // A file that is not there is an answer: this kernel does not count.
        guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
        return try? file.closeAfter {
            var bytes = [UInt8](repeating: 0, count: 16384)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
            return Array(bytes.prefix(count))
        }
    }
}
