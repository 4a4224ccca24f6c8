import Catalogs
import Foundation
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
    func `public carries no place, number or name but the copyright`(format: String) throws {
        let read = try roundTrip(format, .public, full)
        #expect(read.icc?.bytes == profile && read.xmp == nil && read.iptc == nil)
        let exif = String(decoding: read.exif?.bytes ?? [], as: UTF8.self)
        #expect(exif.contains("Copyright Jane Doe") && exif.contains("Penumbra"))
        let file = String(decoding: try workspace.bytes("picture"), as: UTF8.self)
        for dropped in ["A boat", "SN-12345", "Owner", "hello", "Maker note", "2026:11:21", "W5M0", "Boat"] {
            #expect(!file.contains(dropped), "\(dropped)")
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
