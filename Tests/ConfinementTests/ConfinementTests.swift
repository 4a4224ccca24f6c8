import Confinement
import Foundation
import Glibc
import JobModel
import TestSupport
import Testing

/// Whether this machine's kernel can confine processes.
let hasLandlock = if case .version = Landlock.support { true } else { false }

/// Threads of this process are confined for real. A confined thread ends with its test, and others keep their rights.
@Suite(.enabled(if: hasLandlock, "this kernel has no Landlock")) struct ConfinementTests {
    private let temporary: TemporaryFolder
    private let top: String

    init() throws {
        temporary = try TemporaryFolder()
        top = RealPath.resolve(temporary.path)
        for name in ["read", "write/sub", "other"] {
            try FileManager.default.createDirectory(atPath: "\(top)/\(name)", withIntermediateDirectories: true)
        }
        for name in ["read", "write", "write/sub", "other"] {
            try Data("words".utf8).write(to: URL(filePath: "\(top)/\(name)/file"))
        }
    }

    private var confinement: Confinement {
        var all = Confinement.system(environment: [:], mappings: "")
        all.add(Confinement(readable: [.init("\(top)/read")], writable: [.init("\(top)/write")]))
        return all
    }

    /// What a body finds on a thread that is confined first.
    private func confined<Found: Sendable>(
        _ confinement: Confinement? = nil, _ body: @escaping @Sendable (String) -> Found
    ) async throws -> Found {
        let (confinement, top) = (confinement ?? self.confinement, top)
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Found, any Error>) in
            Thread.detachNewThread {
                do throws(ConfinementError) {
                    try confinement.restrictThread()
                    continuation.resume(returning: body(top))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// The error number of opening each path, 0 if it opens.
    private func opening(_ paths: [String], _ flags: Int32) async throws -> [Int32] {
        try await confined { top in
            paths.map { path in
                let file = open(path.utf8.first == PathNames.slash ? path : "\(top)/\(path)", flags | O_CLOEXEC, 0o644)
                guard file >= 0 else { return errno }
                close(file)
                return 0
            }
        }
    }

    // MARK: Files

    @Test func `files below the folders open, and others do not`() async throws {
        #expect(
            try await opening(["read/file", "write/file", "write/sub/file", "other/file", "."], O_RDONLY)
                == [0, 0, 0, EACCES, EACCES])
    }

    @Test func `only files below the writable folders can be changed`() async throws {
        #expect(
            try await opening(
                ["write/file", "write/sub/new", "read/file", "read/new", "other/file", "other/new", "/dev/null"],
                O_RDWR | O_CREAT)
                == [0, 0, EACCES, EACCES, EACCES, EACCES, 0])
        #expect(try Data(contentsOf: URL(filePath: "\(top)/read/file")) == Data("words".utf8))
    }

    @Test func `links, dots and other names of the root folder lead nowhere`() async throws {
        symlink("../other/file", "\(top)/write/link")
        symlink("../other", "\(top)/read/folder")
        #expect(
            try await opening(
                [
                    "write/link", "read/folder/file", "write/../other/file", "/proc/self/root\(top)/other/file",
                    "/proc/self/cwd/../../../../..\(top)/other/file", "/proc/1/root\(top)/other/file",
                ], O_RDONLY
            ).allSatisfy { $0 == EACCES || $0 == ENOENT })
        #expect(try await opening(["write/link"], O_WRONLY) == [EACCES])
    }

    @Test func `a file or a folder that is exchanged for a link afterwards leads nowhere`() async throws {
        let (confined, exchanged) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let top = top
        Thread.detachNewThread {
            confined.wait()
            unlink("\(top)/write/file")
            symlink("../other/file", "\(top)/write/file")
            rename("\(top)/write/sub", "\(top)/write/gone")
            symlink("\(top)/other", "\(top)/write/sub")
            exchanged.signal()
        }
        let codes = try await self.confined { top in
            confined.signal()
            exchanged.wait()
            return ["file", "sub/file", "gone/file"].map { name in
                let file = open("\(top)/write/\(name)", O_RDWR | O_CLOEXEC)
                guard file >= 0 else { return errno }
                close(file)
                return 0
            }
        }
        #expect(codes == [EACCES, EACCES, 0])
    }

    @Test func `a confined thread makes no links`() async throws {
        #expect(try await confined { symlink("file", "\($0)/write/link") == 0 ? 0 : errno } == EACCES)
    }

    @Test func `files move between writable folders, and not out of them or into them`() async throws {
        let codes = try await confined { top in
            [
                ("write/file", "write/sub/moved"), ("write/sub/moved", "other/moved"), ("read/file", "write/taken"),
                ("other/file", "write/taken"),
            ]
            .map { rename("\(top)/\($0)", "\(top)/\($1)") == 0 ? 0 : errno }
        }
        #expect(codes[0] == 0)
        #expect(codes.dropFirst().allSatisfy { $0 == EACCES || $0 == EXDEV })
    }

    @Test func `a hard link takes no file into a writable folder`() async throws {
        let codes = try await confined { top in
            ["other/file", "read/file", "write/file"].map {
                link("\(top)/\($0)", "\(top)/write/sub/hard") == 0 ? 0 : errno
            }
        }
        #expect(codes[0] == EACCES || codes[0] == EXDEV)
        #expect(codes[1] == EACCES || codes[1] == EXDEV)
        #expect(codes[2] == 0)
    }

    @Test func `folders are made and removed in writable folders alone`() async throws {
        let codes = try await confined { top in
            [
                mkdir("\(top)/write/new", 0o755), rmdir("\(top)/write/new"), mkdir("\(top)/other/new", 0o755),
                unlink("\(top)/other/file"), truncate("\(top)/read/file", 0),
            ]
            .map { $0 == 0 ? "done" : "refused" }
        }
        #expect(codes == ["done", "done", "refused", "refused", "refused"])
    }

    @Test func `programs start from readable folders, and not from writable ones`() async throws {
        for name in ["read/true", "write/true"] {
            try FileManager.default.copyItem(atPath: RealPath.resolve("/bin/true"), toPath: "\(top)/\(name)")
        }
        #expect(try await started(["read/true"]) == 0)
        #expect(try await started(["write/true"]) == EACCES)
    }

    @Test func `what a confined thread starts is confined, too`() async throws {
        #expect(try await started(["/bin/grep", "-qs", "words", "other/file"]) == 2)
        #expect(try await started(["/bin/grep", "-qs", "words", "read/file"]) == 0)
    }

    /// The exit code of a command, or the error number of its start. Words with a slash are paths.
    private func started(_ command: [String]) async throws -> Int32 {
        try await confined { top in
            let words = command.map { $0.contains("/") && $0.first != "/" ? "\(top)/\($0)" : $0 }
            var arguments = words.map { strdup($0) } + [nil]
            defer { for argument in arguments { free(argument) } }
            var process = pid_t()
            let code = posix_spawn(&process, words[0], nil, nil, &arguments, nil)
            guard code == 0 else { return code }
            var status: Int32 = 0
            waitpid(process, &status, 0)
            return (status >> 8) & 0xff
        }
    }

    @Test func `other threads keep their rights`() async throws {
        #expect(try await opening(["other/file"], O_RDONLY) == [EACCES])
        #expect(try Data(contentsOf: URL(filePath: "\(top)/other/file")) == Data("words".utf8))
    }

    @Test func `confinements narrow each other`() async throws {
        let narrow = Confinement(readable: [.init("\(top)/read"), .init("\(top)/other")])
        let confinement = confinement
        let codes = try await confined(narrow) { top in
            try? confinement.restrictThread()
            return ["read/file", "other/file", "write/file"].map { access in
                let file = open("\(top)/\(access)", O_RDONLY | O_CLOEXEC)
                guard file >= 0 else { return errno }
                close(file)
                return 0
            }
        }
        #expect(codes == [0, EACCES, EACCES])
    }

    @Test func `no socket opens but pairs`() async throws {
        let codes = try await confined { _ in
            var pair: [Int32] = [-1, -1]
            let paired = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
            for end in pair where end >= 0 { close(end) }
            return [
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0),
                paired,
            ].map { $0 < 0 ? "refused" : "opened" }
        }
        #expect(codes == ["refused", "refused", "opened"])
    }

    /// Root's capabilities would let it, unless they were dropped.
    @Test func `other processes are closed to a confined one`() async throws {
        let other = Process()
        other.executableURL = URL(filePath: "/bin/sleep")
        other.arguments = ["1000"]
        other.standardOutput = FileHandle.nullDevice
        try other.run()
        // The child may have inherited a mask that blocks other signals.
        defer { kill(other.processIdentifier, SIGKILL) }
        let files = ["environ", "maps", "mem", "root/etc/passwd", "cwd/x"].map {
            "/proc/\(other.processIdentifier)/\($0)"
        }
        #expect(try await opening(files, O_RDONLY) == files.map { _ in EACCES })
        #expect(try await opening(["/proc/self/environ", "/proc/self/maps"], O_RDONLY) == [0, 0])
    }

    // MARK: Places

    @Test func `a missing place is refused, and an optional one is left out`() async throws {
        #expect(
            try await message(Confinement(readable: [.init("\(top)/none")])) == """
                \(top)/none: nothing exists there, so it cannot be allowed
                   = create it, or leave it out
                """)
        #expect(
            try await message(
                Confinement(readable: [.init("\(top)/none", .exactIfPresent), .init("/none/at/all", .system)])) == nil)
    }

    @Test func `a place behind a link is refused, whichever part is the link`() async throws {
        symlink("read", "\(top)/link")
        for path in ["\(top)/link", "\(top)/link/file", "\(top)/write/../link"] {
            for kind in [Confinement.Place.Kind.exact, .exactIfPresent] {
                #expect(
                    try await message(Confinement(writable: [.init(path, kind)])) == """
                        \(path): the path leads through a symbolic link, which somebody could exchange
                           = give the real path; 'realpath' prints it
                        """)
            }
        }
        #expect(try await message(Confinement(readable: [.init("\(top)/link", .system)])) == nil)
    }

    @Test func `a relative place is refused`() async throws {
        #expect(
            try await message(Confinement(readable: [.init("photos")]))
                == "photos: the path is relative\n   = give an absolute path")
    }

    @Test func `a single file can be a place`() async throws {
        let codes = try await confined(
            Confinement(readable: [.init("\(top)/read/file")], writable: [.init("\(top)/write/file")])
        ) { top in
            [open("\(top)/read/file", O_RDONLY), open("\(top)/write/file", O_RDWR), open("\(top)/read/file", O_RDWR)]
                .map { $0 >= 0 ? "opened" : "refused" }
        }
        #expect(codes == ["opened", "opened", "refused"])
    }

    private func message(_ confinement: Confinement) async throws -> String? {
        do {
            try await confined(confinement) { _ in }
            return nil
        } catch let error as ConfinementError {
            return error.message
        }
    }
}

