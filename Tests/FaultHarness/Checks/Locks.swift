import Glibc

/// The kernel's locks on a job and its folder of outputs.
enum Locks {
    /// Paths that some process has locked.
    static func held(in workspace: Workspace) -> [String] {
        let folder = "\(workspace.stateFolder)/locks"
        let paths = Folder.names(folder).map { "\(folder)/\($0)" } + [workspace.outputs]
        return paths.filter { path in
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            // Closing it gives a lock back that was free.
            defer { close(file) }
            return flock(file, LOCK_EX | LOCK_NB) != 0
        }
    }
}
