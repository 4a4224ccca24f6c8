/// The directories of a TIFF structure: an EXIF block, or a TIFF or BigTIFF file. Every offset and count in it may be wrong,
/// so every access is checked.
struct TIFFDirectories {
    /// An entry whose values lie inside the structure.
    struct Entry {
        let tag: UInt16
        let type: TIFFType
        let range: Range<Int>
        /// The stored entry, and its position.
        let row: [UInt8]
        let offset: Int

        /// The number of values.
        var count: Int { range.count / type.size }
    }

    let isLittleEndian: Bool
    let offsets: TIFFOffsets
    private let size: Int
    private let fetch: (Range<Int>) -> [UInt8]?

    /// Returns nil if the structure has no valid start.
    ///
    /// - Parameters:
    ///   - size: the size of the structure.
    ///   - fetch: returns some of its bytes; nil if they cannot be read.
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

    init?(block: [UInt8]) { self.init(size: block.count) { Array(block[$0]) } }

    /// The directory that the header points to.
    var main: [Entry] { number(at: offsets.headerPointer, bytes: offsets.length).map(directory) ?? [] }

    /// Whether all entries of ``main`` can be read.
    var isMainComplete: Bool {
        guard let start = number(at: offsets.headerPointer, bytes: offsets.length), start < size,
            let count = number(at: start, bytes: offsets.countLength)
        else { return false }
        return directory(at: start).count == count
    }

    /// The offset of the directory after the main one; 0 if there is none.
    var offsetAfterMain: Int { number(at: offsets.headerPointer, bytes: offsets.length).map(offset(after:)) ?? 0 }

    private func offset(after start: Int) -> Int {
        guard start < size, let count = number(at: start, bytes: offsets.countLength), count <= 1 << 16 else {
            return 0
        }
        return number(at: start + offsets.countLength + offsets.rowLength * count, bytes: offsets.length) ?? 0
    }

    /// The directories of the file's pages, in the order of their chain. If the chain is circular, each is included once.
    var pages: [[Entry]] {
        var (positions, result) = (Set<Int>(), [[Entry]]())
        var position = number(at: offsets.headerPointer, bytes: offsets.length) ?? 0
        var room = Self.mostEntries
        while position > 0, room > 0, result.count < 4096, positions.insert(position).inserted {
            let entries = directory(at: position)
            result.append(entries)
            room -= entries.count
            position = offset(after: position)
        }
        return result
    }

    /// The largest number of entries of all pages. Directories may share their bytes, so that a small file has millions.
    private static let mostEntries = 1 << 18

    /// The reason why the chain of pages cannot be followed to its end, or the page whose pixels lie after the file's end. Nil
    /// if the file is complete.
    ///
    /// A directory at the very end of a file, without the pointer after it, is the last one: some writers omit the pointer.
    var damage: String? {
        guard var position = number(at: offsets.headerPointer, bytes: offsets.length) else { return nil }
        var positions = Set<Int>()
        var budget = Self.mostPieces
        while position > 0, positions.count < Self.mostPages {
            guard positions.insert(position).inserted else { return "its pages run in a circle" }
            guard let rows = rows(at: position) else { return "page \(positions.count) is cut off" }
            budget -= rows.bytes.count / offsets.rowLength
            guard budget > 0 else { return nil }
            if lacksPixels(of: rows, within: &budget) { return "the pixels of page \(positions.count) are cut off" }
            let end = rows.end
            if end == size { return nil }
            guard let next = number(at: end, bytes: offsets.length) else { return "page \(positions.count) is cut off" }
            position = next
        }
        return nil
    }

    /// The limit of libtiff for pages.
    private static let mostPages = 1 << 20
    /// The limit of libtiff for the entries of a directory.
    private static let mostRows = 4096

    /// The number of entries, strips and tiles of a file that are checked. The limit bounds the time for a file, whose
    /// directories may share their bytes.
    private static let mostPieces = 1 << 22

    /// The stored entries of a directory.
    private struct Rows {
        let start: Int
        let bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// Returns nil if a directory has no entries, or if the file does not contain all of them. In a copy whose size was
    /// allocated in advance, the missing part is zeros.
    private func rows(at position: Int) -> Rows? {
        guard position < size, let count = number(at: position, bytes: offsets.countLength),
            (1...Self.mostRows).contains(count)
        else { return nil }
        let start = position + offsets.countLength
        guard let bytes = bytes(in: start..<start + offsets.rowLength * count),
            bytes[..<offsets.rowLength].contains(where: { $0 != 0 })
        else { return nil }
        return Rows(start: start, bytes: bytes)
    }

    /// Whether a strip or a tile of a page, or the list of them or of its samples, lies after the file's end.
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

