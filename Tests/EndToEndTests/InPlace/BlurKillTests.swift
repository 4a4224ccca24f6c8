import Foundation
import Glibc
import Testing

/// Commands that change a picture in place, killed at every one of their steps.
///
/// A small library that is loaded into the real program counts the calls that change a file, a name or what the disk has,
/// and kills the program before the n-th one; in the middle of it where it writes bytes. (Where originals lie beside
/// pictures every third step will do: most are the same.)
@Suite(.serialized) struct BlurKillTests {
    static let picture = "photos/p.png"

    /// The files that can be there, and nothing between them.
    private struct Truth {
        let original: AtomicFile
        let blurred: AtomicFile
    }

    private let workspace: Workspace
    private let library: String

    init() async throws {
        workspace = try Workspace()
        try workspace.draw(Self.picture, width: 24, height: 18)
        try workspace.adorn(Self.picture)
        library = "\(workspace.path)/shim/libkill.so"
        try workspace.write(Self.source, to: "shim/kill.c")
        let result = try await Program.run(
            "/usr/bin/cc", ["-O1", "-shared", "-fPIC", "shim/kill.c", "-o", library, "-ldl"], in: workspace)
        try #require(result.code == 0, "\(result.errors)")
    }

    private func penumbra(_ arguments: String..., step: Int? = nil) async throws -> Program.Result {
        let shim = step.map { ["LD_PRELOAD": library, "KILL_AT": "\($0)"] } ?? [:]
        return try await Program.run(Program.penumbra, arguments, in: workspace, environment: shim)
    }

    private func truth(_ place: String) async throws -> Truth {
        let original = try workspace.whole(Self.picture)
        try #require(try await penumbra("blur", Self.picture, "--keep", place).code == 0)
        let truth = Truth(original: original, blurred: try workspace.whole(Self.picture))
        try #require(try await penumbra("unblur", Self.picture).code == 0)
        return truth
    }

    /// Whether the picture is blurred, and all that tells so agrees.
    private func expectWhole(_ truth: Truth, _ moment: Comment) async throws {
        let now = try workspace.whole(Self.picture)
        let isBlurred = now.bytes == truth.blurred.bytes
        if isBlurred {
            #expect((now.mode, now.user, now.attribute) == (truth.blurred.mode, truth.blurred.user, "kept"), moment)
        } else {
            #expect(now == truth.original, moment)
        }
        #expect(try await penumbra("is-blurred", "--quiet", Self.picture).code == (isBlurred ? 0 : 1), moment)
        #expect(try await penumbra("blur", "--list").code == 0, moment)
    }

    /// One way or another to the original.
    private func undo(_ truth: Truth, _ place: String, after step: Int, _ moment: Comment) async throws {
        if step % 2 == 1 {
            let blur = try await penumbra("blur", Self.picture, "--keep", place)
            #expect(blur.code == 0, "\(moment): \(blur.errors)")
            #expect(try workspace.read(Self.picture) == truth.blurred.bytes, moment)
        }
        if step % 3 == 1 { #expect(try await penumbra("gc").code == 0, moment) }
        let unblur = try await penumbra("unblur", Self.picture)
        #expect(unblur.code == 0, "\(moment): \(unblur.errors)")
        #expect(try workspace.whole(Self.picture) == truth.original, moment)
        #expect(try await penumbra("gc").code == 0, moment)
        #expect(workspace.leftovers() == [], moment)
        #expect(workspace.originals == [], moment)
    }

    @Test(arguments: [("state", 1), ("beside", 3)])
    func `blur can be killed at any step`(place: String, stride: Int) async throws {
        let truth = try await truth(place)
        var kills = 0
        while true {
            let moment: Comment = "blur --keep \(place), killed at step \(kills + 1)"
            let result = try await penumbra("blur", Self.picture, "--keep", place, step: kills + 1)
            try await expectWhole(truth, moment)
            try await undo(truth, place, after: kills, moment)
            guard result.code == 128 + SIGKILL else {
                #expect(result.code == 0, "\(moment): \(result.errors)")
                break
            }
            kills += stride
        }
        // Else nothing was killed where it matters.
        #expect(kills > 25)
    }

    @Test(arguments: [("state", 1), ("beside", 3)])
    func `unblur can be killed at any step`(place: String, stride: Int) async throws {
        let truth = try await truth(place)
        var kills = 0
        while true {
            let moment: Comment = "unblur of --keep \(place), killed at step \(kills + 1)"
            try #require(try await penumbra("blur", Self.picture, "--keep", place).code == 0)
            let result = try await penumbra("unblur", Self.picture, step: kills + 1)
            try await expectWhole(truth, moment)
            try await undo(truth, place, after: kills, moment)
            guard result.code == 128 + SIGKILL else {
                #expect(result.code == 0, "\(moment): \(result.errors)")
                break
            }
            kills += stride
        }
        #expect(kills > 10)
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdatomic.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>

        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

        static atomic_int steps;

        /* Workers have the library, too. */
        static int is_last(void) {
            const char *at = getenv("KILL_AT");
            if (!at || strcmp(program_invocation_short_name, "penumbra")) return 0;
            return atomic_fetch_add(&steps, 1) + 1 == atoi(at);
        }
        static void step(void) { if (is_last()) kill(getpid(), SIGKILL); }

        static int is_file(int file) {
            struct stat found;
            return fstat(file, &found) == 0 && S_ISREG(found.st_mode);
        }

        ssize_t write(int file, const void *bytes, size_t count) {
            if (is_file(file) && is_last()) {
                if (REAL(write)(file, bytes, count / 2) < 0) { /* dead in a moment */ }
                kill(getpid(), SIGKILL);
            }
            return REAL(write)(file, bytes, count);
        }
        int open(const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            int mode = flags & O_CREAT ? va_arg(list, int) : 0;
            va_end(list);
            if (flags & O_CREAT) step();
            return REAL(open)(path, flags, mode);
        }
        int openat(int folder, const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            int mode = flags & O_CREAT ? va_arg(list, int) : 0;
            va_end(list);
            if (flags & O_CREAT) step();
            return REAL(openat)(folder, path, flags, mode);
        }
        int rename(const char *from, const char *to) { step(); return REAL(rename)(from, to); }
        int renameat(int a, const char *from, int b, const char *to) { step(); return REAL(renameat)(a, from, b, to); }
        int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
            step();
            return REAL(renameat2)(a, from, b, to, flags);
        }
        int unlink(const char *path) { step(); return REAL(unlink)(path); }
        int unlinkat(int folder, const char *path, int flags) { step(); return REAL(unlinkat)(folder, path, flags); }
        int mkdir(const char *path, mode_t mode) { step(); return REAL(mkdir)(path, mode); }
        int rmdir(const char *path) { step(); return REAL(rmdir)(path); }
        int fsync(int file) { step(); return REAL(fsync)(file); }
        int fdatasync(int file) { step(); return REAL(fdatasync)(file); }
        int fchmod(int file, mode_t mode) { step(); return REAL(fchmod)(file, mode); }
        int fchown(int file, uid_t user, gid_t group) { step(); return REAL(fchown)(file, user, group); }
        int futimens(int file, const struct timespec times[2]) { step(); return REAL(futimens)(file, times); }
        """
}
