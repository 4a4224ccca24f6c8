import Glibc

/// What the file system answered, as it is told to the user and as the run acts on it.
package struct FileTrouble: Error, Hashable, Sendable {
    package let path: String
    package let code: Int32
    /// What was tried: `create the folder`, …
    package let action: String

    package init(path: String, code: Int32, action: String) {
        self.path = path
        self.code = code
        self.action = action
    }

    /// True when no other file could be written here either.
    package var isPlace: Bool { [ENOSPC, EROFS, EDQUOT, EIO, EMFILE, ENFILE].contains(code) }

    package var message: String { "\(path): cannot \(action): \(String(cString: strerror(code)))" }
}