    /// Whether the values of an integer entry lie after the file's end.
    private func isBehindEnd(_ row: [UInt8]) -> Bool {
        let type = TIFFType(rawValue: UInt16(decode(row[2..<4])))
        return [.short, .long, .long8].contains(type) && row[4..<4 + offsets.length].contains { $0 != 0 }
    }

    /// The readable entries of the directory at `offset`. Malformed entries are omitted. There are none at an offset in the
    /// header, such as 0, which says that no directory follows. Cost: two reads.
    func directory(at offset: Int) -> [Entry] {
        guard offset >= offsets.headerPointer + offsets.length, offset < size,
            let count = number(at: offset, bytes: offsets.countLength)
        else { return [] }
        let (start, length) = (offset + offsets.countLength, offsets.rowLength)
        let room = min(count, (size - start) / length, 1 << 16)
        guard let rows = bytes(in: start..<start + length * room) else { return [] }
        return (0..<room).compactMap { entry(Array(rows[length * $0..<length * ($0 + 1)]), at: start + length * $0) }
    }

    /// The directory that an entry points to.
    func directory(under entry: Entry) -> [Entry] {
        guard [4, 8].contains(entry.range.count) else { return [] }
        return number(at: entry.range.lowerBound, bytes: entry.range.count).map(directory) ?? []
    }

    func values(of entry: Entry) -> [UInt8]? { bytes(in: entry.range) }

    /// Some values of an integer entry; nil for other types.
    func numbers(of entry: Entry, in indices: Range<Int>) -> [Int]? {
        guard [.short, .long, .long8].contains(entry.type) else { return nil }
        let (start, size) = (entry.range.lowerBound, entry.type.size)
        guard let bytes = bytes(in: start + indices.lowerBound * size..<start + indices.upperBound * size) else {
            return nil
        }
        return stride(from: 0, to: bytes.count, by: size).map { Int(clamping: decode(bytes[$0..<$0 + size])) }
    }

    /// All values of an integer entry; nil for other types.
    func numbers(of entry: Entry) -> [Int]? {
        guard [.short, .long, .long8].contains(entry.type), let bytes = values(of: entry) else { return nil }
        let size = entry.type.size
        return stride(from: 0, to: bytes.count - size + 1, by: size).compactMap {
            Int(exactly: decode(bytes[$0..<$0 + size]))
        }
    }

    /// The first value of an entry of 16-bit or 32-bit integers.
    func number(of entry: Entry) -> Int? {
        [.short, .long].contains(entry.type) ? number(at: entry.range.lowerBound, bytes: entry.type.size) : nil
    }

    /// Reads an entry. Short values are stored in the entry itself.
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

/// The strips or tiles of a TIFF page, and the part of the file that each of them needs.
///
/// Files that libtiff reads completely are never refused. Some writers state wrong byte counts for uncompressed pixels, and
/// libtiff then reads as many bytes as the pixels need. A piece without an offset and a length is sparse, and empty.
struct TIFFPieces {
    enum Tag {
        static let width: UInt16 = 256
        static let height: UInt16 = 257
        static let bitsPerSample: UInt16 = 258
        static let compression: UInt16 = 259
        static let photometric: UInt16 = 262
        static let samplesPerPixel: UInt16 = 277
        static let rowsPerStrip: UInt16 = 278
        static let planarConfiguration: UInt16 = 284
        static let tileWidth: UInt16 = 322
        static let tileHeight: UInt16 = 323
        static let strips: (offsets: UInt16, byteCounts: UInt16) = (273, 279)
        static let tiles: (offsets: UInt16, byteCounts: UInt16) = (324, 325)
        /// The tags that are necessary to read any pixel. Their values may lie anywhere in the file.
        static let indispensable = [
            bitsPerSample, strips.offsets, strips.byteCounts, tiles.offsets, tiles.byteCounts,
        ]
    }

    private let offsets: TIFFDirectories.Entry
    private let byteCounts: TIFFDirectories.Entry?
    private let isCompressed: Bool
    private let isTiled: Bool
    private let height: Int
    /// The rows of a strip or tile, except for the last strip of each plane.
    private let rows: Int
    /// The number of strips or tiles with pixels. A list may be longer.
    private let pieces: Double
    /// The uncompressed bytes of a row of one piece: a product of numbers that may be wrong.
    private let rowBytes: Double

