import Glibc

/// A file in memory that readers of files open by its path. Each input replaces its content.
enum MemoryFile {
    private static let descriptor: Int32 = {
        var name = Array("/dev/shm/penumbra-fuzz-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        precondition(descriptor >= 0, "/dev/shm takes files")
        // The path of its descriptor stays.
        unlink(name)
        return descriptor
    }()

    static func path(of bytes: [UInt8]) -> String {
        ftruncate(descriptor, off_t(bytes.count))
        let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        precondition(written == bytes.count, "the file takes all bytes")
        return "/proc/self/fd/\(descriptor)"
    }
}
