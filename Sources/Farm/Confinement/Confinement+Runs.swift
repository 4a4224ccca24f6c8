import JobModel
import Planning

extension Confinement {
    /// The places of this machine that a run with all its workers needs, whatever its job is.
    ///
    /// - Parameters:
    ///   - environment: The variables of the run: the user may have fonts at home, and libraries at another place.
    ///   - mappings: The text of `/proc/self/maps` of one of Penumbra's programs. The others use the same libraries, such
    ///     as those of Swift, wherever these are installed.
    package static func system(environment: [String: String], mappings: String) -> Confinement {
        let home = environment["HOME"].map { home in
            [".config/fontconfig", ".local/share/fonts", ".fonts", ".cache/fontconfig"].map {
                PathNames.joined(home, $0)
            }
        }
        let libraries = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = systemFolders + (home ?? []) + libraries + libraryFolders(mappings: mappings)
        return Confinement(
            readable: (folders + systemFiles).filter { PathNames.isAbsolute($0) && $0 != "/" }.map {
                Place($0, .system)
            },
            writable: [Place("/dev/null", .system)])
    }

    /// The folders of the libraries that a process has mapped, sorted.
    package static func libraryFolders(mappings: String) -> [String] {
        let folders = mappings.split(separator: "\n").compactMap { line -> PathKey? in
            // 7f43-7f44 r-xp 00000000 08:01 1234    /opt/swift/usr/lib/swift/linux/libswiftCore.so
            guard let start = line.utf8.firstIndex(of: PathNames.slash) else { return nil }
            let path = String(line[start...])
            guard PathNames.last(of: path).contains(".so") else { return nil }
            return PathNames.folder(of: path).map { PathKey($0) }
        }
        return Set(folders).sorted().map(\.path)
    }

    private static let systemFolders = [
        // Programs, libraries, modules of libvips, fonts, time zones, tables of poppler and of the C library.
        "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin",
        // Links to chosen versions of libraries, and the fonts' settings.
        "/etc/alternatives", "/etc/fonts", "/var/cache/fontconfig", "/etc/ld.so.conf.d",
        // Each process looks at itself there, and at the machine. The kernel shows a confined process nothing of the
        // memory, environment and open files of others.
        "/proc",
        // The memory limits of control groups, and the layout of the processors.
        "/sys/fs/cgroup", "/sys/devices/system",
    ]

    private static let systemFiles = [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone",
        "/etc/locale.alias", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/ssl/openssl.cnf",
        "/dev/urandom", "/dev/random", "/dev/zero",
    ]

    /// The places of one run beside those of the system.
    ///
    /// The run needs `TMPDIR` to name a folder that it may write to. `/tmp` is not among its places.
    package struct RunPlaces: Hashable, Sendable {
        /// The folder of the programs, with the plugins beside them.
        package var programs: String
        package var stateFolder: String
        /// The scratch folder of the settings, and the folder that `TMPDIR` names, unless they are in the state folder.
        package var scratch: [String]
        /// Files and folders that may be missing: the config file, the worker if it is elsewhere, plugin folders, and a
        /// manifest that the service keeps.
        package var readable: [String]
        /// As ``RootCheck`` gives them.
        package var roots: [String]

        package init(
            programs: String, stateFolder: String, scratch: [String] = [], readable: [String] = [], roots: [String]
        ) {
            self.programs = programs
            self.stateFolder = stateFolder
            self.scratch = scratch
            self.readable = readable
            self.roots = roots
        }
    }

    /// Resolves links in the paths of settings now. Roots are real paths already: a link in one of them would have been
    /// made by somebody who can write there.
    package init(_ run: RunPlaces) {
        self.init(
            readable: [Place(realPath(run.programs))]
                + run.readable.map { Place(realPath($0), .exactIfPresent) },
            writable: ([run.stateFolder] + run.scratch).map { Place(realPath($0)) } + run.roots.map { Place($0) })
    }

    /// The arguments of `penumbra confined` for this confinement, and a command. The program adds the places of the
    /// system.
    package func arguments(for command: [String]) -> [String] {
        readable.flatMap { [$0.kind == .exact ? "--read" : "--read-if-present", $0.path] }
            + writable.flatMap { ["--write", $0.path] } + ["--"] + command
    }
}