@Suite struct ConfinementWordsTests {
    @Test func `the kernel's answer tells what is missing`() {
        #expect(Landlock.Support(7) == .version(7))
        #expect(Landlock.Support(2) == .version(2))
        #expect(Landlock.Support(1) == .missing(.tooOld(version: 1)))
        #expect(Landlock.Support(-ENOSYS) == .missing(.notBuilt))
        #expect(Landlock.Support(-EOPNOTSUPP) == .missing(.switchedOff))
        #expect(Landlock.Support(-EPERM) == .missing(.refused(code: EPERM)))
    }

    @Test(arguments: [
        (
            Landlock.Reason.notBuilt,
            """
            this kernel has no Landlock: it was built without it, or a filter of system calls hides it
               = use Linux 5.19 or later with CONFIG_SECURITY_LANDLOCK; in a container or a systemd unit, allow the landlock_* calls
            """
        ),
        (
            .switchedOff,
            """
            this kernel has no Landlock: it is switched off
               = add 'landlock' to the kernel's parameter 'lsm=', which names the security modules
            """
        ),
        (
            .tooOld(version: 1),
            """
            this kernel has no Landlock that can move files: its version is 1, and 2 is needed
               = use Linux 5.19 or later
            """
        ),
        (
            .refused(code: EPERM),
            """
            this process may not use Landlock: Operation not permitted
               = in a container or a systemd unit, allow the calls landlock_create_ruleset, landlock_add_rule and landlock_restrict_self
            """
        ),
    ])
    func `a kernel without Landlock is described, with a remedy`(reason: Landlock.Reason, words: String) {
        let error = ConfinementError(.noLandlock(reason))
        #expect(error.message == words)
        #expect(error.outcome == .unavailable)
    }

