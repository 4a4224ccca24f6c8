/// Boxes, of which HEIF and JPEG XL files are made: ISO/IEC 14496-12. They may lie about their sizes and counts, so every look is
/// checked, and there are only so many of them.
enum MediaBoxes {
    /// A box whose content was read.
    struct Box {
        let name: String
        let content: ArraySlice<UInt8>

        func number(at offset: Int, length: Int) -> Int? { ICCData(content).integer(at: offset, length: length) }
    }

    private static let most = 4096

    /// The boxes of a file and where their contents lie, up to the first one that cannot be.
    static func all(of file: InputFile) -> [(name: String, content: Range<Int>)] {
        var (offset, result) = (0, [(name: String, content: Range<Int>)]())
        while result.count < most, offset <= file.size - 8,
            let head = file.bytes(in: offset..<min(file.size, offset + 16)),
            let box = Header(head[...], room: file.size - offset)
        {
            result.append((box.name, offset + box.length..<offset + box.size))
            offset += box.size
        }
        return result
    }

    static func all(in bytes: ArraySlice<UInt8>) -> [Box] {
        var (rest, result) = (bytes, [Box]())
        while result.count < most, let head = Header(rest, room: rest.count) {
            result.append(Box(name: head.name, content: rest.prefix(head.size).dropFirst(head.length)))
            rest = rest.dropFirst(head.size)
        }
        return result
    }

    /// The size and the name before a box's content.
    private struct Header {
        let name: String
        /// With the header.
        let size: Int
        let length: Int

        /// - Parameter room: how many bytes there are from the box's start.
        init?(_ bytes: ArraySlice<UInt8>, room: Int) {
            let data = ICCData(bytes)
            guard let short = data.integer(at: 0, length: 4), let name = data.word(at: 4) else { return nil }
            switch short {
            case 0: (size, length) = (room, 8)  // to the end
            case 1:
                guard let high = data.integer(at: 8, length: 4), high < 1 << 24,
                    let low = data.integer(at: 12, length: 4)
                else { return nil }
                (size, length) = (high << 32 | low, 16)
            default: (size, length) = (short, 8)
            }
            guard size >= length, size <= room else { return nil }
            self.name = name
        }
    }
}
