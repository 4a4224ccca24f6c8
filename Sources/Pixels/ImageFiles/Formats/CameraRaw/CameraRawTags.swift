import CRaw

/// What a raw picture says of itself beside its pixels, for an output. Only tags are kept that describe the picture: those of the
/// sensor, such as the ones of DNG, would be wrong of a developed picture, and programs would take the output for a raw file.
struct CameraRawTags {
    private let exif: ExifDocument?
    private let xmp: Blob?
    private let iptc: Blob?

    /// The tags of the main directory that are kept.
    private static let ofMain: Set<UInt16> = [
        0x010E, 0x010F, 0x0110, 0x0131, 0x0132, 0x013B, 0x013C, 0x4746, 0x4749, 0x8298, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E,
        0x9C9F,
    ]
    private static let xmp: UInt16 = 0x02BC
    /// Larger tags are never useful.
    private static let largest = 1 << 20

    /// Nil for a file that is neither a TIFF structure nor has one, or whose structure says nothing.
    init?(of file: InputFile) {
        if let parts = CanonParts(of: file) {
            (exif, xmp, iptc) = (
                parts.exif(limit: Self.largest, keeping: Self.isKept), parts.xmp(limit: Self.largest).map(Blob.init),
                nil
            )
            return
        }
        guard let directories = Self.directories(of: file),
            let exif = ExifDocument(directories, limit: Self.largest, keeping: Self.isKept)
        else { return nil }
        self.exif = exif
        func bytes(_ tag: UInt16) -> [UInt8]? {
            guard let entry = directories.main.first(where: { $0.tag == tag }), entry.range.count <= Self.largest else {
                return nil
            }
            return directories.values(of: entry)
        }
        xmp = bytes(Self.xmp).map(Blob.init)
        iptc = bytes(ExifTag.iptc).flatMap(PhotoshopResources.iptc)
    }

    private static func isKept(_ directory: ExifDocument.Directory, _ tag: UInt16) -> Bool {
        directory == .main ? ofMain.contains(tag) : tag != ExifDocument.makerNote
    }

    func add(to metadata: inout ImageMetadata) {
        if let exif { metadata.exif = Blob(exif.block) }
        metadata.xmp = xmp
        metadata.iptc = iptc
    }

    private static func directories(of file: InputFile) -> TIFFDirectories? {
        guard let head = file.bytes(in: 0..<min(92, file.size)), head.count >= 8 else { return nil }
        if head.starts(with: "FUJIFILM".utf8) { return ofFuji(file, head) }
        if head.starts(with: "\0MRM".utf8) { return ofMinolta(file) }
        // Olympus and Panasonic have other numbers in the place of 42.
        let isLittleEndian = head[0] == 0x49
        let isOther = ["IIRO", "IIRS", "MMOR", "IIU\0"].contains { head.starts(with: $0.utf8) }
        let start: [UInt8] = isLittleEndian ? [0x49, 0x49, 42, 0] : [0x4D, 0x4D, 0, 42]
        return TIFFDirectories(size: file.size) { range in
            guard var bytes = file.bytes(in: range) else { return nil }
            if isOther { for index in range.clamped(to: 0..<4) { bytes[index - range.lowerBound] = start[index] } }
            return bytes
        }
    }

    /// The part `TTW` of a file of Minolta, a TIFF structure. Each part begins with its name and its length.
    private static func ofMinolta(_ file: InputFile) -> TIFFDirectories? {
        var offset = 8
        while offset <= file.size - 8, let head = file.bytes(in: offset..<offset + 8), head[0] == 0 {
            let length = head[4...].reduce(0) { $0 << 8 | Int($1) }
            guard length <= min(largest, file.size - offset - 8) else { return nil }
            if head.starts(with: "\0TTW".utf8) {
                return file.bytes(in: offset + 8..<offset + 8 + length).flatMap { TIFFDirectories(block: $0) }
            }
            offset += 8 + length
        }
        return nil
    }

    /// The EXIF block of the preview in a file of Fujifilm, a JPEG.
    private static func ofFuji(_ file: InputFile, _ head: [UInt8]) -> TIFFDirectories? {
        guard head.count >= 88 else { return nil }
        let offset = head[84..<88].reduce(0) { $0 << 8 | Int($1) }
        // The marks of a JPEG and of its first segment, the segment's length, and the name of EXIF.
        guard offset >= 88, offset <= file.size - 12, let start = file.bytes(in: offset..<offset + 12),
            start.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]), start[6...].elementsEqual("Exif\0\0".utf8)
        else { return nil }
        let length = Int(start[4]) << 8 | Int(start[5])
        let range = offset + 12..<max(offset + 12, min(offset + 4 + length, file.size))
        return file.bytes(in: range).flatMap { TIFFDirectories(block: $0) }
    }
}

