package import Coordination
import ContentNames
import Glibc
import JobModel
package import SafeFiles
import Synchronization

/// The levels of large pictures, as files in a folder of the service's own. All calls may block.
///
///     large/PLACE/NAME/1.tiff, 2.tiff, 4.tiff …
///
/// A place is for one set of folders that workers may read, so that a worker of another set cannot read them. A set of files gets its
/// name when it is whole. Nothing is kept from one service to the next one: after a crash of the machine a file might have its
/// size but not its pixels.
package final class LevelStore: Sendable {
    /// In bytes, of all files together.
    package static let mostBytes = 16 << 30
    /// The files take at most this part of the space that would be free without them.
    private static let share = 4

    /// Levels that were used within this time are not removed for others. Whoever looks at two large pictures by turns would otherwise make
    /// the levels of each of them again and again.
    package static let rest = Duration.seconds(60)

    private static let temporarySuffix = ".new"

    private let path: String
    private let mostBytes: Int
    private let freeBytes: @Sendable (String) -> Int?
    private let clock: RunClock
    private let index: Mutex<CacheIndex>
    private let lastUses = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameter freeBytes: The free space of a folder's disk. Nil if it is unknown.
    package init(
        _ path: String, mostBytes: Int = mostBytes, clock: RunClock = .system,
        freeBytes: @escaping @Sendable (String) -> Int? = diskSpace
    ) {
        self.path = path
        self.mostBytes = mostBytes
        self.clock = clock
        self.freeBytes = freeBytes
        index = Mutex(CacheIndex(mostBytes: mostBytes))
    }

    package static func diskSpace(_ folder: String) -> Int? {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else { return nil }
        return Int(facts.f_bavail) * Int(facts.f_frsize)
    }

    /// Creates the folder. Removes what an earlier service has left there.
    package func open() throws(FileError) {
        close()
        _ = try FileSystem.createFolders(path, mode: 0o700)
    }

    /// Removes all files.
    package func close() {
        index.withLock { $0 = CacheIndex(mostBytes: mostBytes) }
        lastUses.withLock { $0 = [:] }
        FileSystem.removeTree(path)
    }

    // MARK: Names

    /// The folder with the levels of pictures that a worker with these roots may read. It is created.
    package func folder(for roots: [String]?) throws(FileError) -> String {
        guard let place = Self.place(roots) else {
            throw FileError(path: path, code: ENOSYS, action: "name a folder", reason: "the library has no SHA-256")
        }
        let folder = PathNames.joined(path, place)
        _ = try FileSystem.createFolders(folder, mode: 0o700)
        return folder
    }

    private static func place(_ roots: [String]?) -> String? {
        let parts = roots?.map { "\($0.utf8.count) \($0)" } ?? ["all"]
        return SHA256Stream.digest(of: Array(parts.joined(separator: "\n").utf8))
    }

    /// The path of an order's files below the store's folder.
    private static func key(of order: PictureOrder) -> String? {
        guard let place = place(order.source.roots), let name = order.name else { return nil }
        return PathNames.joined(place, name)
    }

    // MARK: Files

    package func holds(_ order: PictureOrder) -> Bool {
        guard let key = Self.key(of: order) else { return false }
        return index.withLock { $0.holds(key) }
    }

    /// The file with a picture at a scale. Nil if it is not there.
    package func file(of order: PictureOrder, scale: Int) -> String? {
        guard case .levels(let levels) = order.kind, levels.scales.contains(scale), let key = Self.key(of: order),
            index.withLock({ $0.holds(key) })
        else { return nil }
        let file = PathNames.joined(PathNames.joined(path, key), PictureLevels.fileName(scale))
        guard FileSystem.isRegular(file) else {
            // Somebody has removed it.
            forget(order)
            return nil
        }
        use(key)
        return file
    }

    private func use(_ key: String) {
        let now = clock.now
        index.withLock { $0.use(key) }
        lastUses.withLock { $0[key] = now }
    }

    /// Removes the files that were not used for the longest time, until there is room for others. Files that were used within ``rest`` stay.
    ///
    /// - Throws: ``PictureError/unavailable(_:)`` if there cannot be enough.
    package func makeRoom(for bytes: Int) throws(PictureError) {
        let held = index.withLock { $0.bytes }
        let limit = min(mostBytes, freeBytes(path).map { ($0 + held) / Self.share } ?? mostBytes)
        guard bytes <= limit else {
            throw .unavailable(
                "the picture would take \(bytes / 1_000_000) MB there, and \(limit / 1_000_000) MB are allowed\n   = a quarter of the "
                    + "disk's free space, and at most \(mostBytes / 1_000_000) MB, are used")
        }
        let (now, uses) = (clock.now, lastUses.withLock { $0 })
        let isRoom = index.withLock { index -> Result<[String], PictureError> in
            var shrunk = index
            let removed = shrunk.shrink(to: limit - bytes)
            guard !removed.contains(where: { key in uses[key].map { now < $0 + Self.rest } ?? false }) else {
                return .failure(.unavailable("somebody looks at other large pictures, and there is no room for more"))
            }
            index = shrunk
            return .success(removed)
        }
        remove(try isRoom.get())
    }

    /// Takes the files that a worker has written to its folder.
    package func adopt(_ order: PictureOrder, from work: String) throws(FileError) {
        guard case .levels(let levels) = order.kind, let name = order.name, let key = Self.key(of: order),
            let placeName = Self.place(order.source.roots)
        else { return }
        // If somebody has removed the folder, a new one would be another one than the worker for parts may read.
        let place = try SafeFolder(PathNames.joined(path, placeName))
        let worker = try SafeFolder(work)
        let temporary = name + Self.temporarySuffix
        place.removeTree(temporary)
        do throws(FileError) {
            let bytes = try Self.move(levels, from: worker, to: try place.makingFolder(temporary, mode: 0o700))
            place.removeTree(name)
            try place.rename(temporary, as: name)
            let removed = index.withLock { $0.add(key, bytes: bytes) }
            use(key)
            remove(removed)
        } catch {
            place.removeTree(temporary)
            throw error
        }
    }

    /// - Returns: the bytes of all files.
    private static func move(
        _ levels: PictureLevels, from worker: SafeFolder, to folder: SafeFolder
    ) throws(FileError) -> Int {
        var bytes = 0
        for name in levels.scales.map(PictureLevels.fileName) {
            try worker.rename(name, to: folder, as: name)
            // A worker may have become anybody's. From here it cannot replace the file any more.
            guard let status = try folder.status(of: name), status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1
            else { throw FileError(path: "\(worker.path)/\(name)", code: FileError.refusal, action: "use the picture") }
            bytes += Int(status.st_size)
        }
        return bytes
    }

    /// Removes an order's files, which are damaged or gone.
    package func forget(_ order: PictureOrder) {
        guard let key = Self.key(of: order) else { return }
        index.withLock { $0.remove(key) }
        remove([key])
    }

    private func remove(_ keys: [String]) {
        lastUses.withLock { uses in for key in keys { uses[key] = nil } }
        for key in keys { FileSystem.removeTree(PathNames.joined(path, key)) }
    }
}
