import Glibc

/// Finds out what kind of contents a file has, whatever its name is.
package enum FileSignature {
    package enum Kind: Hashable, Sendable {
        /// A picture in a format that Penumbra reads.
        case readable
        /// A picture or a film in another format.
        case unread
    }

    /// The kind of the file at a path. Follows links.
    ///
    /// - Returns: Nil for a file that is no picture and no film. A file that cannot be read is judged by its name
    ///   alone.
    static func kind(at path: [UInt8]) -> Kind? {
        let fileExtension = PathBytes.lowercased(PathBytes.fileExtension(of: PathBytes.name(of: path)))
        // Without O_NONBLOCK a pipe would block the reader.
        let file = open(cPath(path), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return UnsupportedFormats.isCalled(fileExtension, nil) ? .unread : nil }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        var head = [UInt8](repeating: 0, count: length)
        let count = read(file, &head, head.count)
        return kind(of: Array(head[..<max(0, count)]), called: fileExtension)
    }

    /// The number of bytes at a file's start that are enough to know its kind. For films, five packets.
    package static let length = 1024

    /// - Parameters:
    ///   - head: The file's first ``length`` bytes, or all if it has fewer.
    ///   - fileExtension: The extension of its name, in lower case.
    package static func kind(of head: [UInt8], called fileExtension: [UInt8] = []) -> Kind? {
        // JPEG-LS begins as JPEG does.
        if isReadable(head), !head.starts(with: [0xFF, 0xD8, 0xFF, 0xF7]) { return .readable }
        return UnsupportedFormats.hold(head, called: fileExtension) || UnsupportedFormats.isCalled(fileExtension, head)
            ? .unread : nil
    }

    /// The usual extension of a format that Penumbra reads: `jpg`. Nil for other contents.
    ///
    /// - Parameter head: the file's first ``length`` bytes, or all if it has fewer.
    package static func fileExtension(of head: [UInt8]) -> String? {
        guard kind(of: head) == .readable else { return nil }
        if let (_, ext) = beginnings.first(where: { head.starts(with: $0.bytes) }) { return ext }
        if isWebP(head) { return "webp" }
        if isAnymap(head) { return "ppm" }
        if isBitmap(head) { return "bmp" }
        if isSVG(head) { return "svg" }
        if isCR3(head) { return "cr3" }
        // The general brands of HEIF may come first. Then one of the others says how its pictures are compressed.
        let brands = head.prefix(64).dropFirst(8)
        return brands.firstRange(of: Array("avi".utf8)) == nil ? "heic" : "avif"
    }

    private static func isReadable(_ head: [UInt8]) -> Bool {
        beginnings.contains { head.starts(with: $0.bytes) } || isWebP(head) || isHEIF(head) || isAnymap(head)
            || isBitmap(head) || isSVG(head) || isCR3(head)
    }

    private static let beginnings: [(bytes: [UInt8], fileExtension: String)] = [
        ([0xFF, 0xD8, 0xFF], "jpg"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "png"),
        (Array("GIF87a".utf8), "gif"), (Array("GIF89a".utf8), "gif"),
        // Raw pictures of Canon, Fujifilm, Minolta, Olympus and Panasonic.
        ([0x49, 0x49, 0x2A, 0x00, 0x10, 0, 0, 0] + Array("CR".utf8), "cr2"),
        ([0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8), "crw"),
        (Array("FUJIFILMCCD-RAW ".utf8), "raf"), (Array("\u{0}MRM".utf8), "mrw"),
        (Array("IIRO".utf8), "orf"), (Array("IIRS".utf8), "orf"), (Array("MMOR".utf8), "orf"),
        ([0x49, 0x49, 0x55, 0x00], "rw2"),
        // TIFF, and what other cameras make of it.
        ([0x49, 0x49, 0x2A, 0x00], "tif"), ([0x4D, 0x4D, 0x00, 0x2A], "tif"),
        // TIFF with large offsets.
        ([0x49, 0x49, 0x2B, 0x00], "tif"), ([0x4D, 0x4D, 0x00, 0x2B], "tif"),
        ([0xFF, 0x0A], "jxl"), ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "jxl"),
        // JPEG 2000.
        ([0xFF, 0x4F, 0xFF, 0x51], "j2k"), ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], "jp2"),
        // OpenEXR.
        ([0x76, 0x2F, 0x31, 0x01], "exr"),
        // Photoshop, and its large documents.
        (Array("8BPS\u{0}\u{1}".utf8), "psd"), (Array("8BPS\u{0}\u{2}".utf8), "psb"),
        (Array("#?RADIANCE\n".utf8), "hdr"), (Array("#?RGBE\n".utf8), "hdr"),
        (Array("%PDF-".utf8), "pdf"),
    ]

    private static func isWebP(_ head: [UInt8]) -> Bool {
        head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "WEBP".utf8)
    }

    /// The brands of AVIF and HEIC. Films begin in the same way, but with other brands.
    private static func isHEIF(_ head: [UInt8]) -> Bool {
        guard head.dropFirst(4).starts(with: "ftyp".utf8) else { return false }
        let brands = ["avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1"]
        return brands.contains { head.dropFirst(8).starts(with: $0.utf8) }
    }

    /// A raw picture of Canon in the container of films.
    private static func isCR3(_ head: [UInt8]) -> Bool { head.dropFirst(4).starts(with: "ftypcrx ".utf8) }

    /// `BM`, and a header of a valid size: texts may begin with `BM`, too.
    private static func isBitmap(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: "BM".utf8) else { return false }
        return [12, 40, 52, 56, 64, 108, 124].contains(head[14]) && head[15...17].allSatisfy { $0 == 0 }
    }

    /// `P1` to `P6`, `PF`, `Pf`, and white space. Texts may begin in the same way, so a size has to follow.
    private static func isAnymap(_ head: [UInt8]) -> Bool {
        guard head.count > 3, head[0] == UInt8(ascii: "P"), "123456Ff".utf8.contains(head[1]),
            " \t\r\n".utf8.contains(head[2])
        else { return false }
        return "#0123456789".utf8.contains(head[3])
    }

    /// A text whose first element is `svg`. A web page with an SVG in it does not count. The prologue is skipped.
    private static func isSVG(_ head: [UInt8]) -> Bool {
        var rest = head[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { " \t\r\n".utf8.contains($0) }
            let end: String
            if rest.starts(with: "<!--".utf8) {
                end = "-->"
            } else if rest.starts(with: "<?xml".utf8) {
                end = "?>"
            } else if rest.starts(with: "<!DOCTYPE svg".utf8) {
                // Entities of the document type stand in brackets.
                let hasEntities = rest.prefix { $0 != UInt8(ascii: ">") }.contains(UInt8(ascii: "["))
                end = hasEntities ? "]>" : ">"
            } else {
                return rest.starts(with: "<svg".utf8)
                    && rest.dropFirst(4).first.map { " \t\r\n>/".utf8.contains($0) } ?? false
            }
            guard let found = rest.firstRange(of: Array(end.utf8)) else { return false }
            rest = rest[found.upperBound...]
        }
    }
}
