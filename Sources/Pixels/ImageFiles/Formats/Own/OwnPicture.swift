import CVips
import Catalogs
import Geometry
import JobModel
import Raster

/// A picture in a format that Penumbra decodes itself. libvips reads such formats only through ImageMagick, which Penumbra
/// never loads.
///
/// A decoder trusts nothing in a file. It allocates memory only for what the file can hold, and decodes rows when they are
/// asked for.
package struct OwnPicture {
    /// Gives the rows to libvips. It must outlive the image.
    let feed: RowFeed
    /// The orientation of the stored rows.
    var orientation = Orientation.upright
    var metadata: [MetadataField: [UInt8]] = [:]
    /// The colours that the header states.
    var stated: StatedColor?
    var resolution: ImageMetadata.Resolution?
    /// What libvips reads of the file. The picture gets its metadata.
    var header: LoadedHeader?
    /// Nil for a format without pages.
    var frames: Frames?
    /// The largest factor by which the decoder can shrink the picture: 1 or 2.
    var largestShrink = 1
    /// The memory that the decoder needs, if that is more than the picture's.
    var heldBytes: Int?

    /// The pages of a file.
    struct Frames {
        let count: Int
        /// The height of each.
        let height: Int
        /// The times of an animation. Nil for a single page, and for a clip, which has times of its own.
        let durations: [FrameDuration]?
        let repetitions: Int
    }

    /// - Parameters:
    ///   - isCMYK: whether the four channels are cyan, magenta, yellow and black, where 0 is no ink.
    ///   - rows: decodes rows. Calls ask for them from top to bottom, each once.
    init(shape: ImageShape, isCMYK: Bool = false, rows: @escaping (Range<Int>) throws -> AnyRaster) {
        feed = RowFeed(shape: shape, interpretation: isCMYK ? VIPS_INTERPRETATION_CMYK : nil, rows: rows)
    }

    /// The largest metadata that are read.
    static let largestMetadata = 64 << 20
    /// The longest side of a picture.
    static let longestSide = 10_000_000  // libvips' VIPS_MAX_COORD

    /// The picture in a libvips pipeline, which asks the feed for its rows.
    func image() throws(VipsError) -> VipsImageReference {
        let image = try feed.image(resolution ?? header?.resolution)
        image.setInteger("orientation", to: orientation.rawValue)
        header?.copyFields(to: image)
        if let frames {
            image.setInteger("n-pages", to: frames.count)
            image.setInteger("page-height", to: frames.height)
            if let durations = frames.durations {
                image.setFrameDurations(durations)
                image.setInteger("loop", to: frames.repetitions)
            }
        }
        for (field, bytes) in metadata { image.setBlob(field.rawValue, to: bytes) }
        if let unit = resolution?.unit { image.setText("resolution-unit", to: unit == .inch ? "in" : "cm") }
        return image
    }
}

/// What libvips reads of a file whose pixels Penumbra puts together itself.
final class LoadedHeader {
    let image: VipsImageReference

    init(_ image: consuming VipsImageReference) { self.image = image }

    /// In pixels per millimetre.
    var resolution: ImageMetadata.Resolution {
        let (x, y) = image.resolution
        return ImageMetadata.Resolution(x: x, y: y, unit: image.text("resolution-unit") == "cm" ? .centimetre : .inch)
    }

    /// Copies the metadata, texts of a PNG included.
    func copyFields(to other: borrowing VipsImageReference) {
        for field in MetadataField.allCases {
            if let bytes = image.blob(field.rawValue) { other.setBlob(field.rawValue, to: bytes) }
        }
        if let orientation = image.integer("orientation") { other.setInteger("orientation", to: orientation) }
        guard let names = vips_image_get_fields(image.pointer) else { return }
        defer { g_strfreev(names) }
        var next = names
        while let name = next.pointee {
            let field = String(cString: name)
            if field.hasPrefix("png-comment-"), let text = image.text(field) { other.setText(field, to: text) }
            next += 1
        }
    }
}

/// The reason why a file cannot be decoded.
package enum OwnDecodingError: Error, Hashable {
    /// The damage, as a clause: `it ends in its header`.
    case broken(String)
    case unsupported(UnsupportedFeatureError)
    /// No ffmpeg decodes it here, with a remedy.
    case noProgram(String)
    /// The processes that decode it were ended from outside.
    case interrupted
    /// The decoder cannot get at the file, or has no memory.
    case file(ImageFileError)

    static func unsupported(_ phrase: String, remedy: String? = nil) -> OwnDecodingError {
        .unsupported(UnsupportedFeatureError(phrase, remedy: remedy))
    }

    /// The words for an error in the rows of a picture.
    var detail: String {
        switch self {
        case .broken(let damage): damage
        case .unsupported(let feature): "it has \(feature.phrase)"
        case .noProgram(let remedy): "there is no ffmpeg; \(remedy)"
        case .interrupted: "the processes that decode it have ended"
        case .file(let error): error.description
        }
    }
}

/// Numbers and bytes of a file at offsets that the file itself states.
struct OwnFile {
    let file: InputFile
    let isLittleEndian: Bool

    var size: Int { file.size }

    /// - Parameter what: the part that is read, for messages: `its header`.
    func bytes(at offset: Int, count: Int, _ what: String) throws(OwnDecodingError) -> [UInt8] {
        guard offset >= 0, count >= 0, count <= size, offset <= size - count,
            let bytes = file.bytes(in: offset..<offset + count)
        else { throw .broken("it ends in \(what)") }
        return bytes
    }

    /// An unsigned number of `length` bytes. One of eight bytes that exceeds all files counts as the largest number.
    func number(at offset: Int, length: Int, _ what: String) throws(OwnDecodingError) -> Int {
        number(in: try bytes(at: offset, count: length, what)[...])
    }

    func number(in bytes: ArraySlice<UInt8>) -> Int {
        let value = (isLittleEndian ? Array(bytes.reversed()) : Array(bytes)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(clamping: value)
    }

    /// A signed number of four bytes.
    func signed(at offset: Int, _ what: String) throws(OwnDecodingError) -> Int {
        Int(Int32(truncatingIfNeeded: try number(at: offset, length: 4, what)))
    }
}

/// The bytes of a part of a file, from its begin to its end.
struct OwnCursor {
    private let file: OwnFile
    private let end: Int
    /// What is read, for messages.
    private let what: String
    private(set) var offset: Int
    /// The bytes that are read ahead, and where they begin.
    private var window: [UInt8] = []
    private var windowStart: Int
    private let windowLength: Int

    /// - Parameter readAhead: the bytes that are probably needed.
    init(_ file: OwnFile, from offset: Int, to end: Int, readAhead: Int = 1 << 16, _ what: String) {
        self.file = file
        self.end = min(end, file.size)
        self.what = what
        self.offset = offset
        windowStart = offset
        windowLength = min(readAhead, 1 << 16)
    }

    mutating func next() throws(OwnDecodingError) -> UInt8 {
        if offset - windowStart >= window.count {
            guard offset < end else { throw .broken("it ends in \(what)") }
            window = try file.bytes(at: offset, count: min(windowLength, end - offset), what)
            windowStart = offset
        }
        defer { offset += 1 }
        return window[offset - windowStart]
    }

    mutating func skip(_ count: Int) throws(OwnDecodingError) {
        guard count <= end - offset else { throw .broken("it ends in \(what)") }
        offset += count
        // Bytes before the window are never read again.
        if offset - windowStart > window.count {
            (window, windowStart) = ([], offset)
        }
    }
}
