import ContentNames
import Glibc
package import SafeFiles
import Synchronization

/// Pictures that were made once, as files in a folder of the service's own. All calls may block.
///
/// A file begins with a line that has the digest of its key and its bytes. A file that is damaged, or another picture's, is ignored and
/// replaced. Files with other names are left alone.
package final class PictureCache: Sendable {
    package static let mostBytes = 256 << 20
    /// Larger answers are not kept.
    package static let largestPicture = 16 << 20

    private static let mark = Array("penumbra picture 1 ".utf8)
    private static let temporarySuffix = ".new"

    private let path: String
    private let index: Mutex<CacheIndex>

    package init(_ path: String, mostBytes: Int = mostBytes) {
        self.path = path
        index = Mutex(CacheIndex(mostBytes: mostBytes))
    }

    /// Creates the folder, and finds the files of earlier services. Those that are the oldest are removed first.
    package func open() throws(FileError) {
        _ = try FileSystem.createFolders(path, mode: 0o700)
        let folder = try SafeFolder(path)
        folder.makePrivate()
        var found: [(name: String, bytes: Int, time: Int)] = []
        for name in try folder.names() {
            if name.hasSuffix(Self.temporarySuffix), Self.isName(String(name.dropLast(Self.temporarySuffix.count))) {
                folder.removeTree(name)
            }
            // A file that is gone by now is no file of the cache.
            guard Self.isName(name), let status = try? folder.status(of: name), status.st_mode & S_IFMT == S_IFREG
            else {
                continue
            }
            found.append((name, Int(status.st_size), status.st_mtim.tv_sec))
        }
        found.sort { ($0.time, $0.name) < ($1.time, $1.name) }
        let old = index.withLock { index in found.flatMap { index.add($0.name, bytes: $0.bytes) } }
        for name in old { folder.removeTree(name) }
    }

    /// Nil if the picture is not there, or its file is damaged.
    package func bytes(of order: PictureOrder) -> [UInt8]? {
        guard let name = order.name, index.withLock({ $0.holds(name) }) else { return nil }
        guard let folder = try? SafeFolder(path),
            let file = try? folder.contents(of: name, limit: Self.largestPicture + 1024),
            let bytes = Self.content(of: file, order)
        else {
            // It is made again, whatever was in the way.
            index.withLock { $0.remove(name) }
            return nil
        }
        index.withLock { $0.use(name) }
        return bytes
    }

    package func store(_ bytes: [UInt8], of order: PictureOrder) throws(FileError) {
        guard bytes.count <= Self.largestPicture, let name = order.name, let head = Self.head(of: bytes, order) else {
            return
        }
        let folder = try SafeFolder(path)
        let temporary = name + Self.temporarySuffix
        folder.removeTree(temporary)
        try folder.create(temporary, head + bytes, mode: 0o600)
        do throws(FileError) {
            try folder.rename(temporary, as: name)
        } catch {
            // A folder may have the name.
            folder.removeTree(name)
            try folder.rename(temporary, as: name)
        }
        let old = index.withLock { $0.add(name, bytes: head.count + bytes.count) }
        for name in old { folder.removeTree(name) }
    }

    // MARK: Files

    private static func isName(_ name: String) -> Bool {
        name.utf8.count == 64
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func head(of bytes: [UInt8], _ order: PictureOrder) -> [UInt8]? {
        SHA256Stream.digest(of: Array(order.key.utf8) + [0] + bytes).map { mark + Array($0.utf8) + [0x0A] }
    }

    private static func content(of file: [UInt8], _ order: PictureOrder) -> [UInt8]? {
        let length = mark.count + 65
        guard file.count > length else { return nil }
        let bytes = Array(file[length...])
        return head(of: bytes, order) == Array(file[..<length]) ? bytes : nil
    }
}
