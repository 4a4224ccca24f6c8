/// Knows pictures and films in formats that Penumbra does not read: by their first bytes, or by their names where a format has
/// no beginning of its own. Raw files that are TIFF, such as NEF and DNG, are known as pictures (``PictureHead``).
enum UnreadFormats {
    static func hold(_ head: [UInt8]) -> Bool {
        beginnings.contains { head.starts(with: $0) } || isBitmap(head) || isIcon(head) || isSGI(head) || isAVI(head)
            || isFilm(head)
    }

    private static let beginnings: [[UInt8]] = [
        Array("8BPS\u{0}".utf8),  // Photoshop
        Array("DDS ".utf8) + [124, 0, 0, 0], Array("gimp xcf ".utf8), Array("qoif".utf8), Array("farbfeld".utf8),
        Array("P7\nWIDTH ".utf8), Array("SDPX".utf8), Array("XPDS".utf8), [0x80, 0x2A, 0x5F, 0xD7],  // PAM, DPX, Cineon
        Array("#?RADIANCE\n".utf8), Array("#?RGBE\n".utf8), Array("SIMPLE  = ".utf8),  // Radiance, FITS
        [0x49, 0x49, 0xBC, 0x01], [0x59, 0xA6, 0x6A, 0x95], [0x8A, 0x4D, 0x4E, 0x47],  // JPEG XR, Sun raster, MNG
        Array("FUJIFILMCCD-RAW".utf8), Array("FOVb".utf8), Array("\u{0}MRM".utf8),  // RAF, X3F, MRW
        Array("IIRO".utf8), Array("IIRS".utf8), Array("MMOR".utf8), [0x49, 0x49, 0x55, 0x00],  // ORF, RW2
        [0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8),  // CRW
        [0x1A, 0x45, 0xDF, 0xA3], Array("FLV\u{1}".utf8),  // Matroska and WebM, Flash Video
        [0, 0, 1, 0xBA], [0, 0, 1, 0xB3],  // MPEG
    ]

    /// `BM`, and a header of a size that there is: texts begin so, too.
    private static func isBitmap(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: "BM".utf8) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(head[14]) && head[15...17].allSatisfy { $0 == 0 }
    }

    /// An icon or a pointer. The first picture begins behind the list of them, of 16 bytes each.
    private static func isIcon(_ head: [UInt8]) -> Bool {
        guard head.count >= 22, head.starts(with: [0, 0, 1, 0]) || head.starts(with: [0, 0, 2, 0]) else { return false }
        let count = Int(head[4]) + Int(head[5]) << 8
        let place = head[18...21].reversed().reduce(0) { $0 << 8 + Int($1) }
        return count > 0 && head[9] == 0 && place >= 6 + 16 * count
    }

    /// A number, how it is packed, the bytes of a sample, and how many dimensions it has.
    private static func isSGI(_ head: [UInt8]) -> Bool {
        head.count >= 6 && head.starts(with: [0x01, 0xDA]) && head[2] <= 1 && (1...2).contains(head[3])
            && head[4] == 0 && (1...3).contains(head[5])
    }

    private static func isAVI(_ head: [UInt8]) -> Bool {
        head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "AVI ".utf8)
    }

    /// ISO-BMFF (MP4, QuickTime, CR3) but for sound alone, and QuickTime without a type.
    private static func isFilm(_ head: [UInt8]) -> Bool {
        guard head.count >= 12 else { return false }
        let (box, brand) = (head[4..<8], head[8..<12])
        if box.elementsEqual("ftyp".utf8) {
            return !["M4A ", "M4B ", "M4P ", "F4A ", "F4B "].contains { brand.elementsEqual($0.utf8) }
        }
        return head[0] == 0 && ["moov", "mdat", "wide"].contains { box.elementsEqual($0.utf8) }
    }

    /// - Parameters:
    ///   - fileExtension: in lower case.
    ///   - head: nil for a file that cannot be read.
    static func isCalled(_ fileExtension: [UInt8], _ head: [UInt8]?) -> Bool {
        guard extensions.contains(fileExtension) else { return false }
        guard let head else { return true }
        // TypeScript has names that end in '.mts', and macOS keeps notes (AppleDouble) under pictures' names.
        return head.contains { $0 < 9 } && !head.starts(with: [0x00, 0x05, 0x16, 0x07])
    }

    private static let extensions: Set<[UInt8]> = Set(
        [
            "tga", "pcx", "pict", "pct", "wbmp", "dcm", "mov", "wmv", "asf", "mpg", "mpeg", "mts", "m2ts", "vob", "ogv",
            "dv", "mxf", "r3d",
        ].map { Array($0.utf8) })
}