    @Test func `the places of a run become arguments, with links of settings resolved`() throws {
        let temporary = try TemporaryFolder()
        let top = RealPath.resolve(temporary.path)
        for name in ["programs", "real-state"] {
            try FileManager.default.createDirectory(atPath: "\(top)/\(name)", withIntermediateDirectories: true)
        }
        symlink("real-state", "\(top)/state")
        let confinement = Confinement(
            Confinement.RunPlaces(
                programs: "\(top)/programs", stateFolder: "\(top)/state", scratch: ["\(top)/state/tmp"],
                readable: ["\(top)/penumbra.yaml"], roots: ["/srv/a", "/srv/b"]))
        #expect(
            confinement.arguments(for: ["/opt/penumbra", "run", "--write"]) == [
                "--read", "\(top)/programs", "--read-if-present", "\(top)/penumbra.yaml", "--write",
                "\(top)/real-state", "--write", "\(top)/real-state/tmp", "--write", "/srv/a", "--write", "/srv/b", "--",
                "/opt/penumbra", "run", "--write",
            ])
    }

    @Test func `libraries are found by what a process has mapped`() {
        let mappings = """
            55d0-55d1 r--p 00000000 08:01 1 /opt/penumbra/bin/penumbra
            7f43-7f44 r-xp 00000000 08:01 2 /opt/swift/usr/lib/swift/linux/libswiftCore.so
            7f45-7f46 r--p 00000000 08:01 3 /opt/my libs/libvips.so.42 (deleted)
            7f47-7f48 rw-p 00000000 00:00 0
            7ffd-7ffe rw-p 00000000 00:00 0 [stack]
            """
        #expect(Confinement.libraryFolders(mappings: mappings) == ["/opt/my libs", "/opt/swift/usr/lib/swift/linux"])
        let system = Confinement.system(
            environment: ["HOME": "/home/a", "LD_LIBRARY_PATH": "lib:/opt/vips/lib::/"], mappings: mappings)
        let paths = system.readable.map(\.path)
        #expect(paths.contains("/opt/swift/usr/lib/swift/linux") && paths.contains("/opt/vips/lib"))
        #expect(paths.contains("/home/a/.fonts") && !paths.contains("/home/a"))
        #expect(!paths.contains("lib") && !paths.contains("/") && !paths.contains("/etc") && !paths.contains("/tmp"))
        #expect(system.readable.allSatisfy { $0.kind == .system })
        #expect(system.writable.map(\.path) == ["/dev/null"])
    }
}
