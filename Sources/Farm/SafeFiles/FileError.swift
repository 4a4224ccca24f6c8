import Glibc
import JobModel

/// An error of a file: the file system's answer, or the reason why Penumbra does not trust the file.
package struct FileError: Error, Hashable, Sendable {
    package let path: String
    /// The file system's error number. A file that was refused has ``refusal``.
    package let code: Int32
    /// The action that failed: `create the folder`, …
    package let action: String
    /// The reason why a file was refused. It replaces the file system's own words.
    package let reason: String?
    /// The remedy, if neither more space nor another disk would help.
    package let remedy: String?

    /// The code of files that are refused for their kind or owner: links, pipes, other users' files.
    package static let refusal = EPERM

    package init(path: String, code: Int32, action: String, reason: String? = nil, remedy: String? = nil) {
        self.path = path
        self.code = code
        self.action = action
        self.reason = reason
        self.remedy = remedy
    }

    /// True if no other file could be written here either.
    package var concernsStorage: Bool { [ENOSPC, EROFS, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, ESTALE].contains(code) }

    /// True if this user lacks permission.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// The action of ``WritableFolder``, which fails if the folder's rights forbid new files.
    static let writeInFolder = "write in the folder"

    private static let groupRemedy = "to let a group write there: chgrp GROUP FOLDER && chmod g+rwxs FOLDER"

    /// The name of the user whose rights count, or the number of a user without a name.
    private static let user: String = {
        guard let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name else { return "\(geteuid())" }
        return String(cString: name)
    }()

    /// What to do about a place that the user has chosen.
    ///
    /// - Parameter other: what to choose instead: `another output path`.
    package func remedy(orChoose other: String) -> String? { remedy(orChoose: other, in: .current) }

    /// - Parameter unit: the unit of systemd that this process belongs to.
    package func remedy(orChoose other: String, in unit: SystemdUnit?) -> String? {
        if let remedy = unit?.remedy(for: path, code: code, orChoose: other) { return remedy }
        return switch code {
        case ENOTDIR: "something that is no folder is in its place: move it away, or choose \(other)"
        case EACCES, EPERM:
            "let the user '\(VisibleText.line(Self.user))' write there, or choose \(other)"
                + (action == Self.writeInFolder ? "\n   = \(Self.groupRemedy)" : "")
        case EROFS: "its file system is read-only: mount it for writing, or choose \(other)"
        default: nil
        }
    }

    /// The message, and if the error has no remedy of its own, the one of ``remedy(orChoose:)``.
    package func message(orChoose other: String) -> String {
        message + (remedy == nil ? self.remedy(orChoose: other).map { "\n   = \($0)" } ?? "" : "")
    }

    /// The problem, and the remedy on a line of its own if there is one.
    package var message: String { problem + (remedy.map { "\n   = \($0)" } ?? "") }

    /// The same on one line, for lists of problems.
    package var line: String { problem + (remedy.map { "; \($0)" } ?? "") }

    private var problem: String { "\(VisibleText.line(path)): cannot \(action): \(cause)" }

    /// Why the action failed, without the path.
    package var cause: String { reason ?? String(cString: strerror(code)) }
}
