import Glibc

/// Memory for decoded rows: ordinary memory for a band, or for a whole picture a scratch file that is mapped.
final class PixelStore {
    let bytes: UnsafeMutableRawBufferPointer
    private let isMapped: Bool

    /// Ordinary memory.
    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 64)
        isMapped = false
    }

    /// Room for a whole picture, in a file without a name when it is large.
    ///
    /// The file's blocks are there before it is written, so that a full disk is an error here and no SIGBUS later.
    init(byteCount: Int, limits: DecodeLimits) throws(Failure) {
        isMapped = byteCount > limits.memoryBytes
        bytes =
            isMapped
            ? try Self.map(byteCount, in: limits.scratchFolder) : .allocate(byteCount: byteCount, alignment: 64)
    }

    deinit {
        if isMapped {
            munmap(bytes.baseAddress, bytes.count)
        } else {
            bytes.deallocate()
        }
    }

    struct Failure: Error {
        let errno: Int32
    }

    private static func map(_ byteCount: Int, in folder: String) throws(Failure) -> UnsafeMutableRawBufferPointer {
        var name = Array((folder + "/penumbra-XXXXXX").utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        defer { close(descriptor) }
        unlink(name)
        let allocated = posix_fallocate(descriptor, 0, off_t(byteCount))
        guard allocated == 0 else { throw Failure(errno: allocated) }
        let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw Failure(errno: errno) }
        return UnsafeMutableRawBufferPointer(start: address, count: byteCount)
    }
}