/// What a CR3 file of Canon says of itself: a TIFF structure for each directory of EXIF, in boxes of their own.
/// <https://github.com/lclevy/canon_cr3>
private struct CanonParts {
    private let boxes: [MediaBoxes.Box]
    private let packet: Range<Int>?
    private let file: InputFile

    private static let ofCanon =
        [
            0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
        ] as [UInt8]
    private static let ofXMP =
        [
            0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
        ] as [UInt8]
    /// The box has small previews, too.
    private static let largest = 16 << 20

    /// Nil for a file of another kind.
    init?(of file: InputFile) {
        guard file.bytes(in: 0..<min(12, file.size))?.dropFirst(4).elementsEqual("ftypcrx ".utf8) ?? false else {
            return nil
        }
        self.file = file
        let all = MediaBoxes.all(of: file)
        let movie = all.first { $0.name == "moov" && $0.content.count <= Self.largest }
        let own = movie.flatMap { file.bytes(in: $0.content) }.flatMap { bytes in
            MediaBoxes.all(in: bytes[...]).first { $0.name == "uuid" && $0.content.starts(with: Self.ofCanon) }
        }
        boxes = own.map { MediaBoxes.all(in: $0.content.dropFirst(Self.ofCanon.count)) } ?? []
        packet = all.first { box in
            box.name == "uuid" && box.content.count >= 16
                && file.bytes(in: box.content.lowerBound..<box.content.lowerBound + 16) == Self.ofXMP
        }.map { $0.content.dropFirst(16) }
    }

    /// Nil if there are no tags, or more bytes of them than `limit`.
    func exif(limit: Int, keeping isKept: (ExifDocument.Directory, UInt16) -> Bool) -> ExifDocument? {
        var result = ExifDocument(littleEndian: true)
        let pointers = ExifDocument.Directory.allCases.compactMap { $0.pointer?.tag }
        for (name, directory) in [("CMT1", ExifDocument.Directory.main), ("CMT2", .exif), ("CMT4", .gps)] {
            guard let block = boxes.first(where: { $0.name == name })?.content, block.count <= limit,
                let directories = TIFFDirectories(block: Array(block)),
                let document = ExifDocument(
                    directories, limit: limit,
                    // What points to other directories would point anywhere in an output.
                    keeping: { $0 == .main && !pointers.contains($1) && isKept(directory, $1) })
            else { continue }
            result[directory] = document.reordered(littleEndian: true)[.main]
        }
        return result.isEmpty ? nil : result
    }

    func xmp(limit: Int) -> [UInt8]? {
        guard let packet, packet.count <= limit else { return nil }
        return file.bytes(in: packet)
    }
}

extension ExifDocument {
    /// What LibRaw knows of the camera and the exposure, for files whose own tags cannot be read.
    init(of facts: penumbra_raw_facts) {
        self.init(littleEndian: true)
        add(0x010E, text: Self.text(facts.description), to: .main)
        add(0x010F, text: Self.text(facts.make), to: .main)
        add(0x0110, text: Self.text(facts.model), to: .main)
        add(0x0131, text: Self.text(facts.software), to: .main)
        add(0x013B, text: Self.text(facts.artist), to: .main)
        add(0x9003, text: Self.text(facts.taken), to: .exif)
        add(0x829A, quotient: facts.exposure_time)
        add(0x829D, quotient: facts.aperture)
        if facts.iso >= 1, facts.iso <= 65535 {
            let bytes = [UInt8].number(Int(facts.iso.rounded()), length: 2, littleEndian: true)
            add(Entry(tag: 0x8827, type: .short, bytes: bytes), to: .exif)
        }
        add(0x920A, quotient: facts.focal_length)
        add(0xA433, text: Self.text(facts.lens_make), to: .exif)
        add(0xA434, text: Self.text(facts.lens), to: .exif)
    }

    private mutating func add(_ tag: UInt16, text: String, to directory: Directory) {
        guard !text.isEmpty else { return }
        add(Entry(tag: tag, type: .ascii, bytes: Array(text.utf8) + [0]), to: directory)
    }

    private mutating func add(_ tag: UInt16, quotient value: Float) {
        guard value.isFinite, value >= 0.00001, value <= 100_000 else { return }
        // Short exposures are parts of a second.
        let parts =
            value < 0.3 ? (1, Int((1 / value).rounded())) : (Int((Double(value) * 1000).rounded()), 1000)
        let bytes = [parts.0, parts.1].flatMap { [UInt8].number($0, length: 4, littleEndian: true) }
        add(Entry(tag: tag, type: .rational, bytes: bytes), to: .exif)
    }

    /// The text in a C array, up to its zero.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            .filter { !$0.isNewline }
    }
}
