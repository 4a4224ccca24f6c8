import Foundation
import Glibc
import Testing

/// Kept originals in folders where somebody else can write, too.
@Suite(.serialized) struct HostileStoreTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test(arguments: ["objects", "records", "incoming"])
    func `a store with a link in the place of a folder is refused, and nothing behind the link is removed`(
        part: String
    ) async throws {
        try workspace.write("mine", to: "home/0123456789abcdef0123456789abcdef-4")
        try workspace.write("mine", to: "home/1")
        try workspace.write("", to: "photos/.penumbra-originals/kept")
        symlink("\(workspace.path)/home", "\(workspace.path)/photos/.penumbra-originals/\(part)")
        let before = try workspace.read("photos/a.png")

        let result = try await penumbra("blur", "photos/a.png", "--radius", "2", "--keep", "beside")
        #expect(result.code != 0)
        #expect(result.errors.contains("\(part): cannot"))
        #expect(result.errors.contains("it is a link, and Penumbra did not make it so"))
        #expect(workspace.files(below: "home") == ["0123456789abcdef0123456789abcdef-4", "1"])
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `files that Penumbra did not name stay in a store`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        for name in ["objects/thesis.txt", "objects/abc-1", "incoming/letter.txt", "incoming/1x"] {
            try workspace.write("mine", to: "photos/.penumbra-originals/\(name)")
        }
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(
            workspace.files(below: "photos/.penumbra-originals")
                == ["incoming/1x", "incoming/letter.txt", "objects/abc-1", "objects/thesis.txt"])
    }

    @Test func `a kept original of other bytes under the same name is not replaced`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let objects = "photos/.penumbra-originals/objects"
        let name = try #require(workspace.files(below: objects).first)
        // As if two pictures of one digest had been made on purpose.
        let other = Data(repeating: 7, count: original.count)
        chmod("\(workspace.path)/\(objects)/\(name)", 0o644)
        try workspace.write(other, to: "\(objects)/\(name)")
        try workspace.write(original, to: "photos/same.png")

        #expect(try await penumbra("blur", "photos/same.png", "--keep", "beside").code == 0)
        #expect(try workspace.read("\(objects)/\(name)") == other)
        #expect(try workspace.read("\(objects)/\(name)-2") == original)
        #expect(try await penumbra("unblur", "photos/same.png").code == 0)
        #expect(try workspace.read("photos/same.png") == original)
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `a record of another user gives no owner and no set-id bits`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let records = "\(workspace.path)/photos/.penumbra-originals/records"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: records).first)
        let text = try String(contentsOfFile: "\(records)/\(name)", encoding: .utf8)
        let lie = text.replacing(/"mode":\d+/, with: "\"mode\":\(0o4755)").replacing(/"user":\d+/, with: "\"user\":0")
        try lie.write(toFile: "\(records)/\(name)", atomically: false, encoding: .utf8)
        chown("\(records)/\(name)", 12345, 12345)

        let result = try await penumbra("unblur", "photos/a.png")
        var found = stat()
        stat("\(workspace.path)/photos/a.png", &found)
        #expect(found.st_mode & 0o7777 == 0o755)
        #expect(result.errors.contains("which a record of another user does not decide"))
    }

    @Test func `numbers of a record trap nothing`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let records = "\(workspace.path)/photos/.penumbra-originals/records"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: records).first)
        let text = try String(contentsOfFile: "\(records)/\(name)", encoding: .utf8)
        try text.replacing(/"generation":\d+/, with: "\"generation\":9223372036854775807")
            .write(toFile: "\(records)/\(name)", atomically: false, encoding: .utf8)

        let result = try await penumbra("blur", "photos/a.png", "--force")
        #expect(result.code != 0 && result.code < 128)
        #expect(result.errors.contains("read this record of an original"))
    }

    @Test func `where folders cannot be locked a file in them is`() async throws {
        try workspace.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <sys/stat.h>
            int flock(int file, int operation) {
                struct stat found;
                if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) { errno = ENOLCK; return -1; }
                return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(file, operation);
            }
            """, to: "nolock.c")
        let shim = "\(workspace.path)/nolock.so"
        #expect(
            try await Program.run(
                "/usr/bin/gcc", ["-shared", "-fPIC", "-o", shim, "nolock.c", "-ldl"], in: workspace
            ).code == 0)
        let held = try await Program.run(
            "/usr/bin/flock", ["photos/.penumbra-lock", Program.penumbra, "blur", "photos/a.png"], in: workspace,
            environment: ["LD_PRELOAD": shim])
        #expect(held.code == 75, "\(held.errors)")
        let free = try await Program.run(
            "blur", "photos/a.png", in: workspace, environment: ["LD_PRELOAD": shim])
        #expect(free.code == 0, "\(free.errors)")
        #expect(!workspace.exists("photos/.penumbra-lock"))
    }

    @Test func `links to pictures elsewhere are listed, and a folder needs a radius`() async throws {
        let refused = try await penumbra("blur", "photos")
        #expect(refused.code == 64)
        #expect(
            refused.errors
                == "photos: a folder's pictures are blurred only with a radius that you choose\n   = give --radius, such as "
                + "--radius 10, or --filter\n")
        try workspace.copy("photos/a.png", to: "elsewhere/e.png")
        symlink("../elsewhere/e.png", "\(workspace.path)/photos/e.png")
        symlink("a.png", "\(workspace.path)/photos/same.png")
        let result = try await penumbra("blur", "photos", "--radius", "2")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "1 link to pictures elsewhere was not followed, and what they lead to was not blurred\n  photos/e.png\n"
        )
    }
}
