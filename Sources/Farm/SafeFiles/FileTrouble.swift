import Glibc
import JobModel

/// An error of a file: what the file system answered, or why Penumbra does not believe the file.
package struct FileTrouble: Error, Hashable, Sendable {
    package let path: String
    /// The file system's error number. A file that was refused has ``refusal``.
    package let code: Int32
    /// What was tried: `create the folder`, …
    package let action: String
    /// Why a file was refused, in place of the file system's own words.
    package let reason: String?
    /// What to do, where neither more space nor another place would help.
    package let remedy: String?

    /// The code of files that are refused for what they are: links, pipes, other users' files.
    package static let refusal = EPERM

    package init(path: String, code: Int32, action: String, reason: String? = nil, remedy: String? = nil) {
        self.path = path
        self.code = code
        self.action = action
        self.reason = reason
        self.remedy = remedy
    }

    /// True when no other file could be written here either.
    package var concernsStorage: Bool { [ENOSPC, EROFS, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, ESTALE].contains(code) }

    /// True when this user may not do it.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// With the remedy, if there is one, on a line of its own.
    package var message: String { problem + (remedy.map { "\n   = \($0)" } ?? "") }

    /// The same where problems are listed, one a line.
    package var line: String { problem + (remedy.map { "; \($0)" } ?? "") }

    private var problem: String {
        "\(VisibleText.line(path)): cannot \(action): \(reason ?? String(cString: strerror(code)))"
    }
}
