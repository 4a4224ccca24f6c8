/// The tags of an EXIF block: a TIFF structure of four directories. Its second picture, the thumbnail, is not among
/// them: a document that was read never has it.
struct ExifDocument: Hashable {
    struct Entry: Hashable {
        let tag: UInt16
        let type: TIFFType
        /// The values in the document's byte order.
        let bytes: [UInt8]
    }

    enum Directory: CaseIterable {
        case main
        case exif
        case gps
        case interoperability

        /// The tag that points to the directory, and the directory which holds it.
        var pointer: (tag: UInt16, parent: Directory)? {
            switch self {
            case .main: nil
            case .exif: (0x8769, .main)
            case .gps: (0x8825, .main)
            case .interoperability: (0xA005, .exif)
            }
        }
    }

    static let makerNote: UInt16 = 0x927C

    private(set) var isLittleEndian: Bool
    private(set) var entries: [Directory: [Entry]]
    /// Where the maker note lay, counted from the block's start: most makers count offsets in their notes from there,
    /// so the note is written to the same place.
    let makerNoteOffset: Int?

    subscript(directory: Directory) -> [Entry] {
        get { entries[directory] ?? [] }
        set { entries[directory] = newValue }
    }

    /// An empty document.
    init(littleEndian: Bool) {
        isLittleEndian = littleEndian
        entries = [:]
        makerNoteOffset = nil
    }

    var isEmpty: Bool { entries.values.allSatisfy(\.isEmpty) }

    /// Sets a tag that is there to one number; a tag that is not there is not added.
    mutating func update(_ tag: UInt16, in directory: Directory, to value: Int) {
        guard let index = self[directory].firstIndex(where: { $0.tag == tag }) else { return }
        let type: TIFFType = value <= UInt16.max && self[directory][index].type == .short ? .short : .long
        let bytes = [UInt8].number(value, length: type.size, littleEndian: isLittleEndian)
        self[directory][index] = Entry(tag: tag, type: type, bytes: bytes)
    }

    /// Adds a tag unless it is there.
    mutating func add(_ entry: Entry, to directory: Directory) {
        if !self[directory].contains(where: { $0.tag == entry.tag }) { self[directory].append(entry) }
    }

    mutating func removeEntries(in directory: Directory, where isUnwanted: (Entry) -> Bool) {
        self[directory].removeAll(where: isUnwanted)
    }

    /// The same values in the other byte order, if need be. Not for a maker note, whose order is the maker's secret.
    func reordered(littleEndian: Bool) -> ExifDocument {
        guard littleEndian != isLittleEndian else { return self }
        var result = self
        result.isLittleEndian = littleEndian
        result.entries = entries.mapValues { $0.map(\.withReversedNumbers) }
        return result
    }
}

extension ExifDocument {
    /// Reads the directories of a TIFF structure.
    ///
    /// Nil when there is nothing to be read, or when it is more than `limit` bytes: values that share their bytes could
    /// make gigabytes of a small file.
    init?(_ directories: TIFFDirectories, limit: Int) {
        var found: [Directory: [TIFFDirectories.Entry]] = [.main: directories.main]
        for directory in Directory.allCases {
            guard let (tag, parent) = directory.pointer, let pointer = found[parent]?.first(where: { $0.tag == tag })
            else { continue }
            found[parent]?.removeAll { $0.tag == tag }
            found[directory] = directories.directory(under: pointer)
        }
        found[.main]?.removeAll { ExifTag.ofPixelData.contains($0.tag) }
        found = found.mapValues { list in list.filter { !$0.type.isDirectory } }  // their offsets would be wrong
        let total = found.values.joined().reduce(0) { $0 + $1.range.count }
        guard total > 0, total <= limit else { return nil }
        isLittleEndian = directories.isLittleEndian
        makerNoteOffset = found[.exif]?.first { $0.tag == Self.makerNote }?.range.lowerBound
        entries = found.mapValues { list in
            list.compactMap { entry in
                directories.values(of: entry).map { Entry(tag: entry.tag, type: entry.type, bytes: $0) }
            }
        }
    }

    init?(block: [UInt8]) {
        guard let directories = TIFFDirectories(block: block) else { return nil }
        self.init(directories, limit: block.count)
    }
}

extension ExifDocument.Entry {
    fileprivate var withReversedNumbers: Self {
        let unit = type.numberSize
        let reversed = stride(from: 0, to: bytes.count, by: unit).flatMap { bytes[$0..<$0 + unit].reversed() }
        return Self(tag: tag, type: type, bytes: reversed)
    }
}
