import JobModel

/// What of an EXIF block an output may carry.
///
/// Always: it says how the output lies and how large it is; it holds no picture, neither the thumbnail nor one that a
/// maker hid in his note (a sharp preview inside a blurred photo is a leak).
enum ExifRules {
    /// What a segment of a JPEG can hold, with room for its mark; kept for all formats, so that a picture which is
    /// converted twice loses nothing the second time.
    private static let largestBlock = 65_000

    /// - Parameters:
    ///   - kinds: what is asked for; nil for everything.
    ///   - isConverted: the pixels became sRGB.
    static func apply(
        to block: [UInt8], shape: ImageShape, resolution: ImageMetadata.Resolution?, kinds: Set<MetadataKind>?,
        isConverted: Bool
    ) -> [UInt8]? {
        guard var document = ExifDocument(block: block) else { return nil }
        document.describe(shape)
        document.removePictures()
        if let kinds {
            document.keep(kinds)
            guard document.tells(kinds) else { return nil }
        }
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

    /// What is asked for, and how the picture is stored.
    fileprivate mutating func keep(_ kinds: Set<MetadataKind>) {
        let main = kinds.reduce(into: ExifTag.ofStorage) { $0.formUnion(ExifTag.main[$1] ?? []) }
        let exif = kinds.reduce(into: ExifTag.ofStorageInExif) { $0.formUnion(ExifTag.exif[$1] ?? []) }
        removeEntries(in: .main) { !main.contains($0.tag) }
        removeEntries(in: .exif) { !exif.contains($0.tag) }
        if !kinds.contains(.gps) { self[.gps] = [] }
    }

    /// False when how the picture is stored is all that is left.
    fileprivate func tells(_ kinds: Set<MetadataKind>) -> Bool {
        self[.main].contains { !ExifTag.ofStorage.contains($0.tag) } || !self[.gps].isEmpty
            || self[.exif].contains { !ExifTag.ofStorageInExif.contains($0.tag) }
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
