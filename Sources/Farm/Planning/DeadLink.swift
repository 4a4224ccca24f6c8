import Glibc
import JobModel

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
