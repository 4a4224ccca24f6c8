import Foundation
import Glibc
import Testing

/// Blurred pictures that have another name now.
@Suite(.serialized) struct RenamedPictureTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func rename(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: "\(workspace.path)/\(name)", toPath: "\(workspace.path)/\(other)")
    }

    @Test(arguments: ["state", "beside"])
    func `a blurred picture is known by its new name, and its original is put back there`(place: String) async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        let blurred = try workspace.read("photos/a.png")
        try rename("photos/a.png", to: "photos/new.png")
        #expect(try await penumbra("is-blurred", "photos/new.png").code == 0)
        let again = try await penumbra("blur", "photos/new.png", "--radius", "3")
        #expect(again.code == 1)
        #expect(
            again.errors
                == "photos/new.png: blurred with other filters before (gaussian: {radius: 10}), and left as it is; unblur it "
                + "first to blur it otherwise\n")
        #expect(try workspace.read("photos/new.png") == blurred)
        let undone = try await penumbra("unblur", "photos")
        #expect(undone.code == 0, "\(undone.errors)")
        #expect(
            undone.output
                == "1 picture was blurred under another name; its original stays kept, too, until 'penumbra gc --originals'\n"
                + "put back 1 original\n")
        #expect(try workspace.read("photos/new.png") == original)
        #expect(!workspace.exists("photos/a.png"))
        #expect(try await penumbra("is-blurred", "photos/new.png").code == 1)
        // The picture that has another name is not missed.
        let later = try await penumbra("unblur", "photos")
        #expect((later.code, later.errors) == (0, ""))
        #expect(!workspace.exists("photos/a.png"))
    }

    @Test(arguments: ["state", "beside"])
    func `an original that was put back under another name is forgotten when that is asked for`(place: String)
        async throws
    {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        try rename("photos/a.png", to: "photos/new.png")
        #expect(
            try await penumbra("gc", "--originals").output.hasPrefix("0 originals that were put back under another"))
        #expect(try await penumbra("unblur", "photos/new.png").code == 0)
        #expect(try await penumbra("gc").output == "0 runs forgotten\n")
        let list = try await penumbra("blur", "--list", "photos")
        #expect(list.output.contains("put back elsewhere"))
        // As if the disk were not mounted.
        try rename("photos", to: "away")
        #expect(
            try await penumbra("gc", "--originals").output.hasPrefix("0 originals that were put back under another"))
        try rename("away", to: "photos")
        #expect(
            try await penumbra("gc", "--originals").output
                == "1 original that was put back under another name forgotten\n0 runs forgotten\n")
        #expect(workspace.originals == [])
        #expect(workspace.leftovers() == [])
    }

    @Test(arguments: ["state", "beside"])
    func `of two pictures with the same bytes, the one that was renamed is not missed`(place: String) async throws {
        try workspace.copy("photos/a.png", to: "photos/b.png")
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "photos/b.png", "--keep", place).code == 0)
        try rename("photos/a.png", to: "photos/z.png")
        let undone = try await penumbra("unblur", "photos")
        #expect((undone.code, undone.errors) == (0, ""))
        #expect(undone.output.hasSuffix("put back 2 originals\n"), "\(undone.output)")
        for name in ["b", "z"] { #expect(try workspace.read("photos/\(name).png") == original) }
        #expect(!workspace.exists("photos/a.png"))
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(
            try await penumbra("gc", "--originals").output
                == "1 original that was put back under another name forgotten\n0 runs forgotten\n")
        #expect(workspace.originals == [])
    }

    @Test func `is-blurred counts the pictures of a folder, and names the first twenty that are sharp`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        for number in 10..<40 { try workspace.copy("photos/b.png", to: "photos/\(number).png") }
        let answer = try await penumbra("is-blurred", "photos")
        #expect(answer.code == 1)
        #expect(answer.output.hasPrefix("photos/a.png: blurred ("), "\(answer.output)")
        #expect(answer.output.hasSuffix("\n1 of 33 pictures blurred\n"), "\(answer.output)")
        let lines = answer.errors.split(separator: "\n")
        #expect(lines.count == 21 && lines.first == "photos/10.png: is not blurred", "\(answer.errors)")
        #expect(lines.last == "… and 12 more; --json names all")
        // A single picture needs no sum.
        #expect(try await penumbra("is-blurred", "photos/a.png").output.split(separator: "\n").count == 1)
    }

    @Test func `two pictures with the same bytes may both be renamed`() async throws {
        try workspace.copy("photos/a.png", to: "photos/b.png")
        #expect(try await penumbra("blur", "photos/a.png", "photos/b.png").code == 0)
        try rename("photos/a.png", to: "photos/y.png")
        try rename("photos/b.png", to: "photos/z.png")
        let undone = try await penumbra("unblur", "photos")
        #expect((undone.code, undone.errors) == (0, ""))
        #expect(try await penumbra("unblur", "photos").code == 0)
    }

    @Test(arguments: ["state", "beside"])
    func `every copy of a renamed picture is put back, one after the other`(place: String) async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        try rename("photos/a.png", to: "photos/one.png")
        try workspace.copy("photos/one.png", to: "photos/two.png")
        for name in ["photos/one.png", "photos/two.png"] {
            #expect(try await penumbra("unblur", name).code == 0)
            #expect(try workspace.read(name) == original)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounts take root"))
    func `another disk in the place of the picture's does not make its original forgotten`() async throws {
        let p = Program.penumbra
        let script = """
            mount --make-rprivate / && mkdir disk copies && mount -t tmpfs one disk || exit 99
            cp photos/a.png disk/a.png && \(p) blur -q disk/a.png || exit 98
            cp disk/a.png copies/c.png && \(p) unblur -q copies || exit 97
            umount disk && mount -t tmpfs two disk || exit 99
            \(p) gc --originals
            """
        let result = try await Program.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: workspace)
        guard result.code != 99 else { return }
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output.hasPrefix("0 originals that were put back under another name forgotten\n1 original left: "))
        #expect(workspace.originals.count == 1)
    }

    @Test func `a copy that is put back leaves the original to a picture whose disk is away`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        try workspace.copy("photos/a.png", to: "web/copy.png")
        try rename("photos", to: "away")
        #expect(try await penumbra("unblur", "web").code == 0)
        #expect(try workspace.read("web/copy.png") == original)
        try rename("away", to: "photos")
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0)
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == original)
    }

    @Test(arguments: ["photos/deep/new.png", "elsewhere/new.png"])
    func `a picture that moves away from its folder's originals is known`(name: String) async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        try workspace.copy("photos/a.png", to: name)
        try workspace.remove("photos/a.png")
        #expect(try await penumbra("is-blurred", name).code == 0)
        #expect(try await penumbra("blur", name).output.contains("already blurred"))
        let list = try await penumbra("blur", "--list", name)
        #expect(list.output.split(separator: "\n").count == 2)
        #expect(list.output.hasSuffix("  \(name)\n"))
        #expect(try await penumbra("unblur", name).code == 0)
        #expect(try workspace.read(name) == original)
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `a copy that another user made does not get the original`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        try workspace.copy("photos/a.png", to: "theirs/mine.png")
        chown("\(workspace.path)/theirs/mine.png", 12345, 12345)
        let result = try await penumbra("unblur", "theirs")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "theirs/mine.png: was made of another user's picture, \(workspace.path)/photos/a.png; its original can only "
                + "be put back there\n")
        #expect(try workspace.read("theirs/mine.png") == workspace.read("photos/a.png"))
    }

    @Test(arguments: [("P5 8 8 255\n", 64), ("P4 8 8\n", 8)])
    func `a gray portable map becomes RGB, and that is said`(header: String, bytes: Int) async throws {
        let before = Data(header.utf8) + Data(repeating: 0x5A, count: bytes)
        try workspace.write(before, to: "maps/x.pgm")
        let result = try await penumbra("blur", "maps", "--radius", "1")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output.hasPrefix("1 gray portable map is in RGB now (P6); 'penumbra unblur' puts gray back\n"))
        #expect(try await penumbra("unblur", "maps").code == 0)
        #expect(try workspace.read("maps/x.pgm") == before)
    }

    @Test func `a copy of a blurred picture is not blurred twice, and both are put back`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        try workspace.copy("photos/a.png", to: "copies/copy.png")
        let again = try await penumbra("blur", "copies/copy.png")
        #expect(again.code == 0)
        #expect(try workspace.read("copies/copy.png") == workspace.read("photos/a.png"))
        for name in ["copies/copy.png", "photos/a.png"] {
            #expect(try await penumbra("unblur", name).code == 0)
            #expect(try workspace.read(name) == original)
        }
    }

    @Test func `another picture of the same size is blurred`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        var bytes = try workspace.read("photos/a.png")
        // Behind the picture's end there may be anything.
        bytes[bytes.count - 1] ^= 1
        try workspace.write(bytes, to: "photos/other.png")
        #expect(try await penumbra("is-blurred", "photos/other.png").code == 1)
    }

    @Test func `a picture in CMYK becomes sRGB, and that is said once`() async throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../ImageFilesTests/Fixtures/cmyk_should_be_srgb.jpg")
        for name in ["x", "y"] { try workspace.write(try Data(contentsOf: fixture), to: "print/\(name).jpg") }
        let result = try await penumbra("blur", "print", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("2 pictures in CMYK are in sRGB now; 'penumbra unblur' puts CMYK back\n"))
        #expect(try await penumbra("unblur", "print").code == 0)
        #expect(try workspace.read("print/x.jpg") == Data(contentsOf: fixture))
        #expect(try await penumbra("blur", "photos/a.png").output.hasPrefix("blurred 1 picture "))
    }
}
