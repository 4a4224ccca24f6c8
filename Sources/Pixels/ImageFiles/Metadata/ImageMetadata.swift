import CVips
import FoundationEssentials
package import JobModel

/// The metadata of a file.
package struct ImageMetadata: Hashable, Sendable, Codable {
    /// Pixels per length.
    package struct Resolution: Hashable, Sendable, Codable {
        package enum Unit: String, Hashable, Sendable, Codable {
            case inch
            case centimetre
        }

        /// Pixels per millimetre, whatever the unit.
        package let x: Double
        package let y: Double
        /// The unit that a file states it in.
        package let unit: Unit

        /// What formats say that have to say something: 72 pixels per inch.
        static let nominal = 72 / 25.4

        package init(x: Double, y: Double, unit: Unit = .inch) {
            self.x = x
            self.y = y
            self.unit = unit
        }
    }

    /// The ICC profile that the pixels are to be read with; nil for sRGB, and gray of its curve.
    package var icc: Blob?
    /// A TIFF structure, without the `Exif` mark that a JPEG puts before it.
    package var exif: Blob?
    /// An XML packet.
    package var xmp: Blob?
    /// IPTC records (IIM), without the Photoshop resource around them.
    package var iptc: Blob?
    /// Of a PNG.
    package var texts: [PNGText]
    package var resolution: Resolution?
    /// When there are several frames.
    package var animation: Animation?
    /// True when the pixels were converted to sRGB, so that tags which name another colour space are wrong.
    package var isConverted: Bool

    /// How the frames of an animation follow each other.
    package struct Animation: Hashable, Sendable, Codable {
        /// Milliseconds that each frame is shown.
        package let delays: [Int]
        /// How often all are shown; 0 for ever.
        package let repetitions: Int

        package init(delays: [Int], repetitions: Int) {
            self.delays = delays
            self.repetitions = repetitions
        }
    }

    package init(
        icc: Blob? = nil, exif: Blob? = nil, xmp: Blob? = nil, iptc: Blob? = nil, texts: [PNGText] = [],
        resolution: Resolution? = nil,
        animation: Animation? = nil, isConverted: Bool = false
    ) {
        self.icc = icc
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
        self.texts = texts
        self.resolution = resolution
        self.animation = animation
        self.isConverted = isConverted
    }
}

extension ImageMetadata {
    package subscript(field: MetadataField) -> Blob? {
        switch field {
        case .icc: icc
        case .exif: exif
        case .xmp: xmp
        case .iptc: iptc
        }
    }

    /// What an output of `shape` carries.
    ///
    /// Under `keep` that is everything which ``ExifRules``, ``XMPRules`` and ``IPTCRules`` allow; else what the policy names, in whichever
    /// block it is. How an animation's frames follow each other is part of the picture. A profile that does not fit the
    /// layout is no one's: see ``ImageFormat/colorPolicy(for:asked:save:output:)``.
    ///
    /// - Parameter holdsIPTC: whether the output can hold IPTC records. If it cannot, the XMP packet gets what they say and it lacks.
    package func carried(by policy: MetadataPolicy, shape: ImageShape, holdsIPTC: Bool = true) -> ImageMetadata {
        let kinds = policy.kinds
        func isWanted(_ kind: MetadataKind) -> Bool { kinds?.contains(kind) ?? true }
        var result = ImageMetadata(animation: animation, isConverted: isConverted)
        if isWanted(.icc), let icc, ICCProfile(icc.bytes)?.fits(shape.layout) ?? false { result.icc = icc }
        if isWanted(.resolution) { result.resolution = resolution }
        result.exif = exif.flatMap {
            ExifRules.apply(
                to: $0.bytes, shape: shape, resolution: result.resolution, kinds: kinds, isConverted: isConverted)
        }.map(Blob.init)
        let records = iptc.flatMap { IPTCRules.apply(to: $0.bytes, kinds: kinds) }
        if holdsIPTC { result.iptc = records.map(Blob.init) }
        let properties = holdsIPTC ? [] : records.map(IPTCRules.properties) ?? []
        let packet = xmp.flatMap {
            XMPRules.apply(to: $0.bytes, kinds: kinds, isConverted: isConverted, adding: properties)
        }
        result.xmp = (packet ?? properties.packet).map(Blob.init)
        result.texts = texts.compactMap { $0.carried(by: kinds) }
        return result
    }
}

extension ImageMetadata {
    /// What libvips found in a file beside the pixels.
    init(of image: borrowing VipsImageReference) {
        self.init(
            icc: image.blob(MetadataField.icc.rawValue).map(Blob.init),
            exif: image.blob(MetadataField.exif.rawValue).flatMap(Self.exifStructure),
            xmp: image.blob(MetadataField.xmp.rawValue).map(Blob.init),
            iptc: (image.blob(MetadataField.iptc.rawValue) ?? image.blob("photoshop-data"))
                .flatMap(PhotoshopResources.iptc),
            resolution: Self.resolution(of: image))
    }

    /// Some formats put a mark before the structure, and some writers put it where it does not belong.
    static func exifStructure(_ bytes: [UInt8]) -> Blob? {
        let mark = Array("Exif\0\0".utf8)
        let structure = bytes.starts(with: mark) ? Array(bytes[mark.count...]) : bytes
        return structure.isEmpty ? nil : Blob(structure)
    }

    /// Nil where a file says nothing: libvips then gives 1 pixel per millimetre, or 72 per inch, which is also what
    /// files give that have to give something.
    private static func resolution(of image: borrowing VipsImageReference) -> Resolution? {
        let (x, y) = image.resolution
        let isDefault = [1, Resolution.nominal].contains { abs(x - $0) < 0.001 && abs(y - $0) < 0.001 }
        guard x > 0, y > 0, x.isFinite, y.isFinite, !isDefault else { return nil }
        return Resolution(x: x, y: y, unit: image.text("resolution-unit") == "cm" ? .centimetre : .inch)
    }
}

extension ImageMetadata.Animation {
    /// What a browser takes for a frame that states no time, in milliseconds.
    private static let usualDelay = 100

    init(of image: borrowing VipsImageReference, frames: Int) {
        let stated = image.integers("delay") ?? []
        self.init(
            delays: (0..<frames).map { $0 < stated.count ? stated[$0] : Self.usualDelay },
            repetitions: image.integer("loop") ?? 0)
    }
}

extension ImageMetadata {
    /// Of a TIFF file's tags, more is never of use.
    private static let largestTags = 1 << 20

    /// Takes over the tags of a TIFF file that describe the picture, and its IPTC records.
    ///
    /// What says how the pixels lie is known otherwise; a maker note does not survive the move to another offset.
    mutating func takeTags(from directories: TIFFDirectories) {
        if let entry = directories.main.first(where: { $0.tag == ExifTag.iptc }),
            entry.range.count <= Self.largestTags, let bytes = directories.values(of: entry)
        {
            iptc = PhotoshopResources.iptc(in: bytes)
        }
        guard var document = ExifDocument(directories, limit: Self.largestTags) else { return }
        document.removeEntries(in: .main) { ExifTag.ofShape.contains($0.tag) }
        document.removeEntries(in: .exif) { $0.tag == ExifDocument.makerNote }
        exif = document.isEmpty ? nil : Blob(document.block)
    }
}

/// Bytes that are coded as base64 text, where JSON would make a number of each.
package struct Blob: Hashable, Sendable, Codable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
        }
        bytes = [UInt8](data)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
