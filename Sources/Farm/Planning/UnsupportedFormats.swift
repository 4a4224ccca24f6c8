/// Recognizes pictures in formats that Penumbra does not read, and films, which it does not change in place. It knows them by
/// their first bytes, or by their names if a format has no signature.
enum UnsupportedFormats {
    /// - Parameters:
    ///   - head: The file's first ``FileSignature/length`` bytes.
    ///   - fileExtension: The extension, in lower case.
    static func hold(_ head: [UInt8], called fileExtension: [UInt8]) -> Bool {
        beginnings.contains { head.starts(with: $0) }
            || marks.contains { head.starts(with: $0.beginning) && head.holds($0.mark, at: $0.offset) }
            || isIcon(head) || isSGI(head) || isFilm(head)
            || isASF(head, fileExtension)
            || isTransportStream(head) || isPostScript(head) || isXBM(head)
    }

    private static let beginnings: [[UInt8]] = [
        Array("DDS ".utf8) + [124, 0, 0, 0], Array("gimp xcf ".utf8), Array("qoif".utf8), Array("farbfeld".utf8),
        Array("P7\nWIDTH ".utf8), Array("P7\nHEIGHT ".utf8), Array("P7\n#".utf8), Array("P7 332\n".utf8),  // PAM
        Array("SDPX".utf8), Array("XPDS".utf8), [0x80, 0x2A, 0x5F, 0xD7],  // DPX, Cineon
        Array("AT&TFORM".utf8), Array("icns".utf8), Array("/* XPM */".utf8),  // DjVu, icons of macOS
        [0xD7, 0xCD, 0xC6, 0x9A, 0, 0], [0xC5, 0xD0, 0xD3, 0xC6],  // WMF, EPS with a preview
        [0xFF, 0xD8, 0xFF, 0xF7], Array("BPG".utf8) + [0xFB], Array("FLIF".utf8),  // JPEG-LS
        Array("SIMPLE  = ".utf8),  // FITS
        Array("FOVb".utf8),  // X3F, which Debian's LibRaw does not read
        [0x49, 0x49, 0xBC, 0x01], [0x59, 0xA6, 0x6A, 0x95], [0x8A, 0x4D, 0x4E, 0x47],  // JPEG XR, Sun raster, MNG
        [0x1A, 0x45, 0xDF, 0xA3], Array("FLV\u{1}".utf8),  // Matroska and WebM, Flash Video
        [0, 0, 1, 0xBA], [0, 0, 1, 0xB3], Array(".RMF\u{0}".utf8),  // MPEG, RealMedia
    ]

    /// Formats that share their first bytes with others, and the bytes that distinguish them: AVI; Ogg with Theora or a
    /// skeleton, which only films have; Krita and OpenRaster, which are ZIP files; EMF; and DICOM, which may begin with
    /// anything.
    private static let marks: [(beginning: [UInt8], mark: [UInt8], offset: Int)] = [
        (Array("RIFF".utf8), Array("AVI ".utf8), 8), (Array("OggS".utf8), [0x80] + Array("theora".utf8), 28),
        (Array("OggS".utf8), Array("fishead\u{0}".utf8), 28),
        (Array("PK\u{3}\u{4}".utf8), Array("mimetypeapplication/x-krita".utf8), 30),
        (Array("PK\u{3}\u{4}".utf8), Array("mimetypeimage/openraster".utf8), 30),
        ([1, 0, 0, 0], Array(" EMF".utf8), 40), ([], Array("DICM".utf8), 128),
    ]

    /// An icon or a pointer. The first picture begins behind a list with 16 bytes for each.
    private static func isIcon(_ head: [UInt8]) -> Bool {
        guard head.count >= 22, head.starts(with: [0, 0, 1, 0]) || head.starts(with: [0, 0, 2, 0]) else { return false }
        let count = Int(head[4]) + Int(head[5]) << 8
        let offset = head[18...21].reversed().reduce(0) { $0 << 8 + Int($1) }
        return count > 0 && head[9] == 0 && offset >= 6 + 16 * count
    }

    /// A number, the packing, the bytes of a sample, and the number of dimensions.
    private static func isSGI(_ head: [UInt8]) -> Bool {
        head.count >= 6 && head.starts(with: [0x01, 0xDA]) && head[2] <= 1 && (1...2).contains(head[3])
            && head[4] == 0 && (1...3).contains(head[5])
    }

    /// Windows Media, except for files with sound alone, which begin in the same way.
    private static func isASF(_ head: [UInt8], _ fileExtension: [UInt8]) -> Bool {
        let mark: [UInt8] = [
            0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C,
        ]
        return head.starts(with: mark) && !fileExtension.elementsEqual("wma".utf8)
    }

    /// MPEG-2 in packets of 188 bytes. Cameras and discs put a time of four bytes before each.
    private static func isTransportStream(_ head: [UInt8]) -> Bool {
        // TypeScript files have the same extension, and text may have a G anywhere.
        guard head.contains(where: { $0 < 9 }) else { return false }
        return [(0, 188), (4, 192)].contains { first, length in
            (0..<5).allSatisfy { head.holds([0x47], at: first + length * $0) }
        }
    }

    /// A picture in PostScript: encapsulated, or an illustration. Other PostScript is a document.
    private static func isPostScript(_ head: [UInt8]) -> Bool {
        guard head.starts(with: "%!PS-Adobe-".utf8) else { return false }
        let line = head.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return line.contains("EPSF".utf8) || head.contains("%%Creator: Adobe Illustrator".utf8)
    }

    /// `#define NAME_width 16`. Other C texts may begin in the same way.
    private static func isXBM(_ head: [UInt8]) -> Bool {
        guard head.starts(with: "#define ".utf8) else { return false }
        let words = head.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }.split(
            separator: UInt8(ascii: " "))
        return words.count == 3 && words[1].suffix(6).elementsEqual("_width".utf8)
            && words[2].allSatisfy { (48...57).contains($0) }
    }

    /// ISO-BMFF (MP4, QuickTime) except for files with sound alone, and QuickTime without a type.
    private static func isFilm(_ head: [UInt8]) -> Bool {
        guard head.count >= 12 else { return false }
        let (box, brand) = (head[4..<8], head[8..<12])
        if box.elementsEqual("ftyp".utf8) {
            return !["M4A ", "M4B ", "M4P ", "F4A ", "F4B "].contains { brand.elementsEqual($0.utf8) }
        }
        return head[0] == 0 && ["moov", "mdat", "wide"].contains { box.elementsEqual($0.utf8) }
    }

    /// - Parameters:
    ///   - fileExtension: The extension, in lower case.
    ///   - head: Nil for a file that cannot be read.
    static func isCalled(_ fileExtension: [UInt8], _ head: [UInt8]?) -> Bool {
        guard extensions.contains(fileExtension) else { return false }
        guard let head else { return true }
        // TypeScript files end in '.mts', too. macOS keeps notes (AppleDouble) under pictures' names.
        return head.contains { $0 < 9 } && !head.starts(with: [0x00, 0x05, 0x16, 0x07])
    }

    private static let extensions: Set<[UInt8]> = Set(
        [
            "tga", "pcx", "pict", "pct", "wbmp", "dcm", "mov", "wmv", "asf", "mpg", "mpeg", "mts", "m2ts", "vob", "ogv",
            "dv", "mxf", "r3d",
        ].map { Array($0.utf8) })
}

extension [UInt8] {
    fileprivate func holds(_ mark: [UInt8], at offset: Int) -> Bool {
        count >= offset + mark.count && self[offset..<offset + mark.count].elementsEqual(mark)
    }
}
