import CVips
package import Catalogs

/// The common part of AVIF and HEIC: a HEIF file whose pictures use one of two codecs.
///
/// Decoders and encoders hold the whole picture. 16-bit samples are reduced to 12 bits, unless `bits` says otherwise. Metadata:
/// the profile, XMP.
package protocol HEIFFormat: ImageFormat {
    init(_ descriptor: FormatDescriptor)
}

/// The bits of each sample in a HEIF file.
private enum HEIFBits: String {
    case auto
    case eight = "8"
    case ten = "10"
    case twelve = "12"

    /// The samples that a file with these bits is written from. Nil for all.
    var samples: [SampleFormat]? {
        switch self {
        case .auto: nil
        case .eight: [.u8]
        case .ten, .twelve: [.u16]
        }
    }

    func count(for samples: SampleFormat) -> Int {
        switch self {
        case .auto: samples == .u8 ? 8 : 12
        case .eight: 8
        case .ten: 10
        case .twelve: 12
        }
    }
}

extension HEIFFormat {
    package var holdsGray: Bool { false }
    package var isDecodedWhole: Bool { true }
    package var module: String? { "vips-heif" }
    package var loader: Loader {
        Loader("heifload_source", "VipsForeignLoadHeifSource", traits: [.turnsUpright, .hasPages])
    }
    /// A profile contains everything that `nclx` could state.
    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        let contents = HEIFContents(file)
        // libheif returns only the picture that represents it.
        guard !contents.isSequence else { throw .animation("an animation (image sequence)") }
        return picture.hasProfile ? nil : try HEIFColor.stated(in: contents, of: picture, file)
    }
    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }

    package func fitted(to values: [String: ParameterValue]) -> any ImageFormat { Self(descriptor.limited(by: values)) }

    /// - Parameter bits: those that the encoder can write.
    fileprivate static func writing(
        _ name: String, _ extensions: [String], bits: [HEIFBits], options: [ParameterDescriptor] = []
    ) -> FormatDescriptor {
        let quality = ParameterDescriptor(
            "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(60),
            summary: "Sets how much detail is kept")
        let depth = ParameterDescriptor(
            "bits", .choice(([.auto] + bits).map(\.rawValue)), fallback: .word(HEIFBits.auto.rawValue),
            summary: "Sets the bits of each sample. 'auto' takes 8 for pictures of 8 bits, and 12 for finer ones")
        return FormatDescriptor(
            name: name, extensions: extensions, canRead: true, canWrite: true, streams: .no,
            sampleFormats: [.u8, .u16], holdsAlpha: true, isLossless: false, largestSide: 16384,
            options: [quality] + options + [depth],
            sampleLimits: bits.compactMap { bits in
                bits.samples.map { SampleLimit("bits", .word(bits.rawValue), $0) }
            })
    }

    fileprivate func saver(
        _ codec: VipsForeignHeifCompression, _ shape: ImageShape, _ options: FormatOptions,
        _ more: [String: VipsArgument] = [:]
    ) throws(SaveError) -> Saver {
        let bits: HEIFBits = try options.word("bits")
        // With '{ext}' in a path, a manifest may have the bits of another format.
        guard bits == .auto || descriptor.sampleLimits.contains(where: { $0.value == .word(bits.rawValue) }) else {
            throw .unsuitable("\(title) has no 'bits: \(bits.rawValue)'")
        }
        guard bits.samples?.contains(shape.sampleFormat) ?? true else {
            throw .unsuitable(
                "'bits: \(bits.rawValue)' does not go with samples of \(8 * shape.sampleFormat.bytes) bits")
        }
        let common: [String: VipsArgument] = [
            "Q": .integer(try options.integer("quality")), "compression": .integer(Int(codec.rawValue)),
            "bitdepth": .integer(bits.count(for: shape.sampleFormat)),
        ]
        return Saver("heifsave_target", common.merging(more) { $1 }, fields: [.icc, .xmp])
    }
}

