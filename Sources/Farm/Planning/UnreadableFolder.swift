import Glibc
import JobModel

/// The reason why an input cannot be looked up: a folder that cannot be listed, or a link or another name that cannot
/// be inspected. Its contents, or its kind, are unknown.
package struct UnreadableFolder: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case folder
        case link
        /// The kind of the entry is unknown.
        case unknown
    }

    /// Absolute.
    let path: [UInt8]
    let kind: Kind
    /// The system's error, as in `errno.h`.
    let code: Int32

    init(path: [UInt8], _ kind: Kind, code: Int32) {
        self.path = path
        self.kind = kind
        self.code = code
    }

    /// The reason why this user cannot inspect a path: the innermost folder above it that the user may not search, or
    /// the path itself, if its disk or server does not answer. Nil if the path can be inspected, or if nothing exists
    /// there.
    package init?(hiding path: [UInt8]) {
        guard let code = FileKind.trouble(at: path) else { return nil }
        guard code == EACCES else {
            self.init(path: path, .unknown, code: code)
            return
        }
        var folder = PathBytes.folder(of: path)
        while folder != [PathBytes.slash], FileKind.trouble(at: folder) == EACCES {
            folder = PathBytes.folder(of: folder)
        }
        self.init(path: folder, .folder, code: code)
    }

    /// True if another user may be allowed to inspect it.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// The error in the system's words.
    package var reason: String { String(cString: strerror(code)) }

    /// The problem, without the path.
    package var trouble: String {
        switch kind {
        case .folder: "the folder cannot be read: \(reason)"
        case .link where isForbidden: "leads to a folder that this user may not read: \(reason)"
        case .link, .unknown: "cannot be examined: \(reason)"
        }
    }

    var message: String { "\(PathText.visible(NonUTF8Name.readable(path))): \(trouble)" }
}

/// A symbolic link whose target does not exist: it was removed, or its disk is not mounted.
package struct DeadLink: Hashable, Sendable {
    /// Absolute.
    package let link: String
    /// The link's target, made absolute.
    package let target: String

    /// The first such link at a path or on the way to it. Nil if every link has a target.
    package init?(onWayTo path: String) {
        var way = ""
        for name in PathText.components(path) {
            way += "/\(name)"
            guard let target = Self.target(of: way), FileKind(of: way) == nil else { continue }
            link = way
            self.target = PathText.normalized(target, in: PathText.folder(of: way))
            return
        }
        return nil
    }

    private static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : NonUTF8Name.readable(bytes.prefix(count).map { UInt8(bitPattern: $0) })
    }

    /// A message that begins with the link.
    package var message: String {
        "\(PathText.visible(link)) is a link to \(PathText.visible(target)), which does not exist"
    }
}
