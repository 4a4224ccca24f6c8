/// The description of the pictures in a HEIF file, which are items with properties and references: ISO/IEC 23008-12. Invalid
/// parts are ignored, because the decoder refuses them.
struct HEIFContents {
    /// Whether there is an animation in addition to the picture that represents it.
    let isSequence: Bool
    /// The item of the file's primary picture.
    let primary: Int?
    /// The pictures that libheif counts as pages, in its order: all that are neither hidden nor a thumbnail, alpha or depth
    /// map of another one.
    let pages: [Int]
    /// For each item, the positions of its properties in ``known``, from 1.
    private let associations: [Int: [Int]]
    private let known: [MediaBoxes.Box]
    /// The items of which an item consists, such as the tiles of a grid.
    private let sources: [Int: [Int]]
    /// The position of each item's first bytes in the file.
    private let positions: [Int: Int]

    /// The largest size of the box that describes a file's pictures.
    private static let largestMeta = 16 << 20
    /// The largest number of pictures of which a picture consists.
    private static let mostSources = 4096

    init(_ file: InputFile) {
        let all = MediaBoxes.all(of: file)
        isSequence = all.contains { $0.name == "moov" }
        let meta = all.first { $0.name == "meta" && $0.content.count <= Self.largestMeta }
        // The version and flags come first.
        let boxes = meta.flatMap { file.bytes(in: $0.content) }.map { MediaBoxes.all(in: $0.dropFirst(4)) } ?? []
        func content(_ name: String) -> ArraySlice<UInt8> { boxes.first { $0.name == name }?.content ?? [] }
        primary = Self.primary(content("pitm"))
        let references = Self.references(content("iref"))
        sources = Dictionary(references.filter { $0.kind == "dimg" }.map { ($0.item, $0.targets) }) { first, _ in first
        }
        let attached = Set(references.filter { ["thmb", "auxl"].contains($0.kind) }.map(\.item))
        pages = Self.visiblePictures(content("iinf")).filter { !attached.contains($0) }.sorted()
        let properties = MediaBoxes.all(in: content("iprp"))
        known = properties.first { $0.name == "ipco" }.map { MediaBoxes.all(in: $0.content) } ?? []
        let lists = properties.filter { $0.name == "ipma" }.flatMap { Self.associations($0.content) }
        associations = Dictionary(lists) { first, _ in first }
        positions = Dictionary(Self.positions(content("iloc"))) { first, _ in first }
    }

    /// The properties of an item with this name, without box headers.
    func properties(_ name: String, of item: Int) -> [ArraySlice<UInt8>] {
        (associations[item] ?? []).filter { known.indices.contains($0 - 1) }.map { known[$0 - 1] }
            .filter { $0.name == name }.map(\.content)
    }

    /// An item, followed by the items of which it consists.
    func origins(of item: Int) -> [Int] {
        var (result, next) = ([item], 0)
        var seen: Set = [item]
        while next < result.count, result.count < Self.mostSources {
            result += (sources[result[next]] ?? []).filter { seen.insert($0).inserted }
            next += 1
        }
        return result
    }

    /// The first encoded bytes of an item.
    func start(of item: Int, count: Int, in file: InputFile) -> [UInt8]? {
        positions[item].flatMap { $0 < file.size ? file.bytes(in: $0..<min(file.size, $0 + count)) : nil }
    }
}

/// The tables, in which the lengths of numbers depend on the version and the flags.
extension HEIFContents {
    private static func primary(_ content: ArraySlice<UInt8>) -> Int? {
        var fields = BitReader(content, .highestFirst)
        let version = fields.version()
        let item = fields.number(version == 0 ? 16 : 32)
        return fields.isOver ? nil : item
    }

    private static func visiblePictures(_ content: ArraySlice<UInt8>) -> [Int] {
        MediaBoxes.all(in: content.dropFirst(content.first == 0 ? 6 : 8)).compactMap { box in
            guard box.name == "infe", let version = box.content.first, [2, 3].contains(version) else { return nil }
            var fields = BitReader(box.content, .highestFirst)
            fields.skip(31)
            let isHidden = fields.flag()
            let item = fields.number(version == 2 ? 16 : 32)
            fields.skip(16)
            let kind = String(decoding: (0..<4).map { _ in UInt8(fields.number(8)) }, as: UTF8.self)
            return fields.isOver || isHidden || !["hvc1", "av01", "grid", "iden", "iovl"].contains(kind) ? nil : item
        }
    }

    private static func references(_ content: ArraySlice<UInt8>) -> [(kind: String, item: Int, targets: [Int])] {
        let length = content.first == 0 ? 16 : 32
        return MediaBoxes.all(in: content.dropFirst(4)).compactMap { box in
            var fields = BitReader(box.content, .highestFirst)
            let item = fields.number(length)
            let count = min(fields.number(16), mostSources)
            let targets = (0..<count).map { _ in fields.number(length) }
            return fields.isOver ? nil : (box.name, item, targets)
        }
    }

    private static func associations(_ content: ArraySlice<UInt8>) -> [(Int, [Int])] {
        var (fields, result) = (BitReader(content, .highestFirst), [(Int, [Int])]())
        let version = fields.number(8)
        fields.skip(23)
        let isLong = fields.flag()
        for _ in 0..<fields.number(32) {
            let item = fields.number(version == 0 ? 16 : 32)
            let positions = (0..<fields.number(8)).map { _ in
                // The highest bit marks a property that a reader must know.
                fields.skip(1)
                return fields.number(isLong ? 15 : 7)
            }
            guard !fields.isOver else { break }
            result.append((item, positions))
        }
        return result
    }

