import Glibc
import JobModel

/// What keeps an input from being looked up: a folder that cannot be listed, or a link or another name that cannot be looked at.
/// What is in it, or whether it is a picture, nobody knows.
package struct UnreadableFolder: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case folder
        case link
        /// Nobody can tell what it is.
        case unknown
    }

    /// Absolute.
    let path: [UInt8]
    let kind: Kind
    /// What the system answered, as in `errno.h`.
    let code: Int32

    init(path: [UInt8], _ kind: Kind, code: Int32) {
        self.path = path
        self.kind = kind
        self.code = code
    }

    /// What keeps this user from looking at a path: the innermost folder above it that he may not look into, or the path itself,
    /// which its disk or server does not give. Nil for a path that can be looked at, or where nothing is.
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

    /// True when another user might look.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// In the words of the system.
    package var reason: String { String(cString: strerror(code)) }

    /// What is the matter with it.
    package var trouble: String {
        switch kind {
        case .folder: "the folder cannot be read: \(reason)"
        case .link where isForbidden: "leads to where this user may not look: \(reason)"
        case .link, .unknown: "cannot be looked at: \(reason)"
        }
    }

    var message: String { "\(PathText.visible(NonUTF8Name.readable(path))): \(trouble)" }
}

/// A symbolic link that leads nowhere: its target is gone, or its disk is not mounted.
package struct DeadLink: Hashable, Sendable {
    /// Absolute.
    package let link: String
    /// The link's target, made absolute.
    package let target: String

    /// The first such link on the way to a path, or at it; nil where every link leads somewhere.
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

    /// Begins with the link.
    package var message: String {
        "\(PathText.visible(link)) is a link to \(PathText.visible(target)), where nothing is"
    }
}
