import JobModel

/// The tags of an EXIF block: a TIFF structure of four directories. It never contains the second picture, the thumbnail.
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

        /// The tag that points to the directory, and the directory that contains it.
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
    /// The position of the maker note, from the block's start. Most makers count offsets in their notes from there, so the
    /// note is written at the same position.
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

    /// Sets an existing tag to one number. A missing tag is not added.
    mutating func update(_ tag: UInt16, in directory: Directory, to value: Int) {
        guard let index = self[directory].firstIndex(where: { $0.tag == tag }) else { return }
        let type: TIFFType = value <= UInt16.max && self[directory][index].type == .short ? .short : .long
        let bytes = [UInt8].number(value, length: type.size, littleEndian: isLittleEndian)
        self[directory][index] = Entry(tag: tag, type: type, bytes: bytes)
    }

    /// Adds a tag if it is missing.
    mutating func add(_ entry: Entry, to directory: Directory) {
        if !self[directory].contains(where: { $0.tag == entry.tag }) { self[directory].append(entry) }
    }

    mutating func removeEntries(in directory: Directory, where isUnwanted: (Entry) -> Bool) {
        self[directory].removeAll(where: isUnwanted)
    }

    /// The same values in the other byte order, if necessary. It must not be used for a maker note, whose byte order is
    /// unknown.
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
    /// Returns nil if nothing can be read, or if the values exceed `limit` bytes. Values that share bytes could expand a small
    /// file to gigabytes.
    ///
    /// - Parameter isKept: whether the tags of a directory are kept. All are, if it is left out.
    init?(
        _ directories: TIFFDirectories, limit: Int, keeping isKept: (Directory, UInt16) -> Bool = { _, _ in true }
    ) {
        var found: [Directory: [TIFFDirectories.Entry]] = [.main: directories.main]
        for directory in Directory.allCases {
            guard let (tag, parent) = directory.pointer, let pointer = found[parent]?.first(where: { $0.tag == tag })
            else { continue }
            found[parent]?.removeAll { $0.tag == tag }
            found[directory] = directories.directory(under: pointer)
        }
        found[.main]?.removeAll { ExifTag.ofPixelData.contains($0.tag) }
        for directory in Directory.allCases { found[directory]?.removeAll { !isKept(directory, $0.tag) } }
        found = found.mapValues { list in
            // A tag must not occur twice. Of two maker notes, one would get the other's bytes.
            var tags: Set<UInt16> = []
            // The offsets of other directories would be wrong.
            return list.filter { !$0.type.isDirectory && tags.insert($0.tag).inserted }
        }
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

/// The properties of the picture in a block, for files in which libvips does not find the block.
extension ExifDocument {
    /// Nil if the block has no orientation.
    var orientation: Orientation? { integers(of: ExifTag.orientation).first.flatMap(Orientation.init(rawValue:)) }

    /// Nil if the block has no resolution, or only the nominal one that some formats require.
    var resolution: ImageMetadata.Resolution? {
        let unit: ImageMetadata.Resolution.Unit
        switch integers(of: ExifTag.resolutionUnit).first {
        case nil, 2: unit = .inch
        case 3: unit = .centimetre
        default: return nil
        }
        guard let x = quotient(of: ExifTag.xResolution), let y = quotient(of: ExifTag.yResolution) else { return nil }
        let scale = unit == .inch ? 25.4 : 10
        let nominal = ImageMetadata.Resolution.nominal
        guard [x, y].contains(where: { abs($0 / scale - nominal) >= 0.001 }) else { return nil }
        return ImageMetadata.Resolution(x: x / scale, y: y / scale, unit: unit)
    }

    /// A quotient above zero.
    private func quotient(of tag: UInt16) -> Double? {
        let parts = integers(of: tag)
        guard parts.count == 2, parts[0] > 0, parts[1] > 0 else { return nil }
        return Double(parts[0]) / Double(parts[1])
    }

    /// The numbers of an integer tag, or the parts of a rational. Empty for other types.
    func integers(of tag: UInt16, in directory: Directory = .main) -> [Int] {
        guard let entry = self[directory].first(where: { $0.tag == tag }),
            [.short, .long, .rational].contains(entry.type)
        else { return [] }
        let size = entry.type.numberSize
        return stride(from: 0, to: entry.bytes.count - size + 1, by: size).map { start in
            let digits = entry.bytes[start..<start + size]
            return (isLittleEndian ? digits.reversed() : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
        }
    }
}

extension ExifDocument {
    private static let headerLength = 8

    /// An EXIF block: a header, the directories with their values, and the maker note at its old offset. Only the document's
    /// entries are written, nothing else of the old block.
    var block: [UInt8] {
        guard let makerNoteOffset, makerNoteOffset >= Self.headerLength,
            let note = self[.exif].first(where: { $0.tag == Self.makerNote })?.bytes, note.count > 4
        else {
            return header(pointingTo: Self.headerLength) + DirectoryWriter(self).bytes(at: Self.headerLength)
        }
        return block(note, at: makerNoteOffset)
    }

    /// The directories are written before the note if there is room, or else after it.
    private func block(_ note: [UInt8], at noteOffset: Int) -> [UInt8] {
        let writer = DirectoryWriter(self, noteOffset: noteOffset)
        let fits = Self.headerLength + writer.byteCount <= noteOffset
        let behind = (noteOffset + note.count + 1) & ~1
        var result = header(pointingTo: fits ? Self.headerLength : behind)
        if fits { result += writer.bytes(at: Self.headerLength) }
        result += repeatElement(0, count: noteOffset - result.count)
        result = (result + note).paddedToEven
        return fits ? result : result + writer.bytes(at: behind)
    }

    private func header(pointingTo offset: Int) -> [UInt8] {
        (isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]) + .number(42, length: 2, littleEndian: isLittleEndian)
            + .number(offset, length: 4, littleEndian: isLittleEndian)
    }
}

/// The tags by their names in the EXIF 2.32 and TIFF 6.0 standards.
enum ExifTag {
    static let newSubfileType: UInt16 = 0x00FE
    static let imageWidth: UInt16 = 0x0100
    static let imageLength: UInt16 = 0x0101
    static let orientation: UInt16 = 0x0112
    static let xResolution: UInt16 = 0x011A
    static let yResolution: UInt16 = 0x011B
    static let resolutionUnit: UInt16 = 0x0128
    static let extraSamples: UInt16 = 0x0152
    static let sampleFormat: UInt16 = 0x0153
    static let iptc: UInt16 = 0x83BB
    static let colorSpace: UInt16 = 0xA001
    static let pixelXDimension: UInt16 = 0xA002
    static let pixelYDimension: UInt16 = 0xA003
    static let gamma: UInt16 = 0xA500

    /// The tags for the storage of pixels and other blocks of metadata in a TIFF file. Their offsets are meaningless in an
    /// output.
    static let ofPixelData: Set<UInt16> = [
        newSubfileType, 0x00FF,  // kind of picture
        0x0102, 0x0103, 0x0106, 0x010A, 0x0115, 0x011C, 0x013D, 0x0140, extraSamples, sampleFormat,
        0x0111, 0x0116, 0x0117, 0x0142, 0x0143, 0x0144, 0x0145,  // strips and tiles
        0x014A,  // other pictures
        0x015B, 0x0200, 0x0201, 0x0202, 0x0203, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209,  // JPEG data
        0x02BC, iptc, 0x8649, 0x8773,  // XMP, IPTC, Photoshop, profile
        0x935C,  // Photoshop's layers
        0xC634, 0xC6F5, 0xEA1C,  // private data of DNG, padding
    ]

    /// The tags for the colours of the samples: TransferFunction, WhitePoint, PrimaryChromaticities.
    static let ofColor: Set<UInt16> = [0x012D, 0x013E, 0x013F]

    /// The tags that an output sets itself, whatever its input contains.
    static let ofShape: Set<UInt16> = [
        imageWidth, imageLength, orientation, xResolution, yResolution, resolutionUnit,
    ]

    /// The tags for the colour storage of a JPEG, which would be wrong in a TIFF file. The size of TransferFunction depends on
    /// the samples.
    static let ofJPEG: Set<UInt16> = [0x012D, 0x0211, 0x0212, 0x0213, 0x0214]

    /// The tags for size, orientation, colour, and the position of chroma samples.
    static let ofStorage = ofColor.union([imageWidth, imageLength, orientation, 0x0213])

    static let main: [MetadataKind: Set<UInt16>] = [
        .copyright: [0x8298], .creator: [0x013B, 0x9C9D], .description: [0x010E, 0x9C9B, 0x9C9F], .dates: [0x0132],
        .camera: [0x010F, 0x0110, 0x0131], .keywords: [0x9C9E],
        .resolution: [xResolution, yResolution, resolutionUnit],
    ]

    static let ofStorageInExif: Set<UInt16> = [
        0x9000, 0x9101, 0xA000, colorSpace, pixelXDimension, pixelYDimension, gamma,
    ]

    /// The tags of each kind. Times are without zone, lenses without serial number.
    static let exif: [MetadataKind: Set<UInt16>] = [
        .dates: [0x9003, 0x9004, 0x9290, 0x9291, 0x9292],
        .camera: [
            0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x9102, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205,
            0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300, 0xA301, 0xA401,
            0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA432, 0xA433, 0xA434,
        ],
    ]
}

/// The rules for the EXIF block of an output.
///
/// An output's EXIF always states its own orientation and size. It contains no picture, neither the thumbnail nor a picture in
/// a maker note (a sharp preview inside a blurred photo is a leak).
enum ExifRules {
    /// The largest block that fits a JPEG segment with its mark. It applies to all formats, so that a picture loses nothing in
    /// a second conversion.
    private static let largestBlock = 65_000

    enum Colors: Hashable {
        /// They were not converted: the block may state them.
        case asStated
        case sRGB
        /// They were converted into the space of a profile.
        case ofProfile
    }

    /// A block that states a resolution, for files that have no other place for it.
    static func block(stating resolution: ImageMetadata.Resolution) -> [UInt8] {
        var document = ExifDocument(littleEndian: true)
        document.add(resolution)
        return document.block
    }

    /// - Parameters:
    ///   - block: nil if the input has none.
    ///   - kinds: the requested kinds; nil for all.
    ///   - colors: the colours of the pixels.
    ///   - texts: what the output says in any case.
    static func apply(
        to block: [UInt8]?, shape: ImageShape, resolution: ImageMetadata.Resolution?, kinds: Set<MetadataKind>?,
        colors: Colors, setting texts: MetadataTexts? = nil
    ) -> [UInt8]? {
        let hasTexts = texts?.concernsExif ?? false
        let empty = hasTexts ? ExifDocument(littleEndian: true) : nil
        guard var document = block.flatMap(ExifDocument.init(block:)) ?? empty else { return nil }
        document.describe(shape)
        document.removePictures()
        if let kinds {
            document.keep(kinds)
            guard document.tells(kinds) || hasTexts else { return nil }
        }
        if let texts { document.set(texts) }
        if colors != .asStated { document.nameColors(isSRGB: colors == .sRGB) }
        if let resolution { document.add(resolution) }
        // A TIFF structure without entries is not valid.
        guard !document.isEmpty else { return nil }
        if let block = document.block(ofAtMost: largestBlock) { return block }
        // The texts are more important than what leaves them no room.
        guard let texts, hasTexts else { return nil }
        var own = ExifDocument(littleEndian: true)
        own.set(texts)
        return own.block(ofAtMost: largestBlock)
    }
}

extension ExifDocument {
    fileprivate mutating func describe(_ shape: ImageShape) {
        update(ExifTag.orientation, in: .main, to: 1)
        update(ExifTag.imageWidth, in: .main, to: shape.width)
        update(ExifTag.imageLength, in: .main, to: shape.height)
        update(ExifTag.pixelXDimension, in: .exif, to: shape.width)
        update(ExifTag.pixelYDimension, in: .exif, to: shape.height)
    }

    fileprivate mutating func removePictures() {
        for directory in Directory.allCases {
            removeEntries(in: directory) { $0.bytes.holdsJPEG }
        }
    }

    /// Keeps the requested kinds, and the tags for the storage of the picture.
    fileprivate mutating func keep(_ kinds: Set<MetadataKind>) {
        let main = kinds.reduce(into: ExifTag.ofStorage) { $0.formUnion(ExifTag.main[$1] ?? []) }
        let exif = kinds.reduce(into: ExifTag.ofStorageInExif) { $0.formUnion(ExifTag.exif[$1] ?? []) }
        removeEntries(in: .main) { !main.contains($0.tag) }
        removeEntries(in: .exif) { !exif.contains($0.tag) }
        if !kinds.contains(.gps) { self[.gps] = [] }
    }

    /// False if only tags for the storage of the picture are left.
    fileprivate func tells(_ kinds: Set<MetadataKind>) -> Bool {
        self[.main].contains { !ExifTag.ofStorage.contains($0.tag) } || !self[.gps].isEmpty
            || self[.exif].contains { !ExifTag.ofStorageInExif.contains($0.tag) }
    }

    fileprivate mutating func nameColors(isSRGB: Bool) {
        // 65535 stands for other colours, which the profile describes.
        update(ExifTag.colorSpace, in: .exif, to: isSRGB ? 1 : 65535)
        removeEntries(in: .main) { ExifTag.ofColor.contains($0.tag) }
        removeEntries(in: .exif) { $0.tag == ExifTag.gamma }
        self[.interoperability] = []
    }

    /// Adds the resolution if it is missing, because a file with EXIF cannot state it elsewhere.
    fileprivate mutating func add(_ resolution: ImageMetadata.Resolution) {
        guard !self[.main].contains(where: { $0.tag == ExifTag.xResolution }) else { return }
        let (unit, scale): (Int, Double) = resolution.unit == .inch ? (2, 25.4) : (3, 10)
        add(entry(ExifTag.xResolution, resolution.x * scale), to: .main)
        add(entry(ExifTag.yResolution, resolution.y * scale), to: .main)
        let bytes = [UInt8].number(unit, length: 2, littleEndian: isLittleEndian)
        add(Entry(tag: ExifTag.resolutionUnit, type: .short, bytes: bytes), to: .main)
    }

    /// An entry for a number, in thousandths.
    private func entry(_ tag: UInt16, _ value: Double) -> Entry {
        let parts = [Int((min(value, 1_000_000) * 1000).rounded()), 1000]
        return Entry(
            tag: tag, type: .rational,
            bytes: parts.flatMap { [UInt8].number($0, length: 4, littleEndian: isLittleEndian) })
    }

    /// The block, without the maker note if it does not fit otherwise; nil if it does not fit at all.
    fileprivate func block(ofAtMost limit: Int) -> [UInt8]? {
        let whole = block
        if whole.count <= limit { return whole }
        var smaller = self
        smaller.removeEntries(in: .exif) { $0.tag == Self.makerNote }
        let block = smaller.block
        return block.count <= limit ? block : nil
    }
}

extension [UInt8] {
    /// Whether a JPEG may start somewhere in the bytes.
    var holdsJPEG: Bool { indices.contains { self[$0] == 0xFF && self[$0...].starts(with: [0xFF, 0xD8, 0xFF]) } }
}
