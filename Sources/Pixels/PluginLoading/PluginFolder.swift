import CPluginTrial
import Glibc

/// A folder where plugins may lie.
package struct PluginFolder: Hashable, Sendable {
    package let path: String
    /// True for the folder beside the program, which nobody named: it may be missing or hold libraries that are no
    /// plugins, and neither is worth a word.
    package let isImplicit: Bool
    /// True when a file named it that somebody else may have written, and no setting of this user.
    package let isForeign: Bool

    package init(_ path: String, isImplicit: Bool = false, isForeign: Bool = false) {
        self.path = path
        self.isImplicit = isImplicit
        self.isForeign = isForeign
    }

    /// The paths of the files named lib….so, sorted.
    func libraries() throws(PluginProblem) -> [String] {
        guard let names = Self.names(in: path) else {
            let reason = String(cString: strerror(errno))
            if isImplicit { return [] }
            throw PluginProblem("cannot be read (\(reason)); correct the path in the list of plugin folders")
        }
        let libraries = names.filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }.sorted().map { "\(path)/\($0)" }
            .filter { !isImplicit || Self.namesEntry($0) }
        if !libraries.isEmpty { try Self.checkOwnership(of: path, isForeign: isForeign) }
        return libraries
    }

    /// Code that any user could have put there is not run in the name of this one.
    ///
    /// - Parameter isForeign: Whether libraries of other users are refused, too.
    static func checkOwnership(of path: String, isForeign: Bool) throws(PluginProblem) {
        let status = try status(of: path)
        guard status.st_mode & S_IWOTH == 0 else {
            throw PluginProblem("may be written by every user, so it is not used; run chmod o-w on it")
        }
        guard !isForeign || isOwn(status) else {
            throw PluginProblem(
                "belongs to another user (uid \(status.st_uid)), and only a shard names it, so it is not used; name its "
                    + "folder in this machine's settings if it is to be")
        }
    }

    private static func isOwn(_ status: stat) -> Bool { status.st_uid == geteuid() || status.st_uid == 0 }

    /// The same for a library, and for the folder that it really lies in when its path is a link.
    static func checkOwnership(ofLibrary path: String, isForeign: Bool) throws(PluginProblem) {
        try checkOwnership(of: path, isForeign: isForeign)
        guard let real = realpath(path, nil) else { return }
        defer { free(real) }
        let folder = String(cString: real).split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        var status = stat()
        guard stat(folder.isEmpty ? "/" : folder, &status) == 0, status.st_mode & S_IWOTH == 0 else {
            throw PluginProblem(
                "lies in \(folder), which every user may write to, so it is not used; run chmod o-w on that folder")
        }
        guard !isForeign || isOwn(status) else {
            throw PluginProblem(
                "lies in \(folder), which belongs to another user (uid \(status.st_uid)), so it is not used")
        }
    }

    private static func status(of path: String) throws(PluginProblem) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PluginProblem("cannot be read (\(String(cString: strerror(errno)))); correct or remove it")
        }
        return status
    }

    /// What is no file is not opened: a named pipe would keep whoever opens it waiting.
    static func checkIsFile(_ path: String) throws(PluginProblem) {
        guard try status(of: path).st_mode & S_IFMT == S_IFREG else {
            throw PluginProblem("is not a regular file, so it is not used; remove it, or give it another name")
        }
    }

    /// True when a file has the name of the entry in it, so that it may be a plugin; it is not opened for that.
    private static func namesEntry(_ path: String) -> Bool { file_contains(path, PluginLibrary.entryName) != 0 }

    /// Nil when the folder cannot be read; `errno` says why.
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
