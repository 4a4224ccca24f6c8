import ExamplePictures
import Foundation
import Glibc
import Testing

/// `penumbra blur`, `unblur` and `is-blurred`: in place, and undone.
@Suite(.serialized) struct BlurTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private var root: String { "\(workspace.path)/state/penumbra/originals" }

    @Test func `a picture is blurred in place, with the bytes that apply gives`() async throws {
        let applied = try await penumbra("apply", "gaussian: {radius: 2}", "photos/a.png", "-o", "blurred.png")
        #expect(applied.code == 0)
        let result = try await penumbra("blur", "photos/a.png", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output
                == "blurred 1 picture (gaussian: {radius: 2}); its original is kept in \(root), and 'penumbra unblur' puts "
                + "it back\n")
        #expect(try workspace.read("photos/a.png") == workspace.read("blurred.png"))
        #expect(workspace.leftovers() == [])
    }

    @Test func `a JPEG is written with a better quality than outputs are`() async throws {
        let applied = try await penumbra(
            "apply", "gaussian: {radius: 10}", "photos/c.jpg", "-o", "c.jpg", "--set", "save.quality=94")
        #expect(applied.code == 0)
        #expect(try await penumbra("blur", "photos/c.jpg").code == 0)
        #expect(try workspace.read("photos/c.jpg") == workspace.read("c.jpg"))
    }

    @Test func `a picture that somebody has put back is blurred anew, wherever its original was kept`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "state").code == 0)
        try workspace.write(original, to: "photos/a.png")
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 1)
        #expect(try await penumbra("blur", "photos/a.png", "--radius", "3", "--keep", "beside").code == 0)
        #expect(workspace.originals == [])
        let list = try await penumbra("blur", "--list").output.split(separator: "\n")
        #expect(list.count == 2 && list[1].hasPrefix("blurred  "))
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == original)
    }

    @Test func `the blurred picture keeps rights, owner and attributes; undone, it has its bytes and time again`()
        async throws
    {
        for place in ["state", "beside"] {
            try workspace.adorn("photos/a.png")
            let before = try workspace.whole("photos/a.png")
            #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
            let blurred = try workspace.whole("photos/a.png")
            #expect(blurred.bytes != before.bytes)
            #expect((blurred.mode, blurred.user, blurred.group) == (before.mode, before.user, before.group))
            #expect(blurred.attribute == before.attribute)
            #expect(blurred.modified > before.modified)
            let result = try await penumbra("unblur", "photos/a.png")
            #expect((result.code, result.output) == (0, "put back 1 original\n"))
            #expect(try workspace.whole("photos/a.png") == before)
            #expect(workspace.originals == [])
            #expect(workspace.leftovers() == [])
        }
    }

    @Test func `doing either twice changes nothing`() async throws {
        let before = try workspace.whole("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--sigma", "2.5").code == 0)
        let blurred = try workspace.whole("photos/a.png")
        // However the filters are written.
        for filters in [["--radius", "2.5"], ["--filter", "gaussian: { radius: 2.50 }"]] {
            let again = try await Program.run(
                Program.penumbra, ["blur", "photos/a.png"] + filters, in: workspace)
            #expect(again.code == 0)
            #expect(again.errors == "")
            #expect(again.output == "photos/a.png: already blurred (gaussian: {radius: 2.5}); nothing to do\n")
        }
        #expect(try workspace.whole("photos/a.png") == blurred)
        let silent = try await penumbra("blur", "photos/a.png", "--radius", "2.5", "--quiet")
        #expect((silent.code, silent.output, silent.errors) == (0, "", ""))

        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        let undone = try await penumbra("unblur", "photos/a.png")
        #expect((undone.code, undone.output) == (0, "photos/a.png: is not blurred; nothing to do\n"))
        #expect(try workspace.whole("photos/a.png") == before)
    }

    @Test func `a picture that was blurred with other filters is named, and left as it is`() async throws {
        #expect(try await penumbra("blur", "photos/a.png", "--radius", "2").code == 0)
        let blurred = try workspace.whole("photos/a.png")
        for more in [["--radius", "30"], ["--filter", "invert", "--force"], ["--radius", "30", "--quiet"]] {
            let result = try await Program.run(Program.penumbra, ["blur", "photos/a.png"] + more, in: workspace)
            #expect(result.code == 1)
            #expect(
                result.errors
                    == "photos/a.png: blurred with other filters before (gaussian: {radius: 2}), and left as it is; unblur it "
                    + "first to blur it otherwise\n")
        }
        #expect(try workspace.whole("photos/a.png") == blurred)
        let folder = try await penumbra("blur", "photos", "--radius", "3")
        #expect(folder.code == 1)
        #expect(folder.output.hasPrefix("blurred 2 pictures (gaussian: {radius: 3}); "))
        #expect(folder.output.hasSuffix(" puts them back, 1 blurred with other filters before\n"))
        let json = try await penumbra("blur", "photos/a.png", "--json").output.split(separator: "\n")
        #expect(json.count == 3 && json[1].hasSuffix(#""state":"blurred otherwise"}"#))
    }

    @Test(arguments: ["gaussian: {radius: 0}", "sharpen: {amount: 0} | motion: {radius: 0}"])
    func `64: filters that change no pixel are refused before anything is touched`(chain: String) async throws {
        let before = try workspace.contents(below: "photos")
        let result = try await penumbra("blur", "photos", "--filter", chain, "--quiet")
        #expect(result.code == 64)
        #expect(
            result.errors
                == "\(chain): changes no pixel, and the pictures would stay as sharp as they are\n"
                + "   = give other values, or another filter\n")
        #expect(try workspace.contents(below: "photos") == before)
        #expect(workspace.originals == [])
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 1)
        #expect(try await penumbra("blur", "photos", "--filter", "\(chain) | invert").code == 0)
    }

    @Test func `a folder without pictures is said to be one`() async throws {
        try workspace.write("notes", to: "texts/notes.txt")
        let texts = try await penumbra("blur", "texts", "--radius", "2")
        #expect((texts.code, texts.errors) == (0, ""))
        #expect(texts.output == "there are no pictures at the given paths, 1 other file skipped: texts/notes.txt\n")
        let silent = try await penumbra("blur", "texts", "--radius", "2", "--quiet")
        #expect((silent.code, silent.output, silent.errors) == (0, "", ""))
    }

    @Test func `is-blurred answers by its exit code`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        let yes = try await penumbra("is-blurred", "photos/a.png")
        #expect((yes.code, yes.output, yes.errors) == (0, "photos/a.png: blurred (gaussian: {radius: 10})\n", ""))
        let no = try await penumbra("is-blurred", "photos/a.png", "photos/b.png")
        #expect((no.code, no.errors) == (1, "photos/b.png: is not blurred\n"))
        let gone = try await penumbra("is-blurred", "photos/z.png")
        #expect(
            (gone.code, gone.errors) == (
                66, "photos/z.png: no such file or folder; check its name, or mount its disk\n"
            ))
        let silent = try await penumbra("is-blurred", "--quiet", "photos")
        #expect((silent.code, silent.output, silent.errors) == (1, "", ""))
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/empty", withIntermediateDirectories: false)
        let nothing = try await penumbra("is-blurred", "empty")
        #expect((nothing.code, nothing.errors) == (66, "there are no pictures at the given paths\n"))
        // A copied file system has other inodes, and times that a copy has set.
        try workspace.copy("photos/a.png", to: "copy.png")
        try workspace.remove("photos/a.png")
        try workspace.copy("copy.png", to: "photos/a.png")
        try workspace.age("photos/a.png")
        #expect(try await penumbra("is-blurred", "photos/a.png").code == 0)
    }

    @Test func `a picture that was edited since is left as it is, unless --force is given`() async throws {
        let original = try workspace.whole("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--radius", "2").code == 0)
        try workspace.edit("photos/a.png")
        let edited = try workspace.whole("photos/a.png")
        let blur = try await penumbra("blur", "photos/a.png", "--radius", "3")
        #expect(blur.code == 1)
        #expect(
            blur.errors
                == "photos/a.png: edited since it was blurred (gaussian: {radius: 2}), and left as it is; --force blurs it "
                + "as it is now, and keeps the older original, too\n")
        let unblur = try await penumbra("unblur", "photos/a.png")
        #expect(unblur.code == 1)
        #expect(
            unblur.errors
                == "photos/a.png: edited since it was blurred (gaussian: {radius: 2}), and left as it is; --force puts the "
                + "original back, and the edits are lost\n")
        let answer = try await penumbra("is-blurred", "photos/a.png")
        #expect(
            (answer.code, answer.errors)
                == (1, "photos/a.png: edited since it was blurred (gaussian: {radius: 2})\n"))
        #expect(try workspace.whole("photos/a.png") == edited)

        let forced = try await penumbra("unblur", "--force", "photos/a.png")
        #expect(forced.code == 0)
        #expect(forced.errors == "photos/a.png: the original is back, in place of what was there\n")
        #expect(try workspace.whole("photos/a.png") == original)
    }

    @Test func `an edited picture that is blurred once more has two originals, and both come back`() async throws {
        let original = try workspace.whole("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--radius", "2").code == 0)
        let first = try #require(workspace.originals.first)
        try workspace.edit("photos/a.png")
        let edited = try workspace.whole("photos/a.png")
        let forced = try await penumbra("blur", "--force", "photos/a.png", "--radius", "3")
        #expect(forced.code == 0)
        #expect(
            forced.errors
                == "photos/a.png: blurred as it was now; its older original is kept at \(root)/objects/\(first)\n")
        #expect(workspace.originals.count == 2)
        let back = try await penumbra("unblur", "photos/a.png")
        #expect(back.code == 0)
        #expect(
            back.errors
                == "photos/a.png: an older original is kept at \(root)/objects/\(first), and 'unblur --force' puts it "
                + "back\n")
        #expect(try workspace.whole("photos/a.png") == edited)
        #expect(try await penumbra("unblur", "--force", "photos/a.png").code == 0)
        #expect(try workspace.whole("photos/a.png") == original)
        #expect(workspace.originals == [])
    }

    @Test func `any filters will do`() async throws {
        let chain = "halftone: {size: 6} | invert"
        #expect(try await penumbra("apply", chain, "photos/a.png", "-o", "a.png").code == 0)
        let result = try await penumbra("blur", "photos/a.png", "--filter", chain)
        #expect(result.output.hasPrefix("blurred 1 picture (halftone: {size: 6} | invert); "))
        #expect(try workspace.read("photos/a.png") == workspace.read("a.png"))
        let unknown = try await penumbra("blur", "photos/b.png", "--filter", "gausian")
        #expect(unknown.code == 65)
        #expect(unknown.errors.contains("unknown filter 'gausian'"))
        let wrong = try await penumbra("blur", "photos/b.png", "--radius", "3", "--filter", "invert")
        #expect(wrong.code == 64)
        #expect(wrong.errors.contains("--radius, --sigma and --filter each say how to blur; give one of them."))
        #expect(try await penumbra("blur").code == 64)
    }

    @Test func `a folder stands for the pictures below it`() async throws {
        try workspace.copy("photos/a.png", to: "photos/deep/d.PNG")
        try workspace.copy("photos/a.png", to: "photos/.hidden/e.png")
        try workspace.copy("photos/a.png", to: "elsewhere/far.png")
        try workspace.write("notes", to: "photos/notes.txt")
        try workspace.write("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", to: "photos/v.svg")
        #expect(symlink("../elsewhere/far.png", "\(workspace.path)/photos/far.png") == 0)
        let before = try workspace.contents(below: "photos")
        let result = try await penumbra("blur", "photos", "--radius", "2")
        #expect(result.code == 1, "a picture is as sharp as it was")
        #expect(
            result.errors
                == "1 link to pictures elsewhere was not followed, and what they lead to was not blurred\n  photos/far.png\n"
                + "1 hidden folder was skipped, and the pictures in it were not blurred\n  photos/.hidden: 1 picture\n"
                + "photos/v.svg: Penumbra reads svg, but does not write it; 'penumbra apply' writes another format; left as "
                + "it is\n")
        #expect(result.output.hasPrefix("blurred 4 pictures (gaussian: {radius: 2}); their originals are kept in "))
        #expect(
            result.output.hasSuffix(
                " puts them back, 1 picture left as it is, 1 other file skipped: photos/notes.txt\n"))
        let after = try workspace.contents(below: "photos")
        let changed = before.filter { after[$0.key] != $0.value }.keys.sorted()
        #expect(changed == ["a.png", "b.png", "c.jpg", "deep/d.PNG"])
        // Two pictures of the same bytes have one original.
        #expect(workspace.originals.count == 3)
        try workspace.remove("photos/v.svg")
        #expect(try await penumbra("blur", "photos", "--radius", "10").code == 1, "the link is there still")
        try workspace.write("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", to: "photos/v.svg")
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(workspace.originals.count == 3, "the other picture needs it")
        let undone = try await penumbra("unblur", "photos")
        #expect((undone.code, undone.output) == (0, "put back 3 originals\n"))
        #expect(try workspace.contents(below: "photos") == before)
        #expect(try await penumbra("unblur", "photos").output == "put back 0 originals\n")
    }

    @Test func `originals that lie beside pictures move with them`() async throws {
        let before = try workspace.read("photos/a.png")
        let result = try await penumbra("blur", "photos/a.png", "photos/b.png", "--keep", "beside")
        #expect(
            result.output
                == "blurred 2 pictures (gaussian: {radius: 10}); their originals are kept beside them, in "
                + ".penumbra-originals, and 'penumbra unblur' puts them back\n")
        #expect(workspace.originals == [])
        #expect(rename("\(workspace.path)/photos", "\(workspace.path)/moved") == 0)
        try workspace.remove("state")
        let list = try await penumbra("blur", "--list", "moved")
        #expect(list.output.contains("  moved/a.png\n") && list.output.contains("  moved/b.png\n"))
        #expect(try await penumbra("is-blurred", "moved/a.png").code == 0)
        #expect(try await penumbra("unblur", "moved").code == 0)
        #expect(try workspace.read("moved/a.png") == before)
        #expect(workspace.leftovers() == [])
    }

    @Test func `a picture that was removed after its folder was moved is named, and put back`() async throws {
        let before = try workspace.read("photos/b.png")
        for name in ["a", "b"] { try workspace.copy("photos/\(name).png", to: "album/first/\(name).png") }
        #expect(try await penumbra("blur", "album", "--radius", "2", "--keep", "beside").code == 0)
        #expect(rename("\(workspace.path)/album", "\(workspace.path)/moved") == 0)
        try workspace.remove("moved/first/b.png")
        let list = try await penumbra("blur", "--list", "moved")
        #expect(list.output.contains("  moved/first/a.png\n") && list.output.contains("  moved/first/b.png\n"))
        let result = try await penumbra("unblur", "moved")
        #expect((result.code, result.output) == (1, "put back 1 original\n"))
        #expect(result.errors.hasPrefix("moved/first/b.png: no such file; its original is kept at "))
        let forced = try await penumbra("unblur", "--force", "moved")
        #expect((forced.code, forced.output) == (0, "put back 1 original\n"))
        #expect(try workspace.read("moved/first/b.png") == before)
        #expect(workspace.leftovers() == [])
    }

    @Test func `--list names folders with originals that are not at their places, until they are given up`()
        async throws
    {
        try workspace.copy("photos/a.png", to: "album/a.png")
        #expect(try await penumbra("blur", "album", "--radius", "2", "--keep", "beside").code == 0)
        #expect(rename("\(workspace.path)/album", "\(workspace.path)/moved") == 0)
        let list = try await penumbra("blur", "--list")
        #expect((list.code, list.output) == (1, ""))
        #expect(
            list.errors
                == "1 folder in which originals were kept is not at its place: mount the disk; or, if you moved it, give "
                + "'penumbra blur --list FOLDER' with its new place; 'penumbra gc --give-up FOLDER' forgets it\n  album\n"
        )
        let given = try await penumbra("gc", "--give-up", "album")
        #expect((given.code, given.errors) == (0, ""))
        #expect(given.output.contains("1 folder that is not there forgotten\n"))
        #expect(try await penumbra("blur", "--list").output == "no originals are kept\n")
        // No original was removed.
        #expect(try await penumbra("unblur", "moved").output == "put back 1 original\n")
    }

    @Test func `--list tells what became of blurred pictures`() async throws {
        #expect(try await penumbra("blur", "--list").output == "no originals are kept\n")
        let original = try workspace.read("photos/b.png")
        for name in ["a", "b", "d", "e"] {
            if !workspace.exists("photos/\(name).png") {
                try workspace.draw("photos/\(name).png", width: 20 + name.utf8.reduce(0) { $0 + Int($1) }, height: 20)
            }
            #expect(try await penumbra("blur", "photos/\(name).png", "--radius", "2").code == 0)
        }
        try workspace.write(original, to: "photos/b.png")
        try workspace.edit("photos/d.png")
        try workspace.remove("photos/e.png")
        let list = try await penumbra("blur", "--list")
        #expect(list.code == 0)
        let lines = list.output.split(separator: "\n").map { line in
            line.replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/#, with: "TIME")
        }
        #expect(lines.first?.hasPrefix("state") == true)
        #expect(
            lines.dropFirst() == [
                "blurred            TIME  gaussian: {radius: 2}  photos/a.png",
                "original is there  TIME  gaussian: {radius: 2}  photos/b.png",
                "edited since       TIME  gaussian: {radius: 2}  photos/d.png",
                "missing            TIME  gaussian: {radius: 2}  photos/e.png",
            ])
        let json = try await penumbra("blur", "--list", "photos/d.png", "--json").output.split(separator: "\n")
        #expect(json.count == 3)
        #expect(json[1].contains(#""event":"kept","filters":"gaussian: {radius: 2}","original":"\#(root)/objects/"#))
        #expect(json[1].contains(#""state":"edited since""#))

        let gone = try await penumbra("unblur", "photos/e.png")
        #expect(gone.code == 66)
        #expect(gone.errors.hasPrefix("photos/e.png: no such file; its original is kept at \(root)/objects/"))
        #expect(gone.errors.hasSuffix(": 'unblur --force' puts it back, and 'gc --give-up' forgets it\n"))
        let forced = try await penumbra("unblur", "--force", "photos/e.png")
        #expect((forced.code, forced.errors) == (0, ""))
        #expect(workspace.exists("photos/e.png"))
    }

    @Test func `--json has a line for each picture`() async throws {
        let lines = try await penumbra("blur", "--json", "photos/a.png", "photos/z.png").output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(
            lines[1]
                == #"{"event":"picture","filters":"gaussian: {radius: 10}","path":"\#(workspace.path)/photos/a.png","#
                + #""state":"blurred"}"#)
        #expect(
            lines[2]
                == #"{"event":"picture","message":"no such file or folder; check its name, or mount its disk","path":"\#(workspace.path)/photos/z.png","state":"gone"}"#
        )
        let answer = try await penumbra("is-blurred", "--json", "photos/a.png").output.split(separator: "\n")
        #expect(answer.count == 3 && answer[1].hasSuffix(#""state":"blurred"}"#))
        let back = try await penumbra("unblur", "--json", "photos/a.png").output.split(separator: "\n")
        #expect(back.count == 3 && back[1].hasSuffix(#""state":"unblurred"}"#))
    }

    @Test func `an interrupted blur leaves whole pictures, and says what is left`() async throws {
        for number in 0..<200 { try workspace.draw("photos/n\(number).png", width: 100 + number, height: 80) }
        let before = try workspace.contents(below: "photos")
        let program = try RunningProgram(["blur", "photos", "--radius", "10", "--workers", "1"], in: workspace)
        program.wait { !workspace.files(below: "state/penumbra/originals/records").isEmpty }
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect(result.code == 143)
        #expect(result.errors.hasPrefix("stopped by SIGTERM; "))
        #expect(result.output.hasSuffix(" left\n"))
        #expect(try workspace.contents(below: "photos") != before)
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(try workspace.contents(below: "photos") == before)
        #expect(workspace.leftovers() == [])
    }

    @Test func `gc keeps originals, and nothing else`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "state").code == 0)
        #expect(try await penumbra("blur", "photos/b.png", "--keep", "beside").code == 0)
        let kept = workspace.originals
        try workspace.write("x", to: "state/penumbra/originals/objects/0123456789abcdef0123456789abcdef-1")
        try workspace.write("x", to: "photos/.penumbra-originals/objects/0123456789abcdef0123456789abcdef-1")
        let result = try await penumbra("gc")
        #expect(result.output == "2 originals that no picture needs removed\n0 runs forgotten\n")
        #expect(workspace.originals == kept)
        #expect(workspace.files(below: "photos/.penumbra-originals/objects").count == 1)
        #expect(try await penumbra("unblur", "photos").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `originals stay where nobody can tell what needs them`() async throws {
        let before = try workspace.read("photos/a.png")
        for place in ["state", "beside"] {
            #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
            let root = place == "state" ? "state/penumbra/originals" : "photos/.penumbra-originals"
            let objects = workspace.files(below: "\(root)/objects")
            let (records, away) = ("\(workspace.path)/\(root)/records", "\(workspace.path)/away")
            // A list that fails, as on a disk with faults.
            #expect(rename(records, away) == 0)
            try workspace.write("no folder", to: "\(root)/records")
            _ = try await penumbra("gc")
            _ = try await penumbra("blur", "photos/b.png")
            _ = try await penumbra("unblur", "photos/a.png")
            #expect(workspace.files(below: "\(root)/objects").filter(objects.contains) == objects)
            try workspace.remove("\(root)/records")
            #expect(rename(away, records) == 0)
            #expect(try await penumbra("unblur", "photos/a.png").code == 0)
            #expect(try workspace.read("photos/a.png") == before)
        }
    }

    @Test(arguments: ["state", "beside"])
    func `blurs that wait for each other blur once`(place: String) async throws {
        let before = try workspace.whole("photos/a.png")
        let command = "\(Program.penumbra) blur photos/a.png --keep \(place) --lock-wait 5m"
        let three = try await Program.run(
            "/bin/bash", ["-c", "for n in 1 2 3; do \(command) & done; wait"], in: workspace)
        #expect(three.output.components(separatedBy: "blurred 1 picture").count == 2, "\(three.output)")
        #expect(three.output.components(separatedBy: "already blurred").count == 3, "\(three.output)")
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.whole("photos/a.png") == before)
        #expect(workspace.originals == [])
    }

    @Test func `what may not be had is not tidied: another user's originals beside pictures`() async throws {
        let before = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        try workspace.write("x", to: "photos/.penumbra-originals/incoming/0")
        let busy = try await Program.run(
            "/usr/bin/flock", ["photos", Program.penumbra, "unblur", "photos/a.png"], in: workspace)
        #expect(busy.code == 75)
        #expect(workspace.exists("photos/.penumbra-originals/incoming/0"))
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `jobs take blurred pictures as any others`() async throws {
        for name in ["a.png", "b.png", "c.jpg"] { try workspace.age("photos/\(name)") }
        try workspace.writeNightly(inputs: "photos")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        #expect(try await penumbra("blur", "photos/a.png", "--keep", "beside").code == 0)
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }
}
