import FoundationEssentials
import Glibc
import JobModel

/// The part of the machine that this process may use, according to affinity and control groups.
package enum Machine {
    /// Cores that this process may run on, at least 1.
    package static func cores() -> Int {
        let allowed = ProcessInfo.processInfo.activeProcessorCount
        return max(1, min(allowed, quota() ?? allowed))
    }

    /// The tightest time quota of this process's control groups in whole cores, rounded up. Nil without one.
    private static func quota() -> Int? {
        controlGroups().compactMap { folder in
            guard let words = read("\(folder)/cpu.max")?.split(whereSeparator: \.isWhitespace), words.count == 2,
                let time = Double(words[0]), let period = Double(words[1]), period > 0
            else { return nil }
            return Int((time / period).rounded(.up))
        }.min()
    }

    /// Bytes of memory that this process may use.
    package static func memory() -> Int {
        let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let limits = controlGroups().compactMap { read("\($0)/memory.max").flatMap { Int($0.filter(\.isNumber)) } }
        return limits.filter { $0 > 0 }.reduce(physical, min)
    }

    /// The folders of the control groups of this process, the innermost first (version 2 of the interface).
    private static func controlGroups() -> [String] {
        controlGroups(membership: read("/proc/self/cgroup") ?? "")
    }

    /// - Parameter membership: The text of `/proc/self/cgroup`.
    package static func controlGroups(membership: String) -> [String] {
        let line = membership.split(separator: "\n").first { $0.hasPrefix("0::") }
        let names = line?.dropFirst(3).split(separator: "/") ?? []
        return (0...names.count).reversed().map { count in
            (["/sys/fs/cgroup"] + names.prefix(count).map(String.init)).joined(separator: "/")
        }
    }

    /// The home folder, also without HOME in the environment (cron may set none).
    package static func homeFolder(_ environment: [String: String]) -> String {
        if let home = environment["HOME"], PathNames.isAbsolute(home) { return home }
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return "/" }
        return String(cString: folder)
    }

    /// The type of the file system that contains, or would contain, `path`: `ext4`, `nfs4`.
    ///
    /// - Parameter mounts: The text of `/proc/self/mounts`.
    package static func filesystemType(of path: String, mounts: String) -> String? {
        let candidates = mounts.split(separator: "\n").compactMap { line -> (point: String, type: String)? in
            let words = line.split(separator: " ")
            guard words.count >= 3 else { return nil }
            let point = String(words[1]).replacing("\\040", with: " ")
            let isAbove = PathKey(path) == PathKey(point) || PathNames.isBelow(path, point)
            return isAbove ? (point, String(words[2])) : nil
        }
        // If two mounts have the same path, the later one hides the earlier.
        return candidates.enumerated().max {
            ($0.element.point.utf8.count, $0.offset) < ($1.element.point.utf8.count, $1.offset)
        }?
        .element.type
    }

    /// True if other machines share the file system, so that kernel locks and durable renames are not reliable.
    package static func isNetworkFilesystem(_ path: String) -> Bool {
        let network: Set<String> = [
            "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs", "lustre", "gpfs", "beegfs", "glusterfs",
            "fuse.glusterfs", "fuse.sshfs", "fuse.ceph", "fuse.rclone", "fuse.s3fs", "fuse.mountpoint-s3", "9p",
        ]
        // Without the list, no file system is known to be one of a network.
        let mounts = read("/proc/self/mounts") ?? ""
        return filesystemType(of: path, mounts: mounts).map(network.contains) ?? false
    }

    /// Reads a file of the kernel, whose size is not known before. Nil if it is not there or cannot be read.
    ///
    /// Every command reads some of these files when it starts. Foundation would take a millisecond for them.
    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while true {
            let part = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = fread(buffer.baseAddress, 1, buffer.count, file)
            }
            if part.isEmpty { break }
            bytes += part
        }
        // A name may have bytes that are no UTF-8. They are replaced, so that all other lines count.
        return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
