import FoundationEssentials
import Glibc

/// What this process may use of its machine: affinity and control groups respected.
package enum Machine {
    /// Cores that this process may run on, at least 1.
    package static func cores() -> Int {
        let allowed = ProcessInfo.processInfo.activeProcessorCount
        return max(1, min(allowed, quota() ?? allowed))
    }

    /// Whole cores of the control group's time quota, rounded up; nil without one.
    private static func quota() -> Int? {
        guard let text = read("/sys/fs/cgroup/cpu.max") else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let time = Double(words[0]), let period = Double(words[1]), period > 0 else {
            return nil
        }
        return Int((time / period).rounded(.up))
    }

    /// Bytes of memory that this process may use.
    package static func memory() -> Int {
        let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        guard let text = read("/sys/fs/cgroup/memory.max"), let limit = Int(text.filter(\.isNumber)), limit > 0 else {
            return physical
        }
        return min(physical, limit)
    }

    /// The home folder, with or without HOME in the environment (cron may set none).
    package static func homeFolder(_ environment: [String: String]) -> String {
        if let home = environment["HOME"], home.hasPrefix("/") { return home }
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return "/" }
        return String(cString: folder)
    }

    /// The type of the filesystem that holds, or would hold, `path`: `ext4`, `nfs4`.
    ///
    /// - Parameter mounts: the text of `/proc/self/mounts`.
    package static func filesystemType(of path: String, mounts: String) -> String? {
        let candidates = mounts.split(separator: "\n").compactMap { line -> (point: String, type: String)? in
            let words = line.split(separator: " ")
            guard words.count >= 3 else { return nil }
            let point = String(words[1]).replacing("\\040", with: " ")
            let isAbove = point == "/" || path == point || path.hasPrefix(point + "/")
            return isAbove ? (point, String(words[2])) : nil
        }
        // Of two mounts at one point the later one covers the earlier.
        return candidates.enumerated().max {
            ($0.element.point.count, $0.offset) < ($1.element.point.count, $1.offset)
        }?
        .element.type
    }

    /// True when kernel locks and durable renames cannot be relied upon there, because other machines share it.
    package static func isNetworkFilesystem(_ path: String) -> Bool {
        let network: Set<String> = [
            "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs", "lustre", "gpfs", "beegfs", "glusterfs",
            "fuse.glusterfs", "fuse.sshfs", "fuse.ceph",
        ]
        let mounts = (try? String(contentsOf: URL(filePath: "/proc/self/mounts"), encoding: .utf8)) ?? ""
        return filesystemType(of: path, mounts: mounts).map(network.contains) ?? false
    }

    /// Nil where the kernel, or the container, has no such file.
    private static func read(_ path: String) -> String? {
        try? String(contentsOf: URL(filePath: path), encoding: .utf8)
    }
}
