import Foundation
import Glibc
import Testing

/// Pictures that their user has removed since they were blurred.
@Suite(.serialized) struct RemovedPictureTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test(arguments: ["state", "beside"])
    func `a removed picture of a folder is named, and the rest is put back, until its original is given up`(
        place: String
    ) async throws {
        let before = try workspace.read("photos/b.png")
        #expect(try await penumbra("blur", "photos", "--radius", "2", "--keep", place).code == 0)
        try workspace.remove("photos/a.png")
        let first = try await penumbra("unblur", "photos")
        #expect((first.code, first.output) == (1, "put back 2 originals\n"))
        #expect(first.errors.hasPrefix("photos/a.png: no such file; its original is kept at \(workspace.path)/"))
        #expect(first.errors.hasSuffix(": 'unblur --force' puts it back, and 'gc --give-up' forgets it\n"))
        #expect(try workspace.read("photos/b.png") == before)
        #expect(try await penumbra("unblur", "photos", "--quiet").code == 1)
        #expect(try await penumbra("unblur", "photos/a.png").code == 66)

        // Neither alone gives anything up.
        #expect(try await penumbra("gc", "--originals").code == 0)
        #expect(try await penumbra("gc", "--give-up", "photos/b.png").output.hasPrefix("0 originals of removed "))
        #expect(try await penumbra("unblur", "photos").code == 1)
        let given = try await penumbra("gc", "--give-up", "photos")
        #expect((given.code, given.errors) == (0, ""))
        #expect(given.output == "1 original of removed pictures given up\n0 runs forgotten\n")
        let last = try await penumbra("unblur", "photos")
        #expect((last.code, last.errors) == (0, ""))
        #expect(workspace.originals == [])
        #expect(workspace.leftovers() == [])
    }

    @Test func `a removed picture of a moved folder is given up with the folder`() async throws {
        try workspace.copy("photos/a.png", to: "album/first/a.png")
        #expect(try await penumbra("blur", "album", "--radius", "2", "--keep", "beside").code == 0)
        #expect(rename("\(workspace.path)/album", "\(workspace.path)/moved") == 0)
        try workspace.remove("moved/first/a.png")
        #expect(try await penumbra("unblur", "moved").code == 1)
        let given = try await penumbra("gc", "--give-up", "moved")
        #expect((given.code, given.errors) == (0, ""))
        #expect(given.output.hasPrefix("1 original of removed pictures given up\n"))
        #expect(try await penumbra("unblur", "moved").code == 0)
    }

    @Test func `a name of which no original is kept is told`() async throws {
        let missing = "photos/none.png: no original is kept of it; check its name\n"
        let before = try await penumbra("gc", "--give-up", "photos/none.png")
        #expect((before.code, before.errors) == (66, missing))
        #expect(try await penumbra("blur", "photos", "--radius", "2").code == 0)
        try workspace.remove("photos/a.png")
        let both = try await penumbra("gc", "--give-up", "photos/none.png", "--give-up", "photos/a.png")
        #expect((both.code, both.errors) == (66, missing))
        #expect(both.output.hasPrefix("1 original of removed pictures given up\n"))
    }

    @Test func `a picture that is there is not given up`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos", "--radius", "2").code == 0)
        #expect(try await penumbra("gc", "--give-up", "photos").output.hasPrefix("0 originals of removed pictures "))
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `pictures of a removed folder are named, put back once it is there, or given up`() async throws {
        let before = try workspace.read("photos/a.png")
        try workspace.copy("photos/a.png", to: "all/old/a.png")
        try workspace.copy("photos/b.png", to: "all/new/b.png")
        #expect(try await penumbra("blur", "all", "--radius", "2").code == 0)
        try workspace.remove("all/old")
        let first = try await penumbra("unblur", "all")
        #expect((first.code, first.output) == (1, "put back 1 original\n"))
        #expect(first.errors.hasPrefix("all/old/a.png: no such file; its original is kept at "))
        let forced = try await penumbra("unblur", "all", "--force")
        #expect(forced.code == 1)
        #expect(forced.errors.hasPrefix("all/old/a.png: its folder is not there, and its original is kept at "))
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/all/old", withIntermediateDirectories: true)
        #expect(try await penumbra("unblur", "all", "--force").code == 0)
        #expect(try workspace.read("all/old/a.png") == before)

        #expect(try await penumbra("blur", "all/old", "--radius", "2").code == 0)
        try workspace.remove("all/old")
        #expect(
            try await penumbra("gc", "--give-up", "all").output.hasPrefix("1 original of removed pictures given up"))
        #expect(try await penumbra("unblur", "all").code == 0)
    }

    @Test func `a folder that is gone is named when its originals are given up`() async throws {
        try workspace.copy("photos/a.png", to: "all/old/a.png")
        #expect(try await penumbra("blur", "all/old", "--radius", "2").code == 0)
        try workspace.remove("all/old")
        let given = try await penumbra("gc", "--give-up", "all/old")
        #expect(given.code == 0)
        #expect(given.output.hasPrefix("1 original of removed pictures given up\n"))
        #expect(
            given.errors
                == "warning: all/old: the folder is not there; if it was moved, its pictures stay blurred where they are "
                + "now\n")
    }

    @Test(.enabled(if: geteuid() == 0, "mounts take root"))
    func `nothing is given up where another disk may be missing`() async throws {
        let p = Program.penumbra
        let script = """
            mount --make-rprivate / && mkdir disk && mount -t tmpfs one disk || exit 99
            cp photos/a.png disk/a.png && \(p) blur -q disk/a.png || exit 98
            umount disk
            \(p) gc --give-up disk
            """
        let result = try await Program.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: workspace)
        guard result.code != 99 else { return }
        #expect(result.code == 1, "\(result.errors)")
        #expect(
            result.errors
                == "1 original left: the pictures may be on a disk that is not mounted; mount it, or put them back with "
                + "'unblur --force'\n")
        #expect(workspace.originals.count == 1)
    }

    @Test func `66: a folder that is not there, or is in none, is no fault of a disk`() async throws {
        for name in ["none", "none/deep"] {
            for command in [["blur", name, "--radius", "2"], ["unblur", name], ["is-blurred", name]] {
                let result = try await Program.run(Program.penumbra, command, in: workspace)
                #expect(
                    (result.code, result.errors)
                        == (66, "\(name): no such file or folder; check its name, or mount its disk\n"), "\(command)")
            }
        }
    }
}
