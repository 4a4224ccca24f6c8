import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Formats that Penumbra reads and does not write.
@Suite struct ForeignFormatTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    @Test func `OpenEXR's linear light becomes stored values, divided by alpha`() throws {
        // Half opacity: colour is stored multiplied by it. 0.21404114 is the linear light of 0.5.
        let pixels: [[Float]] = [[0.21404114, 0, 1, 1], [0.10702057, 0.5, 0, 0.5], [0, 0, 0, 0]]
        _ = try workspace.write(OpenEXRBuilder(width: 3, rgba: pixels).build(), to: "light.exr")
        let decoded = try workspace.load("light.exr")
        #expect(decoded.header.formatName == "exr")
        #expect(decoded.raster.layout == .rgba && decoded.raster.format == .f32)
        let expected = [0.5, 0, 1, 1, 0.5, 1, 0, 0.5, 0, 0, 0, 0]
        for (found, expected) in zip(decoded.raster.values, expected) { #expect(abs(found - expected) < 1e-4) }
    }

    private static let p3: [Float] = [0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290]

    @Test func `an OpenEXR with other primaries is converted to sRGB, or keeps them as a profile`() throws {
        let light: [[Float]] = [[0.8, 0.1, 0.05, 1], [0.05, 0.9, 0.2, 1], [0.1, 0.1, 0.7, 1], [3, 2.5, 2, 1]]
        var builder = OpenEXRBuilder(width: 4, rgba: light)
        builder.chromaticities = Self.p3
        _ = try workspace.write(builder.build(), to: "wide.exr")
        let converted = try workspace.load("wide.exr", color: .srgb)
        #expect(converted.metadata.icc == nil && converted.metadata.isConverted)
        let kept = try workspace.load("wide.exr", color: .keep)
        #expect(try #require(kept.metadata.icc).bytes.count > 128 && !kept.metadata.isConverted)
        for (index, pixel) in light.enumerated() {
            let truth = TruePrimaries.displayP3.lightInSRGB(pixel[..<3].map(Double.init))
            for channel in 0..<3 {
                #expect(abs(converted.raster.values[4 * index + channel] - trueEncoded(truth[channel])) < 0.01)
                #expect(abs(kept.raster.values[4 * index + channel] - trueEncoded(Double(pixel[channel]))) < 3e-4)
            }
        }
        // Light that half floats cannot hold.
        _ = try workspace.write(
            {
                var sun = OpenEXRBuilder(width: 2, rgba: [[1e9, 1e9, 1e9, 1], [1e9, 0.5, 0.5, 1]])
                sun.chromaticities = Self.p3
                return sun.build()
            }(), to: "sun.exr")
        let sun = try workspace.load("sun.exr", color: .srgb).raster.values
        #expect(sun[..<3].allSatisfy { $0 > 1e6 } && sun[4] > 1e6 && sun.allSatisfy { !$0.isNaN })
        // Those of sRGB, as files round them, and none.
        builder.chromaticities = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329]
        _ = try workspace.write(builder.build(), to: "known.exr")
        let known = try workspace.load("known.exr", color: .keep)
        #expect(known.metadata.icc == nil && !known.metadata.isConverted)
        for wrong in [Array(repeating: Float(0.3), count: 8), Array(repeating: .nan, count: 8), [0.1, 0.2]] {
            builder.chromaticities = wrong
            let path = try workspace.write(builder.build(), to: "wrong.exr")
            let error = #expect(throws: ImageFileError.self) { try workspace.load("wrong.exr") }
            #expect(error?.description.hasPrefix(path + ": ") ?? false)
            guard wrong.count == 8 else { continue }
            #expect(
                error?.description
                    == "\(path): OpenEXR with primaries that do not span a colour space, which Penumbra does not read; "
                    + "correct them, or leave them out")
        }
        // Some programs write zeros for what they do not know.
        builder.chromaticities = Array(repeating: 0, count: 8)
        _ = try workspace.write(builder.build(), to: "unknown.exr")
        #expect(try workspace.load("unknown.exr", color: .srgb).raster == known.raster)
    }

    @Test func `a Radiance picture with other primaries is converted to sRGB`() throws {
        let primaries = "PRIMARIES=" + Self.p3.map { "\($0)" }.joined(separator: " ")
        let builder = RadianceBuilder(
            lines: ["FORMAT=32-bit_rle_rgbe", primaries], size: "-Y 1 +X 1", rows: [[[200, 40, 10, 128]]])
        _ = try workspace.write(builder.build(), to: "wide.hdr")
        let light = [200.5, 40.5, 10.5].map { $0 / 256 }
        let truth = TruePrimaries.displayP3.lightInSRGB(light)
        let found = try workspace.load("wide.hdr", color: .srgb).raster.values
        for channel in 0..<3 { #expect(abs(found[channel] - trueEncoded(truth[channel])) < 0.01) }
        #expect(try workspace.load("wide.hdr", color: .keep).metadata.icc != nil)
    }

    @Test func `an SVG is drawn at its own size`() throws {
        let text = """
            <?xml version="1.0"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">
            <rect width="10" height="10" fill="#ff0000"/></svg>
            """
        _ = try workspace.write(Array(text.utf8), to: "drawing.svg")
        let decoded = try workspace.load("drawing.svg")
        #expect(decoded.header.formatName == "svg" && decoded.raster.layout == .rgba)
        #expect(decoded.raster.rect == PixelRect(x: 0, y: 0, width: 20, height: 10))
        let bytes = decoded.raster.bytes
        #expect(bytes[..<4] == [255, 0, 0, 255] && bytes[(15 * 4)..<(16 * 4)] == [0, 0, 0, 0])
    }

    @Test func `an SVG that names other files does not get them`() throws {
        try workspace.save(
            Pictures.picture(width: 8, height: 8, layout: .rgb, format: .u8) { _, _, _ in 1 }, as: "png",
            to: "secret.png")
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="8" height="8">
            <image width="8" height="8" xlink:href="\(workspace.path("secret.png"))"/></svg>
            """
        _ = try workspace.write(Array(text.utf8), to: "curious.svg")
        #expect(try workspace.load("curious.svg").raster.bytes.allSatisfy { $0 == 0 })
    }

    @Test func `each page of a PDF is a picture of its own size`() throws {
        _ = try workspace.write(PDFBuilder(pages: [(30, 20), (10, 40)]).build(), to: "pages.pdf")
        for (page, size) in [(0, (30, 20)), (1, (10, 40))] {
            let decoder = try ImageDecoder(
                path: workspace.path("pages.pdf"), limits: .roomy, color: .keep, pages: .page(page))
            #expect(decoder.header.pages == 2 && decoder.header.formatName == "pdf")
            #expect((decoder.header.width, decoder.header.height) == size)
        }
    }

    @Test(arguments: [36, 72, 144, 300])
    func `drawings are drawn as finely as is asked for`(dpi: Int) throws {
        _ = try workspace.write(PDFBuilder(pages: [(36, 72)]).build(), to: "page.pdf")
        let shapes =
            #"<svg xmlns="http://www.w3.org/2000/svg" width="36" height="72"><rect width="18" height="72"/></svg>"#
        _ = try workspace.write(Array(shapes.utf8), to: "drawing.svg")
        for name in ["page.pdf", "drawing.svg"] {
            let decoder = try ImageDecoder(path: workspace.path(name), limits: .roomy, color: .keep, dpi: dpi)
            #expect((decoder.header.width, decoder.header.height) == (dpi / 2, dpi), "\(name)")
        }
        let drawing = try ImageDecoder(path: workspace.path("drawing.svg"), limits: .roomy, color: .keep, dpi: dpi)
        var picture = AnyRaster(zeroed: drawing.header.rect, layout: drawing.header.layout, format: .u8)
        try drawing.readRows(bandHeight: 64) { picture.paste($0) }
        // Half of it is black, whatever its size is.
        let alphas = stride(from: 3, to: picture.bytes.count, by: 4).map { Int(picture.bytes[$0]) }
        #expect(alphas.reduce(0, +) == 255 * dpi * dpi / 4)
    }

    @Test func `a drawing with too many pixels is refused before it is drawn`() throws {
        _ = try workspace.write(PDFBuilder(pages: [(720, 720)]).build(), to: "page.pdf")
        let error = #expect(throws: ImageFileError.self) {
            try ImageDecoder(
                path: workspace.path("page.pdf"), limits: DecodeLimits(maxPixels: 1_000_000), color: .keep, dpi: 2400)
        }
        #expect(error?.description.contains("24000 × 24000 pixels are more than max_pixels: 1M") == true)
    }

    @Test func `pictures of pixels have no other size`() throws {
        try workspace.save(
            Pictures.picture(width: 8, height: 6, layout: .rgb, format: .u8) { _, _, _ in 1 }, as: "png", to: "a.png")
        let decoder = try ImageDecoder(path: workspace.path("a.png"), limits: .roomy, color: .keep, dpi: 300)
        #expect((decoder.header.width, decoder.header.height) == (8, 6))
    }

    @Test func `a page that is not there is an error`() throws {
        _ = try workspace.write(PDFBuilder(pages: [(30, 20)]).build(), to: "pages.pdf")
        #expect(throws: ImageFileError.self) {
            try ImageDecoder(path: workspace.path("pages.pdf"), limits: .roomy, color: .keep, pages: .page(5))
        }
    }

    @Test(arguments: [
        ("PBM", "P1\n3 1\n1 0 1\n", [UInt8]([0, 255, 0])), ("PGM", "P2\n2 1\n255\n7 200\n", [7, 200]),
    ])
    func `text forms of the anymap family are read`(_ kind: String, text: String, bytes: [UInt8]) throws {
        _ = try workspace.write(Array(text.utf8), to: "map")
        #expect(try workspace.load("map").raster.bytes == bytes)
    }

    @Test(arguments: [("1023", "samples up to 1023, not 255 or 65535"), ("x", "a header that it cannot read")])
    func `an anymap of other sample ranges is refused`(largest: String, feature: String) throws {
        let path = try workspace.write(
            Array("P5\n# by hand\n2 1 # size\n\(largest)\n".utf8) + [0, 1, 0, 2], to: "map.pgm")
        let error = #expect(throws: ImageFileError.self) {
            try ImageDecoder(path: path, limits: .roomy, color: .keep)
        }
        #expect(error?.description == "\(path): PPM with \(feature), which Penumbra does not read")
    }

    @Test func `a page of HTML with a drawing in it is no SVG`() throws {
        let path = try workspace.write(Array("<html><svg width='3' height='3'/></html>".utf8), to: "page.svg")
        #expect(throws: ImageFileError(path: path, .notAnImage)) {
            try ImageDecoder(path: path, limits: .roomy, color: .keep)
        }
        let text =
            "<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'svg11.dtd'>\n"
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='3' height='2'/>"
        _ = try workspace.write(Array((text + drawing).utf8), to: "drawing.svg")
        #expect(try workspace.load("drawing.svg").header.height == 2)
    }

    @Test func `a pyramid keeps its levels when metadata are added`() throws {
        let picture = Pictures.smooth(width: 700, height: 600)
        let exif = ExifBuilder.full()
        try workspace.save(
            picture, as: "tiff", to: "pyramid.tif", save: SaveOptions(values: ["pyramid": .boolean(true)]),
            metadata: ImageMetadata(exif: Blob(exif)))
        let decoded = try workspace.load("pyramid.tif")
        #expect(decoded.header.pages == 1, "levels are no pages")
        #expect(decoded.metadata.exif != nil)
        let isEqual = decoded.raster == picture
        #expect(isEqual)
        let level = try ImageDecoder(path: workspace.path("pyramid.tif"), limits: .roomy, color: .keep, pages: .page(1))
        #expect(level.header.width == 350 && level.header.height == 300)
    }
}

/// Writes PDF files with empty pages.
struct PDFBuilder {
    let pages: [(width: Int, height: Int)]

    func build() -> [UInt8] {
        let kids = pages.indices.map { "\($0 + 3) 0 R" }.joined(separator: " ")
        var objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [\(kids)] /Count \(pages.count) >>"]
        objects += pages.map { "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 \($0.width) \($0.height)] >>" }
        var text = "%PDF-1.4\n"
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let table = text.utf8.count
        text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
        for offset in offsets {
            let digits = String(offset)
            text += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
        }
        text += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R >>\nstartxref\n\(table)\n%%EOF\n"
        return Array(text.utf8)
    }
}
