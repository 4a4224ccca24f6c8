/// The boxes of an MP4 or a QuickTime file. <https://developer.apple.com/documentation/quicktime-file-format/atoms>
struct MovieBoxes {
    private(set) var names: Set<String> = []
    /// Where the last box ends, which may be behind the end of the file.
    private(set) var end = 0

    /// No file has more bytes.
    static let most = 1 << 60
    private static let mostBoxes = 100_000

    /// - Parameter bytes: returns bytes of the file. Nil behind its end.
    /// - Returns: nil if a box has no possible size.
    init?(_ bytes: (_ offset: Int, _ count: Int) -> [UInt8]?) {
        while let head = bytes(end, 8) {
            last = String(decoding: head[4...], as: UTF8.self)
            names.insert(last)
            boxes += 1
            let size = head[..<4].bigEndian == 1 ? bytes(end + 8, 8)?.bigEndian : head[..<4].bigEndian
            guard let size, size >= 8, boxes < Self.mostBoxes else { return nil }
            end = min(end + min(size, Self.most), Self.most)
        }
    }

    private var boxes = 0
    private var last = ""

    /// The boxes with pictures and sound, and with their places. Other bytes may follow them.
    private static let essential: Set<String> = ["moov", "mdat", "moof"]

    /// Where a file is cut off. Boxes without a size, which extend to its end, are no damage.
    static func damage(in file: InputFile) -> String? {
        guard let boxes = MovieBoxes({ file.bytes(in: $0..<$0 + $1) }), boxes.end > file.size,
            essential.contains(boxes.last)
        else { return nil }
        return "its parts have \(boxes.end) bytes, and the file has \(file.size)"
    }
}

/// The parts of a Matroska or WebM file. <https://www.rfc-editor.org/rfc/rfc8794>
enum MatroskaParts {
    /// The end of the segment behind the header. Nil if it is unknown.
    static func end(_ bytes: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Int? {
        var offset = 0
        for name in [[0x1A, 0x45, 0xDF, 0xA3], [0x18, 0x53, 0x80, 0x67]] as [[UInt8]] {
            guard let head = bytes(offset, 5), head.starts(with: name) else { return nil }
            let length = head[4].leadingZeroBitCount + 1
            guard length <= 8, var size = bytes(offset + 4, length) else { return nil }
            size[0] &= UInt8(0xFF >> length)
            // All ones stand for an unknown size.
            guard size.bigEndian < 1 << (7 * length) - 1 else { return nil }
            offset += 4 + length + size.bigEndian
        }
        return offset
    }

    /// Where a file is cut off.
    static func damage(in file: InputFile) -> String? {
        guard let end = end({ file.bytes(in: $0..<$0 + $1) }), end > file.size else { return nil }
        return "its parts have \(end) bytes, and the file has \(file.size)"
    }
}

extension Collection<UInt8> {
    /// The number of at most eight bytes, the highest one first. Huge numbers become the largest.
    var bigEndian: Int {
        Int(clamping: reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
