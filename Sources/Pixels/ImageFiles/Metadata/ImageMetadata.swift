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

        /// The pixels per millimetre, whatever the unit.
        package let x: Double
        package let y: Double
        /// The unit of the file.
        package let unit: Unit

        /// The value of files that must state a resolution: 72 pixels per inch.
        static let nominal = 72 / 25.4

        package init(x: Double, y: Double, unit: Unit = .inch) {
            self.x = x
            self.y = y
            self.unit = unit
        }
    }

    /// The ICC profile of the pixels; nil for sRGB, and for gray with the same curve.
    package var icc: Blob?
    /// A TIFF structure, without the `Exif` mark of a JPEG.
    package var exif: Blob?
    /// An XML packet.
    package var xmp: Blob?
    /// IPTC records (IIM), without the Photoshop resource around them.
    package var iptc: Blob?
    /// The texts of a PNG.
    package var texts: [PNGText]
    package var resolution: Resolution?
    /// The timing of the frames, if there are several.
    package var animation: Animation?
    /// Whether the colours were converted, so that tags for another colour space would be wrong. They are in sRGB, unless there is
    /// a profile.
    package var isConverted: Bool

    /// The timing of an animation.
    package struct Animation: Hashable, Sendable, Codable {
        /// The duration of each frame.
        package let durations: [FrameDuration]
        /// The number of repetitions; 0 repeats without end.
        package let repetitions: Int
        /// The constant rate that a video gets, in frames a second. Nil if the durations decide it.
        package let rate: Double?

        package init(durations: [FrameDuration], repetitions: Int, rate: Double? = nil) {
            self.durations = durations
            self.repetitions = repetitions
            self.rate = rate
        }

        /// - Parameter delays: the duration of each frame in milliseconds.
        package init(delays: [Int], repetitions: Int) {
            self.init(durations: delays.map(FrameDuration.init(milliseconds:)), repetitions: repetitions)
        }

        package init(_ timeline: Timeline) {
            self.init(durations: timeline.durations, repetitions: timeline.repetitions, rate: timeline.fps)
        }

        /// The duration of each frame in milliseconds, for a format that stores multiples of `unit`.
        package func delays(unit: Int) -> [Int] { FrameDuration.delays(of: durations, unit: unit) }
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

    /// The metadata of an output with `shape`.
    ///
    /// With `keep`, they are all that ``ExifRules``, ``XMPRules`` and ``IPTCRules`` allow. Other policies keep the kinds that
    /// they name, in whichever block they are. The timing of an animation is part of the picture. A profile that is not valid
    /// for the layout is dropped; see ``ImageFormat/colorPolicy(for:asked:save:output:)``.
    ///
    /// - Parameter holdsIPTC: whether the output can contain IPTC records. If not, their properties are added to the XMP
    ///   packet where it lacks them.
    /// - Parameter texts: what the output says in any case.
    package func carried(
        by policy: MetadataPolicy, setting texts: MetadataTexts? = nil, shape: ImageShape, holdsIPTC: Bool = true
    ) -> ImageMetadata {
        let kinds = policy.kinds
        func isWanted(_ kind: MetadataKind) -> Bool { kinds?.contains(kind) ?? true }
        var result = ImageMetadata(animation: animation, isConverted: isConverted)
        if isWanted(.icc), let icc, ICCProfile(icc.bytes)?.fits(shape.layout) ?? false { result.icc = icc }
        if isWanted(.resolution) { result.resolution = resolution }
        result.exif = ExifRules.apply(
            to: exif?.bytes, shape: shape, resolution: result.resolution, kinds: kinds,
            colors: isConverted ? (icc == nil ? .sRGB : .ofProfile) : .asStated, setting: texts
        ).map(Blob.init)
        let kept = iptc.flatMap { IPTCRules.apply(to: $0.bytes, kinds: kinds) }
        let records = texts.map { IPTCRules.setting($0, in: kept ?? []) } ?? kept
        if holdsIPTC { result.iptc = records.map(Blob.init) }
        let own = texts?.properties ?? []
        let names = Set(own.map(\.name))
        let others = holdsIPTC ? [] : records.map(IPTCRules.properties) ?? []
        let properties = own + others.filter { !names.contains($0.name) }
        let packet = xmp.flatMap {
            XMPRules.apply(
                to: $0.bytes, kinds: kinds, isConverted: isConverted, adding: properties, replacing: texts)
        }
        // The segment of a JPEG holds no larger packet. A picture must not lose the texts that it gets.
        let fits = texts == nil || (packet?.count ?? 0) <= Self.largestPacket
        result.xmp = ((fits ? packet : nil) ?? properties.packet).map(Blob.init)
        let replaced = Set((texts?.fields ?? []).flatMap(\.pngKeywords))
        result.texts = self.texts.filter { !replaced.contains($0.keyword) }.compactMap { $0.carried(by: kinds) }
        return result
    }
}