    /// Returns nil for a page without pixels, or for a compression whose strips are not described correctly: JPEG as in TIFF
    /// 6.
    init?(of entries: [TIFFDirectories.Entry], in directories: TIFFDirectories) {
        func entry(_ tag: UInt16) -> TIFFDirectories.Entry? { entries.first { $0.tag == tag } }
        func number(_ tag: UInt16) -> Int? { entry(tag).flatMap { directories.numbers(of: $0, in: 0..<1) }?.first }
        let compression = number(Tag.compression) ?? 1
        guard let width = number(Tag.width), let height = number(Tag.height), compression != 6 else { return nil }
        isTiled = entry(Tag.tiles.offsets) != nil
        let tags = isTiled ? Tag.tiles : Tag.strips
        guard let offsets = entry(tags.offsets) else { return nil }
        self.offsets = offsets
        byteCounts = entry(tags.byteCounts)
        isCompressed = compression != 1
        self.height = height
        rows = isTiled ? number(Tag.tileHeight) ?? 0 : min(height, number(Tag.rowsPerStrip) ?? height)
        let isApart = number(Tag.planarConfiguration) == 2
        // YCbCr may have fewer samples of colour. Only the samples of luma are certain.
        let isYCbCr = number(Tag.photometric) == 6
        let channels = number(Tag.samplesPerPixel) ?? 1
        let samples = isApart || isYCbCr ? 1 : channels
        let columns = isTiled ? number(Tag.tileWidth) ?? 0 : width
        let grid = columns > 0 && rows > 0 ? ((width - 1) / columns + 1, (height - 1) / rows + 1) : (0, 0)
        pieces = Double(grid.0) * Double(grid.1) * Double(isApart ? channels : 1)
        rowBytes = (Double(columns) * Double(samples) * Double(number(Tag.bitsPerSample) ?? 1) / 8).rounded(.up)
    }

    /// Whether a piece lies after `end`.
    ///
    /// - Parameter budget: the largest number of pieces to check; it is decreased by the number of checked pieces.
    func reachBehind(_ end: Int, in directories: TIFFDirectories, within budget: inout Int) -> Bool {
        let listed = offsets.range.count / offsets.type.size
        let count = min(budget, pieces < Double(listed) ? Int(pieces) : listed)
        let stated = byteCounts.map { $0.range.count / $0.type.size } ?? 0
        budget -= count
        for first in stride(from: 0, to: count, by: Self.portion) {
            let indices = first..<min(count, first + Self.portion)
            guard let positions = directories.numbers(of: offsets, in: indices) else { return false }
            let sure = indices.clamped(to: 0..<stated)
            let lengths = byteCounts.flatMap { sure.isEmpty ? nil : directories.numbers(of: $0, in: sure) } ?? []
            for (index, position) in zip(indices, positions) {
                let length = index - first < lengths.count ? lengths[index - first] : nil
                if position == 0, length ?? 0 == 0 { continue }
                let needed = needed(ofPiece: index, stating: length)
                if Double(position) + needed > Double(end) { return true }
            }
        }
        return false
    }

    /// The number of values in memory at once.
    private static let portion = 1 << 14

    /// - Parameter length: the length in the file; nil if there is none.
    private func needed(ofPiece index: Int, stating length: Int?) -> Double {
        let whole = rowBytes * Double(isTiled ? rows : rowsOfStrip(index))
        let stated = Double(length ?? 0)
        // libtiff ignores most of a length that is absurdly large for the piece.
        if isCompressed { return stated > 1_048_576 && whole > 0 ? min(stated, 10 * whole + 4096) : stated }
        return stated > 0 ? min(stated, whole) : isTiled ? 0 : whole
    }

    private func rowsOfStrip(_ index: Int) -> Int {
        guard rows > 0 else { return 0 }
        let strips = (height - 1) / rows + 1
        return min(rows, height - index % strips * rows)
    }
}

/// The types of values in a TIFF structure, by their numbers.
enum TIFFType: UInt16 {
    case byte = 1
    case ascii
    case short
    case long
    case rational
    case signedByte
    case undefined
    case signedShort
    case signedLong
    case signedRational
    case float
    case double
    /// The offset of a directory.
    case directory
    case long8 = 16
    case signedLong8
    case directory8

    /// The number of bytes of one value.
    var size: Int {
        switch self {
        case .byte, .ascii, .signedByte, .undefined: 1
        case .short, .signedShort: 2
        case .long, .signedLong, .float, .directory: 4
        case .rational, .signedRational, .double, .long8, .signedLong8, .directory8: 8
        }
    }

    /// Whether the value is the offset of other entries.
    var isDirectory: Bool { self == .directory || self == .directory8 }

    /// The number of bytes of one number; a rational has two numbers.
    var numberSize: Int { self == .rational || self == .signedRational ? 4 : size }
}

/// The two kinds of TIFF structures: with offsets of four bytes, or of eight.
enum TIFFOffsets {
    case classic
    case big

