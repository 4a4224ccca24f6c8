import Glibc

/// What this process may use of its machine: affinity and control groups respected.
package enum Machine {
    /// Cores that this process may run on, at least 1.
    package static func cores() -> Int {
        var set = cpu_set_t()
        let known = sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0
        let allowed = known ? withUnsafeBytes(of: &set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } } : 1
        return max(1, min(allowed, quota() ?? allowed))
    }

    /// Whole cores of the control group's time quota, rounded up; nil without one.
    private static func quota() -> Int? {
        guard let text = read("/sys/fs/cgroup/cpu.max") else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let time = Double(words[0]), let period = Double(words[1]), period > 0 else { return nil }
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

    /// True when the filesystem at `path`, or where it would be created, is one of a network.
    package static func isNetworkFilesystem(_ path: String) -> Bool {
        var facts = statfs()
        var folder = path
        while statfs(folder, &facts) != 0, let slash = folder.lastIndex(of: "/") {
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
            if folder == "/" { break }
        }
        // NFS, SMB, CIFS, SMB2, Ceph, AFS, Lustre, FUSE.sshfs cannot be told from other FUSE.
        let network: Set<UInt32> = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x00c3_6400, 0x5346_414f, 0x0bd0_0bd0]
        return network.contains(UInt32(truncatingIfNeeded: facts.f_type))
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [CChar](repeating: 0, count: 256)
        guard fgets(&bytes, Int32(bytes.count), file) != nil else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
