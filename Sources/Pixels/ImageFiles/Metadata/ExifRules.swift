/// What of an EXIF block an output may carry.
///
/// Always: it says how the output lies and how large it is; it holds no picture, neither the thumbnail nor one that a
/// maker hid in his note (a sharp preview inside a blurred photo is a leak).
enum ExifRules {
    /// What a segment of a JPEG can hold, with room for its mark; kept for all formats, so that a picture which is
    /// converted twice loses nothing the second time.
    private static let largestBlock = 65_000

    /// - Parameters:
    ///   - isPublic: keeps only what tells nothing about places, people and devices' numbers.
    ///   - isConverted: the pixels became sRGB.
    static func apply(
        to block: [UInt8], shape: ImageShape, resolution: ImageMetadata.Resolution?, isPublic: Bool, isConverted: Bool
    ) -> [UInt8]? {
        guard var document = ExifDocument(block: block) else { return nil }
        document.describe(shape)
        document.removePictures()
        if isPublic { document.keepPublicTags() }
        if isConverted { document.nameSRGB() }
        if let resolution { document.add(resolution) }
        return document.block(ofAtMost: largestBlock)
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

    /// Copyright stays: it is meant to be seen. So does the time, but not its zone.
    fileprivate mutating func keepPublicTags() {
        removeEntries(in: .main) { !ExifTag.publicMain.contains($0.tag) }
        removeEntries(in: .exif) { !ExifTag.publicExif.contains($0.tag) }
        self[.gps] = []
    }

    fileprivate mutating func nameSRGB() {
        update(ExifTag.colorSpace, in: .exif, to: 1)
        removeEntries(in: .main) { ExifTag.ofColor.contains($0.tag) }
        removeEntries(in: .exif) { $0.tag == ExifTag.gamma }
        self[.interoperability] = []
    }

    /// States the resolution where the block does not: a file with EXIF has no other place for it.
    fileprivate mutating func add(_ resolution: ImageMetadata.Resolution) {
        guard !self[.main].contains(where: { $0.tag == ExifTag.xResolution }) else { return }
        let (unit, scale): (Int, Double) = resolution.unit == .inch ? (2, 25.4) : (3, 10)
        add(entry(ExifTag.xResolution, resolution.x * scale), to: .main)
        add(entry(ExifTag.yResolution, resolution.y * scale), to: .main)
        let bytes = [UInt8].number(unit, length: 2, littleEndian: isLittleEndian)
        add(Entry(tag: ExifTag.resolutionUnit, type: .short, bytes: bytes), to: .main)
    }

    /// A number in thousandths.
    private func entry(_ tag: UInt16, _ value: Double) -> Entry {
        let parts = [Int((min(value, 1_000_000) * 1000).rounded()), 1000]
        return Entry(
            tag: tag, type: .rational,
            bytes: parts.flatMap { [UInt8].number($0, length: 4, littleEndian: isLittleEndian) })
    }

    /// Without the maker note if that makes it fit; nil if nothing does.
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
    /// True when a JPEG may start somewhere in the bytes.
    var holdsJPEG: Bool {
        indices.contains { self[$0] == 0xFF && self[$0...].starts(with: [0xFF, 0xD8, 0xFF]) }
    }
}
