import Glibc
import JobModel

/// The shipped unit of systemd that has started this process. Units keep folders away that their user could use otherwise.
package struct SystemdUnit: Hashable, Sendable {
    /// `penumbra.service`
    package let name: String
    package let user: String

    package init(name: String, user: String) { (self.name, self.user) = (name, user) }

    /// Nil if no unit has started this process. The runs of a service inherit its variables.
    package static let current: SystemdUnit? = {
        guard let name = getenv("PENUMBRA_UNIT") else { return nil }
        return SystemdUnit(
            name: String(cString: name), user: getenv("USER").map { String(cString: $0) } ?? "\(geteuid())")
    }()

    private var unit: String { VisibleText.line(name) }

    /// The folders that `ProtectHome=` hides.
    private static let homes = ["/home", "/root", "/run/user"]

    /// What to know about a path that cannot be opened. Nil for paths that units do not hide.
    package func hint(about path: String) -> String? {
        guard Self.homes.contains(where: { path == $0 || PathNames.isBelow(path, $0) }) else { return nil }
        return "\(unit) may see no files in /home and /root, because of ProtectHome=: use another folder"
    }

    /// - Parameter other: what to choose in place of a folder where nothing may be written.
    func remedy(for path: String, code: Int32, orChoose other: String) -> String? {
        switch code {
        case EACCES, EPERM:
            ["let the user '\(VisibleText.line(user))' write there, or choose \(other)", hint(about: path)]
                .compactMap(\.self).joined(separator: "\n   = ")
        case EROFS:
            "let \(unit) write there: 'systemctl edit \(unit)', [Service], ReadWritePaths= with the folder\n"
                + "   = if it does already, mount the file system for writing, or choose \(other)"
        default: nil
        }
    }
}
