package import Catalogs
package import Geometry
package import JobModel

/// A file format: how it is recognised, what it holds, and how libvips writes it. One file each in this folder, and
/// one line in ``ImageFormats/all``.
package protocol ImageFormat: Sendable {
    /// What a manifest may ask for.
    var descriptor: FormatDescriptor { get }
    /// As people write it: `JPEG`.
    var title: String { get }
    /// False when a file cannot say what its colours mean; they are then converted to sRGB.
    var holdsProfile: Bool { get }
    /// False when gray is stored as RGB.
    var holdsGray: Bool { get }
    /// True when a decoder needs memory for the whole picture, whatever its kind.
    var isDecodedWhole: Bool { get }
    var cost: CodecCost { get }
    /// libvips' operation that reads it.
    var loader: Loader { get }
    /// Classes of further operations that libvips would block: it trusts few savers.
    var saverClasses: [String] { get }

    /// The part of libvips that has its operations, where they are not in libvips itself.
    var module: String? { get }

    /// True when a file that starts with `head` (``ImageFormats/headLength`` bytes, unless the file is shorter) has this
    /// format.
    func recognizes(_ head: [UInt8]) -> Bool

    /// The content, in a file that starts with `head`, that libvips reads wrongly, without a warning.
    func unsupportedFeature(in head: [UInt8]) -> String?

    /// Where a file is cut off, if libvips gives its rest without a warning.
    func damage(in file: InputFile) -> String?

    /// Whether a file holds further pictures, which libvips does not report, and which are more than previews.
    func holdsFurtherPictures(_ file: InputFile) -> Bool

    /// What a whole file says of its colours beside a profile. libvips does not report it.
    ///
    /// - Throws: for contents that libvips reads wrongly, without a warning.
    func statedColor(in file: InputFile, of picture: LoadedPicture) throws(UnsupportedFeatureError) -> StatedColor?

    /// True when libvips draws the pixels, for which it may need any time: ``DrawingTime``.
    var isDrawn: Bool { get }

    /// An estimate of a drawing's work from its text. Nil for pictures that are stored as pixels.
    ///
    /// - Throws: what cannot be seen through.
    func drawing(in file: InputFile) throws(UnsupportedFeatureError) -> SVGDrawing?

    /// Adds metadata that libvips does not report.
    ///
    /// - Parameter unpacked: a text of a PNG by libvips' name for it.
    func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?)

    /// How libvips writes a picture of `shape`.
    ///
    /// - Throws: when the options have wrong values, or the picture cannot be stored with them.
    func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver

    /// Metadata that go into the file while it is written, where libvips does not put them.
    func insertion(of metadata: ImageMetadata) -> Insertion?

    /// The loader's argument for a picture of a `factor`th of its width and height, 2, 4 or 8; nil when it has none.
    func shrinking(by factor: Int) -> (name: String, value: VipsArgument)?

    /// Puts metadata into a file whose pixels are written. Failures stay in the file.
    func revise(_ file: OutputFile, adding metadata: ImageMetadata)

    /// True when a file can hold IPTC records.
    var holdsIPTC: Bool { get }

    /// False when a file may be read back with other channels than it was written with, as its pixels need them.
    var keepsLayout: Bool { get }

    /// The libraries behind libvips that write a file with these options: how the names of their files begin.
    func libraries(for options: FormatOptions) -> [String]

    /// True when a file written with these options gives back exactly the samples that were written.
    func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool
}

extension ImageFormat {
    package var saverClasses: [String] { [] }
    package func unsupportedFeature(in head: [UInt8]) -> String? { nil }
    package func damage(in file: InputFile) -> String? { nil }
    package func holdsFurtherPictures(_ file: InputFile) -> Bool { false }
    package func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?) {}
    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? { nil }
    package var isDrawn: Bool { false }
    package func drawing(in file: InputFile) throws(UnsupportedFeatureError) -> SVGDrawing? { nil }
    package var module: String? { nil }
    package var keepsLayout: Bool { true }
    package var holdsIPTC: Bool { false }
    package func libraries(for options: FormatOptions) -> [String] { [] }
    package var holdsProfile: Bool { true }
    package var isDecodedWhole: Bool { false }
    package func shrinking(by factor: Int) -> (name: String, value: VipsArgument)? { nil }
    package func insertion(of metadata: ImageMetadata) -> Insertion? { nil }
    package func revise(_ file: OutputFile, adding metadata: ImageMetadata) {}

    /// The colours that a picture must be decoded in to be written in this format: those that were asked for, except
    /// where its profile would be lost, and where a colour of sRGB shows through it. A profile is never dropped without
    /// converting.
    ///
    /// - Parameter output: what the chain gives.
    package func colorPolicy(
        for header: ImageHeader, asked: ColorPolicy, save: SaveOptions, output: PixelLayout
    ) -> ColorPolicy {
        let losesGray = header.layout.removingAlpha == .gray && !holdsGray
        let losesProfile = save.metadata.kinds.map { !$0.contains(.icc) } ?? false
        let showsColor = output.hasAlpha && !descriptor.holdsAlpha && !Background(save.background).isInEverySpace
        return header.hasProfile && (losesProfile || losesGray || !holdsProfile || showsColor) ? .srgb : asked
    }
}

