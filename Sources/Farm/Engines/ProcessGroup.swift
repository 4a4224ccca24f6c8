import Glibc

/// A worker process and all that it has started.
enum ProcessGroup {
    /// Kills them. A plugin may have put its process into another group: it ends all the same.
    ///
    /// - Parameter process: the group's first one, which nobody has reaped: else its number may be another's.
    static func end(_ process: pid_t) {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
    }
}
