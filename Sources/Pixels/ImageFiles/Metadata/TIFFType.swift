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
    /// An offset of a directory.
    case directory
    case long8 = 16
    case signedLong8
    case directory8

    /// Bytes of one value.
    var size: Int {
        switch self {
        case .byte, .ascii, .signedByte, .undefined: 1
        case .short, .signedShort: 2
        case .long, .signedLong, .float, .directory: 4
        case .rational, .signedRational, .double, .long8, .signedLong8, .directory8: 8
        }
    }

    /// True when the value is the offset of other entries.
    var isDirectory: Bool { self == .directory || self == .directory8 }

    /// Bytes of one number; a rational is two of them.
    var numberSize: Int {
        self == .rational || self == .signedRational ? 4 : size
    }
}

/// The two sizes of TIFF structures: offsets of four bytes, or of eight.
enum TIFFOffsets {
    case classic
    case big

    /// Bytes of an offset, and of a count of values.
    var length: Int { self == .classic ? 4 : 8 }
    /// Where the header says where the main directory is.
    var headerPointer: Int { self == .classic ? 4 : 8 }
    /// Bytes of the count in front of a directory.
    var countLength: Int { self == .classic ? 2 : 8 }
    /// Bytes of one entry of a directory.
    var rowLength: Int { 4 + 2 * length }
    /// The type of a pointer to a directory.
    var pointerType: TIFFType { self == .classic ? .long : .directory8 }
}
