/// What the `nclx` property of a HEIF file's primary picture says of its colours: ISO/IEC 23008-12 and 14496-12.
///
/// Boxes may lie about their sizes and counts, so every look is checked; a file that is not as it must be says nothing, and is the decoder's
/// to refuse.
enum HEIFColor {
    /// Of all that describes the pictures of a file.
    private static let largestMeta = 16 << 20
    private static let mostBoxes = 4096

    static func stated(in file: InputFile) throws(UnsupportedFeature) -> StatedColor? {
        guard let meta = meta(of: file), let color = primaryColor(meta) else { return nil }
        return try StatedColor.coded(primaries: color.primaries, transfer: color.transfer, outranksProfile: false)
    }

    private static func meta(of file: InputFile) -> ArraySlice<UInt8>? {
        var offset = 0
        for _ in 0..<mostBoxes {
            guard offset <= file.size - 8, let head = file.bytes(in: offset..<min(file.size, offset + 16)),
                let box = BoxHeader(head[...], room: file.size - offset)
            else { return nil }
            if box.name == "meta" {
                guard box.size <= largestMeta, box.size >= 12 else { return nil }
                // Version and flags come first.
                return file.bytes(in: offset + box.headerLength + 4..<offset + box.size)?[...]
            }
            offset += box.size
        }
        return nil
    }

    private static func primaryColor(_ meta: ArraySlice<UInt8>) -> (primaries: Int, transfer: Int)? {
        let boxes = boxes(in: meta)
        guard let primary = boxes.first(where: { $0.name == "pitm" }).flatMap(identifier),
            let properties = boxes.first(where: { $0.name == "iprp" }).map({ Self.boxes(in: $0.content) }),
            let known = properties.first(where: { $0.name == "ipco" }).map({ Self.boxes(in: $0.content) })
        else { return nil }
        for list in properties where list.name == "ipma" {
            for index in associations(of: primary, in: list.content) where known.indices.contains(index - 1) {
                let property = known[index - 1]
                guard property.name == "colr", property.content.starts(with: "nclx".utf8),
                    let primaries = number(property.content, at: 4, length: 2),
                    let transfer = number(property.content, at: 6, length: 2)
                else { continue }
                return (primaries, transfer)
            }
        }
        return nil
    }

    private static func identifier(_ box: Box) -> Int? {
        box.content.first == 0
            ? number(box.content, at: 4, length: 2) : number(box.content, at: 4, length: 4)
    }

    /// The places of an item's properties, from 1.
    private static func associations(of item: Int, in content: ArraySlice<UInt8>) -> [Int] {
        guard let version = content.first, let flags = number(content, at: 3, length: 1),
            let count = number(content, at: 4, length: 4)
        else { return [] }
        let (nameLength, length) = (version == 0 ? 2 : 4, flags & 1 == 0 ? 1 : 2)
        var place = 8
        for _ in 0..<min(count, content.count) {
            guard let name = number(content, at: place, length: nameLength),
                let some = number(content, at: place + nameLength, length: 1)
            else { return [] }
            place += nameLength + 1
            if name == item {
                // The highest bit says that a reader must know the property.
                return (0..<some).compactMap { index in
                    number(content, at: place + length * index, length: length).map {
                        $0 & (length == 1 ? 0x7F : 0x7FFF)
                    }
                }
            }
            place += some * length
        }
        return []
    }

    private struct Box {
        let name: String
        let content: ArraySlice<UInt8>
    }

    private static func boxes(in bytes: ArraySlice<UInt8>) -> [Box] {
        var (rest, result) = (bytes, [Box]())
        while result.count < mostBoxes, let head = BoxHeader(rest, room: rest.count) {
            result.append(Box(name: head.name, content: rest.prefix(head.size).dropFirst(head.headerLength)))
            rest = rest.dropFirst(head.size)
        }
        return result
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, length: Int) -> Int? {
        ICCData(bytes).integer(at: offset, length: length)
    }
}

/// The size and the name before a box's content.
private struct BoxHeader {
    let name: String
    /// With the header.
    let size: Int
    let headerLength: Int

    /// - Parameter room: how many bytes there are from the box's start.
    init?(_ bytes: ArraySlice<UInt8>, room: Int) {
        let data = ICCData(bytes)
        guard let short = data.integer(at: 0, length: 4), let name = data.word(at: 4) else { return nil }
        switch short {
        case 0: (size, headerLength) = (room, 8)  // to the end
        case 1:
            guard let high = data.integer(at: 8, length: 4), high < 1 << 24, let low = data.integer(at: 12, length: 4)
            else { return nil }
            (size, headerLength) = (high << 32 | low, 16)
        default: (size, headerLength) = (short, 8)
        }
        guard size >= headerLength, size <= room else { return nil }
        self.name = name
    }
}
