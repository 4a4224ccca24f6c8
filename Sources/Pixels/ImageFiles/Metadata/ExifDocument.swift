/// The tags of an EXIF block: a TIFF structure of four directories. Its second picture, the thumbnail, is not among
/// them: a document that was read never has it.
struct ExifDocument: Hashable {
    struct Entry: Hashable {
        let tag: UInt16
        let type: ExifType
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

    let isLittleEndian: Bool
    var entries: [Directory: [Entry]]
    /// Where the maker note lay, counted from the block's start: most makers count offsets in their notes from there,
    /// so the note is written to the same place.
    let makerNoteOffset: Int?

    subscript(directory: Directory) -> [Entry] {
        get { entries[directory] ?? [] }
        set { entries[directory] = newValue }
    }

    /// Sets a tag that is there to one number; a tag that is not there is not added.
    mutating func update(_ tag: UInt16, in directory: Directory, to value: Int) {
        guard let index = self[directory].firstIndex(where: { $0.tag == tag }) else { return }
        let type: ExifType = value <= UInt16.max && self[directory][index].type == .short ? .short : .long
        var bytes: [UInt8] = []
        bytes.appendBigEndian(UInt32(clamping: value))
        bytes.removeFirst(4 - type.size)
        self[directory][index] = Entry(tag: tag, type: type, bytes: isLittleEndian ? bytes.reversed() : bytes)
    }

    mutating func removeEntries(in directory: Directory, where isUnwanted: (Entry) -> Bool) {
        self[directory].removeAll(where: isUnwanted)
    }
}

/// The types of TIFF 6.0, by their numbers.
enum ExifType: UInt16 {
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

    /// Bytes of one value.
    var size: Int {
        switch self {
        case .byte, .ascii, .signedByte, .undefined: 1
        case .short, .signedShort: 2
        case .long, .signedLong, .float: 4
        case .rational, .signedRational, .double: 8
        }
    }
}
