import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// What outputs carry, by format and policy.
@Suite struct MetadataTests {
    private let workspace: Workspace
    private let profile = ProfileBuilder.rgb(gamma: 2.2)
    private let xmp = """
        <?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
        xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" tiff:Orientation="6" \
        dc:format="image/jpeg"/></rdf:RDF></x:xmpmeta><?xpacket end='w'?>
        """
    /// A caption, as IPTC record 2:120.
    private let iptc: [UInt8] = [0x1C, 2, 120, 0, 4] + Array("Boat".utf8)

    init() throws {
        workspace = try Workspace()
    }

    private var full: ImageMetadata {
        ImageMetadata(
            icc: Blob(profile), exif: Blob(ExifBuilder.full()), xmp: Blob(Array(xmp.utf8)), iptc: Blob(iptc),
            resolution: .init(x: 300 / 25.4, y: 150 / 25.4))
    }

    private func roundTrip(
        _ format: String, _ policy: MetadataPolicy, _ metadata: ImageMetadata, layout: PixelLayout = .rgb
    ) throws -> ImageMetadata {
        let picture = Pictures.smooth(width: 80, height: 60, layout: layout)
        try workspace.save(picture, as: format, to: "picture", save: .init(metadata: policy), metadata: metadata)
        return try workspace.load("picture").metadata
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"])
    func `keep carries what the format can hold`(format: String) throws {
        let read = try roundTrip(format, .keep, full)
        #expect(read.icc?.bytes == profile)
        let text = String(decoding: read.xmp?.bytes ?? [], as: UTF8.self)
        #expect(text.contains("dc:format=\"image/jpeg\"") && !text.contains("Orientation"))
        #expect(read.iptc?.bytes == (["jpeg", "tiff"].contains(format) ? iptc : nil))
        let exif = String(decoding: read.exif?.bytes ?? [], as: UTF8.self)
        for kept in ["A boat", "Copyright Jane Doe", "SN-12345", "2026:11:21"] {
            #expect(exif.contains(kept), "\(kept)")
        }
        #expect(exif.contains("Maker note") == (format != "tiff"))
        if format != "webp" {
            #expect(abs((read.resolution?.x ?? 0) - 300 / 25.4) < 0.01)
            #expect(abs((read.resolution?.y ?? 0) - 150 / 25.4) < 0.01)
        }
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"])
    func `public carries credit, and no place, number, owner or note`(format: String) throws {
        let read = try roundTrip(format, .public, full)
        let holdsIPTC = ["jpeg", "tiff"].contains(format)
        #expect(read.icc?.bytes == profile)
        #expect(read.iptc?.bytes == (holdsIPTC ? iptc : nil))
        // Nothing of the packet is wanted; XMP tells what IPTC says where that has no place.
        #expect((read.xmp == nil) == holdsIPTC)
        let exif = String(decoding: read.exif?.bytes ?? [], as: UTF8.self)
        for kept in ["Copyright Jane Doe", "Penumbra", "A boat"] { #expect(exif.contains(kept), "\(kept)") }
        let file = String(decoding: try workspace.bytes("picture"), as: UTF8.self)
        for dropped in ["SN-12345", "Owner", "hello", "Maker note", "2026:11:21", "W5M0"] {
            #expect(!file.contains(dropped), "\(dropped)")
        }
    }

    /// Credit, a place, a date and what identifies, in all three blocks.
    private var credited: ImageMetadata {
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Tool 7"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <r:Description r:about="uuid:secret-1" xmlns:d="http://purl.org/dc/elements/1.1/" \
            xmlns:p="http://ns.adobe.com/photoshop/1.0/" xmlns:mm="http://ns.adobe.com/xap/1.0/mm/" \
            xmlns:e="http://ns.adobe.com/exif/1.0/" p:Credit="Agency &amp; Sons" p:City="Oslo" mm:DocumentID="secret-2" \
            e:GPSLatitude="59,54N"><d:creator><r:Seq><r:li>Jane<mm:x>secret-3</mm:x></r:li></r:Seq></d:creator>\
            <d:rights><r:Alt><r:li xml:lang="en">All rights</r:li></r:Alt></d:rights><d:format>secret-4</d:format>\
            <d:title><!-- secret-5 --><r:Alt><r:li>Regatta</r:li></r:Alt></d:title></r:Description></r:RDF></x:xmpmeta>
            """
        func record(_ number: UInt8, _ text: String) -> [UInt8] {
            [0x1C, 2, number, 0, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        let records =
            [0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47] + record(80, "Jane") + record(116, "(c) Jane") + record(90, "Oslo")
            + record(55, "20261121") + record(103, "secret-6")
        var metadata = full
        metadata.xmp = Blob(Array(packet.utf8))
        metadata.iptc = Blob(records)
        return metadata
    }

    @Test func `public keeps credit in EXIF, XMP and IPTC alike`() throws {
        let read = try roundTrip("jpeg", .public, credited)
        let xmp = String(decoding: read.xmp?.bytes ?? [], as: UTF8.self)
        #expect(
            xmp
                == """
                <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
                <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" \
                xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"><photoshop:Credit>Agency &amp; Sons</photoshop:Credit>\
                <dc:creator><rdf:Seq><rdf:li>Jane</rdf:li></rdf:Seq></dc:creator><dc:rights><rdf:Alt>\
                <rdf:li xml:lang="en">All rights</rdf:li></rdf:Alt></dc:rights><dc:title><rdf:Alt><rdf:li>Regatta</rdf:li></rdf:Alt>\
                </dc:title></rdf:Description></rdf:RDF></x:xmpmeta>
                """)
        let iptc = String(decoding: read.iptc?.bytes ?? [], as: UTF8.self)
        #expect(iptc.contains("(c) Jane") && iptc.contains("20261121"))
        let file = String(decoding: try workspace.bytes("picture"), as: UTF8.self)
        for dropped in ["secret", "Oslo", "59,54N", "Tool 7"] { #expect(!file.contains(dropped), "\(dropped)") }
    }

    @Test func `a list carries what it names and nothing else, whatever block it is in`() throws {
        let all = ["Copyright Jane Doe", "Agency", "A boat", "Regatta", "59,54N", "Oslo", "20261121", "SN-12345"]
        func carried(_ kinds: Set<MetadataKind>) throws -> [String] {
            let read = try roundTrip("jpeg", .only(kinds), credited)
            #expect((read.icc != nil) == kinds.contains(.icc))
            let blocks = [read.exif, read.xmp, read.iptc].compactMap { $0?.bytes }.joined()
            let text = String(decoding: Array(blocks), as: UTF8.self)
            return all.filter { text.contains($0) }
        }
        #expect(try carried([.copyright]) == ["Copyright Jane Doe"])
        #expect(try carried([.creator]) == ["Agency"])
        #expect(try carried([.icc, .description]) == ["A boat", "Regatta"])
        #expect(try carried([.gps]) == ["59,54N", "Oslo"])
        #expect(try carried([.dates]) == ["20261121"])
        #expect(try carried([.icc]) == [])
        #expect(try carried([.keywords]) == [])
    }

    @Test func `texts of a PNG survive keep, and hide no picture`() throws {
        func text(_ words: String) -> [UInt8] { Array(words.utf8) }
        var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        png.chunks = [
            ("tEXt", text("Title\0Regatta")), ("tEXt", text("Comment\0caf") + [0xE9]),
            ("iTXt", text("Copyright\0\0\0en\0\0(c) Jané")), ("tEXt", text("Raw profile type exif\0ffd8ff")),
            ("tEXt", text("Preview\0" + String(repeating: "QUJD", count: 400))), ("tEXt", text("no end")),
            ("tEXt", text("\0no keyword")), ("iTXt", text("short\0\0")),
        ]
        let behind = png.chunk("tEXt", text("Author\0Jane"))
        let bytes = png.build()
        let file = bytes[..<(bytes.count - 12)] + behind + bytes[(bytes.count - 12)...]
        _ = try workspace.write(Array(file), to: "texts.png")
        let read = try workspace.load("texts.png")
        func written(_ policy: MetadataPolicy) throws -> String {
            try workspace.save(
                read.raster, as: "png", to: "out.png", save: .init(metadata: policy), metadata: read.metadata)
            #expect(try workspace.load("out.png").raster == read.raster)
            return String(decoding: try workspace.bytes("out.png"), as: UTF8.self)
        }
        let kept = try written(.keep)
        for words in ["Title\0Regatta", "Comment\0caf", "(c) Jané", "Author\0Jane"] { #expect(kept.contains(words)) }
        for words in ["ffd8ff", "QUJD", "no end", "no keyword"] { #expect(!kept.contains(words), "\(words)") }
        let credit = try written(.public)
        for words in ["Title\0Regatta", "(c) Jané", "Author\0Jane"] { #expect(credit.contains(words)) }
        #expect(!credit.contains("Comment"))
        #expect(try written(.only([.creator])).contains("Author"))
        #expect(try !written(.only([.creator])).contains("Title"))
        #expect(try !written(.strip).contains("tEXt"))
    }

    @Test func `XMP, EXIF and packed texts behind the pixels of a PNG count, too`() throws {
        func text(_ words: String) -> [UInt8] { Array(words.utf8) }
        let png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        let title = text("Title\0\0") + Packed.regatta
        let large = text("Preview\0\0") + [UInt8](repeating: 0x78, count: 2000)
        let behind =
            png.chunk("iTXt", text("XML:com.adobe.xmp\0\0\0\0\0" + xmp)) + png.chunk("eXIf", ExifBuilder.full())
            + png.chunk("zTXt", title) + png.chunk("zTXt", large)
        let bytes = png.build()
        _ = try workspace.write(
            Array(bytes[..<(bytes.count - 12)] + behind + bytes[(bytes.count - 12)...]), to: "behind.png")
        let read = try workspace.load("behind.png").metadata
        #expect(read.xmp?.bytes == Array(xmp.utf8))
        #expect(read.exif?.bytes == ExifBuilder.full())
        #expect(read.texts.map(\.keyword) == ["Title"])
    }

    @Test func `blocks of metadata in the texts of a PNG count as such`() throws {
        let png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        let records: [UInt8] = [0x1C, 2, 80, 0, 4] + Array("Jane".utf8)
        func load(_ kind: String, _ length: Int) throws -> ImageMetadata {
            var png = png
            let digits = records.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            png.chunks = [
                ("tEXt", Array("Raw profile type \(kind)\0\n\(kind)\n      \(length)\n\(digits)\n".utf8))
            ]
            _ = try workspace.write(png.build(), to: "block.png")
            return try workspace.load("block.png").metadata
        }
        #expect(try load("iptc", 9).iptc?.bytes == records)
        #expect(try load("iptc", 9).texts == [])
        for (kind, length) in [("iptc", 8), ("iptc", 10), ("iptc", -1), ("iptc", .max), ("8bim", 9)] {
            #expect(try load(kind, length).iptc == nil)
        }
    }

    @Test func `blocks in the texts of a PNG have their digits in any case and on any line, and no others`() throws {
        func load(_ words: String) throws -> [UInt8]? {
            var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
            png.chunks = [("tEXt", Array("Raw profile type iptc\0\(words)".utf8))]
            _ = try workspace.write(png.build(), to: "block.png")
            return try workspace.load("block.png").metadata.iptc?.bytes
        }
        let record: [UInt8] = [0x1C, 2, 80, 0, 1, 0xAF]
        #expect(try load("iptc 6 1c02500001AF") == record)
        #expect(try load("\niptc\n   6\n1c0 2\t5\n00001aF\n") == record)
        for words in [
            "iptc 6 1c02500001A", "iptc 6 1c02500001AF0", "iptc 6 1c02500001AF00", "iptc 6 1c02500001Ag", "iptc 6 ",
            "iptc six 1c02500001AF", "iptc 0 ", "iptc 99999999999999999999 1c02500001AF",
        ] {
            #expect(try load(words) == nil, "\(words)")
        }
    }

    @Test(arguments: ["eXIf", "tEXt"])
    func `EXIF that libvips does not find turns a PNG upright, and tells its resolution`(chunk: String) throws {
        func little(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        var builder = ExifBuilder(main: [.short(0x0112, 6), .short(0x0128, 3)])
        builder.main += [0x011A, 0x011B].map { tag in
            ExifBuilder.Entry(tag: tag, type: 5, bytes: little(2400) + little(10))
        }
        let exif = builder.build()
        let digits = exif.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let text = Array("Raw profile type exif\0\nexif\n \(exif.count)\n\(digits)\n".utf8)
        let png = PNGBuilder(width: 3, height: 2, colorType: .gray, data: [1, 2, 3, 4, 5, 6])
        let (bytes, behind) = (png.build(), png.chunk(chunk, chunk == "eXIf" ? exif : text))
        _ = try workspace.write(
            Array(bytes[..<(bytes.count - 12)] + behind + bytes[(bytes.count - 12)...]), to: "turned.png")
        let read = try workspace.load("turned.png")
        #expect(read.header.orientation == 6)
        #expect(
            read.raster
                == AnyRaster.u8(
                    Raster(
                        rect: PixelRect(x: 0, y: 0, width: 2, height: 3), layout: .gray, samples: [4, 1, 5, 2, 6, 3])))
        #expect(read.metadata.resolution == .init(x: 24, y: 24, unit: .centimetre))
        try workspace.save(read.raster, as: "png", to: "out.png", metadata: read.metadata)
        let again = try workspace.load("out.png")
        #expect(again.header.orientation == 1 && again.raster == read.raster)
    }

    @Test(arguments: [
        ("20261124", "2026-11-24"), ("24.11.26", "24.11.26"), ("é261124", "é261124"), ("2026é24", "2026é24"),
    ])
    func `only a date of digits is divided into its parts`(date: String, expected: String) {
        var metadata = ImageMetadata()
        metadata.iptc = Blob([0x1C, 2, 55, 0, UInt8(date.utf8.count)] + Array(date.utf8))
        let shape = ImageShape(width: 8, height: 6, layout: .rgb, sampleFormat: .u8)
        let xmp = metadata.carried(by: .keep, shape: shape, holdsIPTC: false).xmp?.bytes ?? []
        let text = String(validating: xmp, as: UTF8.self)
        #expect(text?.contains("<photoshop:DateCreated>\(expected)</photoshop:DateCreated>") == true)
    }

    @Test(arguments: ["png", "webp"])
    func `credit that a picture has in IPTC alone is told by XMP where a format has no place for it`(
        format: String
    ) throws {
        func record(_ number: UInt8, _ text: [UInt8]) -> [UInt8] { [0x1C, 2, number, 0, UInt8(text.count)] + text }
        let latin = Array("Jan".utf8) + [0xE9]
        var metadata = ImageMetadata()
        metadata.iptc = Blob(
            record(80, latin) + record(80, Array("Joe".utf8)) + record(116, Array("(c) <J&J>\u{1}".utf8))
                + record(90, Array("Oslo".utf8)) + record(55, Array("20261124".utf8)))
        let credit = try roundTrip(format, .only([.creator, .copyright]), metadata)
        #expect(credit.iptc == nil)
        #expect(
            String(decoding: credit.xmp?.bytes ?? [], as: UTF8.self)
                == """
                <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
                <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">\
                <dc:creator><rdf:Seq><rdf:li>Jané</rdf:li><rdf:li>Joe</rdf:li></rdf:Seq></dc:creator><dc:rights><rdf:Alt>\
                <rdf:li xml:lang="x-default">(c) &lt;J&amp;J&gt;</rdf:li></rdf:Alt></dc:rights></rdf:Description></rdf:RDF>\
                </x:xmpmeta>
                """)
        let all = String(decoding: try roundTrip(format, .keep, metadata).xmp?.bytes ?? [], as: UTF8.self)
        #expect(all.contains("<photoshop:City>Oslo</photoshop:City>"))
        #expect(all.contains("<photoshop:DateCreated>2026-11-24</photoshop:DateCreated>"))
        // What the packet says itself counts.
        metadata.xmp = Blob(
            Array(
                """
                <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description \
                xmlns:d="http://purl.org/dc/elements/1.1/" d:creator="Ann"/></r:RDF>
                """.utf8))
        let both = String(
            decoding: try roundTrip(format, .only([.creator, .copyright]), metadata).xmp?.bytes ?? [], as: UTF8.self)
        #expect(both.contains("<dc:creator>Ann</dc:creator><dc:rights>") && !both.contains("Joe"))
        // A packet that is kept as it is has the rest behind it.
        let kept = String(decoding: try roundTrip(format, .keep, metadata).xmp?.bytes ?? [], as: UTF8.self)
        #expect(kept.contains("d:creator=\"Ann\"") && !kept.contains("Joe"))
        #expect(
            kept.contains("<dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">(c) &lt;J&amp;J&gt;</rdf:li></rdf:Alt>"))
    }

    @Test(arguments: [
        "2026:11:24 20:30:00", "Tue Nov 24 20:30:00 2026", "Tue 24 Nov 2026 08:30:00 PM", "20:30, 24.11.2026",
    ])
    func `a date without a time zone stays as it is`(date: String) throws {
        #expect(try withoutZone(date) == date)
    }

    @Test(arguments: [
        ("2026:11:24 20:30:00+05:45", "2026:11:24 20:30:00"), ("2026-11-24T20:30Z", "2026-11-24T20:30"),
        ("2026-11-24T20:30:15.250-03:30", "2026-11-24T20:30:15.250"), ("20261124T203015+0545", "20261124T203015"),
        ("Tue Nov 24 20:30:00 CET 2026", "Tue Nov 24 20:30:00 2026"),
        ("Tue 24 Nov 2026 08:30:00 PM CET", "Tue 24 Nov 2026 08:30:00 PM"),
        ("2026:11:24 8:30 p.m. UTC+05:45", "2026:11:24 8:30 p.m."),
        ("20:30:15 GMT-0330 (Newfoundland Standard Time), November 24, 2026", "20:30:15 November 24, 2026"),
        ("24 Nov 2026 20:30 in St. John's", "24 Nov 2026 20:30"), ("24 Nov 2026 20:30 MART \n", "24 Nov 2026 20:30 \n"),
        ("2026-11-24+05:45", "2026-11-24"), ("2026-11-24Z", "2026-11-24"),
    ])
    func `a date loses its time zone, and nothing else that tells the time`(date: String, left: String) throws {
        #expect(try withoutZone(date) == left)
    }

    /// What an output that may tell dates and no places has of a date.
    private func withoutZone(_ date: String) throws -> String? {
        var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        png.chunks = [("tEXt", Array("Creation Time\0\(date)".utf8))]
        _ = try workspace.write(png.build(), to: "dated.png")
        let texts = try roundTrip("png", .only([.dates]), try workspace.load("dated.png").metadata).texts
        return texts.first.map { String(decoding: $0.payload.bytes.dropFirst(14), as: UTF8.self) }
    }

    @Test func `a date's time zone is carried with the place alone`() throws {
        func dates(_ kinds: Set<MetadataKind>) throws -> String {
            var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
            png.chunks = [("tEXt", Array("Creation Time\0Tue, 24 Nov 2026 20:30:15 +0545".utf8))]
            _ = try workspace.write(png.build(), to: "dated.png")
            var metadata = try workspace.load("dated.png").metadata
            metadata.xmp = Blob(
                Array(
                    """
                    <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description \
                    xmlns:x="http://ns.adobe.com/xap/1.0/" x:CreateDate="2026-11-24T20:30:15.250+05:45"><x:ModifyDate>\
                    2026-11-24T14:45Z</x:ModifyDate></r:Description></r:RDF>
                    """.utf8))
            let read = try roundTrip("png", .only(kinds), metadata)
            return String(decoding: (read.xmp?.bytes ?? []) + read.texts.flatMap(\.payload.bytes), as: UTF8.self)
        }
        let without = try dates([.dates])
        #expect(without.contains("<xmp:CreateDate>2026-11-24T20:30:15.250</xmp:CreateDate>"))
        #expect(without.contains("<xmp:ModifyDate>2026-11-24T14:45</xmp:ModifyDate>"))
        #expect(without.hasSuffix("Creation Time\0Tue, 24 Nov 2026 20:30:15"))
        let with = try dates([.dates, .gps])
        for zone in ["+05:45<", "14:45Z<", "15 +0545"] { #expect(with.contains(zone), "\(zone)") }
    }

    /// As zlib packs them.
    private enum Packed {
        /// "Regatta on the lake, heat ", forty times.
        static let regatta: [UInt8] = [
            0x78, 0xDA, 0x0B, 0x4A, 0x4D, 0x4F, 0x2C, 0x29, 0x49, 0x54, 0xC8, 0xCF, 0x53, 0x28, 0xC9, 0x48, 0x55, 0xC8,
            0x49, 0xCC, 0x4E, 0xD5, 0x51, 0xC8, 0x48, 0x4D, 0x2C, 0x51, 0x08, 0x1A, 0x95, 0x19, 0x95, 0x19, 0x95, 0x19,
            0x61, 0x32, 0x00, 0x16, 0x78, 0x65, 0xB8,
        ]
        /// "Jané on the bow ", thirty times.
        static let bow: [UInt8] = [
            0x78, 0xDA, 0xF3, 0x4A, 0xCC, 0x3B, 0xBC, 0x52, 0x21, 0x3F, 0x4F, 0xA1, 0x24, 0x23, 0x55, 0x21, 0x29, 0xBF,
            0x5C, 0xC1, 0x6B, 0x54, 0x60, 0xE4, 0x08, 0x00, 0x00, 0xAD, 0x55, 0xC0, 0x8B,
        ]
        /// "QUJD", four hundred times: a picture in Base64 looks so.
        static let hidden: [UInt8] = [
            0x78, 0xDA, 0x0B, 0x0C, 0xF5, 0x72, 0x09, 0x1C, 0xC5, 0xA3, 0x78, 0x14, 0x8F, 0xE2, 0x51, 0x3C, 0x8A, 0x49,
            0xC4, 0x00, 0x5E, 0x1F, 0xE1, 0x50,
        ]
    }

    @Test func `packed texts survive keep as they are, and hide no picture`() throws {
        func text(_ words: String) -> [UInt8] { Array(words.utf8) }
        var png = PNGBuilder(width: 2, height: 2, colorType: .gray, data: [1, 2, 3, 4])
        let (title, copyright) = (text("Title\0\0") + Packed.regatta, text("Copyright\0\u{1}\0en\0\0") + Packed.bow)
        let preview = text("Preview\0\0") + Packed.hidden
        png.chunks = [("tEXt", text("a\0b")), ("zTXt", title), ("zTXt", preview), ("iTXt", copyright)]
        _ = try workspace.write(png.build(), to: "packed.png")
        let read = try workspace.load("packed.png")
        for (policy, carried) in [
            (MetadataPolicy.keep, [title, copyright]), (.public, [title, copyright]),
            (.only([.copyright]), [copyright]),
            (.strip, []),
        ] {
            try workspace.save(
                read.raster, as: "png", to: "out.png", save: .init(metadata: policy), metadata: read.metadata)
            let bytes = try workspace.bytes("out.png")
            for chunk in [title, copyright] {
                #expect((bytes.firstRange(of: chunk) != nil) == carried.contains(chunk), "\(policy)")
            }
            #expect(bytes.firstRange(of: preview) == nil)
            // Read again, they are the same texts: sums and lengths of the chunks are right.
            let again = try workspace.load("out.png")
            #expect(again.raster == read.raster)
            #expect(again.metadata.texts.count == carried.count + (policy == .keep ? 1 : 0))
        }
    }

    @Test func `damaged records and chunks never crash`() throws {
        var random = SplitMix(state: 5)
        let whole = credited
        for _ in 0..<3000 {
            var metadata = whole
            for field in [\ImageMetadata.iptc, \.xmp] {
                guard var bytes = metadata[keyPath: field]?.bytes else { continue }
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random) / 4)
                metadata[keyPath: field] = Blob(bytes)
            }
            let shape = ImageShape(width: 8, height: 8, layout: .rgb, sampleFormat: .u8)
            _ = metadata.carried(by: .public, shape: shape)
            _ = metadata.carried(by: .only([.gps, .dates]), shape: shape)
        }
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"])
    func `icc carries the profile alone, strip nothing`(format: String) throws {
        let onlyProfile = try roundTrip(format, .icc, full)
        #expect(onlyProfile == ImageMetadata(icc: Blob(profile)))
        let nothing = try roundTrip(format, .strip, full)
        #expect(nothing == ImageMetadata())
        let stripped = try workspace.bytes("picture")
        try workspace.save(Pictures.smooth(width: 80, height: 60), as: format, to: "plain")
        let isEqual = try stripped == workspace.bytes("plain")
        #expect(isEqual)
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"], [MetadataPolicy.keep, .public])
    func `no picture is inside the picture`(format: String, policy: MetadataPolicy) throws {
        let hidden = Array("MakerPrefix".utf8) + ExifBuilder.jpegLikeBytes
        let preview = "<xmp:Thumbnails xmlns:xmp='http://ns.adobe.com/xap/1.0/'>/9j/4AAQSkZJRg</xmp:Thumbnails>"
        var metadata = full
        metadata.exif = Blob(ExifBuilder.full(makerNote: hidden))
        metadata.xmp = Blob(Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'>\(preview)</x:xmpmeta>".utf8))
        metadata.iptc = Blob(iptc + [0x1C, 8, 10] + ExifBuilder.jpegLikeBytes)
        _ = try roundTrip(format, policy, metadata)
        let bytes = try workspace.bytes("picture")
        let start = format == "jpeg" ? 2 : 0
        #expect(bytes[start...].firstRange(of: [0xFF, 0xD8, 0xFF]) == nil)
        #expect(bytes.firstRange(of: Array("/9j/".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("MakerPrefix".utf8)) == nil)
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], [true, false])
    func `WebP of every kind takes metadata and stays the same picture`(layout: PixelLayout, lossless: Bool) throws {
        let picture = Pictures.smooth(width: 81, height: 61, layout: layout)
        let values: [String: ParameterValue] = ["lossless": .boolean(lossless)]
        try workspace.save(picture, as: "webp", to: "plain", save: .init(values: values))
        for metadata in [
            full, ImageMetadata(icc: Blob(profile)), ImageMetadata(exif: Blob(ExifBuilder.full())),
            ImageMetadata(xmp: Blob(Array(xmp.utf8))),
        ] {
            try workspace.save(picture, as: "webp", to: "full", save: .init(values: values), metadata: metadata)
            let read = try workspace.load("full")
            let isEqual = try read.raster == workspace.load("plain").raster
            #expect(isEqual)
            #expect((read.metadata.icc == nil) == (metadata.icc == nil))
            #expect((read.metadata.exif == nil) == (metadata.exif == nil))
            #expect((read.metadata.xmp == nil) == (metadata.xmp == nil))
            let file = try workspace.bytes("full")
            #expect(file.count == 8 + Int(file[4]) + Int(file[5]) << 8 + Int(file[6]) << 16)
        }
    }

    @Test func `a profile larger than a segment is cut into several`() throws {
        let large = profile + [UInt8](repeating: 7, count: 200_000)
        #expect(try roundTrip("jpeg", .keep, ImageMetadata(icc: Blob(large))).icc?.bytes == large)
    }

    @Test func `tags that name another colour space go when the pixels are converted`() throws {
        var metadata = full
        metadata.icc = nil
        metadata.isConverted = true
        let exif = try #require(try roundTrip("jpeg", .keep, metadata).exif?.bytes)
        #expect(exif.firstRange(of: [0x01, 0xA0, 3, 0, 1, 0, 0, 0, 1, 0]) != nil)
        let kept = try #require(try roundTrip("jpeg", .keep, full).exif?.bytes)
        #expect(kept.firstRange(of: [0x01, 0xA0, 3, 0, 1, 0, 0, 0, 0xFF, 0xFF]) != nil)
    }

    @Test func `a TIFF's own tags become EXIF`() throws {
        let tiff = TIFFBuilder(
            width: 3, height: 1, data: [1, 2, 3], texts: [(315, "Jane Doe"), (33432, "Copyright Jane Doe")])
        _ = try workspace.write(tiff.build(), to: "scan.tif")
        let scan = try workspace.load("scan.tif")
        for format in ["jpeg", "png", "webp", "tiff"] {
            try workspace.save(scan.raster, as: format, to: "picture", metadata: scan.metadata)
            let exif = String(decoding: try workspace.load("picture").metadata.exif?.bytes ?? [], as: UTF8.self)
            #expect(exif.contains("Copyright Jane Doe") && exif.contains("Jane Doe\0"), "\(format)")
        }
    }

    @Test(arguments: ["off", "on"])
    func `EXIF of either byte order goes into TIFF of either size`(bigtiff: String) throws {
        let iso: [UInt8] = [0x88, 0x27, 0, 3, 0, 0, 0, 1, 0, 200, 0, 0]
        let exposure: [UInt8] = [0x82, 0x9A, 0, 5, 0, 0, 0, 1, 0, 0, 0, 56]
        let block: [UInt8] =
            [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 2]
            + exposure + iso + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 250]
        let save = SaveOptions(values: ["bigtiff": .word(bigtiff)])
        let metadata = ImageMetadata(exif: Blob(block), iptc: Blob(iptc))
        try workspace.save(Pictures.smooth(), as: "tiff", to: "picture", save: save, metadata: metadata)
        let read = try workspace.load("picture").metadata
        let exif = try #require(read.exif?.bytes)
        #expect(exif.firstRange(of: [0x27, 0x88, 3, 0, 1, 0, 0, 0, 200, 0]) != nil)
        #expect(exif.firstRange(of: [1, 0, 0, 0, 250, 0, 0, 0]) != nil)
        #expect(read.iptc?.bytes == iptc)
    }

    @Test func `EXIF states the output's size and orientation`() throws {
        let exif = try #require(try roundTrip("png", .keep, full).exif?.bytes)
        #expect(exif.firstRange(of: [0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0]) != nil)
        #expect(exif.firstRange(of: [0x00, 0x01, 4, 0, 1, 0, 0, 0, 80, 0]) != nil)
        #expect(exif.firstRange(of: [0x02, 0xA0, 4, 0, 1, 0, 0, 0, 80, 0]) != nil)
        #expect(exif.firstRange(of: [0x03, 0xA0, 3, 0, 1, 0, 0, 0, 60, 0]) != nil)
    }

    @Test func `metadata are coded as base64`() throws {
        let metadata = ImageMetadata(icc: Blob([1, 2, 3]), resolution: .init(x: 1.5, y: 2, unit: .centimetre))
        let data = try JSONEncoder().encode(metadata)
        #expect(String(decoding: data, as: UTF8.self).contains("\"AQID\""))
        #expect(try JSONDecoder().decode(ImageMetadata.self, from: data) == metadata)
    }
}
