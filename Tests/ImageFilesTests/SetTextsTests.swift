import Catalogs
import ImageFiles
import JobModel
import Testing

/// Texts that outputs get, whatever their inputs say.
@Suite struct SetTextsTests {
    private let workspace: Workspace
    private let shape = ImageShape(width: 80, height: 60, layout: .rgb, sampleFormat: .u8)
    private let texts = MetadataTexts([
        .copyright: ["© 2026 Ann <Example> & sons"], .creator: ["Ann Example", "Bo"], .title: ["Boats"],
        .description: ["Two boats"], .credit: ["Example Press"], .keywords: ["boat", "sea"],
    ])

    init() throws { workspace = try Workspace() }

    /// A picture that says other things in each block.
    private var contradicting: ImageMetadata {
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" \
            xmlns:dc="http://purl.org/dc/elements/1.1/" tiff:Artist="Old artist" dc:format="image/jpeg"><dc:rights>\
            <rdf:Alt><rdf:li xml:lang="x-default">Old rights</rdf:li></rdf:Alt></dc:rights><dc:subject><rdf:Bag>\
            <rdf:li>old word</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return ImageMetadata(
            exif: Blob(
                ExifBuilder(main: [
                    .text(0x010E, "Old description"), .text(0x013B, "Old artist"), .text(0x8298, "Old rights"),
                    .text(0x010F, "A maker"),
                ]).build()), xmp: Blob(Array(packet.utf8)),
            iptc: Blob(
                Self.dataset(116, "Old rights") + Self.dataset(25, "old word") + Self.dataset(90, "Malm\u{f6}", .latin1)
            ))
    }

    private enum Charset { case utf8, latin1 }

    private static func dataset(_ number: UInt8, _ text: String, _ charset: Charset = .utf8) -> [UInt8] {
        let bytes = charset == .utf8 ? Array(text.utf8) : text.unicodeScalars.map { UInt8($0.value) }
        return [0x1C, 2, number, 0, UInt8(bytes.count)] + bytes
    }

    private static func text(_ blob: Blob?) -> String { String(decoding: blob?.bytes ?? [], as: UTF8.self) }

    @Test(arguments: ["jpeg", "tiff", "png", "webp"])
    func `texts replace those of the picture in EXIF, XMP and IPTC alike`(format: String) throws {
        try workspace.save(
            Pictures.smooth(width: 80, height: 60, layout: .rgb), as: format, to: "picture",
            save: SaveOptions(texts: texts), metadata: contradicting)
        let read = try workspace.load("picture").metadata
        let exif = Self.text(read.exif)
        for text in ["© 2026 Ann <Example> & sons", "Ann Example; Bo", "Two boats", "A maker"] {
            #expect(exif.contains(text), "\(text)")
        }
        // The tags of Windows have UTF-16.
        for text in ["Boats", "boat; sea"] {
            let units: [UInt8] = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + [0, 0]
            #expect(read.exif?.bytes.firstRange(of: units) != nil, "\(text)")
        }
        let xmp = Self.text(read.xmp)
        for text in [
            "© 2026 Ann &lt;Example&gt; &amp; sons", "<rdf:li>Ann Example</rdf:li><rdf:li>Bo</rdf:li>", "Boats",
            "Two boats", "<photoshop:Credit>Example Press</photoshop:Credit>",
            "<rdf:li>boat</rdf:li><rdf:li>sea</rdf:li>", "image/jpeg",
        ] {
            #expect(xmp.contains(text), "\(text)")
        }
        if ["jpeg", "tiff"].contains(format) {
            // The mark of UTF-8, the version, then the city, which was Latin-1.
            let iptc = try #require(read.iptc?.bytes)
            #expect(iptc.starts(with: [0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47, 0x1C, 2, 0, 0, 2, 0, 4]))
            for part in [
                Self.dataset(90, "Malmö"), Self.dataset(116, "© 2026 Ann <Example> & sons"),
                Self.dataset(80, "Ann Example") + Self.dataset(80, "Bo"), Self.dataset(5, "Boats"),
                Self.dataset(120, "Two boats"), Self.dataset(110, "Example Press"),
                Self.dataset(25, "boat") + Self.dataset(25, "sea"),
            ] {
                #expect(iptc.firstRange(of: part) != nil, "\(part)")
            }
        }
        let file = String(decoding: try workspace.bytes("picture"), as: UTF8.self)
        #expect(!file.contains("Old") && !file.contains("old word"))
    }