    private static func positions(_ content: ArraySlice<UInt8>) -> [(Int, Int)] {
        var (fields, result) = (BitReader(content, .highestFirst), [(Int, Int)]())
        let version = fields.version()
        let (offset, length, base) = (8 * fields.number(4), 8 * fields.number(4), 8 * fields.number(4))
        let index = version == 0 ? 0 : 8 * fields.number(4)
        if version == 0 { fields.skip(4) }
        for _ in 0..<fields.number(version < 2 ? 16 : 32) {
            let item = fields.number(version < 2 ? 16 : 32)
            if version > 0 { fields.skip(12) }
            let method = version > 0 ? fields.number(4) : 0
            fields.skip(16)
            let start = fields.number(base)
            let extents = fields.number(16)
            fields.skip(extents > 0 ? index : 0)
            let first = extents > 0 ? fields.number(offset) : 0
            fields.skip(extents > 0 ? length + (extents - 1) * (index + offset + length) : 0)
            guard !fields.isOver else { break }
            // Other items are stored within items, or in other files.
            let (position, overflows) = start.addingReportingOverflow(first)
            if method == 0, extents > 0, !overflows, start >= 0, first >= 0 { result.append((item, position)) }
        }
        return result
    }
}

extension BitReader {
    /// Reads the version of a box, and skips its flags.
    fileprivate mutating func version() -> Int {
        defer { skip(24) }
        return number(8)
    }
}

/// The boxes of HEIF, JPEG XL and CR3 files: ISO/IEC 14496-12. Sizes and counts may be wrong, so every access is checked, and the
/// number of boxes is limited.
enum MediaBoxes {
    /// A box with its content.
    struct Box {
        let name: String
        let content: ArraySlice<UInt8>

        func number(at offset: Int, length: Int) -> Int? { ICCData(content).integer(at: offset, length: length) }
    }

    private static let most = 4096

    /// The boxes of a file and the positions of their contents, up to the first invalid one.
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
        /// The size of the box, header included.
        let size: Int
        let length: Int

        /// - Parameter room: the number of bytes from the box's start to the end.
        init?(_ bytes: ArraySlice<UInt8>, room: Int) {
            let data = ICCData(bytes)
            guard let short = data.integer(at: 0, length: 4), let name = data.word(at: 4) else { return nil }
            switch short {
            case 0: (size, length) = (room, 8)  // up to the end
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

/// The colours in the sequence header of an AV1 picture: AV1 Bitstream & Decoding Process Specification, 5.5.
enum AV1Color {
    /// The number of a picture's first bytes that contain the header.
    static let enough = 1024

    private static let (sequenceHeader, mostUnits) = (1, 16)

    /// The code points of ITU-T H.273; nil if there are none.
    static func codes(in units: ArraySlice<UInt8>) -> (primaries: Int, transfer: Int)? {
        var rest = units
        for _ in 0..<mostUnits {
            var bits = BitReader(rest, .highestFirst)
            bits.skip(1)
            let kind = bits.number(4)
            let (hasExtension, hasSize) = (bits.flag(), bits.flag())
            bits.skip(hasExtension ? 9 : 1)
            let header = hasExtension ? 2 : 1
            let (size, length) = hasSize ? bits.littleNumber() : (rest.count - header, 0)
            guard !bits.isOver, size >= 0 else { return nil }
            let content = rest.dropFirst(header + length).prefix(size)
            if kind == sequenceHeader {
                var bits = BitReader(content, .highestFirst)
                return bits.sequenceColor()
            }
            rest = rest[content.endIndex...]
        }
        return nil
    }
}

extension BitReader {
    /// Reads a number with seven bits in each byte, the lowest ones first.
    fileprivate mutating func littleNumber() -> (value: Int, bytes: Int) {
        var value = 0
        for index in 0..<8 {
            let byte = number(8)
            value |= (byte & 127) << (7 * index)
            if byte < 128 { return (value, index + 1) }
        }
        return (value, 8)
    }

    fileprivate mutating func sequenceColor() -> (primaries: Int, transfer: Int)? {
        let profile = number(3)
        skip(1)
        let isReduced = flag()
        if isReduced {
            skip(5)
        } else {
            // Timing information belongs to films.
            guard !flag() else { return nil }
            let hasDelay = flag()
            for _ in 0...number(5) {
                skip(12)
                if number(5) > 7 { skip(1) }
                if hasDelay, flag() { skip(4) }
            }
        }
        let (width, height) = (number(4) + 1, number(4) + 1)
        skip(width + height)
        if !isReduced, flag() { skip(7) }
        skip(3)
        if !isReduced { skipTools() }
        skip(3)
        let isDeep = flag()
        if profile == 2, isDeep { skip(1) }
        if profile != 1 { skip(1) }
        guard flag() else { return nil }
        let codes = (number(8), number(8))
        return isOver ? nil : codes
    }

    /// Skips the tools for coding several pictures.
    private mutating func skipTools() {
        skip(4)
        let hasOrder = flag()
        if hasOrder { skip(2) }
        let forced = flag() ? 2 : number(1)
        if forced > 0, !flag() { skip(1) }
        if hasOrder { skip(3) }
    }
}
