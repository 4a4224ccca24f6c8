/// Looks into the directories of a TIFF structure: an EXIF block, or a TIFF file of either size. Every offset and count
/// in it may be a lie, so every look is checked.
struct TIFFDirectories {
    /// An entry whose values lie inside the structure.
    struct Entry {
        let tag: UInt16
        let type: TIFFType
        let range: Range<Int>
        /// The entry as it is stored, and where that is.
        let row: [UInt8]
        let offset: Int
    }

    let isLittleEndian: Bool
    let offsets: TIFFOffsets
    private let size: Int
    private let fetch: (Range<Int>) -> [UInt8]?

    /// Nil when the structure does not start as it must.
    ///
    /// - Parameters:
    ///   - size: of the structure.
    ///   - fetch: gives bytes of it; nil when they cannot be read.
    init?(size: Int, fetch: @escaping (Range<Int>) -> [UInt8]?) {
        guard size >= 8, let head = fetch(0..<4) else { return nil }
        switch head {
        case [0x49, 0x49, 42, 0]: (isLittleEndian, offsets) = (true, .classic)
        case [0x4D, 0x4D, 0, 42]: (isLittleEndian, offsets) = (false, .classic)
        case [0x49, 0x49, 43, 0]: (isLittleEndian, offsets) = (true, .big)
        case [0x4D, 0x4D, 0, 43]: (isLittleEndian, offsets) = (false, .big)
        default: return nil
        }
        self.size = size
        self.fetch = fetch
    }

    init?(block: [UInt8]) {
        self.init(size: block.count) { Array(block[$0]) }
    }

    /// The directory that the header points to.
    var main: [Entry] {
        number(at: offsets.headerPointer, bytes: offsets.length).map(directory) ?? []
    }

    /// Where the directory behind the main one is; 0 when there is none.
    var offsetAfterMain: Int {
        number(at: offsets.headerPointer, bytes: offsets.length).map(offset(after:)) ?? 0
    }

    private func offset(after start: Int) -> Int {
        guard start < size, let count = number(at: start, bytes: offsets.countLength), count <= 1 << 16 else {
            return 0
        }
        return number(at: start + offsets.countLength + offsets.rowLength * count, bytes: offsets.length) ?? 0
    }

    /// The directories of the file's pages, as one leads to the next; those of a chain that runs in a circle once.
    var pages: [[Entry]] {
        var (places, result) = (Set<Int>(), [[Entry]]())
        var place = number(at: offsets.headerPointer, bytes: offsets.length) ?? 0
        while place > 0, result.count < 4096, places.insert(place).inserted {
            result.append(directory(at: place))
            place = offset(after: place)
        }
        return result
    }

    /// What keeps the pages from being followed to the last one, or which page's pixels lie behind the file's end; nil where
    /// nothing is missing.
    ///
    /// A directory at the very end of a file, without the pointer behind it, is the last one: some writers forget it.
    var damage: String? {
        guard var place = number(at: offsets.headerPointer, bytes: offsets.length) else { return nil }
        var places = Set<Int>()
        var budget = Self.mostPieces
        while place > 0, places.count < Self.mostPages {
            guard places.insert(place).inserted else { return "its pages run in a circle" }
            guard let rows = rows(at: place) else { return "page \(places.count) is cut off" }
            if lacksPixels(of: rows, within: &budget) { return "the pixels of page \(places.count) are cut off" }
            let end = rows.end
            if end == size { return nil }
            guard let next = number(at: end, bytes: offsets.length) else { return "page \(places.count) is cut off" }
            place = next
        }
        return nil
    }

    /// As many as libtiff follows.
    private static let mostPages = 1 << 20
    /// As many as libtiff takes for a directory.
    private static let mostRows = 4096

    /// How many strips and tiles of a file are looked at, so that no file keeps a worker for long.
    private static let mostPieces = 1 << 22

    /// A directory's entries as they are stored.
    private struct Rows {
        let start: Int
        let bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// Nil where a directory has no entries, or where the file does not have all of them. In a copy that was given its size at
    /// once, zeros lie where nothing was copied.
    private func rows(at place: Int) -> Rows? {
        guard place < size, let count = number(at: place, bytes: offsets.countLength),
            (1...Self.mostRows).contains(count)
        else { return nil }
        let start = place + offsets.countLength
        guard let bytes = bytes(in: start..<start + offsets.rowLength * count),
            bytes[..<offsets.rowLength].contains(where: { $0 != 0 })
        else { return nil }
        return Rows(start: start, bytes: bytes)
    }