/// AVIF: AV1 pictures. 10 bits are left out: libheif 1.15 writes broken files of them, or ends the process.
package struct AVIFFormat: HEIFFormat {
    package let title = "AVIF"
    package let cost = CodecCost(decode: 60, encode: 1200)
    package let descriptor: FormatDescriptor

    private static let plain = writing(
        "avif", ["avif"], bits: [.eight, .twelve],
        options: [
            ParameterDescriptor(
                "effort", .integer(minimum: 0, maximum: 9), fallback: .integer(3),
                summary: "Sets the effort. 0 is fastest, 9 makes the smallest files")
        ])

    package init() { self.init(Self.plain) }
    package init(_ descriptor: FormatDescriptor) { self.descriptor = descriptor }

    package func recognizes(_ head: [UInt8]) -> Bool { !HEIFBrands.avif.isDisjoint(with: HEIFBrands.of(head)) }

    package func libraries(for options: FormatOptions) -> [String] { ["libheif", "libaom"] }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        try saver(
            VIPS_FOREIGN_HEIF_COMPRESSION_AV1, shape, options, ["effort": .integer(try options.integer("effort"))])
    }
}

/// HEIC: HEVC pictures, as phones write them.
package struct HEICFormat: HEIFFormat {
    package let title = "HEIC"
    package let cost = CodecCost(decode: 60, encode: 900)
    package let descriptor: FormatDescriptor

    private static let plain = writing("heic", ["heic", "heif", "hif"], bits: [.eight, .ten, .twelve])

    package init() { self.init(Self.plain) }
    package init(_ descriptor: FormatDescriptor) { self.descriptor = descriptor }

    package func recognizes(_ head: [UInt8]) -> Bool {
        !HEIFBrands.heic.isDisjoint(with: HEIFBrands.of(head)) && !AVIFFormat().recognizes(head)
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libheif", "libx265"] }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        try saver(VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, shape, options)
    }
}

/// The brands of a HEIF file, which distinguish AVIF and HEIC: ISO/IEC 14496-12, the `ftyp` box.
enum HEIFBrands {
    /// The major brand and the compatible ones; empty for files of other kinds.
    static func of(_ head: [UInt8]) -> [String] {
        guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return [] }
        let size = min(head.count, head[..<4].reduce(0) { $0 << 8 | Int($1) })
        guard size >= 16 else { return [] }
        let starts = [8] + Array(stride(from: 16, through: size - 4, by: 4))
        return starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
    }

    static let avif: Set = ["avif", "avis"]
    static let heic: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
}

/// The colours that a HEIF file states for a picture: the `nclx` in its properties, or else in those of its tiles, or else in
/// the encoded pictures (AV1 only).
enum HEIFColor {
    /// - Throws: an error also if libheif may count other pictures than the file contains, and their colours differ.
    static func stated(
        in contents: HEIFContents, of picture: LoadedPicture, _ file: InputFile
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        func statement(_ item: Int) throws(UnsupportedFeatureError) -> StatedColor? {
            guard let codes = codes(of: item, contents, file) else { return nil }
            return try StatedColor.coded(primaries: codes.primaries, transfer: codes.transfer, outranksProfile: false)
        }
        guard let page = picture.page else {
            return try contents.primary.flatMap { item throws(UnsupportedFeatureError) in try statement(item) }
        }
        if contents.pages.count == picture.pages, contents.pages.indices.contains(page) {
            return try statement(contents.pages[page])
        }
        let remedy = "save each of them in a file of its own"
        var (looks, colors) = (0, Set<StatedColor?>())
        for item in contents.pages {
            looks += contents.origins(of: item).count
            guard looks <= mostLooks else {
                throw UnsupportedFeatureError(
                    "more pictures, in an unclear order, than can be compared", remedy: remedy)
            }
            colors.insert(try statement(item))
            guard colors.count == 1 else {
                throw UnsupportedFeatureError("pictures in several colours whose order is unclear", remedy: remedy)
            }
        }
        return colors.first ?? nil
    }

    /// The largest number of pictures and parts that are examined if the order of pictures is unclear.
    private static let mostLooks = 50_000

    private static func codes(
        of item: Int, _ contents: HEIFContents, _ file: InputFile
    ) -> (primaries: Int, transfer: Int)? {
        let origins = contents.origins(of: item)
        for property in origins.lazy.flatMap({ contents.properties("colr", of: $0) })
        where property.starts(with: "nclx".utf8) {
            let data = ICCData(property)
            if let primaries = data.integer(at: 4, length: 2), let transfer = data.integer(at: 6, length: 2) {
                return (primaries, transfer)
            }
        }
        guard let coded = origins.first(where: { !contents.properties("av1C", of: $0).isEmpty }) else { return nil }
        // Four bytes precede the header. Most writers leave it to the picture itself.
        return contents.properties("av1C", of: coded).first.flatMap { AV1Color.codes(in: $0.dropFirst(4)) }
            ?? contents.start(of: coded, count: AV1Color.enough, in: file).flatMap { AV1Color.codes(in: $0[...]) }
    }
}
