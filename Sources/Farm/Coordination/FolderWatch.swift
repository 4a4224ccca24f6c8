import Dispatch
import Glibc
import JobModel
import SafeFiles
import Synchronization
import WorkerProtocol

/// Reports that something has changed in folders or below them, by the kernel's inotify.
///
/// It does not report what has changed. Readers have to look themselves.
package final class FolderWatch: Sendable {
    private let descriptor: Int32
    /// The folders of the kernel's watches.
    private let folders = Mutex<[Int32: String]>([:])
    /// The watched paths, and the paths that lead to them.
    private let roots = Mutex(Roots())
    private let source: Source
    package let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Events that can add, change or remove a picture. (Not each write: a file counts when it is closed.)
    private static let wanted = UInt32(
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR)
    /// Events that can replace a name by another folder, file or link.
    private static let wantedOfNames = UInt32(
        IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR | IN_MASK_ADD)
    /// Events that can change a watched file.
    private static let wantedOfFiles = UInt32(IN_CLOSE_WRITE | IN_ONLYDIR | IN_MASK_ADD)
    private static let appearance = UInt32(IN_CREATE | IN_MOVED_TO)
    private static let loss = UInt32(IN_DELETE | IN_MOVED_FROM)

    /// - Parameter reads: false if the caller reads events by ``read()``.
    /// - Throws: ``ResourceLimitError`` if a limit of this process or of its user is reached.
    package init(reads: Bool = true) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let code = errno
        guard descriptor >= 0 else {
            let action = "watch folders"
            // The kernel has one error number for this process's files and for its user's watchers.
            if code == EMFILE {
                throw ResourceLimitError.found(for: action) ?? ResourceLimitError(.watchers, action, limit: nil)
            }
            throw FileError(path: "inotify", code: code, action: action)
        }
        (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        source = Source(descriptor)
        source.start { [weak self] in if reads { self?.read() } }
    }

    /// Owns a source of the dispatch library.
    private final class Source: @unchecked Sendable {
        // Sendable: the source is made and started by one initialiser and cancelled by one deinitialiser; in between it is
        // only held.
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
        var folders: Set<PathKey> = []
        var files: Set<PathKey> = []
        /// The names on these paths, by the watches of their folders.
        var steps: [Int32: Set<Step>] = [:]

        func holds(_ name: some Sequence<UInt8>, of watch: Int32, isOfFile: Bool) -> Bool {
            steps[watch]?.contains(Step(name: Array(name), isOfFile: isOfFile)) ?? false
        }
    }

    private struct Step: Hashable {
        let name: [UInt8]
        /// Whether the path leads to a file, and not to a folder.
        let isOfFile: Bool
    }

    /// Watches a folder and all folders below it, except those whose names begin with a dot. Each name in the folder's path
    /// is watched, too, because another folder or a link may replace it.
    ///
    /// - Returns: false if the kernel allows no more watches. Folders that this user may not read are left out.
    @discardableResult
    package func add(_ folder: String) -> Bool {
        roots.withLock { roots in
            roots.folders.insert(PathKey(folder))
            watchWay(to: folder, isOfFile: false, &roots)
        }
        return watch(folder)
    }

    /// Watches a single file, including its replacement, and the replacement of links on the path to it.
    package func add(file: String) {
        roots.withLock { roots in
            roots.files.insert(PathKey(file))
            watchWay(to: file, isOfFile: true, &roots)
        }
    }

    /// Folders that this user may not list cannot be watched. Changes in them are found at the next scheduled look.
    private func watchWay(to path: String, isOfFile: Bool, _ roots: inout Roots) {
        for step in PathStep.all(to: path) {
            let wanted = Self.wantedOfNames | (isOfFile && step.isLast ? Self.wantedOfFiles : 0)
            let watch = inotify_add_watch(descriptor, step.folder, wanted)
            guard watch >= 0 else { continue }
            roots.steps[watch, default: []].insert(Step(name: Array(step.name.utf8), isOfFile: isOfFile))
        }
    }

    /// Renews all watches, so that replaced files and folders are watched, too.
    package func renew() {
        let folders = roots.withLock { roots in
            // The old paths may not apply any more.
            roots.steps = [:]
            for folder in roots.folders { watchWay(to: folder.path, isOfFile: false, &roots) }
            for file in roots.files { watchWay(to: file.path, isOfFile: true, &roots) }
            return roots.folders.sorted()
        }
        for folder in folders { _ = watch(folder.path) }
    }

    private func watch(_ folder: String) -> Bool {
        let watch = inotify_add_watch(descriptor, folder, Self.wanted)
        guard watch >= 0 else { return errno == EACCES }
        folders.withLock { $0[watch] = folder }
        var isWhole = true
        for name in FileSystem.names(in: folder) where !PathNames.isHidden(name) {
            let path = PathNames.joined(folder, name)
            if FileSystem.isOwnFolder(path), !self.watch(path) { isWhole = false }
        }
        return isWhole
    }

    package static func isFolder(_ path: String) -> Bool { FileSystem.isFolder(path) }

    /// Reads all events of the kernel.
    ///
    /// - Returns: whether a relevant change has happened.
    @discardableResult package func read() -> Bool {
        var counts = false
        while let events = nextEvents() { counts = handle(events) || counts }
        return counts
    }

    /// Discards all events, as the kernel does if there are too many.
    package func drop() { while nextEvents() != nil {} }

    /// The watched folders.
    package var watched: [String] { folders.withLock { Set($0.values).sorted() } }

    private func nextEvents() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// - Parameter bytes: events in the kernel's layout.
    /// - Returns: whether a relevant change has happened.
    @discardableResult package func handle(_ bytes: [UInt8]) -> Bool {
        let counts = counts(bytes[...])
        if counts { continuation.yield() }
        return counts
    }

    private func counts(_ bytes: ArraySlice<UInt8>) -> Bool {
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
                // The kernel has dropped events, perhaps about new folders.
                (counts, isStale) = (true, true)
                continue
            }
            if mask & UInt32(IN_IGNORED) != 0 {
                // The folder is gone, and another watch may get its number.
                let folder = folders.withLock { $0.removeValue(forKey: watch) }
                roots.withLock { roots in
                    roots.steps[watch] = nil
                    // A disk that is unmounted causes no other event.
                    if let folder, roots.folders.contains(PathKey(folder)) { counts = true }
                }
                continue
            }
            let isHidden = name.first == UInt8(ascii: ".")
            if let folder = folders.withLock({ $0[watch] }) {
                counts = counts || !isHidden
                if mask & UInt32(IN_ISDIR) != 0, mask & Self.appearance != 0, !isHidden {
                    _ = self.watch(PathNames.joined(folder, String(decoding: name, as: UTF8.self)))
                }
            }
            let (leadsToFolder, leadsToFile) = roots.withLock { roots in
                (roots.holds(name, of: watch, isOfFile: false), roots.holds(name, of: watch, isOfFile: true))
            }
            // A removed file is about to be written again.
            if leadsToFolder && mask & (Self.appearance | Self.loss) != 0
                || leadsToFile && mask & (Self.appearance | UInt32(IN_CLOSE_WRITE)) != 0
            {
                counts = true
            }
            if (leadsToFolder || leadsToFile) && mask & Self.appearance != 0 { isStale = true }
        }
        if isStale { renew() }
        return counts
    }
}