/// The picture of a file that is read, as libvips reports it.
package struct LoadedPicture: Hashable {
    /// From 0; nil for the one that the file names as its picture, or that comes first.
    let page: Int?
    /// How many there are.
    let pages: Int
    /// Whether it has a profile.
    let hasProfile: Bool
}

/// An operation of libvips that reads files of one format.
package struct Loader: Hashable, Sendable {
    /// What libvips says of the pixels that is not so, or not what filters work on.
    enum Trait: Hashable, Sendable {
        /// The decoder turns pictures upright; a tag that is left in the metadata is of no more use.
        case turnsUpright
        /// It reads one page or several of a file: `page` and `n`.
        case hasPages
        /// Samples are linear light, multiplied by alpha.
        case linearPremultiplied
    }

    let operation: String
    /// By which libvips allows or blocks it.
    let className: String
    /// Where the loader takes no source but a name: it gets one that stands for the open file.
    let opensByName: Bool
    let traits: Set<Trait>

    init(_ operation: String, _ className: String, opensByName: Bool = false, traits: Set<Trait> = []) {
        self.operation = operation
        self.className = className
        self.opensByName = opensByName
        self.traits = traits
    }
}

/// A call of a libvips operation that writes to a target.
package struct Saver: Hashable, Sendable {
    let operation: String
    let arguments: [String: VipsArgument]
    /// Which metadata libvips puts into the file.
    let fields: Set<MetadataField>

    init(_ operation: String, _ arguments: [String: VipsArgument], fields: Set<MetadataField> = []) {
        self.operation = operation
        self.arguments = arguments
        self.fields = fields
    }
}

/// Metadata that libvips can write as they are.
package enum MetadataField: String, Hashable, Sendable, CaseIterable {
    case icc = "icc-profile-data"
    case xmp = "xmp-data"
    case iptc = "iptc-data"
    case exif = "exif-data"
}

/// Why a picture cannot be written as asked.
package enum SaveError: Error, Hashable, Sendable {
    case option(String)
    case unsuitable(String)
}

/// The formats that Penumbra reads and writes.
package enum ImageFormats {
    package static let all: [any ImageFormat] = [
        JPEGFormat(), PNGFormat(), WebPFormat(), TIFFFormat(), GIFFormat(), AVIFFormat(), HEICFormat(), JPEGXLFormat(),
        JPEG2000Format(), PPMFormat(), OpenEXRFormat(), SVGFormat(), PDFFormat(), DeepZoomFormat(),
    ]

    /// Of those that this libvips has.
    ///
    /// - Throws: when libvips does not start.
    package static func descriptors() throws(ImageFileError) -> [FormatDescriptor] {
        try VipsRuntime.startIfNeeded()
        return all.filter(VipsModules.offers).map(\.descriptor)
    }

    /// The format with this name in the catalog, `jpeg`.
    package static func named(_ name: String) -> (any ImageFormat)? { all.first { $0.descriptor.name == name } }

    /// The format of a file's content.
    static func recognizing(_ head: [UInt8]) -> (any ImageFormat)? { all.first { $0.recognizes(head) } }

    /// How many of a file's bytes are needed to recognise it.
    static let headLength = 1024
}

/// The options of a format as a job gave them, with the format's fallbacks where it is silent.
package struct FormatOptions: Sendable {
    private let values: [String: ParameterValue]
    private let parameters: [ParameterDescriptor]

    package init(_ values: [String: ParameterValue], of format: FormatDescriptor) {
        self.values = values
        self.parameters = format.options
    }

    func integer(_ name: String) throws(SaveError) -> Int {
        guard case .integer(let value) = value(of: name), case .integer(let minimum, let maximum) = kind(of: name),
            (minimum...maximum).contains(value)
        else { throw .option(name) }
        return value
    }

    func number(_ name: String) throws(SaveError) -> Double {
        guard case .number(let value) = value(of: name), case .number(let minimum, let maximum) = kind(of: name),
            (minimum...maximum).contains(value)
        else { throw .option(name) }
        return value
    }

    func boolean(_ name: String) throws(SaveError) -> Bool {
        guard case .boolean(let value) = value(of: name) else { throw .option(name) }
        return value
    }

    func word<Word: RawRepresentable<String>>(_ name: String) throws(SaveError) -> Word {
        guard case .word(let value) = value(of: name), let word = Word(rawValue: value) else { throw .option(name) }
        return word
    }

    private func value(of name: String) -> ParameterValue? {
        values[name] ?? parameters.first { $0.name == name }?.fallback
    }

    private func kind(of name: String) -> ParameterKind? { parameters.first { $0.name == name }?.kind }
}

/// What a codec takes of one core's time for a picture of 8-bit RGB, in nanoseconds a pixel: measured on photographs
/// with the formats' usual options, and rough; the planner weighs them against filters.
package struct CodecCost: Hashable, Sendable {
    let decode: Double
    let encode: Double

    /// In seconds.
    package func decoding(_ shape: ImageShape) -> Double {
        seconds(decode, pixels: shape.width * shape.height, shape.layout, bytesPerSample: shape.sampleFormat.bytes)
    }

    /// In seconds.
    package func encoding(_ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat) -> Double {
        seconds(encode, pixels: rect.area, layout, bytesPerSample: format.bytes)
    }

    private func seconds(_ cost: Double, pixels: Int, _ layout: PixelLayout, bytesPerSample: Int) -> Double {
        cost * Double(pixels) * Double(layout.channels * bytesPerSample) / 3 / 1e9
    }
}
