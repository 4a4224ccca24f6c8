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
    static func apply(to block: [UInt8], shape: ImageShape, isPublic: Bool, isConverted: Bool) -> [UInt8]? {
        guard var document = ExifDocument(block) else { return nil }
        document.describe(shape)
        document.removePictures()
        if isPublic { document.keepPublicTags() }
        if isConverted { document.nameSRGB() }
        return document.block(ofAtMost: largestBlock)
    }
}

extension ExifDocument {
    fileprivate mutating func describe(_ shape: ImageShape) {
        update(Tag.orientation, in: .main, to: 1)
        update(Tag.imageWidth, in: .main, to: shape.width)
        update(Tag.imageLength, in: .main, to: shape.height)
        update(Tag.pixelXDimension, in: .exif, to: shape.width)
        update(Tag.pixelYDimension, in: .exif, to: shape.height)
    }

    fileprivate mutating func removePictures() {
        removeEntries(in: .main) { Tag.ofPixelData.contains($0.tag) }
        for directory in Directory.allCases {
            removeEntries(in: directory) { $0.bytes.holdsJPEG }
        }
    }

    /// Copyright stays: it is meant to be seen. So does the time, but not its zone.
    fileprivate mutating func keepPublicTags() {
        removeEntries(in: .main) { !Tag.publicMain.contains($0.tag) }
        removeEntries(in: .exif) { !Tag.publicExif.contains($0.tag) }
        self[.gps] = []
    }

    fileprivate mutating func nameSRGB() {
        update(Tag.colorSpace, in: .exif, to: 1)
        removeEntries(in: .main) { Tag.ofColor.contains($0.tag) }
        removeEntries(in: .exif) { $0.tag == Tag.gamma }
        self[.interoperability] = []
    }

    /// Without the maker note if that makes it fit; nil if nothing does.
    fileprivate func block(ofAtMost limit: Int) -> [UInt8]? {
        let whole = ExifWriter.block(of: self)
        if whole.count <= limit { return whole }
        var smaller = self
        smaller.removeEntries(in: .exif) { $0.tag == Self.makerNote }
        let block = ExifWriter.block(of: smaller)
        return block.count <= limit ? block : nil
    }
}

extension [UInt8] {
    /// True when a JPEG may start somewhere in the bytes.
    var holdsJPEG: Bool {
        indices.contains { self[$0] == 0xFF && self[$0...].starts(with: [0xFF, 0xD8, 0xFF]) }
    }
}

/// Tags by their names in the EXIF 2.32 standard.
private enum Tag {
    static let imageWidth: UInt16 = 0x0100
    static let imageLength: UInt16 = 0x0101
    static let orientation: UInt16 = 0x0112
    static let colorSpace: UInt16 = 0xA001
    static let pixelXDimension: UInt16 = 0xA002
    static let pixelYDimension: UInt16 = 0xA003
    static let gamma: UInt16 = 0xA500

    /// How and where a TIFF file keeps pixels and other blocks of metadata; offsets mean nothing in an output.
    static let ofPixelData: Set<UInt16> = [
        0x00FE, 0x00FF,  // kind of picture
        0x0102, 0x0103, 0x0106, 0x0115, 0x011C, 0x013D, 0x0140, 0x0152, 0x0153,  // samples and their compression
        0x0111, 0x0116, 0x0117, 0x0142, 0x0143, 0x0144, 0x0145,  // strips and tiles
        0x014A,  // other pictures
        0x015B, 0x0200, 0x0201, 0x0202, 0x0203, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209,  // JPEG data
        0x02BC, 0x83BB, 0x8649, 0x8773,  // XMP, IPTC, Photoshop, profile
        0xC634, 0xC6F5, 0xEA1C,  // private data of DNG, padding
    ]

    /// Which colours the samples stand for: TransferFunction, WhitePoint, PrimaryChromaticities.
    static let ofColor: Set<UInt16> = [0x012D, 0x013E, 0x013F]

    /// Make, model, orientation, resolution, software, time, position of chroma samples, copyright.
    static let publicMain: Set<UInt16> = [
        imageWidth, imageLength, 0x010F, 0x0110, orientation, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x012D, 0x013E,
        0x013F, 0x0213, 0x8298,
    ]

    /// Exposure, lens (not its number), time (not its zone), and how the picture is stored.
    static let publicExif: Set<UInt16> = [
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x9000, 0x9003, 0x9004, 0x9101, 0x9102, 0x9201, 0x9202,
        0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0x9290, 0x9291, 0x9292, 0xA000, colorSpace,
        pixelXDimension, pixelYDimension, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300, 0xA301, 0xA401, 0xA402,
        0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA432, 0xA433, 0xA434, gamma,
    ]
}
