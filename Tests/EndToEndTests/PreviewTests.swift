import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Raster
import Testing

/// `penumbra preview`: parts of what a job would make.
@Suite(.serialized) struct PreviewTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.draw("photos/scan.tif", width: 640, height: 900)
    }

    private func preview(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["preview"] + arguments, in: workspace)
    }

    /// By a shell: names on a command line are bytes.
    private func shell(_ command: String) async throws -> Program.Result {
        try await Program.run("/bin/bash", ["-c", "\(Program.penumbra) \(command)"], in: workspace)
    }

    @Test func `a picture whose name is not UTF-8 is shown, named or as the job's first input`() async throws {
        let moved = try await Program.run(
            "/bin/bash", ["-c", #"mkdir odd && cp photos/a.png $'odd/\xE9.png'"#], in: workspace)
        #expect(moved.code == 0)
        try workspace.writeManifest(inputs: "odd/*.png")
        #expect(try await preview("job.yaml", "photos/a.png", "-o", "a.png").code == 0)
        let named = try await shell(#"preview job.yaml $'odd/\xE9.png' -o named.png"#)
        #expect(named.code == 0 && named.output.contains(" of odd/%E9.png, "), "\(named.errors)")
        let first = try await preview("job.yaml", "-o", "first.png")
        #expect(first.code == 0, "\(first.errors)")
        #expect(try workspace.read("named.png") == workspace.read("a.png"))
        #expect(try workspace.read("first.png") == workspace.read("a.png"))
    }

    private func picture(_ name: String) throws -> AnyRaster {
        try PictureFiles.read("\(workspace.path)/\(name)")
    }

    @Test(arguments: [
        "[{gaussian: {radius: 5}}]", "[{gaussian: {radius: 9, edge: wrap}}]", "[{motion: {radius: 20, angle: 30}}]",
        "[{gaussian: {radius: 3, extent: expand}}, {rotate: {angle: left}}, {gaussian: {radius: 2}}]",
        "[{thumbnail: {size: 300}}, {gaussian: {radius: 2}}]", "[{crop: {x: 10, y: 20, width: 500, height: 400}}]",
    ])
    func `its pixels are those of a run`(filters: String) async throws {
        try workspace.writeManifest(inputs: "photos/scan.tif", filters: filters)
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        let whole = try picture("out/scan.png")
        let result = try await preview("job.yaml", "--at", "30%,80%", "--size", "120x90", "-o", "p.png")
        #expect(result.code == 0, "\(result.errors)")
        let (width, height) = (whole.rect.width, whole.rect.height)
        let x = max(0, min(width - 120, Int((Double(width) * 0.3 - 60).rounded())))
        let y = max(0, min(height - 90, Int((Double(height) * 0.8 - 45).rounded())))
        #expect(
            result.output == "p.png: 120×90 px at \(x),\(y) of photos/scan.tif, \(width)×\(height) px\n")
        let isEqual =
            try picture("p.png")
            == whole.cropped(to: PixelRect(x: x, y: y, width: 120, height: 90)).translated(x: -x, y: -y)
        #expect(isEqual)
    }

    @Test func `a crop larger than the output is the output`() async throws {
        try workspace.writeManifest()
        #expect(try await preview("job.yaml", "photos/a.png", "-o", "p.png").code == 0)
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        let isEqual = try picture("p.png") == picture("out/a.png")
        #expect(isEqual)
    }

    @Test func `a sweep has a panel for each value`() async throws {
        try workspace.writeManifest()
        let result = try await preview(
            "job.yaml", "photos/a.png", "--size", "40", "--sweep", "radius=0,3,8", "-o", "p.png")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("  from left to right: radius 0, radius 3, radius 8\n"))
        let sheet = try picture("p.png")
        #expect(sheet.rect.width == 3 * 40 + 2 * 8 && sheet.rect.height == 40)
        let single = try await preview(
            "job.yaml", "photos/a.png", "--size", "40", "--set", "filters[0].gaussian.radius=3", "-o", "one.png")
        #expect(single.code == 0)
        let panel = sheet.cropped(to: PixelRect(x: 48, y: 0, width: 40, height: 40)).translated(x: -48, y: 0)
        let isEqual = try panel == picture("one.png")
        #expect(isEqual)
    }

    @Test func `before and after stand side by side, share a panel, or blink`() async throws {
        try workspace.writeManifest(filters: "[{thumbnail: {size: 100}}, {gaussian: {radius: 5}}]")
        let before = try await Program.run(
            "apply", "thumbnail: {size: 100}", "photos/a.png", "-o", "before.png", in: workspace)
        #expect(before.code == 0)
        #expect(try await preview("job.yaml", "photos/a.png", "-o", "after.png").code == 0)
        let (was, is_) = (try picture("before.png"), try picture("after.png"))

        #expect(try await preview("job.yaml", "photos/a.png", "--compare", "side", "-o", "side.png").code == 0)
        let side = try picture("side.png")
        let left = side.cropped(to: was.rect)
        #expect(left == was && side.rect.width == 2 * was.rect.width + 8)

        #expect(try await preview("job.yaml", "photos/a.png", "--compare", "split", "-o", "split.png").code == 0)
        let split = try picture("split.png")
        let (first, last) = (
            PixelRect(x: 0, y: 0, width: 49, height: 75), PixelRect(x: 51, y: 0, width: 49, height: 75)
        )
        #expect(split.cropped(to: first) == was.cropped(to: first))
        #expect(split.cropped(to: last) == is_.cropped(to: last))

        #expect(try await preview("job.yaml", "photos/a.png", "--compare", "blink", "-o", "blink.webp").code == 0)
        #expect(try PictureFiles.readFrames("\(workspace.path)/blink.webp").count == 2)
    }

    @Test(arguments: [
        (["--at", "40"], "--at takes a point like 40%,30% or 1200,800, not '40'"),
        (["--at", "140%,3"], "--at takes a point like 40%,30% or 1200,800, not '140%,3'"),
        (["--size", "0"], "--size takes 1 to 8192 pixels like 800 or 800x600, not '0'"),
        (["--size", "8x9x10"], "--size takes 1 to 8192 pixels like 800 or 800x600, not '8x9x10'"),
        (["--sweep", "radius"], "--sweep takes a parameter and up to 16 values like radius=4,8,16, not 'radius'"),
        (
            ["--sweep", "angle=3"],
            "--sweep: no filter of the job has a parameter 'angle'\n   = 'penumbra filters NAME' lists the parameters of a filter"
        ),
        (
            ["--sweep", "edge=wrap"],
            "--sweep: several filters have a parameter 'edge'\n   = "
                + "write one of filters[0].gaussian.edge, filters[1].gaussian.edge"
        ),
        (["--compare", "blink"], "p.png: --compare blink is an animation\n   = write it to .gif or .webp"),
        (["--output-number", "2"], "--output-number: test has only one output"),
    ])
    func `wrong wishes are told`(arguments: [String], message: String) async throws {
        try workspace.writeManifest(filters: "[gaussian, gaussian]")
        let result = try await Program.run(
            Program.penumbra, ["preview", "job.yaml", "photos/a.png", "-o", "p.png"] + arguments, in: workspace)
        #expect(result.code == 64)
        #expect(result.errors == message + "\n")
        #expect(!workspace.exists("p.png"))
    }

    @Test func `each of several outputs is shown as a run gives it, whatever the others need`() async throws {
        try workspace.draw("photos/large.jpg", width: 1600, height: 1200)
        try workspace.write(
            "job: sizes\ninputs: photos/large.jpg\noutputs:\n  - path: out/{stem}-s.png\n    filters:\n"
                + "      - thumbnail: {size: 100}\n  - path: out/{stem}-l.png\n    filters:\n      - thumbnail: {size: 700}\n",
            to: "sizes.yaml")
        #expect(try await Program.run("run", "sizes.yaml", in: workspace).code == 0)
        for (number, name) in [("1", "s"), ("2", "l")] {
            let result = try await preview("sizes.yaml", "--output-number", number, "-o", "p.png")
            #expect(result.code == 0, "\(result.errors)")
            let isEqual = try picture("p.png") == picture("out/large-\(name).png")
            #expect(isEqual)
        }
    }

    @Test func `what was before stands at the same place, also where a filter has grown the picture`() async throws {
        try workspace.writeManifest(filters: "[{gaussian: {radius: 5, extent: expand}}]")
        let result = try await preview(
            "job.yaml", "photos/a.png", "--at", "0,0", "--size", "60", "--compare", "side", "-o", "p.png")
        #expect(result.code == 0, "\(result.errors)")
        let sheet = try picture("p.png")
        guard case .u8(let before) = sheet, case .u8(let photo) = try picture("photos/a.png") else {
            Issue.record("both have 8 bits")
            return
        }
        // The output begins 15 px above and to the left of the picture: what was not there is transparent or white.
        let channels = sheet.layout.channels
        for (x, y) in [(15, 15), (40, 20), (59, 59)] {
            let shown = (y * before.rect.width + x) * channels
            let source = ((y - 15) * photo.rect.width + x - 15) * 3
            #expect(Array(before.samples[shown..<shown + 3]) == Array(photo.samples[source..<source + 3]))
        }
    }

    @Test func `a filter's name chooses between parameters`() async throws {
        try workspace.writeManifest(filters: "[{gaussian: {radius: 5}}, {motion: {radius: 9}}]")
        let result = try await preview("job.yaml", "photos/a.png", "--sweep", "motion.radius=2,9", "-o", "p.png")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("  from left to right: motion.radius 2, motion.radius 9\n"))
    }

    @Test func `so many panels that they take too much memory are refused`() async throws {
        try workspace.writeManifest(inputs: "photos/scan.tif", filters: "[{resize: {size: 8000x8000}}, gaussian]")
        let values = (1...16).map(String.init).joined(separator: ",")
        let result = try await preview("job.yaml", "--size", "8192", "--sweep", "radius=\(values)", "-o", "p.png")
        #expect(result.code == 1)
        #expect(result.errors.contains("so many panels of this size take "))
    }

    @Test func `no input of the job is overwritten, and none is added`() async throws {
        try workspace.writeManifest(inputs: "photos/*.png")
        let before = try workspace.contents(below: "photos")
        try FileManager.default.linkItem(
            atPath: "\(workspace.path)/photos/b.png", toPath: "\(workspace.path)/other.png")
        for (output, name) in [("photos/b.png", "photos/b.png"), ("other.png", "photos/b.png")] {
            let result = try await preview("job.yaml", "photos/a.png", "-o", output)
            #expect(result.code == 64)
            #expect(
                result.errors == "\(output): the preview would overwrite \(name), an input of the job\n")
        }
        let added = try await preview("job.yaml", "photos/a.png", "-o", "photos/p.png")
        #expect(added.code == 64)
        #expect(
            added.errors
                == "photos/p.png: the preview would be an input of the job, by 'photos/*.png'\n   = write it to another folder\n"
        )
        #expect(try workspace.contents(below: "photos") == before)
        // A preview takes the place of the one before.
        for _ in 1...2 { #expect(try await preview("job.yaml", "-o", "p.png").code == 0) }
    }

    @Test func `only an earlier preview is replaced unasked, and an input never`() async throws {
        try workspace.writeNightly(inputs: "photos/*.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 2))
        try workspace.write("mine", to: "p.png")
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/link.png", withDestinationPath: "out/b.png")
        let before = try workspace.contents(below: "out")
        for output in ["out/a.png", "p.png", "link.png"] {
            let result = try await preview("job.yaml", "photos/a.png", "--size", "20", "-o", output)
            #expect(result.code == 64)
            #expect(
                result.errors
                    == "\(output): the file exists, and 'penumbra preview' did not write it\n"
                    + "   = choose another name, or let --force replace it\n")
        }
        #expect(try workspace.read("p.png") == Data("mine".utf8))
        #expect(try workspace.contents(below: "out") == before)
        #expect(workspace.leftovers() == [])

        let forced = try await preview("job.yaml", "photos/a.png", "--size", "20", "-o", "p.png", "--force")
        #expect(forced.code == 0, "\(forced.errors)")
        #expect(try await preview("job.yaml", "photos/a.png", "--size", "30", "-o", "p.png").code == 0)
        try workspace.write("mine again", to: "p.png")
        #expect(try await preview("job.yaml", "photos/a.png", "--size", "30", "-o", "p.png").code == 64)
        let input = try await preview("job.yaml", "photos/a.png", "-o", "photos/b.png", "--force")
        #expect(input.errors == "photos/b.png: the preview would overwrite photos/b.png, an input of the job\n")
    }

    @Test func `a picture is never overwritten, and a broken one leaves no file`() async throws {
        try workspace.writeManifest()
        let before = try workspace.read("photos/a.png")
        let same = try await preview("job.yaml", "photos/a.png", "-o", "photos/../photos/a.png")
        #expect(same.code == 64 && same.errors.hasSuffix("the preview would overwrite the picture that it shows\n"))
        #expect(try workspace.read("photos/a.png") == before)
        try workspace.write("not a picture", to: "notes.png")
        let broken = try await preview("job.yaml", "notes.png", "-o", "p.png")
        #expect(broken.code == 1)
        #expect(
            broken.errors == "notes.png: not a picture that Penumbra reads ('penumbra formats' lists them)\n")
        let noFolder = try await preview("job.yaml", "photos/a.png", "-o", "new/p.png")
        #expect(
            noFolder.code == 74
                && noFolder.errors == "new/p.png: its folder does not exist\n   = create it, or choose another folder\n"
        )
        let missing = try await preview("job.yaml", "photos/none.png", "-o", "p.png")
        #expect(missing.code == 66 && missing.errors == "photos/none.png: no such file\n")
        let odd = try await shell(#"preview job.yaml $'photos/\xFF.png' -o p.png"#)
        #expect(odd.code == 66 && odd.errors == "photos/%FF.png: no such file\n")
        let value = try await preview("job.yaml", "photos/a.png", "--sweep", "radius=4,5000", "-o", "p.png")
        #expect(value.code == 65 && value.errors.contains("'radius' cannot be 5000"))
        #expect(!workspace.exists("p.png") && !workspace.exists("new"))
    }
}
