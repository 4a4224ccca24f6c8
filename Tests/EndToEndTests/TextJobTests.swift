import ExamplePictures
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

/// Words on pictures, from the manifest to real workers.
@Suite(.serialized) struct TextJobTests {
    private let workspace: Workspace
    private static let font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try FileManager.default.copyItem(atPath: Self.font, toPath: "\(workspace.path)/font.ttf")
        try workspace.age("font.ttf")
    }

    private func penumbra(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    /// A job with one text.
    private func write(_ text: String, _ more: String = "", inputs: String = "photos/a.png") throws {
        try workspace.writeManifest(
            inputs: inputs, filters: "[{text: {text: \(text), font: font.ttf, size: 30px\(more)}}]",
            more: "existing: update")
    }

    private func output(_ name: String = "a.png") throws -> AnyRaster {
        try PictureFiles.read("\(workspace.path)/out/\(name)")
    }

    /// A JPEG that says how it was taken.
    private func photograph(_ path: String) throws {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        // An EXIF block with one directory in another, which has the sensitivity alone.
        let exif: [UInt8] =
            Array("Exif\0\0II".utf8) + little(42, 2) + little(8, 4)
            + little(1, 2) + little(0x8769, 2) + little(4, 2) + little(1, 4) + little(26, 4) + little(0, 4)
            + little(1, 2) + little(0x8827, 2) + little(3, 2) + little(1, 4) + little(400, 4) + little(0, 4)
        let length = exif.count + 2
        let bytes = Array(try workspace.read("photos/c.jpg"))
        let whole = bytes[..<2] + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + exif + bytes[2...]
        try Data(whole).write(to: URL(filePath: "\(workspace.path)/\(path)"))
        try workspace.age(path)
    }

    @Test func `fields of names and of metadata are filled in, in tiles and in a sandbox too`() async throws {
        try photograph("photos/shot.jpg")
        try write("'{stem} at {exif.iso}'", inputs: "photos/shot.jpg")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let bytes = try workspace.read("out/shot.png")
        for arguments in [["--set", "shard=tile", "--set", "tile=50"], ["--set", "shard=frame"]] {
            let again = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--force"] + arguments, in: workspace,
                environment: ["PENUMBRA_SANDBOX": "require"])
            #expect(again.code == 0, "\(again.errors)")
            #expect(try workspace.read("out/shot.png") == bytes)
        }
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try write("shot at ISO 400", inputs: "photos/shot.jpg")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try workspace.read("out/shot.png") == bytes)
        let verified = try await penumbra("verify", "job.yaml", "--rerender")
        #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    }

    @Test func `a picture without a value fails, or gets no text`() async throws {
        try write("'{exif.camera}'")
        let failed = try await penumbra("run", "job.yaml")
        #expect(failed.code == 1)
        #expect(
            failed.errors.contains(
                "the picture's metadata have no camera for {exif.camera}; write 'missing: hide' to leave the text out of such "
                    + "pictures"), "\(failed.errors)")
        try write("'{exif.camera}'", ", missing: hide")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try output() == PictureFiles.read("\(workspace.path)/photos/a.png"))
    }

    @Test func `each picture has its own words, and another font renders all again`() async throws {
        try write("'{stem}'", inputs: "photos/*.png")
        let first = try await Program.night(workspace)
        #expect(first.published > 1 && first.failed == 0)
        #expect(try await Program.night(workspace) == NightSummary(skipped: first.published))
        try FileManager.default.removeItem(atPath: "\(workspace.path)/font.ttf")
        try FileManager.default.copyItem(
            atPath: Self.font.replacing("Sans.ttf", with: "Serif.ttf"), toPath: "\(workspace.path)/font.ttf")
        try workspace.age("font.ttf")
        #expect(try await penumbra("plan", "job.yaml").output.contains("font.ttf has changed"))
        #expect(try await Program.night(workspace) == NightSummary(published: first.published))
    }

    @Test func `fonts and languages of the user have no effect`() async throws {
        try write("'Привет fi'")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let bytes = try workspace.read("out/a.png")
        try workspace.write(
            """
            <fontconfig><dir>/usr/share/fonts</dir><match target="font"><edit name="antialias"><bool>false</bool></edit></match>
            <match target="pattern"><edit name="family" mode="assign_replace"><string>DejaVu Serif</string></edit></match></fontconfig>
            """, to: "fonts.conf")
        let again = try await penumbra(
            "run", "job.yaml", "--force",
            environment: ["FONTCONFIG_FILE": "\(workspace.path)/fonts.conf", "LANGUAGE": "sr", "PANGO_LANGUAGE": "sr"])
        #expect(again.code == 0, "\(again.errors)")
        #expect(try workspace.read("out/a.png") == bytes)
    }

    @Test func `what cannot be written is an error of the manifest`() async throws {
        try workspace.write("no font\n", to: "none.ttf")
        for (text, message) in [
            ("{text: 漢字, font: font.ttf}", "the font has no glyph for '漢' U+6F22, '字' U+5B57; name a font that has it"),
            ("{text: a, font: none.ttf}", "the font of 'font', 'none.ttf': is no TrueType or OpenType font"),
            ("{text: a, font: gone.ttf}", "the font of 'font', 'gone.ttf': no such file"),
            ("{text: a}", "'text' has no 'font'"),
            ("{text: a, font: font.ttf, size: 0}", "'size' must be more than 0"),
            ("{text: '{iso}', font: font.ttf}", "did you mean {exif.iso}?"),
        ] {
            try workspace.writeManifest(inputs: "photos/a.png", filters: "[{text: \(text)}]")
            for command in ["check", "run"] {
                let result = try await penumbra(command, "job.yaml")
                #expect(result.code == 65, "\(text): \(result.errors)")
                #expect(result.errors.contains(message), "\(text): \(result.errors)")
            }
        }
        #expect(!workspace.exists("out"))
    }

    @Test func `a letter that comes from a name fails that picture alone`() async throws {
        try workspace.copy("photos/a.png", to: "photos/漢.png")
        try write("'{stem}'", inputs: "photos/*.png")
        let result = try await penumbra("run", "job.yaml")
        #expect(result.code == 1)
        #expect(result.errors.contains("the font has no glyph for '漢' U+6F22"), "\(result.errors)")
        #expect(workspace.exists("out/a.png") && !workspace.exists("out/漢.png"))
    }

    @Test func `labels stand above the panels of a preview, and cover no pixel`() async throws {
        try workspace.writeManifest(inputs: "photos/a.png", filters: "[{gaussian: {radius: 2}}]")
        let sweep = ["preview", "job.yaml", "--size", "40", "--sweep", "radius=1,3", "-o"]
        let plain = try await Program.run(Program.penumbra, sweep + ["plain.png"], in: workspace)
        let named = try await Program.run(
            Program.penumbra, sweep + ["named.png", "--font", "font.ttf"], in: workspace)
        #expect(plain.code == 0 && named.code == 0, "\(named.errors)")
        let (before, after) = (
            try PictureFiles.read("\(workspace.path)/plain.png"), try PictureFiles.read("\(workspace.path)/named.png")
        )
        let height = after.rect.height - before.rect.height
        #expect(height > 10 && after.rect.width == before.rect.width)
        let below = after.cropped(to: PixelRect(x: 0, y: height, width: after.rect.width, height: before.rect.height))
        #expect(below.translated(x: 0, y: -height) == before)
        let strip = after.cropped(to: PixelRect(x: 0, y: 0, width: after.rect.width, height: height))
        #expect(strip.doubles.contains { $0 < 100 } && strip.doubles.contains(255))
        let missing = try await Program.run(
            Program.penumbra, sweep + ["other.png", "--font", "gone.ttf"], in: workspace)
        #expect(missing.code == 66)
        #expect(
            missing.errors
                == "gone.ttf: the font of the labels is not there\n   = name a .ttf or .otf file by --font\n",
            "\(missing.errors)")
    }
}
