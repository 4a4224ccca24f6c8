import CPluginTrial
import Catalogs
import Digests
import Glibc

/// A folder for plugins.
package struct PluginFolder: Hashable, Sendable {
    package let path: String
    /// Whether it is the default folder beside the program. It may be missing, or contain other libraries; neither is
    /// reported.
    package let isImplicit: Bool
    /// Whether another user's file may have named it, and no setting of this user does.
    package let isForeign: Bool

    package init(_ path: String, isImplicit: Bool = false, isForeign: Bool = false) {
        self.path = path
        self.isImplicit = isImplicit
        self.isForeign = isForeign
    }

    /// The paths of the files named lib….so, sorted.
    func libraries() throws(PluginError) -> [String] {
        guard let names = Self.names(in: path) else {
            let reason = String(cString: strerror(errno))
            if isImplicit { return [] }
            throw PluginError("cannot be read (\(reason)); correct the path in the list of plugin folders")
        }
        let libraries = names.filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }.sorted().map { "\(path)/\($0)" }
            .filter { !isImplicit || Self.namesEntry($0) }
        if !libraries.isEmpty { try Self.checkOwnership(of: path, isForeign: isForeign) }
        return libraries
    }

    /// Refuses code that another user could have written, because it would run with the rights of this user.
    ///
    /// - Parameter isForeign: whether libraries of other users are refused, too.
    static func checkOwnership(of path: String, isForeign: Bool) throws(PluginError) {
        let status = try status(of: path)
        guard status.st_mode & S_IWOTH == 0 else {
            throw PluginError("may be written by every user, so it is not used; run chmod o-w on it")
        }
        guard !isForeign || isOwn(status) else {
            throw PluginError(
                "belongs to another user (uid \(status.st_uid)), and only a shard names it, so it is not used; name its "
                    + "folder in this machine's settings if it is to be")
        }
    }

    private static func isOwn(_ status: stat) -> Bool { status.st_uid == geteuid() || status.st_uid == 0 }

    /// The same for a library, and for the real folder of the library if its path is a link.
    static func checkOwnership(ofLibrary path: String, isForeign: Bool) throws(PluginError) {
        try checkOwnership(of: path, isForeign: isForeign)
        guard let real = realpath(path, nil) else { return }
        defer { free(real) }
        let folder = String(cString: real).split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        var status = stat()
        guard stat(folder.isEmpty ? "/" : folder, &status) == 0, status.st_mode & S_IWOTH == 0 else {
            throw PluginError(
                "lies in \(folder), which every user may write to, so it is not used; run chmod o-w on that folder")
        }
        guard !isForeign || isOwn(status) else {
            throw PluginError(
                "lies in \(folder), which belongs to another user (uid \(status.st_uid)), so it is not used")
        }
    }

    private static func status(of path: String) throws(PluginError) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PluginError("cannot be read (\(String(cString: strerror(errno)))); correct or remove it")
        }
        return status
    }

    /// Throws an error unless the file is a regular file. Opening a named pipe would block.
    static func checkIsFile(_ path: String) throws(PluginError) {
        guard try status(of: path).st_mode & S_IFMT == S_IFREG else {
            throw PluginError("is not a regular file, so it is not used; remove it, or give it another name")
        }
    }

    /// Whether a file names the entry function, so that it may be a plugin. The library is not opened.
    private static func namesEntry(_ path: String) -> Bool { file_names_symbol(path, PluginLibrary.entryName) != 0 }

    /// Returns nil if the folder cannot be read; `errno` has the reason.
    private static func names(in path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return names
    }
}

/// A library that may be opened as a plugin.
struct Candidate {
    let path: String
    /// Whether it is in the default folder.
    let isImplicit: Bool
    /// See ``PluginFolder/isForeign``.
    let isForeign: Bool
    /// The name that the system's loader opens; messages show ``path``.
    var openName: String

    init(path: String, isImplicit: Bool = false, isForeign: Bool = false) {
        self.isForeign = isForeign
        self.path = path
        self.isImplicit = isImplicit
        openName = path
    }

    enum Permission {
        case given(Candidate)
        case noPin(UnpinnedPlugin)
    }

    /// Checks everything that can be checked without opening the library. Throws an error if it must not be opened.
    func permission(by policy: PluginPolicy) throws(PluginError) -> Permission {
        try PluginFolder.checkIsFile(path)
        try PluginFolder.checkOwnership(ofLibrary: path, isForeign: isForeign)
        if let file = try policy.pinnedFile(path) {
            var candidate = self
            candidate.openName = file.name
            return .given(candidate)
        }
        guard policy.isPinnedOnly else { return .given(self) }
        return .noPin(UnpinnedPlugin(path: path, sha256: SHA256.digest(ofFile: path) ?? ""))
    }
}

/// The opened file of a library that has a pin. The loader opens the same file that was compared, even if its path has changed
/// since.
struct PinnedFile {
    private let descriptor: Int32
    /// Nil if the file cannot be read.
    let sha256: String?

    /// Returns nil if there is no such file.
    init?(_ path: String) {
        // The file may have been replaced by a pipe after it was checked.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        sha256 = SHA256.digest(ofDescriptor: descriptor)
    }

    /// The name by which this process, and its children before they run another program, can open the file. The file is never
    /// closed, because the loader would confuse it with another file of the same name.
    var name: String { "/proc/self/fd/\(descriptor)" }

    /// Closes a file that is not used.
    func close() { Glibc.close(descriptor) }
}

/// The policy for libraries that may be used as plugins, in addition to owners and permissions.
package struct PluginPolicy: Hashable, Sendable {
    /// A file name, and the SHA-256 that a file of that name must have, in lowercase hexadecimal digits.
    package struct Pin: Hashable, Sendable {
        package let file: String
        package let sha256: String

        package init(file: String, sha256: String) {
            self.file = file
            self.sha256 = sha256
        }
    }

    package let pins: [Pin]
    /// Whether a library without a pin is refused.
    package let isPinnedOnly: Bool

    package init(pins: [Pin] = [], isPinnedOnly: Bool = false) {
        self.pins = pins
        self.isPinnedOnly = isPinnedOnly
    }

    /// The files with pins that are not among `paths`, each once: they are misspelled or missing.
    func pinsWithoutFile(_ paths: [String]) -> [String] {
        var names = Set(paths.map(Self.name))
        return pins.map(\.file).filter { names.insert($0).inserted }
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The opened file of a library that has a pin; nil if it has none.
    ///
    /// - Throws: an error if its content does not have the pinned digest.
    func pinnedFile(_ path: String) throws(PluginError) -> PinnedFile? {
        let name = Self.name(of: path)
        let pins = pins.filter { $0.file == name }
        guard !pins.isEmpty else { return nil }
        guard let file = PinnedFile(path), let found = file.sha256 else {
            throw PluginError("cannot be read, so its pin cannot be compared; correct its permissions")
        }
        guard pins.contains(where: { $0.sha256 == found }) else {
            file.close()
            throw PluginError(
                "is not the file that was pinned: its SHA-256 is \(found); put that file back, or pin this one")
        }
        return file
    }
}