extension ImageMetadata {
    /// Reads the metadata that libvips found in a file.
    init(of image: borrowing VipsImageReference) {
        self.init(
            icc: image.blob(MetadataField.icc.rawValue).map(Blob.init),
            exif: image.blob(MetadataField.exif.rawValue).flatMap(Self.exifStructure),
            xmp: image.blob(MetadataField.xmp.rawValue).map(Blob.init),
            iptc: (image.blob(MetadataField.iptc.rawValue) ?? image.blob("photoshop-data"))
                .flatMap(PhotoshopResources.iptc),
            resolution: Self.resolution(of: image))
    }

    /// The structure without a mark. Some formats put a mark before it, and some writers do so in other formats, too.
    static func exifStructure(_ bytes: [UInt8]) -> Blob? {
        let mark = Array("Exif\0\0".utf8)
        let structure = bytes.starts(with: mark) ? Array(bytes[mark.count...]) : bytes
        return structure.isEmpty ? nil : Blob(structure)
    }

    /// Nil if a file states no resolution. libvips then returns 1 pixel per millimetre, or 72 per inch. Files that must state
    /// a resolution contain the same values.
    private static func resolution(of image: borrowing VipsImageReference) -> Resolution? {
        let (x, y) = image.resolution
        let isDefault = [1, Resolution.nominal].contains { abs(x - $0) < 0.001 && abs(y - $0) < 0.001 }
        guard x > 0, y > 0, x.isFinite, y.isFinite, !isDefault else { return nil }
        return Resolution(x: x, y: y, unit: image.text("resolution-unit") == "cm" ? .centimetre : .inch)
    }
}

extension ImageMetadata.Animation {
    /// The duration that browsers use for a frame without a duration.
    static let usualDuration = FrameDuration(milliseconds: 100)

    init(of image: borrowing VipsImageReference, frames: Int) {
        let stated = image.frameDurations
        self.init(
            durations: (0..<frames).map { $0 < stated.count ? stated[$0] : Self.usualDuration },
            repetitions: image.integer("loop") ?? 0)
    }
}

extension VipsReference where Object == VipsImage {
    /// The field with the numerators and denominators of durations. libvips knows milliseconds only.
    private static var fractions: String { "penumbra-durations" }

    /// The duration of each frame that a file states.
    fileprivate var frameDurations: [FrameDuration] {
        guard let numbers = integers(Self.fractions) else {
            return (integers("delay") ?? []).map(FrameDuration.init(milliseconds:))
        }
        return stride(from: 0, to: numbers.count - 1, by: 2).map { FrameDuration(numbers[$0], max(1, numbers[$0 + 1])) }
    }

    /// States the duration of each frame, for ``frameDurations``.
    func setFrameDurations(_ durations: [FrameDuration]) {
        setIntegers(Self.fractions, to: durations.flatMap { [$0.numerator, $0.denominator] })
    }
}

extension ImageMetadata {
    /// The largest packet of XMP that fits a segment of a JPEG, with its mark.
    private static let largestPacket = 65_000

    /// The largest size of a TIFF file's tags. Larger ones are never useful.
    private static let largestTags = 1 << 20

    /// Keeps the tags of a TIFF file that describe the picture, and its IPTC records.
    ///
    /// Tags for the storage of pixels are dropped, because they are known otherwise. A maker note is dropped, because it is
    /// invalid at another offset.
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

/// Bytes that are encoded as base64 text. JSON would otherwise write a number for each.
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