    @Test(arguments: ["jpeg", "png"])
    func `an output without other metadata says the texts alone`(format: String) throws {
        try workspace.save(
            Pictures.smooth(width: 80, height: 60, layout: .rgb), as: format, to: "picture",
            save: SaveOptions(metadata: .strip, texts: MetadataTexts([.copyright: ["Ann"]])), metadata: contradicting)
        let read = try workspace.load("picture").metadata
        #expect(Self.text(read.exif).contains("Ann") && Self.text(read.xmp).contains("Ann"))
        let file = String(decoding: try workspace.bytes("picture"), as: UTF8.self)
        for other in ["Old", "A maker", "old word", "image/jpeg"] { #expect(!file.contains(other), "\(other)") }
    }

    @Test func `a picture without any metadata gets all three`() {
        let carried = ImageMetadata().carried(by: .keep, setting: texts, shape: shape)
        #expect(Self.text(carried.exif).contains("Two boats"))
        #expect(Self.text(carried.xmp).contains("Two boats"))
        #expect(Self.text(carried.iptc).contains("Two boats"))
        let title = ImageMetadata().carried(by: .keep, setting: MetadataTexts([.title: ["Boats"]]), shape: shape)
        #expect(title.exif != nil && title.exif?.bytes.firstRange(of: [0x9B, 0x9C, 1, 0]) != nil)
        let credit = ImageMetadata().carried(by: .keep, setting: MetadataTexts([.credit: ["Press"]]), shape: shape)
        #expect(credit.exif == nil)
        #expect(ImageMetadata().carried(by: .keep, shape: shape) == ImageMetadata())
    }

    @Test func `texts of ASCII leave the characters of other records as they were`() throws {
        let metadata = ImageMetadata(iptc: Blob(Self.dataset(90, "Malm\u{f6}", .latin1)))
        let carried = metadata.carried(by: .keep, setting: MetadataTexts([.title: ["Boats"]]), shape: shape)
        #expect(
            carried.iptc?.bytes
                == [0x1C, 2, 0, 0, 2, 0, 4] + Self.dataset(90, "Malm\u{f6}", .latin1) + Self.dataset(5, "Boats"))
    }

    @Test func `IPTC gets as much of a text as its standard allows, in whole characters`() throws {
        let long = String(repeating: "ö", count: 40)
        let carried = ImageMetadata().carried(by: .keep, setting: MetadataTexts([.creator: [long]]), shape: shape)
        #expect(carried.iptc?.bytes.suffix(37) == Self.dataset(80, String(repeating: "ö", count: 16))[...])
        #expect(Self.text(carried.exif).contains(long) && Self.text(carried.xmp).contains(long))
    }

    private static func packet(_ description: String) -> ImageMetadata {
        let text =
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
            + "\(description)</rdf:RDF></x:xmpmeta>"
        return ImageMetadata(xmp: Blob(Array(text.utf8)))
    }

    @Test(arguments: [
        "<rdf:Description xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:rights>Old</dc:rights></rdf:Description>"
            + "<rdf:Description xmlns:dc=\"urn:x\"/>",
        "<rdf:Description><rights xmlns=\"http://purl.org/dc/elements/1.1/\">Old</rights></rdf:Description>",
    ])
    func `names with two meanings hide nothing`(description: String) {
        let carried = Self.packet(description).carried(by: .keep, setting: texts, shape: shape)
        #expect(!Self.text(carried.xmp).contains("Old") && Self.text(carried.xmp).contains("Ann"))
    }

    @Test func `the creators of a composite's parts stay`() {
        let description =
            "<rdf:Description xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\">"
            + "<xmpMM:Pantry><rdf:Bag><rdf:li rdf:parseType=\"Resource\"><dc:creator>Part</dc:creator></rdf:li></rdf:Bag>"
            + "</xmpMM:Pantry><dc:creator>Old</dc:creator></rdf:Description>"
        let xmp = Self.text(Self.packet(description).carried(by: .keep, setting: texts, shape: shape).xmp)
        #expect(xmp.contains("Part") && !xmp.contains("Old"))
    }

    @Test func `a text is never lost for want of room`() {
        let large = Self.packet(
            "<rdf:Description xmlns:a=\"urn:a\"><a:b>\(String(repeating: "word ", count: 20_000))</a:b></rdf:Description>"
        )
        #expect(Self.text(large.carried(by: .keep, setting: texts, shape: shape).xmp).contains("Two boats"))
        let note = ExifBuilder(main: [.text(0x010F, String(repeating: "a", count: 64_990))]).build()
        let exif = ImageMetadata(exif: Blob(note)).carried(by: .keep, setting: texts, shape: shape).exif
        #expect(Self.text(exif).contains("Two boats"))
    }

    @Test func `records behind a very long one stay`() {
        let long: [UInt8] = [0x1C, 2, 202, 0x80, 4, 0, 0, 0x90, 0] + [UInt8](repeating: 7, count: 0x9000)
        let metadata = ImageMetadata(iptc: Blob(long + Self.dataset(90, "Malmo")))
        let carried = metadata.carried(by: .keep, setting: MetadataTexts([.title: ["Boats"]]), shape: shape)
        let iptc = carried.iptc?.bytes ?? []
        #expect(iptc.firstRange(of: long) != nil && iptc.firstRange(of: Self.dataset(90, "Malmo")) != nil)
        #expect(iptc.firstRange(of: Self.dataset(5, "Boats")) != nil)
    }

    @Test func `a packet that cannot be read is replaced`() {
        let metadata = ImageMetadata(xmp: Blob(Array("<x:xmpmeta".utf8)))
        let carried = metadata.carried(by: .keep, setting: texts, shape: shape)
        #expect(Self.text(carried.xmp).contains("Two boats"))
    }

    @Test func `texts of a PNG with the same meaning go`() throws {
        var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        png.chunks = [
            ("tEXt", Array("Copyright\0Old rights".utf8)), ("tEXt", Array("Author\0Old artist".utf8)),
            ("tEXt", Array("Comment\0Kept".utf8)),
        ]
        _ = try workspace.write(png.build(), to: "text.png")
        let metadata = try workspace.load("text.png").metadata
        #expect(metadata.texts.count == 3)
        let carried = metadata.carried(by: .keep, setting: texts, shape: shape)
        #expect(carried.texts.map(\.keyword) == ["Comment"])
    }
}
