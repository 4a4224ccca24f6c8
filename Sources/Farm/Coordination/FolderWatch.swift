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
    /// The folders that were asked for, and the watches of those that they are in.
    private let roots = Mutex(Roots())
    private let source: Source
    package let changes: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    /// What can make a picture new, changed or gone. (Not each write: a file is looked at when it is closed.)
    private static let wanted = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR)
    /// What can put another folder in the place of one.
    private static let wantedOfParents = UInt32(
        IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR | IN_MASK_ADD)
    /// What can change a file, or put another one in its place.
    private static let wantedOfFiles = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR | IN_MASK_ADD)

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

    private struct Roots {
        var paths: Set<PathKey> = []
        var parents: Set<Int32> = []
        /// Single files, and the watches of the folders that they are in.
        var files: Set<PathKey> = []
        var fileFolders: Set<Int32> = []

        func isFile(_ name: some Sequence<UInt8>) -> Bool {
            files.contains { PathNames.last(of: $0.path).utf8.elementsEqual(name) }
        }

        func isNamed(_ name: some Sequence<UInt8>) -> Bool {
            paths.contains { PathNames.last(of: $0.path).utf8.elementsEqual(name) }
        }
    }

    /// Watches a folder and all below it, but for those whose names begin with a dot.
    ///
    /// - Returns: false when the kernel allows no more watches, or the folder cannot be read.
    @discardableResult
    package func add(_ folder: String) -> Bool {
        let parent = inotify_add_watch(descriptor, PathNames.folder(of: folder) ?? "/", Self.wantedOfParents)
        roots.withLock { roots in
            roots.paths.insert(PathKey(folder))
            if parent >= 0 { roots.parents.insert(parent) }
        }
        return watch(folder)
    }

    /// Watches a single file, also when another takes its place.
    package func add(file: String) {
        let folder = inotify_add_watch(descriptor, PathNames.folder(of: file) ?? "/", Self.wantedOfFiles)
        roots.withLock { roots in
            roots.files.insert(PathKey(file))
            if folder >= 0 { roots.fileFolders.insert(folder) }
        }
    }

    /// Watches all again: what is watched stays so, and what was put in its place is watched from now on.
    package func renew() {
        for root in roots.withLock({ $0.paths }).sorted() { add(root.path) }
        for file in roots.withLock({ $0.files }).sorted() { add(file: file.path) }
    }

    private func watch(_ folder: String) -> Bool {
        let watch = inotify_add_watch(descriptor, folder, Self.wanted)
        guard watch >= 0 else { return false }
        folders.withLock { $0[watch] = folder }
        var isWhole = true
        for name in FileSystem.names(in: folder) where !PathNames.isHidden(name) {
            let path = PathNames.joined(folder, name)
            if FileSystem.isOwnFolder(path), !self.watch(path) { isWhole = false }
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
        var (rest, counts, isStale) = (bytes, false, false)
        // Each event: watch, mask, cookie, length of the name, the name with its padding.
        while rest.count >= 16 {
            let words = rest.withUnsafeBytes { raw in
                (0..<4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
            }
            let name = rest.dropFirst(16).prefix(Int(words[3])).prefix { $0 != 0 }
            rest = rest.dropFirst(16 + Int(words[3]))
            let (watch, mask) = (Int32(bitPattern: words[0]), words[1])
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                // The kernel has thrown news away, of new folders perhaps.
                (counts, isStale) = (true, true)
                continue
            }
            if mask & UInt32(IN_IGNORED) != 0 {
                // The folder is gone, and the number may be another's.
                let folder = folders.withLock { $0.removeValue(forKey: watch) }
                roots.withLock { roots in
                    _ = roots.parents.remove(watch)
                    _ = roots.fileFolders.remove(watch)
                    // A disk that is no more mounted tells nothing else.
                    if let folder, roots.paths.contains(PathKey(folder)) { counts = true }
                }
                continue
            }
            let isHidden = name.first == UInt8(ascii: ".")
            let isNewFolder = mask & UInt32(IN_ISDIR) != 0 && mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0
            let folder = folders.withLock { $0[watch] }
            if let folder {
                counts = counts || !isHidden
                if isNewFolder, !isHidden {
                    _ = self.watch(PathNames.joined(folder, String(decoding: name, as: UTF8.self)))
                }
            }
            if roots.withLock({ $0.fileFolders.contains(watch) && $0.isFile(name) }) { counts = true }
            let isLostFolder = mask & UInt32(IN_ISDIR) != 0 && mask & UInt32(IN_DELETE | IN_MOVED_FROM) != 0
            if isLostFolder, roots.withLock({ $0.parents.contains(watch) && $0.isNamed(name) }) { counts = true }
            // The name of a folder that was asked for: its parent's watch tells.
            if isNewFolder, roots.withLock({ $0.parents.contains(watch) && $0.isNamed(name) }) {
                (counts, isStale) = (true, true)
            }
        }
        if isStale { renew() }
        return counts
    }
}
