import Glibc

/// What the file system answered, as it is told to the user and as the run acts on it.
package struct FileTrouble: Error, Hashable, Sendable {
    package let path: String
    package let code: Int32
    /// What was tried: `create the folder`, …
    package let action: String
    /// What to do, where neither more space nor another place would help.
    package let remedy: String?

    package init(path: String, code: Int32, action: String, remedy: String? = nil) {
        self.path = path
        self.code = code
        self.action = action
        self.remedy = remedy
    }

    /// True when no other file could be written here either.
    package var isPlace: Bool { [ENOSPC, EROFS, EDQUOT, EIO, EMFILE, ENFILE].contains(code) }

    /// True when this user may not do it.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// With the remedy, if there is one, on a line of its own.
    package var message: String {
        "\(path): cannot \(action): \(String(cString: strerror(code)))" + (remedy.map { "\n   = \($0)" } ?? "")
    }
}
