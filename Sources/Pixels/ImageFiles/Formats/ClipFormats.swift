package import Catalogs

/// A format of clips, which ffmpeg decodes.
package protocol ClipFormat: ImageFormat {
    var container: Clip.Container { get }
}

extension ClipFormat {
    /// ffmpeg takes the end of a file for that of the clip.
    package func damage(in file: InputFile) -> String? {
        switch container {
        case .mov: MovieBoxes.damage(in: file)
        case .matroska: MatroskaParts.damage(in: file)
        }
    }

    package var loader: Loader { .own([.hasPages]) }
    package var neededClass: String? { nil }
    /// What to do with a clip whose frames are to become pictures.
    var framesRemedy: String { "write a video, or take its pictures out of it with ffmpeg first" }
}

/// The frames of clips that are not written in their own format.
private func clips(_ name: String, _ extensions: [String]) -> FormatDescriptor {
    FormatDescriptor(
        name: name, extensions: extensions, canRead: true, canWrite: false, sampleFormats: [], holdsAlpha: false,
        holdsProfile: false, holdsTexts: false, frameTime: 1, isVideo: true, isLossless: false, largestSide: 0,
        options: [])
}

/// QuickTime: clips of cameras and of phones.
package struct QuickTimeFormat: ReadOnlyFormat, ClipFormat {
    package let title = "QuickTime"
    package let cost = CodecCost(decode: 10, encode: 0)
    package let container = Clip.Container.mov
    package let descriptor: FormatDescriptor = clips("mov", ["mov", "m4v"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { ClipHead(head) == .quickTime }
}

/// Matroska.
package struct MatroskaFormat: ReadOnlyFormat, ClipFormat {
    package let title = "Matroska"
    package let cost = CodecCost(decode: 10, encode: 0)
    package let container = Clip.Container.matroska
    package let descriptor: FormatDescriptor = clips("mkv", ["mkv"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { ClipHead(head) == .matroska }
}

/// How a clip begins. The formats of pictures in the same containers come first in ``ImageFormats/all``.
enum ClipHead {
    case mp4
    case quickTime
    case webM
    case matroska

    /// Brands of files with sound alone, and of pictures.
    private static let otherBrands: Set<String> = [
        "M4A ", "M4B ", "M4P ", "F4A ", "F4B ", "avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1",
        "msf1", "crx ", "jp2 ", "jpx ",
    ]

    /// - Parameter head: the file's first bytes.
    init?(_ head: [UInt8]) {
        guard head.count >= 12 else { return nil }
        func word(_ offset: Int) -> String { String(decoding: head[offset..<offset + 4], as: UTF8.self) }
        if word(4) == "ftyp" {
            guard !Self.otherBrands.contains(word(8)) else { return nil }
            self = word(8) == "qt  " ? .quickTime : .mp4
        } else if head[0] == 0, ["moov", "mdat", "wide"].contains(word(4)) {
            // QuickTime without a type.
            self = .quickTime
        } else if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            guard let type = Self.documentType(head) else { return nil }
            guard ["webm", "matroska"].contains(type) else { return nil }
            self = type == "webm" ? .webM : .matroska
        } else {
            return nil
        }
    }

    /// <https://www.rfc-editor.org/rfc/rfc8794#name-doctype-element>
    private static func documentType(_ head: [UInt8]) -> String? {
        for start in head.indices.dropLast(2) where head[start] == 0x42 && head[start + 1] == 0x82 {
            let (length, begin) = (Int(head[start + 2] & 0x7F), start + 3)
            guard head[start + 2] & 0x80 != 0, begin + length <= head.count else { continue }
            return String(decoding: head[begin..<begin + length], as: UTF8.self)
        }
        return nil
    }
}