/// One name in a path, and the folder that holds it. If the name is moved or replaced, the path leads to
/// another file.
struct PathStep: Hashable {
    /// An absolute path without links.
    let folder: String
    let name: String
    /// Whether it is the last name of the path.
    let isLast: Bool

    /// The kernel's own limit for links.
    private static let mostLinks = 40
    /// `PATH_MAX`
    private static let longestTarget = 4096

    /// All steps to a path, including the steps through links.
    ///
    /// - Parameter path: an absolute path. The file may be missing.
    static func all(to path: String) -> [PathStep] {
        var (steps, folder, links) = ([PathStep](), "/", 0)
        var rest = Array(PathNames.all(in: path).map(String.init).reversed())
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..": folder = PathNames.folder(of: folder) ?? "/"
            default:
                let path = PathNames.joined(folder, name)
                guard links < mostLinks, let target = target(ofLink: path) else {
                    steps.append(PathStep(folder: folder, name: name, isLast: rest.isEmpty))
                    folder = path
                    continue
                }
                links += 1
                steps.append(PathStep(folder: folder, name: name, isLast: false))
                if PathNames.isAbsolute(target) { folder = "/" }
                rest += PathNames.all(in: target).map(String.init).reversed()
            }
        }
        return steps
    }

    /// The target of a link; nil if the path is not a link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: longestTarget)
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
