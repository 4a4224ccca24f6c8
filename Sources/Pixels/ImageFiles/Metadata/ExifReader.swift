/// Looks into a TIFF structure. Every offset and count in it may be a lie, so every look is checked.
struct ExifReader {
    /// An entry whose values lie inside the block.
    struct RawEntry {
        let tag: UInt16
        let type: ExifType
        let range: Range<Int>
    }

    let isLittleEndian: Bool
    private let bytes: [UInt8]

    /// Nil when the block does not start as a TIFF structure does.
    init?(_ block: [UInt8]) {
        switch block.prefix(4) {
        case [0x49, 0x49, 42, 0]: isLittleEndian = true
        case [0x4D, 0x4D, 0, 42]: isLittleEndian = false
        default: return nil
        }
        bytes = block
    }

    func values(of entry: RawEntry) -> [UInt8] { Array(bytes[entry.range]) }

    /// The readable entries of the directory at `offset`; those that are broken are left out.
    func directory(at offset: Int) -> [RawEntry] {
        guard let count = number(at: offset, bytes: 2) else { return [] }
        return (0..<count).compactMap { entry(at: offset + 2 + 12 * $0) }
    }

    /// Where the directory lies that an entry points to.
    func target(of entry: RawEntry) -> Int? {
        entry.type == .long && entry.range.count == 4 ? number(at: entry.range.lowerBound, bytes: 4) : nil
    }

    /// The directory that the block's header points to.
    var mainDirectory: [RawEntry] {
        number(at: 4, bytes: 4).map(directory) ?? []
    }

    /// Values of up to four bytes lie in the entry itself.
    private func entry(at offset: Int) -> RawEntry? {
        guard let tag = number(at: offset, bytes: 2), let typeNumber = number(at: offset + 2, bytes: 2),
            let type = ExifType(rawValue: UInt16(typeNumber)), let count = number(at: offset + 4, bytes: 4),
            let field = number(at: offset + 8, bytes: 4)
        else { return nil }
        let length = count * type.size
        let start = length <= 4 ? offset + 8 : field
        guard length > 0, start + length <= bytes.count else { return nil }
        return RawEntry(tag: UInt16(tag), type: type, range: start..<start + length)
    }

    private func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let digits = Array(bytes[offset..<offset + count])
        return (isLittleEndian ? digits.reversed() : digits).reduce(0) { $0 << 8 | Int($1) }
    }
}

extension ExifDocument {
    static let makerNote: UInt16 = 0x927C

    /// Reads a block; nil when it has nothing that can be read, or pretends to hold more than its own size.
    init?(_ block: [UInt8]) {
        guard let reader = ExifReader(block) else { return nil }
        var found: [Directory: [ExifReader.RawEntry]] = [.main: reader.mainDirectory]
        for directory in Directory.allCases {
            guard let (tag, parent) = directory.pointer,
                let offset = found[parent]?.first(where: { $0.tag == tag }).flatMap(reader.target)
            else { continue }
            found[directory] = reader.directory(at: offset)
        }
        // Values that share their bytes could make gigabytes of a small block.
        let total = found.values.joined().reduce(0) { $0 + $1.range.count }
        guard total > 0, total <= block.count else { return nil }
        isLittleEndian = reader.isLittleEndian
        makerNoteOffset = found[.exif]?.first { $0.tag == Self.makerNote }?.range.lowerBound
        entries = found.mapValues { raw in
            raw.map { Entry(tag: $0.tag, type: $0.type, bytes: reader.values(of: $0)) }
        }
        for directory in Directory.allCases {
            guard let (tag, parent) = directory.pointer else { continue }
            removeEntries(in: parent) { $0.tag == tag }
        }
    }
}
