import Glibc

/// Whose process is at the other end of a Unix domain socket, as the kernel says (`SO_PEERCRED`).
///
/// It has the layout of `struct ucred`, which glibc does not show without `_GNU_SOURCE`.
struct PeerCredentials: Hashable, Sendable {
    var pid: pid_t = 0
    var uid: uid_t = .max
    var gid: gid_t = .max

    static let optionName = SO_PEERCRED

    /// The service's own user, and root.
    var isAdmin: Bool { uid == 0 || uid == geteuid() }
}
