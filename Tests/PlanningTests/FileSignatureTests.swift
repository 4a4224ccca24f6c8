import Planning
import Testing

/// Pictures that are known by their first bytes.
@Suite struct FileSignatureTests {
    @Test(arguments: [
        [0xFF, 0xD8, 0xFF, 0xE0], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("GIF89a".utf8),
        [0x4D, 0x4D, 0x00, 0x2A], Array("RIFF0000WEBPVP8 ".utf8), [0, 0, 0, 32] + Array("ftypavif".utf8),
        [0xFF, 0x0A, 0x00], Array("P5 7 9 255\n".utf8), Array("P6\n# comment".utf8), [0x76, 0x2F, 0x31, 0x01],
        bitmap, Array("8BPS".utf8) + [0, 1], Array("8BPS".utf8) + [0, 2], Array("#?RADIANCE\n".utf8),
    ])
    func `a picture`(head: [UInt8]) { #expect(FileSignature.kind(of: head) == .readable) }

    private static let extensions: [(head: [UInt8], fileExtension: String?)] = [
        ([0xFF, 0xD8, 0xFF, 0xE0], "jpg"), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "png"),
        ([0x4D, 0x4D, 0x00, 0x2A], "tif"), ([0xFF, 0x0A, 0x00], "jxl"), ([0x76, 0x2F, 0x31, 0x01], "exr"),
        (text("GIF89a"), "gif"), (text("RIFF0000WEBPVP8 "), "webp"), (text("P6\n# comment"), "ppm"),
        (text("<svg/>"), "svg"), (text("%PDF-1.7\n"), "pdf"), (text("0000ftypavif"), "avif"),
        (bitmap, "bmp"), (text("8BPS\u{0}\u{1}"), "psd"), (text("8BPS\u{0}\u{2}"), "psb"), (text("#?RGBE\n"), "hdr"),
        ([0x49, 0x49, 0x2A, 0, 16, 0, 0, 0] + text("CR\u{2}\u{0}"), "cr2"),
        (text("0000ftypcrx \u{0}\u{0}\u{0}\u{1}"), "cr3"),
        (text("FUJIFILMCCD-RAW 0201"), "raf"), (text("IIRO\u{8}\u{0}"), "orf"),
        ([0x49, 0x49, 0x55, 0, 0x18, 0], "rw2"), (text("\u{0}MRM"), "mrw"),
        ([0x49, 0x49, 0x1A, 0, 0, 0] + text("HEAPCCDR"), "crw"),
        (text("0000ftypheic0000mif1"), "heic"), (text("0000ftypmif10000mif1avif"), "avif"),
        ([], nil), (text("text"), nil), ([0xFF, 0xD8, 0xFF, 0xF7], nil),
    ]

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: extensions)
    func `a picture's format has a usual extension`(head: [UInt8], fileExtension: String?) {
        #expect(FileSignature.fileExtension(of: head) == fileExtension)
    }

    @Test(arguments: [
        "%PDF-1.7\n", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<!DOCTYPE svg [<!ENTITY a 'b'>\n]><svg>",
        "\u{FEFF}<?xml version='1.0'?>\n<!-- <a> -->\n<!DOCTYPE svg SYSTEM 'a'>\n<svg\n",
    ])
    func `a document that Penumbra draws`(head: String) {
        #expect(FileSignature.kind(of: Array(head.utf8)) == .readable)
    }

    @Test(arguments: [
        [], Array("Pf, said he".utf8), Array("P5 is".utf8), Array("RIFF0000WAVEfmt ".utf8),
        [0, 0, 0, 32] + Array("ftypM4A isom".utf8), Array("#!/bin/sh\n".utf8), [0xFF, 0xD8],
        Array("BMW is a maker of cars in Munich".utf8), Array("DDS and other words".utf8),
        [0, 1, 0, 0] + Array(repeating: 0, count: 28), [0, 0, 1, 0] + Array(repeating: 0, count: 28),
        Array("removable media: free, wide".utf8),
    ])
    func `no picture`(head: [UInt8]) { #expect(FileSignature.kind(of: head) == nil) }

    /// The beginning of a film: a mark in front of each packet.
    private static func packets(_ length: Int, from first: Int, count: Int = 5) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: FileSignature.length)
        for packet in 0..<count { head[first + length * packet] = 0x47 }
        return head
    }

    /// Zeros, and a mark behind them.
    private static func behind(_ offset: Int, _ mark: String, beginning: [UInt8] = []) -> [UInt8] {
        beginning + Array(repeating: 0, count: offset - beginning.count) + Array(mark.utf8)
    }

    private static let windowsMedia: [UInt8] = [
        0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C, 0x1E, 0x16,
    ]

    @Test func `sound of Windows Media is no film`() {
        #expect(FileSignature.kind(of: Self.windowsMedia, called: Array("wma".utf8)) == nil)
        #expect(FileSignature.kind(of: Self.windowsMedia, called: Array("film".utf8)) == .unread)
    }

    private static let bitmap: [UInt8] = Array("BM".utf8) + [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
    private static let icon: [UInt8] =
        [0, 0, 1, 0, 2, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0x68, 4, 0, 0, 38, 0, 0, 0] + Array(repeating: 0, count: 10)

    @Test(arguments: [
        icon, [0x01, 0xDA, 1, 1, 0, 3, 0, 9], Array("DDS ".utf8) + [124, 0, 0, 0],
        Array("FOVb".utf8), Array("qoif".utf8),
        [0, 0, 0, 32] + Array("ftypisom".utf8), [0, 0, 0, 20] + Array("ftypqt  ".utf8),
        [0, 0, 0, 8] + Array("wide\u{0}\u{0}\u{0}\u{0}".utf8), Array("RIFF0000AVI LIST".utf8),
        [0x1A, 0x45, 0xDF, 0xA3], [0, 0, 1, 0xBA],
    ])
    func `a picture or film that Penumbra does not read`(head: [UInt8]) {
        #expect(FileSignature.kind(of: head) == .unread)
    }

    private static let furtherTexts = [
        "AT&TFORM\u{0}\u{0}\u{1}\u{0}DJVU", "icns\u{0}", "/* XPM */\nstatic",
        "#define a_width 16\n#define a_height 16\n",
        "%!PS-Adobe-3.0 EPSF-3.0\n", "%!PS-Adobe-3.0 \r%%Creator: Adobe Illustrator(R) 8.0\r", "P7\nHEIGHT 3\n",
        "SIMPLE  =                    T", "gimp xcf v011", "FLV\u{1}", ".RMF\u{0}",
    ]

    @Test(arguments: furtherTexts)
    func `a picture or film that begins with a word`(head: String) {
        #expect(FileSignature.kind(of: Array(head.utf8)) == .unread)
    }

    private static let ogg = Array("OggS".utf8)
    private static let zip = Array("PK\u{3}\u{4}".utf8)

    private static let furtherHeads: [[UInt8]] = [
        packets(188, from: 0), packets(192, from: 4), windowsMedia, [0xD7, 0xCD, 0xC6, 0x9A, 0, 0, 0, 0],
        [0xC5, 0xD0, 0xD3, 0xC6, 30, 0, 0, 0], [0xFF, 0xD8, 0xFF, 0xF7, 0, 11], [0x59, 0xA6, 0x6A, 0x95],
        behind(40, " EMF", beginning: [1, 0, 0, 0]), behind(128, "DICM"),
        behind(29, "theora", beginning: ogg).replacing(28, with: 0x80),
        behind(28, "fishead\u{0}", beginning: ogg), behind(30, "mimetypeapplication/x-krita", beginning: zip),
        behind(30, "mimetypeimage/openraster", beginning: zip),
    ]

    @Test(arguments: furtherHeads)
    func `a picture or film that has its mark elsewhere, or in bytes`(head: [UInt8]) {
        #expect(FileSignature.kind(of: head) == .unread)
    }

    private static let furtherStrangers: [[UInt8]] =
        [
            "<html><svg></svg></html>", "<?xml version='1.0'?><rss>", "<svgs>", "<!-- <svg>",
            "%!PS-Adobe-3.0\n%%Title: a letter\n", "#define width 16\n", "#define a_width 16 // of a\n",
        ].map { Array($0.utf8) } + [
            packets(188, from: 0, count: 4), [UInt8](repeating: 0x47, count: FileSignature.length),
            behind(30, "mimetypeapplication/epub+zip", beginning: zip), behind(40, " EMF"),
            behind(29, "vorbis", beginning: ogg),
        ]

    @Test(arguments: furtherStrangers)
    func `no picture, though it begins almost like one`(head: [UInt8]) { #expect(FileSignature.kind(of: head) == nil) }

    @Test(
        arguments: [
            ("tga", [0, 0, 2, 0, 0, 0, 0, 0]), ("pcx", [10, 5, 1, 8, 0, 0, 0, 0]),
            ("mts", [0, 0, 1, 9, 0x47, 0x40, 0x11, 0x10]),
        ] as [(String, [UInt8])])
    func `a format without a beginning of its own is known by the name`(fileExtension: String, head: [UInt8]) {
        #expect(FileSignature.kind(of: head, called: Array(fileExtension.utf8)) == .unread)
        #expect(FileSignature.kind(of: head, called: Array("bin".utf8)) == nil)
    }

    @Test(arguments: [[], Array("export type A = {}".utf8), [0x00, 0x05, 0x16, 0x07, 0, 2, 0, 0]])
    func `what only has such a name is none`(head: [UInt8]) {
        #expect(FileSignature.kind(of: head, called: Array("mts".utf8)) == nil)
    }
}

extension [UInt8] {
    fileprivate func replacing(_ offset: Int, with byte: UInt8) -> [UInt8] {
        var result = self
        result[offset] = byte
        return result
    }
}
