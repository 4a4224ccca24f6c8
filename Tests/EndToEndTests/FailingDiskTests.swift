import Foundation
import TestSupport
import Testing

/// Pictures that their disk or their server does not give tonight. Each fails alone, and the next run tries it again.
@Suite struct FailingDiskTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
    }

    /// A library that answers for the system.
    ///
    /// - Parameter functions: of C, with `next(NAME)` for the system's own and `refused(CODE)` for what fails.
    private func library(_ functions: String) async throws -> String {
        try workspace.write(
            """
            #define _GNU_SOURCE
            #include <dirent.h>
            #include <dlfcn.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <stdarg.h>
            #include <stdio.h>
            #include <string.h>
            #include <sys/stat.h>
            #include <unistd.h>
            #define next(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
            #define refused(code) (errno = (code), -1)
            static int ends(const char *text, const char *end) {
                size_t length = strlen(text), most = strlen(end);
                return length >= most && !strcmp(text + length - most, end);
            }
            \(functions)

            """, to: "disk.c")
        let path = "\(workspace.path)/disk.so"
        let made = try await Program.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-o", path, "disk.c", "-ldl"], in: workspace)
        try #require(made.code == 0, "\(made.errors)")
        return path
    }

    private func run(_ options: String..., on library: String) async throws -> Program.Result {
        try await Program.run(
            Program.penumbra, ["run", "--quiet", "job.yaml"] + options, in: workspace,
            environment: ["LD_PRELOAD": library])
    }

    private static let failures: [(functions: String, words: String)] = [
        (
            """
            int open(const char *path, int flags, ...) {
                va_list rest;
                va_start(rest, flags);
                mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
                va_end(rest);
                return ends(path, "/photos/b.png") ? refused(ESTALE) : next(open)(path, flags, mode);
            }
            """, "cannot be opened: stale file handle"
        ),
        (
            """
            static int isBad(int file) {
                char name[64], path[4096] = "";
                snprintf(name, sizeof name, "/proc/self/fd/%d", file);
                return readlink(name, path, sizeof path - 1) > 0 && ends(path, "/photos/b.png");
            }
            ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
                return isBad(file) ? refused(EIO) : next(pread)(file, bytes, count, offset);
            }
            ssize_t read(int file, void *bytes, size_t count) {
                return isBad(file) ? refused(EIO) : next(read)(file, bytes, count);
            }
            """, "cannot be read: input/output error"
        ),
    ]

    @Test(arguments: failures.indices, ["{stem}", "{stem}-{width}"])
    func `a picture that its disk does not give fails alone, and is made the next night`(index: Int, name: String)
        async throws
    {
        try workspace.writeNightly(output: "out/\(name).png")
        let (functions, words) = Self.failures[index]
        let library = try await library(functions)
        for _ in 0..<2 {
            let result = try await run(on: library)
            #expect(result.code == 1)
            #expect(
                result.errors == "test: 1 frame failed: input missing or not readable\n  photos/b.png: \(words)\n")
            #expect(workspace.files(below: "out").count == 2)
        }
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "out").count == 3)
    }

    /// The library for OpenEXR opens files itself, and takes for damage whatever it cannot read.
    @Test(arguments: [2000, 40_000])
    func `an OpenEXR that its disk does not give as a whole is not broken`(readable: Int) async throws {
        let pixel: [Float] = [0.25, 0.5, 0.75, 1]
        try workspace.write(
            Data(OpenEXRBuilder(width: 64, rgba: Array(repeating: pixel, count: 64 * 64)).build()), to: "photos/d.exr")
        let library = try await library(
            """
            static int isBad(int file, off_t end) {
                char name[64], path[4096] = "";
                snprintf(name, sizeof name, "/proc/self/fd/%d", file);
                return readlink(name, path, sizeof path - 1) > 0 && ends(path, "/photos/d.exr") && end > \(readable);
            }
            ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
                return isBad(file, offset + count) ? refused(EIO) : next(pread)(file, bytes, count, offset);
            }
            ssize_t read(int file, void *bytes, size_t count) {
                return isBad(file, lseek(file, 0, SEEK_CUR) + count) ? refused(EIO) : next(read)(file, bytes, count);
            }
            """)
        let result = try await run(on: library)
        #expect(result.code == 1)
        #expect(
            result.errors
                == "test: 1 frame failed: input missing or not readable\n  photos/d.exr: cannot be read: input/output error\n"
        )
        #expect(workspace.files(below: "out").count == 3)
        #expect(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "out").count == 4)
    }

    private func refusal(_ path: String, _ words: String) -> String {
        "test: 1 frame failed: input missing or not readable\n  \(path): cannot be examined: \(words); check its disk or "
            + "its server, or name it in 'exclude'\n"
    }

    /// A file system that tells no kinds of files, and cannot look at one.
    private static let unknown = """
        struct dirent *readdir(DIR *folder) {
            struct dirent *entry = next(readdir)(folder);
            if (entry) entry->d_type = DT_UNKNOWN;
            return entry;
        }
        int fstatat(int folder, const char *path, struct stat *found, int flags) {
            return !strcmp(path, "c.jpg") ? refused(EIO) : next(fstatat)(folder, path, found, flags);
        }
        """

    @Test(arguments: ["photos/*", "photos", "photos/**/*.jpg"])
    func `a name that cannot be looked at is no picture that was removed`(inputs: String) async throws {
        try workspace.writeNightly(inputs: inputs)
        try #require(try await Program.run("run", "--quiet", "job.yaml", in: workspace).code == 0)
        let before = workspace.files(below: "out")
        let library = try await library(Self.unknown)
        // Where it is the only one, nobody knows whether there is any.
        let result = try await run("--delete-orphans=all", on: library)
        if inputs == "photos/**/*.jpg" {
            #expect(result.code == 66)
            #expect(
                result.errors
                    == "job.yaml: error: \(workspace.path)/photos/c.jpg: cannot be examined: Input/output error\n")
        } else {
            #expect(result.code == 1)
            #expect(result.errors == refusal("photos/c.jpg", "Input/output error"))
        }
        #expect(workspace.files(below: "out") == before)
    }

    @Test func `blur names what it cannot look at in a folder`() async throws {
        let result = try await Program.run(
            "blur", "photos", "--radius", "3", in: workspace,
            environment: ["LD_PRELOAD": try await library(Self.unknown)])
        #expect(result.code == 74)
        #expect(
            result.errors.contains("/photos/c.jpg: cannot be examined: Input/output error\n"), "\(result.errors)")
    }

    @Test func `blur names a picture that its disk does not let be replaced, and blurs the others`() async throws {
        let before = try workspace.read("photos/b.png")
        let result = try await Program.run(
            "blur", "photos", "--radius", "3", in: workspace,
            environment: [
                "LD_PRELOAD": try await library(
                    """
                    int renameat(int folder, const char *from, int other, const char *to) {
                        return !strcmp(to, "b.png") ? refused(EIO) : next(renameat)(folder, from, other, to);
                    }
                    """)
            ])
        #expect(result.code == 74)
        #expect(result.errors == "photos/b.png: cannot replace: Input/output error\n")
        #expect(result.output.hasPrefix("blurred 2 pictures "), "\(result.output)")
        #expect(try workspace.read("photos/b.png") == before)
        #expect(try await Program.run("blur", "photos", "--radius", "3", in: workspace).code == 0)
    }

    @Test func `a link to what its server does not give is none that leads nowhere`() async throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/photos/l.png", withDestinationPath: "a.png")
        let library = try await library(
            """
            int fstatat(int folder, const char *path, struct stat *found, int flags) {
                return !strcmp(path, "l.png") && !flags ? refused(ESTALE) : next(fstatat)(folder, path, found, flags);
            }
            """)
        let result = try await run(on: library)
        #expect(result.code == 1)
        #expect(result.errors == refusal("photos/l.png", "Stale file handle"))
        let chosen = try await run("--only", "photos/l.png", on: library)
        #expect(chosen.code == 66)
        #expect(
            chosen.errors == "job.yaml: error: \(workspace.path)/photos/l.png: cannot be examined: Stale file handle\n"
        )
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `an entry of inputs that its server does not give is not missing`() async throws {
        let library = try await library(
            """
            int stat(const char *path, struct stat *found) {
                return ends(path, "/photos/b.png") ? refused(ESTALE) : next(stat)(path, found);
            }
            """)
        try workspace.writeNightly(inputs: "[photos/a.png, photos/b.png]")
        let result = try await run(on: library)
        #expect(result.code == 1)
        #expect(result.errors == refusal("photos/b.png", "Stale file handle"))
        #expect(workspace.files(below: "out") == ["a.png"])

        try workspace.writeNightly(inputs: "photos/b.png")
        let alone = try await run(on: library)
        #expect(alone.code == 66)
        #expect(
            alone.errors == "job.yaml: error: \(workspace.path)/photos/b.png: cannot be examined: Stale file handle\n")
    }
}
