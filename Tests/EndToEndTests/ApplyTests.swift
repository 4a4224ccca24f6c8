import ExamplePictures
import Foundation
import Raster
import Testing

/// `penumbra apply`: a chain on pictures without a manifest.
@Suite(.serialized) struct ApplyTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func apply(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["apply"] + arguments, in: workspace)
    }

    @Test func `one picture goes to a file, with the bytes that a manifest gives`() async throws {
        let result = try await apply("gaussian: {radius: 5}", "photos/a.png", "-o", "blurred.png")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.contains("apply: 1 published in "))
        try workspace.writeManifest()
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(try workspace.read("blurred.png") == workspace.read("out/a.png"))
    }

    @Test(arguments: [
        (
            "gaussian: {radius: 1} | | invert",
            "filter 2 of 3 of the chain is empty\n   = write a filter there, or remove a '|'\n"
        ),
        ("invert |", "filter 2 of 2 of the chain is empty\n   = write a filter there, or remove a '|'\n"),
        (
            " ",
            "the chain has no filter\n   = write a filter, such as 'gaussian: {radius: 12}', or '[]' to change only the format\n"
        ),
    ])
    func `an empty place in a chain is refused`(chain: String, words: String) async throws {
        let result = try await apply(chain, "photos/a.png", "-o", "b.png")
        #expect(result.code == 64)
        #expect(result.errors == words)
    }

    @Test func `an empty list as the chain changes only the format`() async throws {
        let result = try await apply(" [ ] ", "photos/a.png", "-o", "b.tif", "--save-manifest", "saved.yaml")
        #expect(result.code == 0)
        #expect(try PictureFiles.read("\(workspace.path)/b.tif") == PictureFiles.read("\(workspace.path)/photos/a.png"))
        #expect(try String(decoding: workspace.read("saved.yaml"), as: UTF8.self).contains("\nfilters: []\n"))
        let both = try await apply("[] | invert", "photos/a.png", "-o", "c.tif")
        #expect(both.code == 65)
    }

    @Test func `hints speak of no manifest, since there is none`() async throws {
        let gone = try await apply("invert", "photos/z.png", "-o", "b.png")
        #expect(gone.code == 66)
        #expect(
            gone.errors == "photos/z.png: no such file\n")
        let mask = try await apply("variable: {mask: m.png}", "photos/a.png", "-o", "b.png")
        #expect(
            mask.errors.hasSuffix(
                "\n  = write the path of a picture that Penumbra can read; this one leads to \(workspace.path)/m.png\n")
        )
        let large = try await apply("invert", "photos/a.png", "-o", "b.png", "--set", "max_pixels=100")
        #expect(
            large.errors.contains("160 × 120 pixels are more than max_pixels: 100; raise it if the picture is meant\n"))
    }

    /// By a shell: names on a command line are bytes.
    private func shell(_ command: String) async throws -> Program.Result {
        try await Program.run("/bin/bash", ["-c", "\(Program.penumbra) \(command)"], in: workspace)
    }

    @Test func `names that are not UTF-8 are names, and no others are taken for them`() async throws {
        let made = try await Program.run(
            "/bin/bash",
            [
                "-c",
                #"mkdir odd && cp photos/a.png $'odd/Gr\xF6\xDFe.png' && cp photos/b.png odd/Größe.png && cp photos/b.png odd/b.png"#,
            ],
            in: workspace)
        #expect(made.code == 0)
        let one = try await shell(#"apply invert $'odd/Gr\xF6\xDFe.png' -o one/ --save-manifest kept.yaml"#)
        #expect((one.code, one.errors) == (0, ""))
        #expect(workspace.files(below: "one") == ["Gr%F6%DFe.png"])
        #expect(try await apply("invert", "photos/a.png", "-o", "a.png").code == 0)
        #expect(try workspace.read("one/Gr%F6%DFe.png") == workspace.read("a.png"))
        try FileManager.default.removeItem(atPath: "\(workspace.path)/one")
        #expect(try await Program.run("run", "kept.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "one").filter { !$0.hasPrefix(".") } == ["Gr%F6%DFe.png"])
        #expect(try await shell("apply invert odd/*.png -o all/").code == 0)
        #expect(workspace.files(below: "all").count == 3)
        let gone = try await shell(#"apply invert photos/a.png $'odd/\xFF.png' photos/z.png -o more/"#)
        #expect(gone.code == 66)
        #expect(gone.errors == "odd/%FF.png: no such file\nphotos/z.png: no such file\n")
    }

    @Test func `several go to a folder, and the job can be kept`() async throws {
        let names = workspace.files(below: "photos").map { "photos/\($0)" }
        let arguments =
            ["apply", "thumbnail: {size: 40} | gaussian: {radius: 1}"] + names
            + ["-o", "small/", "--save-manifest", "small.yaml"]
        #expect(try await Program.run(Program.penumbra, arguments, in: workspace).code == 0)
        #expect(workspace.files(below: "small").count == names.count)
        let first = try workspace.read("small/\(workspace.files(below: "small")[0])")
        #expect(try await Program.run("run", "small.yaml", in: workspace).code == 0)
        #expect(try workspace.read("small/\(workspace.files(below: "small")[0])") == first)
        let again = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(again.code == 64)
        #expect(
            again.errors
                == "small.yaml: the file exists, and --save-manifest replaces no file\n   = move it away, or choose another path\n"
        )
    }

    @Test func `a job that is kept in another folder finds its pictures from there`() async throws {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/jobs", withIntermediateDirectories: true)
        let result = try await apply(
            "gaussian: {radius: 2}", "photos/a.png", "-o", "out/{stem}.png", "--save-manifest", "jobs/kept.yaml")
        #expect(result.code == 0, "\(result.errors)")
        let before = try workspace.read("out/a.png")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/out/a.png")
        #expect(try await Program.run("run", "jobs/kept.yaml", in: workspace).code == 0)
        #expect(try workspace.read("out/a.png") == before)
    }

    @Test func `names that look like patterns are names`() async throws {
        let odd = "odd [1] {x}*?\".png"
        try FileManager.default.moveItem(
            atPath: "\(workspace.path)/photos/a.png", toPath: "\(workspace.path)/\(odd)")
        let result = try await apply("gaussian", odd, "-o", "out/")
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out") == [odd])
    }

    @Test(arguments: [[], ["--force"]])
    func `nothing is written over an input`(options: [String]) async throws {
        let before = try workspace.contents(below: "photos")
        for output in ["photos", "photos/b.png", "photos/{stem}.{ext}"] {
            let pictures = output.hasSuffix("b.png") ? ["photos/b.png"] : ["photos/a.png", "photos/b.png"]
            let result = try await Program.run(
                Program.penumbra, ["apply", "gaussian"] + pictures + ["-o", output] + options, in: workspace)
            #expect(result.code == 65)
            #expect(result.errors.contains("would overwrite the input"))
        }
        #expect(try workspace.contents(below: "photos") == before)
    }

    @Test func `what is there already stays, until it is forced`() async throws {
        try workspace.write("mine", to: "out/a.png")
        let arguments = ["apply", "gaussian", "photos/a.png", "photos/b.png", "-o", "out/"]
        let refused = try await Program.run(Program.penumbra, arguments, in: workspace)
        #expect(refused.code == 1)
        #expect(
            refused.errors == """
                1 frame failed: output refused
                  photos/a.png: \(workspace.path)/out/a.png: is there already; --force replaces it

                """)
        #expect(try workspace.read("out/a.png") == Data("mine".utf8))
        #expect(workspace.exists("out/b.png"))
        let forced = try await Program.run(Program.penumbra, arguments + ["--force"], in: workspace)
        #expect(forced.code == 0, "\(forced.errors)")
        #expect(try workspace.read("out/a.png") != Data("mine".utf8))
    }

    @Test func `mistakes name the argument that has them`() async throws {
        let misspelled = try await apply("gaussian: {radios: 12}", "photos/a.png", "-o", "x.png")
        #expect(misspelled.code == 65)
        #expect(
            misspelled.errors == """
                the chain: error: 'gaussian' has no parameter 'radios'
                  | gaussian: {radios: 12}
                  |            ^^^^^^
                  = did you mean 'radius'?

                """)
        let several = try await apply("invert |  gausian: 5", "photos/a.png", "-o", "{stam}.png")
        #expect(several.code == 65)
        #expect(several.errors.hasPrefix("the chain: error: unknown filter 'gausian'\n  | gausian: 5\n  | ^^^^^^^\n"))
        #expect(
            several.errors.contains(
                "\n--output {stam}.png: error: unknown field '{stam}'\n  | {stam}.png\n  | ^^^^^^\n"),
            "\(several.errors)")
        let lines = try await apply("invert\nfoo: bar", "photos/a.png", "-o", "x.png")
        #expect(lines.errors.hasPrefix("the chain: error: the job has no key 'foo'\n  | foo: bar\n  | ^^^\n"))
        let json = try await apply("invert |  gausian: 5", "photos/a.png", "-o", "x.png", "--json")
        #expect(
            json.output.contains(#""column":1,"#) && json.output.contains(#""manifest":"the chain""#), "\(json.output)")
        #expect(!json.output.contains(#""line":"#))
        let many = try await apply("gaussian", "photos/a.png", "photos/b.png", "-o", "x.png")
        #expect(many.code == 64)
        #expect(
            many.errors
                == "--output is one file, and there are 2 pictures\n   = end it with / for a folder, or use fields such as "
                + "out/{stem}.png\n")
        // As bash passes them on.
        for words in [
            ["gaussian:", "{radius:", "3}"], ["invert | gaussian:", "3"], ["motion:", "radius:40", "angle:90"],
            ["motion:radius:40", "motion:angle:90"], ["gaussian: {radius:", "12}"], ["rotate:", "right"],
        ] {
            let unquoted = try await Program.run(
                Program.penumbra, ["apply"] + words + ["photos/a.png", "-o", "x.png"], in: workspace)
            #expect(unquoted.code == 64)
            let beginning = words[0].replacing("invert | ", with: "")
            #expect(
                unquoted.errors
                    == "the chain ends with '\(beginning)', and '\(words[1])' was taken for a picture\n   = put quotes "
                    + "around the whole chain, as in 'gaussian: {radius: 12}'\n")
        }
        let empty = try await apply(" | ", "photos/a.png", "-o", "x.png")
        #expect(empty.code == 64)
        #expect(
            empty.errors
                == "the chain has no filter\n   = write a filter, such as 'gaussian: {radius: 12}', or '[]' to change only "
                + "the format\n")
        #expect(try await apply("gaussian", "photos/none.png", "-o", "x.png").code == 66)
    }

    @Test func `a picture comes from the standard input, and goes to the standard output`() async throws {
        #expect(try await apply("gaussian: {radius: 5}", "photos/a.png", "-o", "file.png").code == 0)
        let piped = try await shell("apply 'gaussian: {radius: 5}' - -o - < photos/a.png > piped.png")
        #expect((piped.code, piped.errors) == (0, ""))
        #expect(try workspace.read("piped.png") == workspace.read("file.png"))
        let file = try await shell("apply 'gaussian: {radius: 5}' - -o out/{stem}.{ext} photos/b.png < photos/a.png")
        #expect(file.code == 0, "\(file.errors)")
        #expect(workspace.files(below: "out") == ["b.png", "standard-input.png"])
        #expect(try workspace.read("out/standard-input.png") == workspace.read("file.png"))
    }

    @Test func `the format of the standard output is that of the picture, or the one that is named`() async throws {
        #expect(try await shell("apply invert - -o - < photos/c.jpg > same").code == 0)
        #expect(try workspace.read("same").starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(try await shell("apply invert photos/c.jpg -o - --format .PNG > other").code == 0)
        #expect(try workspace.read("other").starts(with: Data("\u{89}PNG".unicodeScalars.map { UInt8($0.value) })))
        let wrong = try await shell("apply invert - -o - --format exr < photos/c.jpg")
        #expect(wrong.code == 64)
        #expect(
            wrong.errors.hasPrefix("--format: 'exr' cannot be written\n   = the formats are apng, avif, "),
            "\(wrong.errors)")
        let text = try await shell("apply invert - -o - < /etc/passwd")
        #expect(text.code == 64)
        #expect(
            text.errors.hasPrefix(
                "-o -: Penumbra cannot write the format of this picture, or does not know it\n   = choose one by --format: apng, avif, "
            ),
            "\(text.errors)")
    }

    @Test(arguments: [
        ("- - -o out/", "- is the standard input, which can be read only once."),
        ("a.png b.png -o -", "-o - writes one picture, and there are 2; name a folder."),
        ("a.png -o b.png --format png", "--format belongs to -o -; the extension of a file decides its format."),
        ("a.png -o - --json", "-o - and --json would both write to the standard output; leave one of them out."),
        ("- -o b.png --save-manifest m.yaml", "--save-manifest cannot keep a job with - in it; name files."),
    ])
    func `what streams cannot do is said`(arguments: String, words: String) async throws {
        let result = try await shell("apply invert \(arguments)")
        #expect(result.code == 64)
        #expect(result.errors.hasPrefix("Error: \(words)\n"), "\(result.errors)")
    }

    @Test func `a picture that fails puts nothing on the standard output, and temporary files are removed`()
        async throws
    {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/temporary", withIntermediateDirectories: true)
        let empty = try await shell("apply invert - -o - --scratch temporary < /dev/null")
        #expect(empty.code == 66)
        #expect(empty.errors == "-: the standard input is empty\n   = send it a picture, as in '< photo.jpg'\n")
        let broken = try await shell("apply invert - -o - --format png --scratch temporary < /etc/passwd")
        #expect(broken.code == 1)
        #expect(broken.output == "")
        #expect(broken.errors.contains("/standard-input: not a picture that Penumbra reads"), "\(broken.errors)")
        let full = try await shell("apply invert - -o - --scratch temporary < photos/a.png > /dev/full")
        #expect(full.code == 74)
        #expect(full.errors == "standard output cannot be written: No space left on device\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/temporary") == [])
    }
}
