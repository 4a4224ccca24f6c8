package import Glibc
import Synchronization

/// Opens the files of one task: those that the coordinator has handed over by their descriptors, and all others by their
/// paths.
///
/// A worker may be kept from opening files. Then it has only those that it was handed. Descriptors of one file share its
/// position, so whoever reads or writes such a file must name positions (`pread`, `pwrite`).
///
/// It is passed to all that opens files, so that tasks and tests do not share it.
package final class FileOpener: Sendable {
    /// What the coordinator says of a file.
    package enum Handed: Hashable, Sendable {
        /// It is open. The opener closes it.
        case descriptor(Int32)
        /// The coordinator could not open it. The code is as in `errno.h`.
        case failed(Int32)
        /// The coordinator has opened it, but descriptors cannot be handed over here. A new file exists already.
        case existing
    }

    /// An open file, which its user closes.
    package struct Opened: Hashable, Sendable {
        package let descriptor: Int32
        /// False if it was opened by its path here. Then whoever created it also removes it after a failure. Otherwise
        /// the coordinator does.
        package let isHanded: Bool
    }

    /// A file could not be opened.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// As in `errno.h`.
        package let code: Int32

        package var description: String { String(cString: strerror(code)) }
    }

    /// A part of the file without a name that a task may use as memory.
    package struct ScratchRange: Hashable, Sendable {
        package let descriptor: Int32
        package let range: Range<Int>
    }

    private struct State {
        /// By the bytes of their paths.
        var read: [[UInt8]: Handed]
        var created: [[UInt8]: Handed]
        var scratch: Handed?
        /// The bytes of the scratch file that are in use end here.
        var scratchEnd = 0
        /// What each descriptor refers to. Foreign code may close one, and its number may then belong to another file.
        var identities: [Int32: Identity] = [:]
    }

    private struct Identity: Hashable {
        let device: UInt
        let inode: UInt

        init?(of descriptor: Int32) {
            var found = stat()
            guard fstat(descriptor, &found) == 0 else { return nil }
            (device, inode) = (UInt(found.st_dev), UInt(found.st_ino))
        }
    }

    private let state: Mutex<State>

    /// Opens every file by its path.
    package convenience init() { self.init(read: [:], created: [:], scratch: nil) }

    /// - Parameters:
    ///   - read: Files that exist, by the bytes of their paths.
    ///   - created: Files that the task writes.
    ///   - scratch: A file without a name.
    package init(read: [[UInt8]: Handed], created: [[UInt8]: Handed], scratch: Handed?) {
        var state = State(read: read, created: created, scratch: scratch)
        for case .descriptor(let file) in Array(read.values) + Array(created.values) + [scratch].compactMap(\.self) {
            state.identities[file] = Identity(of: file)
        }
        self.state = Mutex(state)
    }

    deinit { close() }

    /// Closes all handed files. Later, every file is opened by its path.
    package func close() {
        let identities = state.withLock { state in
            defer { state = State(read: [:], created: [:], scratch: nil) }
            return state.identities
        }
        for (file, identity) in identities where Identity(of: file) == identity { Glibc.close(file) }
    }
}

extension FileOpener {
    /// Opens a file as `open` does. The descriptor is closed when a program is executed.
    ///
    /// - Parameters:
    ///   - path: Also `/proc/self/fd/` with the number of a descriptor of this process. It gives another descriptor of
    ///     the same open file.
    ///   - flags: With `O_CREAT` for a file that the task writes.
    package func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Failure) -> Opened {
        try open(Array(path.utf8), flags, mode: mode)
    }

    package func open(_ path: [UInt8], _ flags: Int32, mode: mode_t = 0) throws(Failure) -> Opened {
        if let own = Self.ownDescriptor(path) { return try Self.duplicate(own) }
        let creates = flags & O_CREAT != 0
        let handed = state.withLock { state in
            creates ? state.created[path] : state.read[path] ?? state.created[path]
        }
        switch handed {
        case .descriptor(let file): return try Self.duplicate(file)
        case .failed(let code): throw Failure(code: code)
        case .existing: return try Self.openByPath(path, flags & ~O_EXCL, mode, isHanded: creates)
        case nil: return try Self.openByPath(path, flags, mode, isHanded: false)
        }
    }

    private static let ownFolder = Array("/proc/self/fd/".utf8)

    private static func ownDescriptor(_ path: [UInt8]) -> Int32? {
        guard path.starts(with: ownFolder) else { return nil }
        return Int32(String(decoding: path.dropFirst(ownFolder.count), as: UTF8.self))
    }

    private static func duplicate(_ descriptor: Int32) throws(Failure) -> Opened {
        let file = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard file >= 0 else { throw Failure(code: errno) }
        return Opened(descriptor: file, isHanded: true)
    }

    private static func openByPath(
        _ path: [UInt8], _ flags: Int32, _ mode: mode_t, isHanded: Bool
    ) throws(Failure) -> Opened {
        let terminated = path.map { CChar(bitPattern: $0) } + [0]
        let file = Glibc.open(terminated, flags | O_CLOEXEC, mode)
        guard file >= 0 else { throw Failure(code: errno) }
        return Opened(descriptor: file, isHanded: isHanded)
    }
}

extension FileOpener {
    /// Creates a file with these bytes, or replaces its content.
    package func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let file = try open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o666).descriptor
        do throws(Failure) {
            try Self.write(bytes, to: file, at: 0)
        } catch {
            Glibc.close(file)
            throw error
        }
        // Only now may a network file system report a full disk.
        guard Glibc.close(file) == 0 else { throw Failure(code: errno) }
    }

    /// Writes all bytes to an open file, from a position on.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, at position: Int) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(position + bytes.count - $0.count))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(code: count < 0 ? errno : ENOSPC) }
            rest = rest.dropFirst(count)
        }
    }
}

extension FileOpener {
    /// Pages may have up to 64 KB.
    private static let scratchStep = 65536

    /// Reserves bytes of the handed scratch file, which may be mapped. Their blocks are allocated, so that a full disk is
    /// an error here, and no signal later.
    ///
    /// - Returns: Nil if no scratch file was handed over.
    package func takeScratch(_ byteCount: Int) throws(Failure) -> ScratchRange? {
        let taken = state.withLock { state -> (Handed, Range<Int>)? in
            guard let scratch = state.scratch, scratch != .existing else { return nil }
            let start = state.scratchEnd
            state.scratchEnd += (byteCount + Self.scratchStep - 1) / Self.scratchStep * Self.scratchStep
            return (scratch, start..<start + byteCount)
        }
        guard let (handed, range) = taken else { return nil }
        guard case .descriptor(let scratch) = handed else {
            if case .failed(let code) = handed { throw Failure(code: code) }
            return nil
        }
        let file = try Self.duplicate(scratch).descriptor
        var code: Int32 = 0
        repeat { code = posix_fallocate(file, off_t(range.lowerBound), off_t(range.count)) } while code == EINTR
        guard code == 0 else {
            Glibc.close(file)
            giveBackScratch(range)
            throw Failure(code: code)
        }
        return ScratchRange(descriptor: file, range: range)
    }

    /// The bytes may be used again if no later ones are in use. All are free when the task ends.
    package func giveBackScratch(_ range: Range<Int>) {
        state.withLock { state in
            let end = range.lowerBound + (range.count + Self.scratchStep - 1) / Self.scratchStep * Self.scratchStep
            if end == state.scratchEnd { state.scratchEnd = range.lowerBound }
        }
    }
}
