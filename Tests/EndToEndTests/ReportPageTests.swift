import Catalogs
import ExamplePictures
import Geometry
import Raster
import Testing

/// `penumbra run --report`: a page, looked at with a browser.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ReportPageTests {
    private typealias Color = (red: UInt8, green: UInt8, blue: UInt8)

    private let workspace: Workspace
    private let magenta: Color = (230, 20, 200)
    private let cyan: Color = (10, 200, 220)

    /// Two pictures of which a job keeps the magenta half, and one that is broken.
    init() throws {
        workspace = try Workspace()
        try workspace.write("no picture", to: "photos/<b>c&d.png")
        for name in ["a", "b"] {
            try PictureFiles.write(halves(width: 240, height: 120), to: "\(workspace.path)/photos/\(name).png")
        }
        try workspace.writeManifest(filters: "[{crop: {x: 0, y: 0, width: 50%, height: 100%}}]")
    }

    private func halves(width: Int, height: Int) -> AnyRaster {
        let samples = (0..<width * height).flatMap { pixel in
            let color = pixel % width < width / 2 ? magenta : cyan
            return [color.red, color.green, color.blue]
        }
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        return .u8(Raster(rect: rect, layout: .rgb, samples: samples))
    }

    /// How many pixels have a color, but for what an encoder of thumbnails may have changed.
    private func count(_ color: Color, in picture: AnyRaster) throws -> Int {
        guard case .u8(let raster) = picture, raster.layout.channels >= 3 else {
            Issue.record("a screenshot has 8 bits of red, green and blue")
            return 0
        }
        return stride(from: 0, to: raster.samples.count, by: raster.layout.channels).count { start in
            zip([color.red, color.green, color.blue], raster.samples[start...]).allSatisfy { wanted, found in
                abs(Int(wanted) - Int(found)) <= 24
            }
        }
    }

    @Test func `a browser understands the page, and has nothing to complain of`() async throws {
        let result = try await Program.run("run", "job.yaml", "--report", "report.html", in: workspace)
        #expect(result.code == 1, "\(result.errors)")
        let page = try await Chromium(workspace: workspace).open("report.html")
        #expect(page.complaints == [])
        let document = page.document
        #expect(document.contains("<title>test: 1 of 3 frames failed – Penumbra</title>"))
        for text in [
            "<b>2</b> published", "<b>1</b> failed", "<dt>Frames</dt><dd>3</dd>", "broken or unreadable picture",
            "not a picture that Penumbra reads", "&lt;b&gt;c&amp;d.png", "a.png", "b.png",
        ] { #expect(document.contains(text), "\(text)") }
        #expect(!document.contains("<b>c"))
        #expect(document.matches(of: /<img src="data:image\/[a-z]+;base64,/).count == 4)
    }

    @Test(arguments: [(1000, false), (1000, true), (420, false)])
    func `pictures before and after are seen, in light, in dark and on a phone`(width: Int, dark: Bool) async throws {
        let result = try await Program.run(
            "run", "job.yaml", "--only", "a.png", "--report", "report.html", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        let browser = Chromium(workspace: workspace)
        let picture = try await browser.picture(of: "report.html", width: width, height: 1400, dark: dark)
        #expect(picture.rect.width == width)
        // Only the picture before has its cyan half; the magenta one is in both.
        let (before, both) = (try count(cyan, in: picture), try count(magenta, in: picture))
        #expect(before > 1000)
        #expect(both > before * 3 / 2)
        let background = try count(dark ? (0x12, 0x13, 0x18) : (0xfc, 0xfc, 0xfa), in: picture)
        #expect(background > picture.rect.area / 2)
    }

    @Test func `a run that finds everything in place says so`() async throws {
        for _ in 1...2 {
            let result = try await Program.run(
                "run", "job.yaml", "--only", "a.png", "--set", "existing=skip", "--report", "report.html",
                in: workspace)
            #expect(result.code == 0, "\(result.errors)")
        }
        let page = try await Chromium(workspace: workspace).open("report.html")
        #expect(page.document.contains("1 frame is in place"))
        #expect(page.document.contains("<b>1</b> skipped"))
    }
}
