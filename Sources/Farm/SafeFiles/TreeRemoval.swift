import Glibc

/// Removes a folder with all that is in it. Others may have made it: a worker that was taken over, for example.
///
/// It needs few descriptors and little memory, however deep the tree is and however many names a folder has. Names need not be UTF-8.
/// Folders that their owner may not open are opened. Links are removed, and not followed.
struct TreeRemoval {
    /// Each level needs a descriptor. Deeper folders are first moved up.
    private static let mostLevels = 16

    /// O_PATH, which Swift does not see: the descriptor only names what it refers to.
    private static let pathAlone: Int32 = 0o10_000_000

    /// The folder at the top of the tree.
    private let top: Int32
    /// The number of folders that were moved up.
    private var moved = 0

    /// - Parameter name: ends with a zero, and has no slash.
    static func remove(_ name: [CChar], in folder: Int32) {
        // The owner does not matter: the kernel decides whether the user may remove it.
        guard unlinkat(folder, name, 0) != 0, unlinkat(folder, name, AT_REMOVEDIR) != 0 else { return }
        let top = open(name, in: folder)
        guard top >= 0 else { return }
        var removal = TreeRemoval(top: top)
        removal.empty(top, levels: mostLevels)
        close(top)
        unlinkat(folder, name, AT_REMOVEDIR)
    }

    private init(top: Int32) { self.top = top }

    private mutating func empty(_ folder: Int32, levels: Int) {
        // A list that changes while it is read may leave names out, and folders come up.
        while pass(over: folder, levels: levels) {}
    }

    /// - Returns: whether something was removed or moved.
    private mutating func pass(over folder: Int32, levels: Int) -> Bool {
        // The stream closes its descriptor.
        guard let stream = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else { return false }
        defer { closedir(stream) }
        var hasChanged = false
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            if name.dropLast().allSatisfy({ $0 == CChar(UInt8(ascii: ".")) }), name.count <= 3 { continue }
            if removeEntry(name, of: folder, levels: levels) { hasChanged = true }
        }
        return hasChanged
    }

    private mutating func removeEntry(_ name: [CChar], of folder: Int32, levels: Int) -> Bool {
        if unlinkat(folder, name, 0) == 0 { return true }
        if errno == EACCES, fchmod(folder, 0o700) == 0, unlinkat(folder, name, 0) == 0 { return true }
        if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return true }
        guard errno == ENOTEMPTY || errno == EEXIST || errno == EACCES else { return false }
        guard levels > 0 else { return moveUp(name, of: folder) }
        let inner = Self.open(name, in: folder)
        guard inner >= 0 else { return false }
        empty(inner, levels: levels - 1)
        close(inner)
        return unlinkat(folder, name, AT_REMOVEDIR) == 0
    }

    private mutating func moveUp(_ name: [CChar], of folder: Int32) -> Bool {
        moved += 1
        return renameat(folder, name, top, ".penumbra-removed-\(getpid())-\(moved)") == 0
    }

    /// Opens a folder, also one that its owner may not open.
    private static func open(_ name: [CChar], in folder: Int32) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let inner = openat(folder, name, flags)
        guard inner < 0, errno == EACCES else { return inner }
        // Nobody can exchange what this descriptor refers to.
        let place = openat(folder, name, pathAlone | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else { return -1 }
        defer { close(place) }
        return chmod("/proc/self/fd/\(place)", 0o700) == 0 ? openat(folder, name, flags) : -1
    }
}
