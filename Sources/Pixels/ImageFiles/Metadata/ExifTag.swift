import JobModel

/// Tags by their names in the EXIF 2.32 and TIFF 6.0 standards.
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

    /// How and where a TIFF file keeps pixels and other blocks of metadata; offsets mean nothing in an output.
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

    /// Which colours the samples stand for: TransferFunction, WhitePoint, PrimaryChromaticities.
    static let ofColor: Set<UInt16> = [0x012D, 0x013E, 0x013F]

    /// What an output says of itself, whatever its input said.
    static let ofShape: Set<UInt16> = [
        imageWidth, imageLength, orientation, xResolution, yResolution, resolutionUnit,
    ]

    /// How a JPEG stores colour; not true of a TIFF file that the tags are put into. TransferFunction has a size that
    /// depends on the samples.
    static let ofJPEG: Set<UInt16> = [0x012D, 0x0211, 0x0212, 0x0213, 0x0214]

    /// Size, orientation, colour, position of chroma samples.
    static let ofStorage = ofColor.union([imageWidth, imageLength, orientation, 0x0213])

    static let main: [MetadataKind: Set<UInt16>] = [
        .copyright: [0x8298], .creator: [0x013B, 0x9C9D], .description: [0x010E, 0x9C9B, 0x9C9F], .dates: [0x0132],
        .camera: [0x010F, 0x0110, 0x0131], .keywords: [0x9C9E],
        .resolution: [xResolution, yResolution, resolutionUnit],
    ]

    static let ofStorageInExif: Set<UInt16> = [
        0x9000, 0x9101, 0xA000, colorSpace, pixelXDimension, pixelYDimension, gamma,
    ]

    /// Times have no zone, and the lens no number.
    static let exif: [MetadataKind: Set<UInt16>] = [
        .dates: [0x9003, 0x9004, 0x9290, 0x9291, 0x9292],
        .camera: [
            0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x9102, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205,
            0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300, 0xA301, 0xA401,
            0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA432, 0xA433, 0xA434,
        ],
    ]
}
