import CChannel
import Glibc
package import WorkerProtocol

/// The files of one order, open, until they have been sent.
package struct OpenedTaskFiles: ~Copyable {
    /// What the worker is told of them.
    package private(set) var sent: [SentFile] = []
    /// One for each file that is open.
    package private(set) var descriptors: [Int32] = []
    /// The sizes of all files that the worker reads.
    package private(set) var readBytes = 0
    /// The files that the worker writes. They belong to this order alone.
    package private(set) var written: [WrittenFile] = []

    /// Opens all of them. A file server may not answer, so call this from a thread that may wait.
    ///
    /// - Parameters:
    ///   - temporaryFolder: the worker's, for scratch files without a folder.
    ///   - spare: the scratch file of the worker's earlier orders.
    package init(_ files: [TaskFile], temporaryFolder: String, spare: inout SpareScratchFile) {
        for var file in files {
            if file.use == .scratch, file.path.isEmpty { file = TaskFile(temporaryFolder, .scratch) }
            let descriptor = Self.open(file, &spare)
            sent.append(SentFile(file, descriptor < 0 ? .failed(code: -descriptor) : .handed))
            guard descriptor >= 0 else { continue }
            descriptors.append(descriptor)
            // Files with holes may have any size, and an order may have any number of files.
            if file.use == .read { readBytes = min(Self.most, readBytes + Self.size(of: descriptor)) }
            if file.use.isWritten, let new = WrittenFile(file.path, descriptor) { written.append(new) }
        }
    }

    /// In bytes. No disk has so many.
    private static let most = 1 << 56

    /// Opens none of them, because this process may not.
    init(refused files: [TaskFile]) { sent = files.map { SentFile($0, .failed(code: EACCES)) } }

    deinit { for file in descriptors { close(file) } }

    private static func size(of descriptor: Int32) -> Int {
        var found = stat()
        // A device or a pipe has no size.
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return 0 }
        return min(Int(found.st_size), most)
    }

    /// - Returns: a descriptor, or a negative error code.
    private static func open(_ file: TaskFile, _ spare: inout SpareScratchFile) -> Int32 {
        switch file.use {
        // Without O_NONBLOCK a pipe would block here.
        case .read: open(file.path, O_RDONLY | O_NONBLOCK, 0)
        // Never follows a link, because another user may have created it.
        case .create: open(file.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
        case .createNew: open(file.path, O_RDWR | O_CREAT | O_EXCL, 0o644)
        case .scratch: spare.open(in: file.path)
        }
    }

    private static func open(_ path: [UInt8], _ flags: Int32, _ mode: mode_t) -> Int32 {
        while true {
            let file = Glibc.open(path.terminated, flags | O_CLOEXEC, mode)
            if file >= 0 { return file }
            // A slow file system lets a signal interrupt it.
            if errno != EINTR { return -errno }
        }
    }
}

/// The last scratch file that one worker got. As long as the worker leaves it empty, its next orders get it again: nearly all orders of a
/// frame come with such a file, nearly none needs it, and creating and deleting one costs more than the rest of a small order.
package struct SpareScratchFile: ~Copyable {
    /// The bytes of the folder's path.
    private var folder: [UInt8] = []
    /// Negative for none.
    private var descriptor: Int32 = -1
    private let nameless: (UnsafePointer<CChar>) -> Int32

    /// - Parameter nameless: creates a file without a name in a folder. It returns a descriptor, or a negative error code.
    package init(nameless: @escaping (UnsafePointer<CChar>) -> Int32 = { channel_open_nameless($0) }) {
        self.nameless = nameless
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// An order has at most one such file: two would be the same one.
    ///
    /// - Returns: a descriptor that the caller closes, or a negative error code.
    fileprivate mutating func open(in folder: [UInt8]) -> Int32 {
        dropUnlessEmpty()
        if descriptor < 0 || folder != self.folder {
            drop()
            descriptor = Self.create(in: folder, nameless)
            guard descriptor >= 0 else { return descriptor }
            self.folder = folder
        }
        let file = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        return file < 0 ? -errno : file
    }

    /// Gives up a file that the worker has written to, with its room on the disk.
    package mutating func dropUnlessEmpty() {
        var found = stat()
        guard descriptor >= 0, fstat(descriptor, &found) != 0 || found.st_size > 0 || found.st_blocks > 0 else {
            return
        }
        drop()
    }

    /// Gives up the file.
    package mutating func drop() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// File systems that have no files without names, such as NFS, get one that is removed at once.
    private static func create(in folder: [UInt8], _ nameless: (UnsafePointer<CChar>) -> Int32) -> Int32 {
        let file = nameless(folder.terminated)
        guard [-EOPNOTSUPP, -EISDIR, -EINVAL].contains(file) else { return file }
        return channel_open_removed(folder.terminated)
    }
}

/// A file that was created, or emptied, for one order.
package struct WrittenFile: Hashable, Sendable {
    /// The bytes of its path.
    package let path: [UInt8]
    private let device: UInt
    private let inode: UInt

    /// Nil for a device or a pipe, which is never removed.
    init?(_ path: [UInt8], _ descriptor: Int32) {
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        (device, inode) = (UInt(found.st_dev), UInt(found.st_ino))
    }

    /// Removes the file, unless its path has another one by now. If it cannot be removed, the run's journal has it.
    package func remove() {
        var found = stat()
        guard lstat(path.terminated, &found) == 0, UInt(found.st_dev) == device, UInt(found.st_ino) == inode else {
            return
        }
        unlink(path.terminated)
    }
}

extension TaskFile.Use {
    fileprivate var isWritten: Bool {
        switch self {
        case .create, .createNew: true
        case .read, .scratch: false
        }
    }
}

extension [UInt8] {
    /// A C string.
    fileprivate var terminated: [CChar] { map { CChar(bitPattern: $0) } + [0] }
}
