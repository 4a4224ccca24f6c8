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
                == ["incoming/1x", "incoming/letter.txt", "lock", "objects/abc-1", "objects/thesis.txt"])
    }

    @Test func `an original that has become a terabyte is damaged, and not read`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        let blurred = try workspace.read("photos/a.png")
        let object = try #require(workspace.originals.first)
        #expect(truncate("\(workspace.path)/state/penumbra/originals/objects/\(object)", 1 << 40) == 0)
        let result = try await penumbra("unblur", "photos/a.png")
        #expect(result.code == 1)
        #expect(result.errors.hasSuffix(" is gone or damaged; nothing was changed\n"), "\(result.errors)")
        #expect(try workspace.read("photos/a.png") == blurred)
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

        let result = try await penumbra("unblur", "photos/a.png", "--force")
        var found = stat()
        stat("\(workspace.path)/photos/a.png", &found)
        #expect(found.st_mode & 0o7777 == 0o755)
        #expect(result.errors.contains("which a record of another user does not decide"))
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `a record of another user decides nothing, unless the user insists`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let blurred = try workspace.read("photos/a.png")
        try await give("photos/.penumbra-originals", to: 12345)
        let words =
            "photos/a.png: a record of another user says that it is blurred (gaussian: {radius: 10}), but that record is not trusted"

        let answer = try await penumbra("is-blurred", "photos/a.png")
        #expect((answer.code, answer.errors) == (1, "\(words)\n"))
        let blur = try await penumbra("blur", "photos/a.png", "--radius", "3")
        #expect((blur.code, blur.errors) == (1, "\(words); --force blurs it as it is now\n"))
        let unblur = try await penumbra("unblur", "photos")
        #expect(
            (unblur.code, unblur.errors) == (1, "\(words); --force puts the original that it names in its place\n"))
        #expect(try workspace.read("photos/a.png") == blurred)

        // An original is kept where the other user cannot take it away.
        let beside = try await penumbra("blur", "photos/a.png", "--force", "--radius", "3", "--keep", "beside")
        #expect(beside.code == 74)
        #expect(
            beside.errors
                == "photos/a.png: \(workspace.path)/photos/.penumbra-originals: cannot keep originals there: the folder belongs to "
                + "another user, or others may write to it\n   = use --keep state\n")
        #expect(try await penumbra("blur", "photos/a.png", "--force", "--radius", "3").code == 0)
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0)
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == blurred)
        #expect(try await penumbra("unblur", "photos/a.png", "--force").code == 0)
        #expect(try workspace.read("photos/a.png") == original)
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `a record of the picture's owner decides`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        try await give("photos", to: 12345)
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0)
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(try workspace.read("photos/a.png") == original)
    }

    private func give(_ name: String, to user: Int) async throws {
        let result = try await Program.run("/bin/chown", ["-R", "\(user):\(user)", name], in: workspace)
        try #require(result.code == 0, "\(result.errors)")
    }

    @Test func `a picture whose originals have the highest number is not blurred once more`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let (name, path, text) = try record("photos/.penumbra-originals")
        try FileManager.default.removeItem(atPath: path)
        try text.replacing(/"generation":1,/, with: "\"generation\":1000000,")
            .write(
                toFile: path.replacing(name, with: name.replacing(".1.", with: ".1000000.")), atomically: false,
                encoding: .utf8)
        try workspace.edit("photos/a.png")
        let edited = try workspace.read("photos/a.png")

        let result = try await penumbra("blur", "photos/a.png", "--force", "--keep", "beside")
        #expect(
            (result.code, result.errors)
                == (
                    1,
                    "photos/a.png: its latest original has the highest number that there is, 1000000; unblur it first\n"
                ))
        #expect(try workspace.read("photos/a.png") == edited)
    }

    @Test func `a folder whose store is odd costs its own pictures alone`() async throws {
        let before = try workspace.read("photos/a.png")
        try workspace.copy("photos/b.png", to: "photos/odd/b.png")
        symlink("/nowhere", "\(workspace.path)/photos/odd/.penumbra-originals")
        let words =
            "photos/odd/b.png: \(workspace.path)/photos/odd/.penumbra-originals: cannot keep originals there: it is a link, and "
            + "Penumbra did not make it so\n"
        let blur = try await penumbra("blur", "photos", "--radius", "2")
        #expect(blur.code == 1)
        #expect(blur.errors.hasPrefix(words))
        #expect(blur.output.hasPrefix("blurred 3 pictures "))
        let answer = try await penumbra("is-blurred", "photos")
        #expect(answer.code == 1)
        #expect(answer.errors.hasPrefix(words))
        let unblur = try await penumbra("unblur", "photos")
        #expect(unblur.code == 1)
        #expect(unblur.output == "put back 3 originals\n")
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `a folder that becomes a link meanwhile is not followed`() async throws {
        for number in 0..<130 { try workspace.draw("tree/a/\(number).png", width: 20 + number, height: 20) }
        try workspace.copy("photos/a.png", to: "tree/z/x.png")
        try workspace.copy("photos/b.png", to: "private/x.png")
        let program = try RunningProgram(["blur", "tree", "--radius", "3", "--workers", "1"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/originals/records").isEmpty }
        // Pictures are looked at together, sixty-four at a time: this one is among the last.
        rename("\(workspace.path)/tree/z", "\(workspace.path)/tree/z.real")
        symlink("../private", "\(workspace.path)/tree/z")
        let result = program.finish()
        #expect(result.code == 1)
        #expect(result.errors == "tree/z/x.png: its folder was replaced by another one meanwhile; left as it is\n")
        #expect(try workspace.read("private/x.png") == workspace.read("photos/b.png"))
    }

    @Test func `notes that a killed command has left go with gc`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let originals = "state/penumbra/originals"
        try workspace.write("\(workspace.path)/photos", to: "\(originals)/0123456789abcdef-1a2b")
        try workspace.write("mine", to: "\(originals)/notes-1a2b")
        let gc = try await penumbra("gc")
        #expect(gc.code == 0, "\(gc.output)\(gc.errors)")
        #expect(!workspace.exists("\(originals)/0123456789abcdef-1a2b"))
        #expect(workspace.exists("\(originals)/notes-1a2b"))
        #expect(try await penumbra("unblur", "photos").output == "put back 1 original\n")
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
        #expect(result.code == 1)
        #expect(result.errors.contains("read this record of an original"))
    }

    @Test func `where folders cannot be locked a file in them is`() async throws {
        let environment = try await folderlessLocks()
        let held = try await Program.run(
            "/usr/bin/flock", ["photos/.penumbra-lock", Program.penumbra, "blur", "photos/a.png"], in: workspace,
            environment: environment)
        #expect(held.code == 75, "\(held.errors)")
        let free = try await Program.run("blur", "photos/a.png", in: workspace, environment: environment)
        #expect(free.code == 0, "\(free.errors)")
        #expect(!workspace.exists("photos/.penumbra-lock"))
    }

    @Test func `what stays sharp is listed, whatever it is called`() async throws {
        for name in [
            "elsewhere/far/e.png", "photos/deep/.hidden.png", "photos/noname", "photos/x.png.bak", "photos/y.jfif.old",
        ] {
            try workspace.copy("photos/a.png", to: name)
        }
        try workspace.write("notes", to: "photos/notes.txt")
        try workspace.write("notes", to: "photos/.notes")
        for (link, target) in [
            ("photos/cover", "../elsewhere/far/e.png"), ("photos/dangling.png", "nowhere"),
            ("photos/folder", "../elsewhere"), ("photos/inside", "deep"), ("photos/text", "notes.txt"),
        ] {
            symlink(target, "\(workspace.path)/\(link)")
        }
        let result = try await penumbra("blur", "photos", "--radius", "2", "--quiet")
        #expect(result.code == 1)
        #expect(
            result.errors
                == """
                2 links to pictures elsewhere were not followed, and what they lead to was not blurred
                  photos/cover
                  photos/dangling.png
                1 link to a folder elsewhere was not followed, and no picture in it was blurred
                  photos/folder
                4 pictures are hidden or have no picture's name, and were not blurred
                  photos/deep/.hidden.png
                  photos/noname
                  photos/x.png.bak
                  photos/y.jfif.old

                """)
        let again = try await penumbra("blur", "photos", "--radius", "2")
        // The links that lead to nothing else, and the notes.
        let names = "photos/inside, photos/notes.txt, photos/text"
        #expect(again.output.hasSuffix("3 already blurred, 3 other files skipped: \(names)\n"), "\(again.output)")
        try workspace.write("more notes", to: "photos/a.txt")
        let more = try await penumbra("blur", "photos", "--radius", "2")
        #expect(
            more.output.hasSuffix(
                "3 already blurred, 4 other files skipped: photos/a.txt, photos/inside, photos/notes.txt and 1 more\n"),
            "\(more.output)")
    }

    @Test func `is-blurred and unblur see what blur sees`() async throws {
        try workspace.copy("photos/a.png", to: "photos/.hidden.png")
        try workspace.copy("photos/a.png", to: "elsewhere/e.png")
        symlink("../elsewhere/e.png", "\(workspace.path)/photos/e.png")
        let before = try workspace.contents(below: "photos")
        #expect(try await penumbra("blur", "photos", "--radius", "2").code == 1)
        let sharp = try await penumbra("is-blurred", "photos")
        #expect(sharp.code == 1)
        #expect(
            sharp.errors
                == """
                1 link to pictures elsewhere was not followed, and what they lead to was not blurred
                  photos/e.png
                1 picture is hidden or has no picture's name, and was not blurred
                  photos/.hidden.png

                """)
        let silent = try await penumbra("is-blurred", "photos", "--quiet")
        #expect((silent.code, silent.output, silent.errors) == (1, "", ""))

        // Once they are blurred, too, there is nothing to tell.
        #expect(try await penumbra("blur", "photos/.hidden.png", "elsewhere/e.png", "--radius", "2").code == 0)
        for arguments in [["is-blurred", "photos"], ["blur", "photos", "--radius", "2"]] {
            let result = try await Program.run(Program.penumbra, arguments, in: workspace)
            #expect((result.code, result.errors) == (0, ""))
        }
        let unblur = try await penumbra("unblur", "photos")
        #expect(unblur.code == 1)
        #expect(
            unblur.errors
                == "1 link to a blurred picture elsewhere was not followed, and its original was not put back\n"
                + "  photos/e.png\n")
        #expect(try await penumbra("unblur", "elsewhere").code == 0)
        #expect(try workspace.contents(below: "photos") == before)
        #expect(try await penumbra("unblur", "photos").code == 0)
    }

    @Test func `a hidden copy of a blurred picture is put back with its folder`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos", "--radius", "2").code == 0)
        try workspace.copy("photos/a.png", to: "photos/.copy.png")
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(try workspace.read("photos/.copy.png") == before)
    }

    @Test func `pictures and films in formats that Penumbra does not read are named`() async throws {
        try workspace.write(Data("SIMPLE  =                    T".utf8), to: "raw/a.FITS")
        try workspace.write(Data([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 24, 0, 1, 2, 3]), to: "raw/b.tga")
        try workspace.write("notes", to: "raw/notes.txt")
        for arguments in [["blur", "raw", "--radius", "2", "--quiet"], ["is-blurred", "raw"]] {
            let result = try await Program.run(Program.penumbra, arguments, in: workspace)
            #expect((result.code, result.output) == (1, ""))
            #expect(
                result.errors
                    == """
                    2 pictures or films are in formats that Penumbra does not read, and were not blurred
                      raw/a.FITS
                      raw/b.tga

                    """)
        }
        #expect(try await penumbra("blur", "raw", "--radius", "2").output == "1 other file skipped: raw/notes.txt\n")
    }

    @Test func `a folder that has lost the originals beside its pictures is named`() async throws {
        #expect(try await penumbra("blur", "photos", "--radius", "2", "--keep", "beside").code == 0)
        try workspace.remove("photos/.penumbra-originals")
        let blurred = try workspace.contents(below: "photos")
        let folder = try await penumbra("unblur", ".")
        #expect(folder.code == 1)
        #expect(
            folder.errors
                == "1 folder has no .penumbra-originals any more, in which originals were kept; restore it from a backup, or let "
                + "'penumbra gc --originals' forget it\n  photos\n")
        let picture = try await penumbra("unblur", "photos/a.png")
        #expect(picture.code == 1)
        #expect(
            picture.errors
                == "photos/a.png: may be blurred: .penumbra-originals, with the originals of its folder's pictures, is not "
                + "there; restore it, or let 'penumbra gc --originals' forget it\n")
        #expect(try workspace.contents(below: "photos") == blurred)
        #expect(
            try await penumbra("gc", "--originals").output
                == "0 originals that were put back under another name forgotten\n"
                + "1 folder without .penumbra-originals forgotten\n0 runs forgotten\n")
        let forgotten = try await penumbra("unblur", "photos")
        #expect((forgotten.code, forgotten.output, forgotten.errors) == (0, "put back 0 originals\n", ""))
    }

    @Test func `originals beside pictures that were put back are not missed`() async throws {
        #expect(try await penumbra("blur", "photos", "--radius", "2", "--keep", "beside").code == 0)
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(!workspace.exists("photos/.penumbra-originals"))
        let again = try await penumbra("unblur", "photos", "photos/a.png")
        #expect((again.code, again.errors) == (0, ""))
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

    /// The files of a store, and the single record with its text.
    private func record(_ store: String) throws -> (name: String, path: String, text: String) {
        let records = "\(workspace.path)/\(store)/records"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: records).first)
        return (name, "\(records)/\(name)", try String(contentsOfFile: "\(records)/\(name)", encoding: .utf8))
    }

    @Test(arguments: ["state", "beside"])
    func `an original is named by its SHA-256, and its size`(place: String) async throws {
        let sum = try await Program.run("/usr/bin/sha256sum", ["photos/a.png"], in: workspace).output.prefix(64)
        let size = try workspace.read("photos/a.png").count
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        let root = place == "state" ? "state/penumbra/originals" : "photos/.penumbra-originals"
        #expect(workspace.files(below: "\(root)/objects") == ["\(sum)-\(size)"])
    }

    /// FNV-1a, by which earlier versions named records.
    private func formerName(of key: String) -> String {
        let hash = key.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// As an earlier version has written it: named by XXH3.
    private func makeOld(_ store: String) throws {
        let (name, path, text) = try record(store)
        let digest = try #require(text.firstMatch(of: /"original":\{"bytes":(\d+),"digest":"([0-9a-f]{32})"/))
        let (old, new) = (
            "\(digest.output.2)-\(digest.output.1)", try #require(text.firstMatch(of: /"object":"([^"]*)"/))
        )
        rename(
            "\(workspace.path)/\(store)/objects/\(new.output.1)", "\(workspace.path)/\(store)/objects/\(old)")
        try FileManager.default.removeItem(atPath: path)
        let key = try #require(text.firstMatch(of: /"path":"([^"]*)"/)).output.1
        try text.replacing(/"object":"[^"]*",/, with: "").replacing(/"blurredSHA256":"[^"]*",/, with: "")
            .replacing(/"folder":\d+,/, with: "")
            .write(
                toFile: path.replacing(name, with: "\(formerName(of: String(key))).1.\(old).json"), atomically: false,
                encoding: .utf8)
    }

    @Test(arguments: ["state", "beside"])
    func `a store that an earlier version has written is listed and put back`(place: String) async throws {
        let before = try workspace.whole("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        let root = place == "state" ? "state/penumbra/originals" : "photos/.penumbra-originals"
        try makeOld(root)

        let list = try await penumbra("blur", "--list", "photos")
        #expect(list.code == 0, "\(list.errors)")
        #expect(list.output.contains("photos/a.png"))
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0)
        let result = try await penumbra("unblur", "photos/a.png")
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.whole("photos/a.png") == before)
        #expect(workspace.files(below: "\(root)/objects") == [])
    }

    @Test func `an original that is not what its name says is not put back`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let blurred = try workspace.read("photos/a.png")
        let objects = "photos/.penumbra-originals/objects"
        let name = try #require(workspace.files(below: objects).first)
        // The record agrees with the other bytes, by their XXH3: only the SHA-256 does not.
        let (_, path, text) = try record("photos/.penumbra-originals")
        let other = try workspace.read("photos/b.png")
        #expect(try await penumbra("blur", "photos/b.png", "--keep", "state").code == 0)
        let told = try record("state/penumbra/originals").text
        let digest = try #require(told.firstMatch(of: /"original":\{[^}]*\}/)).output
        chmod("\(workspace.path)/\(objects)/\(name)", 0o644)
        try workspace.write(other, to: "\(objects)/\(name)")
        let lie = text.replacing(/"original":\{[^}]*\}/, with: String(digest))
            .replacing(/-\d+"/, with: "-\(other.count)\"")
        try FileManager.default.removeItem(atPath: path)
        let newName = name.replacing(/-\d+$/, with: "-\(other.count)")
        rename("\(workspace.path)/\(objects)/\(name)", "\(workspace.path)/\(objects)/\(newName)")
        try lie.write(toFile: path.replacing(name, with: newName), atomically: false, encoding: .utf8)

        let result = try await penumbra("unblur", "photos/a.png")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "photos/a.png: its original, \(workspace.path)/\(objects)/\(newName), is gone or damaged; nothing was "
                + "changed\n")
        #expect(try workspace.read("photos/a.png") == blurred)
        #expect(!workspace.files(below: "photos").contains { $0.hasPrefix(".penumbra-picture") })
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"), arguments: ["", "objects", "object", "records"])
    func `where any part of a store is another user's, a picture keeps its present owner`(part: String) async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let store = "photos/.penumbra-originals"
        let (_, path, text) = try record(store)
        try text.replacing(/"mode":\d+/, with: "\"mode\":\(0o4755)").replacing(/"user":\d+/, with: "\"user\":0")
            .write(toFile: path, atomically: false, encoding: .utf8)
        chown("\(workspace.path)/photos/a.png", 2345, 3456)
        let object = try #require(workspace.files(below: "\(store)/objects").first)
        chown("\(workspace.path)/\(store)/\(part == "object" ? "objects/\(object)" : part)", 12345, 12345)

        #expect(try await penumbra("unblur", "photos/a.png").code == 1)
        let result = try await penumbra("unblur", "photos/a.png", "--force")
        #expect(result.code == 0, "\(result.errors)")
        let found = try workspace.whole("photos/a.png")
        #expect((found.user, found.group, found.mode & 0o7777) == (2345, 3456, 0o755))
        #expect(result.errors.contains("which a record of another user does not decide"))
    }

    @Test(.enabled(if: geteuid() == 0, "owners take root"))
    func `a store in which others may write gives no rights`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let store = "\(workspace.path)/photos/.penumbra-originals"
        let (_, path, text) = try record("photos/.penumbra-originals")
        try text.replacing(/"mode":\d+/, with: "\"mode\":\(0o4755)")
            .write(toFile: path, atomically: false, encoding: .utf8)
        // Somebody may have put there what root has written elsewhere.
        chmod(store, 0o777)

        #expect(try await penumbra("unblur", "photos/a.png").code == 1)
        #expect(try await penumbra("unblur", "photos/a.png", "--force").code == 0)
        #expect(try workspace.whole("photos/a.png").mode & 0o7777 == 0o755)
    }

    @Test func `one odd record costs itself alone`() async throws {
        let before = try workspace.read("photos/b.png")
        for name in ["a.png", "b.png", "c.jpg"] {
            #expect(
                try await penumbra("blur", "photos/\(name)", "--keep", name == "c.jpg" ? "state" : "beside").code == 0)
        }
        let records = "photos/.penumbra-originals/records"
        let names = workspace.files(below: records)
        let odd = try #require(
            names.first {
                String(decoding: (try? workspace.read("\(records)/\($0)")) ?? Data(), as: UTF8.self)
                    .contains(#""path":"a.png""#)
            })
        try workspace.write("{", to: "\(records)/\(odd)")
        let words = "\(workspace.path)/\(records)/\(odd): cannot read this record of an original: Bad message\n"

        let list = try await penumbra("blur", "--list")
        #expect(list.code == 1)
        #expect(list.errors.hasPrefix(words))
        #expect(list.output.contains("photos/b.png"))
        #expect(list.output.contains("photos/c.jpg"))
        let result = try await penumbra("unblur", "photos")
        #expect(result.code == 1)
        #expect(result.errors.hasPrefix("photos/a.png: \(words)"))
        #expect(result.output == "put back 2 originals\n")
        #expect(try workspace.read("photos/b.png") == before)
        // Its original stays.
        #expect(workspace.files(below: "photos/.penumbra-originals/objects").count == 1)
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 1)
        #expect(try await penumbra("blur", "photos/a.png").code == 1)
    }

    @Test(arguments: ["pipe", "device", "large", "folder", "link"])
    func `what is no record keeps nobody waiting`(kind: String) async throws {
        for name in ["a", "b"] {
            #expect(try await penumbra("blur", "photos/\(name).png", "--keep", "beside").code == 0)
        }
        let records = "\(workspace.path)/photos/.penumbra-originals/records"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: records).sorted().first)
        try FileManager.default.removeItem(atPath: "\(records)/\(name)")
        switch kind {
        case "pipe": mkfifo("\(records)/\(name)", 0o666)
        case "device" where geteuid() == 0: mknod("\(records)/\(name)", S_IFCHR | 0o666, 0x105)  // /dev/zero
        case "folder": mkdir("\(records)/\(name)", 0o777)
        case "link": symlink("/dev/zero", "\(records)/\(name)")
        default:
            try workspace.write("", to: "photos/.penumbra-originals/records/\(name)")
            truncate("\(records)/\(name)", 1 << 40)
        }
        let list = try await penumbra("blur", "--list")
        #expect(list.code == 1)
        #expect(list.errors.hasPrefix("\(records)/\(name): cannot read this record of an original: "))
        #expect(list.output.split(separator: "\n").count == 2)
    }

    @Test(arguments: [#""time":9223372036854775807"#, #""time":-9223372036854775808"#, #""bytes":9223372036854775807"#])
    func `numbers of a record are those of files`(number: String) async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let (_, path, text) = try record("photos/.penumbra-originals")
        let key = try #require(number.firstMatch(of: /"[a-z]*":/)).output
        try text.replacing(try Regex("\(key)\\d+"), with: number)
            .write(toFile: path, atomically: false, encoding: .utf8)
        for arguments in [
            ["blur", "--list", "photos"], ["unblur", "photos"], ["is-blurred", "photos/a.png"], ["gc"],
        ] {
            let result = try await Program.run(Program.penumbra, arguments, in: workspace)
            #expect([0, 1].contains(result.code), "\(arguments): \(result.errors)")
        }
    }

    /// Blurs a picture beside a store in which one folder is another one's, and tidies up. It ends with 99 where nothing can be
    /// mounted.
    private func blurWhereMounted(_ folder: String, at other: String) async throws -> Program.Result {
        try await Program.run(
            "/usr/bin/unshare",
            [
                "-m", "/bin/sh", "-c",
                "mount --make-rprivate / && mount --bind \(folder) \(other) || exit 99; \(Program.penumbra) blur other/b.png "
                    + "--keep beside; code=$?; \(Program.penumbra) gc; exit $code",
            ], in: workspace)
    }

    @Test(.enabled(if: geteuid() == 0, "mounts take root"))
    func `two stores of which one folder is mounted in the other lose nothing`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        try workspace.copy("photos/b.png", to: "other/b.png")
        for part in ["objects", "records", "incoming"] {
            try workspace.write("", to: "other/.penumbra-originals/\(part)/x")
            try workspace.remove("other/.penumbra-originals/\(part)/x")
        }
        let (one, other) = ("photos/.penumbra-originals/objects", "other/.penumbra-originals/objects")
        let result = try await blurWhereMounted(one, at: other)
        guard result.code != 99 else { return }
        #expect(result.code == 74)
        #expect(
            result.errors
                == """
                other/b.png: \(workspace.path)/\(other): cannot keep originals there: another folder is mounted there, which may \
                be another store's
                   = put back the folder that Penumbra made, or move the originals elsewhere; nothing was removed

                """)
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test(.enabled(if: geteuid() == 0, "mounts take root"))
    func `a store that is mounted in another folder as a whole loses nothing`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        try workspace.copy("photos/b.png", to: "other/b.png")
        let (one, other) = ("photos/.penumbra-originals", "other/.penumbra-originals")
        mkdir("\(workspace.path)/\(other)", 0o700)
        let result = try await blurWhereMounted(one, at: other)
        guard result.code != 99 else { return }
        #expect(result.code == 1)
        #expect(
            result.errors.hasPrefix(
                "other/b.png: \(workspace.path)/\(other): cannot keep originals there: another folder is mounted there")
        )
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `a store that another command holds is waited for by nobody, and nothing is changed there`() async throws
    {
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        let blurred = try workspace.read("photos/a.png")
        for arguments in [["unblur", "photos/a.png"], ["blur", "photos/b.png", "--keep", "beside"]] {
            let held = try await Program.run(
                "/usr/bin/flock", ["photos/.penumbra-originals/lock", Program.penumbra] + arguments, in: workspace)
            #expect(held.code == 75, "\(held.errors)")
        }
        #expect(try workspace.read("photos/a.png") == blurred)
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
    }

    @Test func `blurs that no lock keeps apart lose no original`() async throws {
        try workspace.write("int flock(int file, int operation) { return 0; }", to: "free.c")
        let shim = "\(workspace.path)/free.so"
        let made = try await Program.run("/usr/bin/gcc", ["-shared", "-fPIC", "-o", shim, "free.c"], in: workspace)
        try #require(made.code == 0, "\(made.errors)")
        for number in 0..<8 { try workspace.draw("photos/n\(number).png", width: 30 + number, height: 20) }
        let before = try workspace.contents(below: "photos")
        // Each with a state folder of its own: as on machines that do not see each other's locks.
        let command = "XDG_STATE_HOME=$PWD/state$n \(Program.penumbra) blur photos/n$n.png --keep beside"
        _ = try await Program.run(
            "/bin/bash", ["-c", "for n in 0 1 2 3 4 5 6 7; do \(command) & done; wait"], in: workspace,
            environment: ["LD_PRELOAD": shim])
        #expect(try await penumbra("unblur", "photos").code == 0)
        for (name, bytes) in before { #expect(try workspace.read("photos/\(name)") == bytes) }
    }

    /// Where flock() knows files alone, as on some network file systems.
    private func folderlessLocks() async throws -> [String: String] {
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
        let made = try await Program.run(
            "/usr/bin/gcc", ["-shared", "-fPIC", "-o", shim, "nolock.c", "-ldl"], in: workspace)
        #expect(made.code == 0, "\(made.errors)")
        return ["LD_PRELOAD": shim]
    }

    @Test func `where folders cannot be locked, runs and blurs exclude each other by a file`() async throws {
        let environment = try await folderlessLocks()
        try workspace.writeManifest()
        let run = [Program.penumbra, "run", "--quiet", "job.yaml"]
        #expect(
            try await Program.run(run[0], Array(run.dropFirst()), in: workspace, environment: environment).code == 0)
        #expect(!workspace.exists("out/.penumbra-lock"))

        let held = try await Program.run(
            "/usr/bin/flock", ["out/.penumbra-lock"] + run, in: workspace, environment: environment)
        #expect(held.code == 75, "\(held.errors)")
        let output = try #require(workspace.files(below: "out").first { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") })
        let blur = try await Program.run(
            "/usr/bin/flock", ["out/.penumbra-lock", Program.penumbra, "blur", "out/\(output)"], in: workspace,
            environment: environment)
        #expect(blur.code == 75, "\(blur.errors)")
        // Nobody holds what a killed command has left.
        let free = try await Program.run("blur", "out/\(output)", in: workspace, environment: environment)
        #expect(free.code == 0, "\(free.errors)")
        #expect(!workspace.exists("out/.penumbra-lock"))
    }

    @Test func `blurs of one picture under one lock file lose no original`() async throws {
        let environment = try await folderlessLocks()
        let before = try workspace.whole("photos/a.png")
        // Each with a state folder of its own: as two users, or two machines.
        let command = "XDG_STATE_HOME=$PWD/state$n \(Program.penumbra) blur photos/a.png --radius $n --keep beside"
        let both = try await Program.run(
            "/bin/bash", ["-c", "for n in 1 2 3 4; do \(command) & done; wait"], in: workspace, environment: environment
        )
        #expect(both.output.components(separatedBy: "blurred 1 picture").count == 2, "\(both.output) \(both.errors)")
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.whole("photos/a.png") == before)
    }
}
