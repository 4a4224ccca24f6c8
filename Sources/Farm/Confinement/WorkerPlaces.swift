import CConfinement
import Glibc
import JobModel
import Planning

/// The files and folders that a worker can open by their paths. It reads all of them, and writes only in the folders for its outputs.
///
/// The pictures of its tasks are not among them, because the coordinator hands these over as open files.
package struct WorkerPlaces: Hashable, Sendable {
    /// What the settings name, and the folder of the run's tiles: absolute paths of files and folders. One that is missing is left out.
    package private(set) var named: [String]
    /// The folders of plugins.
    package var plugins: [String]
    /// The folders in which it creates outputs that are folders.
    package let writable: [String]

    package init(named: [String] = [], plugins: [String] = [], writable: [String] = []) {
        self.named = named
        self.plugins = plugins
        self.writable = writable
    }

    /// - Parameters:
    ///   - reading: paths, separated by `:`, as in ``SandboxMode/readVariable``.
    ///   - writing: likewise, as in ``SandboxMode/folderVariable``.
    package init(reading: String, writing: String) {
        self.init(named: Self.paths(reading), writable: Self.paths(writing).filter { $0 != "/" })
    }

    private static func paths(_ list: String) -> [String] {
        list.split(separator: ":").map(String.init).filter(PathNames.isAbsolute)
    }

    /// Removes named files and folders that every user may write to: somebody could put another file there. Also removes the folder of
    /// everything.
    ///
    /// - Returns: a reason for each, as the end of a sentence.
    mutating func removeUnfit() -> [String] {
        var reasons: [String] = []
        named.removeAll { path in
            var status = stat()
            let shown = VisibleText.line(path)
            if Confinement.isEverything(path) {
                reasons.append(
                    "'\(shown)' in 'sandbox_read' is all there is, so workers do not read it; name what they need")
            } else if stat(path, &status) == 0, [S_IFDIR, S_IFREG].contains(status.st_mode & S_IFMT),
                status.st_mode & S_IWOTH != 0
            {
                reasons.append(
                    "every user may write to '\(shown)', which 'sandbox_read' names, so workers do not read it; run chmod o-w on it"
                )
            } else {
                return false
            }
            return true
        }
        return reasons
    }

    /// The named files and folders that cannot be read, with the reasons.
    package var unreadable: [String] {
        named.compactMap { path in
            access(path, R_OK) == 0
                ? nil
                : "'\(VisibleText.line(path))' in 'sandbox_read' cannot be read (\(String(cString: strerror(errno)))); correct the path"
        }
    }

    /// All of them but the folders of loaded libraries, and ``ofThisProcess``.
    ///
    /// - Parameter variable: reads a variable of the environment. The user may have fonts at home, and libraries elsewhere.
    package func all(variable: (String) -> String?) -> [String] {
        let folders = [
            ("HOME", [".config/fontconfig", ".local/share/fonts", ".fonts", ".cache/fontconfig"]),
            ("XDG_CONFIG_HOME", ["fontconfig"]), ("XDG_DATA_HOME", ["fonts"]), ("XDG_CACHE_HOME", ["fontconfig"]),
            ("FONTCONFIG_PATH", [""]), ("FONTCONFIG_FILE", [""]),
        ].flatMap { name, folders in
            variable(name).map { base in folders.map { $0.isEmpty ? base : PathNames.joined(base, $0) } } ?? []
        }
        let libraries = (variable("LD_LIBRARY_PATH") ?? "").split(separator: ":").map(String.init)
        return (Self.system + libraries + folders + plugins + named)
            .filter { PathNames.isAbsolute($0) && $0 != "/" }
    }

    /// What a process reads of itself. A rule that another process makes of these paths names the files of that one.
    static let ofThisProcess = [
        "maps", "status", "stat", "statm", "timers", "limits", "auxv", "cgroup", "comm", "fd", "fdinfo",
    ].map { "/proc/self/\($0)" }

    static let system = [
        // Libraries, the modules of libvips, tables of the C library.
        "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/lib", "/lib32", "/lib64",
        "/etc/alternatives",
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
        // Fonts, tables of poppler, time zones, translations.
        "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig", "/etc/localtime",
        "/etc/timezone",
        "/etc/locale.alias", "/etc/ssl/openssl.cnf",
        // What the C library asks of the machine.
        "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems",
        "/proc/sys/vm/overcommit_memory",
        "/sys/devices/system/cpu", "/sys/devices/system/node", "/dev/null", "/dev/zero", "/dev/urandom",
    ]
}

extension Confinement {
    static let readingAlone = CONFINEMENT_READ_FILE | CONFINEMENT_READ_FOLDER

    /// Whether a path leads to the folder of everything, by whatever name.
    static func isEverything(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && isEverything(status)
    }

    private static func isEverything(_ status: stat) -> Bool {
        var root = stat()
        return stat("/", &root) == 0 && root.st_dev == status.st_dev && root.st_ino == status.st_ino
    }

    /// Makes rules that let a thread read and write nothing but some places. Open files stay as they are.
    ///
    /// - Parameter places: absolute paths. Those that are missing are left out.
    /// - Returns: a descriptor of the rules, or a negative error code if the kernel cannot do it.
    static func makeRules(toRead places: [String], toWrite folders: [String]) -> Int32 {
        guard case .version(let version) = Landlock.support else { return min(confinement_version(), -EOPNOTSUPP) }
        let rules = confinement_make_rules(handled(version))
        guard rules >= 0 else { return rules }
        var code = allow(rules, toRead: places)
        for folder in folders where code >= 0 { code = allow(rules, folder, writing & handled(version)) }
        if code >= 0 { code = confinement_allow_libraries(rules, readingAlone) }
        guard code < 0 else { return rules }
        close(rules)
        return code
    }

    /// - Returns: 0, or a negative error code.
    static func allow(_ rules: Int32, toRead places: [String]) -> Int32 {
        for place in places {
            let code = allow(rules, place, readingAlone)
            guard code >= 0 else { return code }
        }
        return 0
    }

    private static func allow(_ rules: Int32, _ place: String, _ rights: UInt64) -> Int32 {
        // A place that cannot be opened cannot be read either. Links in paths are the user's own or root's.
        let opened = confinement_open(place, 1)
        guard opened >= 0 else { return 0 }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0, !isEverything(status) else { return 0 }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        // Everybody could put files of others there, by second names. The worker's own folders are closed to others.
        guard !isFolder || status.st_mode & S_IWOTH == 0 else { return 0 }
        let code = confinement_allow(rules, opened, isFolder ? rights : CONFINEMENT_READ_FILE)
        // Some files have no place in a hierarchy of folders, so no rule can name them.
        return code == -EBADFD ? 0 : code
    }
}
