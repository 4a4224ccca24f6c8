import Dispatch
import Glibc
import JobModel
package import SafeFiles
import Synchronization

/// Tells that something has changed in folders, or in folders below them, by the kernel's inotify.
///
/// It tells that, not what: who hears of it looks for himself.
package final class FolderWatch: Sendable {
    private let descriptor: Int32
    /// The folders of the kernel's watches.
    private let folders = Mutex<[Int32: String]>([:])
    private let source: Source
    package let changes: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    /// What can make a picture new, changed or gone. (Not each write: a file is looked at when it is closed.)
    private static let wanted = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR)

    package init() throws(FileTrouble) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw FileTrouble(path: "inotify", code: errno, action: "watch folders") }
        (changes, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        source = Source(descriptor)
        source.start { [weak self] in self?.read() }
    }

    /// Keeps a source of the dispatch library.
    private final class Source: @unchecked Sendable {
        // Sendable: the source is made and started by one initialiser and cancelled by one deinitialiser; in between it
        // is only held.
        private let source: any DispatchSourceRead

        init(_ descriptor: Int32) {
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
            source.setCancelHandler { close(descriptor) }
        }

        func start(_ handler: @escaping @Sendable () -> Void) {
            source.setEventHandler(handler: handler)
            source.activate()
        }

        deinit { source.cancel() }
    }

    /// Watches a folder and all below it, but for those whose names begin with a dot.
    ///
    /// - Returns: false when the kernel allows no more watches, or the folder cannot be read.
    @discardableResult
    package func add(_ folder: String) -> Bool {
        let watch = inotify_add_watch(descriptor, folder, Self.wanted)
        guard watch >= 0 else { return false }
        folders.withLock { $0[watch] = folder }
        var isWhole = true
        for name in FileSystem.names(in: folder) where !PathNames.isHidden(name) {
            let path = PathNames.joined(folder, name)
            if FileSystem.isOwnFolder(path), !add(path) { isWhole = false }
        }
        return isWhole
    }

    package static func isFolder(_ path: String) -> Bool { FileSystem.isFolder(path) }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            if hear(buffer[..<count]) { tell.yield() }
        }
    }

    /// - Returns: whether anything that counts has happened.
    private func hear(_ bytes: ArraySlice<UInt8>) -> Bool {
        var (rest, counts) = (bytes, false)
        // Each event: watch, mask, cookie, length of the name, the name with its padding.
        while rest.count >= 16 {
            let words = rest.withUnsafeBytes { raw in
                (0..<4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
            }
            let name = rest.dropFirst(16).prefix(Int(words[3])).prefix { $0 != 0 }
            rest = rest.dropFirst(16 + Int(words[3]))
            let isHidden = name.first == UInt8(ascii: ".")
            counts = counts || !isHidden
            if words[1] & UInt32(IN_ISDIR) != 0, words[1] & UInt32(IN_CREATE | IN_MOVED_TO) != 0, !isHidden,
                let folder = folders.withLock({ $0[Int32(bitPattern: words[0])] })
            {
                add(PathNames.joined(folder, String(decoding: name, as: UTF8.self)))
            }
        }
        return counts
    }
}