    /// Whether a strip or a tile of a page, or the list of them or of its samples, lies behind the file's end.
    private func lacksPixels(of rows: Rows, within budget: inout Int) -> Bool {
        var entries: [Entry] = []
        for offset in stride(from: 0, to: rows.bytes.count, by: offsets.rowLength) {
            let row = Array(rows.bytes[offset..<offset + offsets.rowLength])
            if let entry = entry(row, at: rows.start + offset) {
                entries.append(entry)
            } else if TIFFPieces.Tag.indispensable.contains(UInt16(decode(row[0..<2]))), isBehindEnd(row) {
                return true
            }
        }
        guard let pieces = TIFFPieces(of: entries, in: self) else { return false }
        return pieces.reachBehind(size, in: self, within: &budget)
    }

    /// Whether an entry of whole numbers has its values where the file does not reach.
    private func isBehindEnd(_ row: [UInt8]) -> Bool {
        let type = TIFFType(rawValue: UInt16(decode(row[2..<4])))
        return [.short, .long, .long8].contains(type) && row[4..<4 + offsets.length].contains { $0 != 0 }
    }

    /// The readable entries of the directory at `offset`; those that are broken are left out.
    func directory(at offset: Int) -> [Entry] {
        guard offset < size, let count = number(at: offset, bytes: offsets.countLength) else { return [] }
        let start = offset + offsets.countLength
        let room = min((size - start) / offsets.rowLength, 1 << 16)
        return (0..<min(count, room)).compactMap { entry(at: start + offsets.rowLength * $0) }
    }

    /// The directory that an entry points to.
    func directory(under entry: Entry) -> [Entry] {
        guard [4, 8].contains(entry.range.count) else { return [] }
        return number(at: entry.range.lowerBound, bytes: entry.range.count).map(directory) ?? []
    }

    func values(of entry: Entry) -> [UInt8]? { bytes(in: entry.range) }

    /// Some values of an entry of whole numbers, of which it has so many; nil for other types.
    func numbers(of entry: Entry, in indices: Range<Int>) -> [Int]? {
        guard [.short, .long, .long8].contains(entry.type) else { return nil }
        let (start, size) = (entry.range.lowerBound, entry.type.size)
        guard let bytes = bytes(in: start + indices.lowerBound * size..<start + indices.upperBound * size) else {
            return nil
        }
        return stride(from: 0, to: bytes.count, by: size).map { Int(clamping: decode(bytes[$0..<$0 + size])) }
    }

    /// All values of an entry of whole numbers; nil for other types.
    func numbers(of entry: Entry) -> [Int]? {
        guard [.short, .long, .long8].contains(entry.type), let bytes = values(of: entry) else { return nil }
        let size = entry.type.size
        return stride(from: 0, to: bytes.count - size + 1, by: size).compactMap {
            Int(exactly: decode(bytes[$0..<$0 + size]))
        }
    }

    /// The first value of an entry of short or long numbers.
    func number(of entry: Entry) -> Int? {
        [.short, .long].contains(entry.type) ? number(at: entry.range.lowerBound, bytes: entry.type.size) : nil
    }

    private func entry(at offset: Int) -> Entry? {
        bytes(in: offset..<offset + offsets.rowLength).flatMap { entry($0, at: offset) }
    }

    /// Values that are short enough lie in the entry itself.
    private func entry(_ row: [UInt8], at offset: Int) -> Entry? {
        guard let type = TIFFType(rawValue: UInt16(decode(row[2..<4]))),
            let count = Int(exactly: decode(row[4..<4 + offsets.length]))
        else { return nil }
        let (length, overflows) = count.multipliedReportingOverflow(by: type.size)
        let field = row[(4 + offsets.length)...]
        guard !overflows, length > 0, length <= size else { return nil }
        guard let start = length <= offsets.length ? offset + 4 + offsets.length : Int(exactly: decode(field)),
            start <= size - length
        else { return nil }
        let tag = UInt16(decode(row[0..<2]))
        return Entry(tag: tag, type: type, range: start..<start + length, row: row, offset: offset)
    }

    private func number(at offset: Int, bytes count: Int) -> Int? {
        bytes(in: offset..<offset + count).flatMap { Int(exactly: decode($0[...])) }
    }

    private func decode(_ digits: ArraySlice<UInt8>) -> UInt64 {
        isLittleEndian
            ? digits.reversed().reduce(0) { $0 << 8 | UInt64($1) } : digits.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func bytes(in range: Range<Int>) -> [UInt8]? {
        range.lowerBound >= 0 && range.upperBound <= size ? fetch(range) : nil
    }
}