    /// The number of bytes of an offset, and of a count of values.
    var length: Int { self == .classic ? 4 : 8 }
    /// The position in the header of the main directory's offset.
    var headerPointer: Int { self == .classic ? 4 : 8 }
    /// The number of bytes of a directory's count of entries.
    var countLength: Int { self == .classic ? 2 : 8 }
    /// The number of bytes of one entry of a directory.
    var rowLength: Int { 4 + 2 * length }
    /// The type of a pointer to a directory.
    var pointerType: TIFFType { self == .classic ? .long : .directory8 }
}

/// Writes the directories of a TIFF structure, one after the other, each followed by its values.
struct DirectoryWriter {
    private typealias Directory = ExifDocument.Directory
    private typealias Entry = ExifDocument.Entry

    /// The directories to write, in order.
    private let directories: [ExifDocument.Directory]
    private let document: ExifDocument
    private let offsets: TIFFOffsets
    /// The existing rows of the main directory, whose values are stored elsewhere.
    private let foreignRows: [TIFFDirectories.Entry]
    /// The offset of the directory after the main one: the next page or, in a pyramid, the next level.
    private let next: Int
    /// The offset of the maker note, if it is fixed.
    private let noteOffset: Int?

    init(
        _ document: ExifDocument, offsets: TIFFOffsets = .classic, foreignRows: [TIFFDirectories.Entry] = [],
        next: Int = 0, noteOffset: Int? = nil
    ) {
        self.next = next
        self.document = document
        self.offsets = offsets
        self.foreignRows = foreignRows
        self.noteOffset = noteOffset
        directories = Directory.allCases.filter { directory in
            directory == .main || !document[directory].isEmpty
                || directory == .exif && !document[.interoperability].isEmpty
        }
    }

    /// The number of bytes of ``bytes(at:)``.
    var byteCount: Int { directories.reduce(0) { $0 + byteCount(of: $1) } }

    /// The directories at `start`, an even offset. The main directory is the first.
    func bytes(at start: Int) -> [UInt8] {
        var positions: [ExifDocument.Directory: Int] = [:]
        var position = start
        for directory in directories {
            positions[directory] = position
            position += byteCount(of: directory)
        }
        return directories.flatMap { bytes(of: $0, positions) }
    }

    private func bytes(of directory: Directory, _ positions: [Directory: Int]) -> [UInt8] {
        let valuesOffset = (positions[directory] ?? 0) + tableLength(of: directory)
        var values: [UInt8] = []
        var rows = directory == .main ? foreignRows.map { (tag: $0.tag, bytes: $0.row) } : []
        for (child, tag) in children(of: directory) {
            rows.append((tag, row(tag, offsets.pointerType, count: 1, field: offset(positions[child] ?? 0))))
        }
        for entry in document[directory] {
            let field: [UInt8]
            if entry.bytes.count <= offsets.length {
                field = entry.bytes + repeatElement(0, count: offsets.length - entry.bytes.count)
            } else if let noteOffset, isNote(entry, in: directory) {
                field = offset(noteOffset)
            } else {
                field = offset(valuesOffset + values.count)
                values += entry.bytes.paddedToEven
            }
            let count = entry.bytes.count / entry.type.size
            rows.append((entry.tag, row(entry.tag, entry.type, count: count, field: field)))
        }
        let table = rows.sorted { $0.tag < $1.tag }.flatMap(\.bytes)
        let following = offset(directory == .main ? next : 0)
        return number(rows.count, length: offsets.countLength) + table + following + values
    }

    private func row(_ tag: UInt16, _ type: TIFFType, count: Int, field: [UInt8]) -> [UInt8] {
        number(Int(tag), length: 2) + number(Int(type.rawValue), length: 2) + offset(count) + field
    }

    /// Whether the entry is a note that is stored outside of its directory's values.
    private func isNote(_ entry: Entry, in directory: Directory) -> Bool {
        noteOffset != nil && directory == .exif && entry.tag == ExifDocument.makerNote
    }

    private func children(of parent: Directory) -> [(directory: Directory, tag: UInt16)] {
        directories.compactMap { child in
            child.pointer.flatMap { $0.parent == parent ? (directory: child, tag: $0.tag) : nil }
        }
    }

    /// The length of a count, the rows, and the offset of the next directory.
    private func tableLength(of directory: Directory) -> Int {
        let rows =
            document[directory].count + children(of: directory).count + (directory == .main ? foreignRows.count : 0)
        return offsets.countLength + offsets.rowLength * rows + offsets.length
    }

    private func byteCount(of directory: Directory) -> Int {
        document[directory].reduce(tableLength(of: directory)) { size, entry in
            entry.bytes.count <= offsets.length || isNote(entry, in: directory)
                ? size : size + entry.bytes.paddedToEven.count
        }
    }

    private func offset(_ value: Int) -> [UInt8] { number(value, length: offsets.length) }

    private func number(_ value: Int, length: Int) -> [UInt8] {
        .number(value, length: length, littleEndian: document.isLittleEndian)
    }
}
