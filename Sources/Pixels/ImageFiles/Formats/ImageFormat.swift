package import Catalogs
package import FileAccess
package import Geometry
package import JobModel

/// A file format: its recognition, its capabilities, and the libvips operations for it. Each format has one file in this
/// folder, and one line in ``ImageFormats/all``.
package protocol ImageFormat: Sendable {
    /// The description of the format for manifests.
    var descriptor: FormatDescriptor { get }
    /// The common name: `JPEG`.
    var title: String { get }
    /// Whether files can contain gray. If not, gray is stored as RGB.
    var holdsGray: Bool { get }
    /// The layout of files for pictures of a layout. Alpha is not considered.
    func outputLayout(_ layout: PixelLayout) -> PixelLayout
    /// Whether files can contain CMYK.
    var holdsCMYK: Bool { get }
    /// Whether a decoder always needs memory for the whole picture.
    var isDecodedWhole: Bool { get }
    var cost: CodecCost { get }
    /// The libvips operation that reads the format.
    var loader: Loader { get }
    /// The classes of further operations that libvips would block, because it trusts few savers.
    var saverClasses: [String] { get }

    /// The class in libvips without which the format is neither read nor written. Nil if it needs none.
    var neededClass: String? { get }

    /// The libvips module with its operations, if they are not in libvips itself.
    var module: String? { get }

    /// Whether a file that starts with `head` (``ImageFormats/headLength`` bytes, or the whole file if it is shorter) has this
    /// format.
    func recognizes(_ head: [UInt8]) -> Bool

    /// The content that libvips reads wrongly without a warning, in a file that starts with `head`.
    func unsupportedFeature(in head: [UInt8]) -> String?

    /// The position where a file is truncated, if libvips reads the rest without a warning.
    func damage(in file: InputFile) -> String?

    /// Whether a file contains further pictures that libvips does not report, and that are not previews.
    func holdsFurtherPictures(_ file: InputFile) -> Bool

    /// The colours that a whole file states apart from a profile. libvips does not report them.
    ///
    /// - Throws: an error for contents that libvips reads wrongly without a warning.
    func statedColor(in file: InputFile, of picture: LoadedPicture) throws(UnsupportedFeatureError) -> StatedColor?

    /// The picture of a file that Penumbra decodes itself. Nil if libvips does.
    ///
    /// - Throws: an error for damage in its header, and for unsupported features.
    func picture(in file: InputFile) throws(OwnDecodingError) -> OwnPicture?

    /// The same in a fraction of its size: ``OwnPicture/largestShrink``.
    ///
    /// - Parameter shrink: 1 for the whole size.
    func picture(in file: InputFile, shrink: Int) throws(OwnDecodingError) -> OwnPicture?

    /// The format of a whole file that starts as files of this format do.
    func variant(of file: InputFile) -> any ImageFormat

    /// Whether Penumbra finds the pages of a file itself.
    var findsPages: Bool { get }

    /// The chosen frames of an animation that Penumbra puts together itself, one below the other. Nil if libvips does.
    ///
    /// - Throws: an error for damage in its structure, and for a page that it has not.
    func animation(in file: InputFile, pages: PageChoice) throws(OwnDecodingError) -> OwnPicture?

    /// Whether libvips draws the pixels, which may take any time: ``DrawingTime``.
    var isDrawn: Bool { get }

    /// An estimate of a drawing's work from its text. Nil for pictures that are stored as pixels.
    ///
    /// - Throws: an error for contents that cannot be analysed.
    func drawing(in file: InputFile) throws(UnsupportedFeatureError) -> SVGDrawing?

    /// Adds metadata that libvips does not report.
    ///
    /// - Parameter unpacked: returns a text of a PNG by libvips' name for it.
    func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?)

    /// The format as files with these options have it, which may hold less than others.
    func fitted(to values: [String: ParameterValue]) -> any ImageFormat

    /// The bytes of memory that an encoder needs for so many frames, apart from some rows.
    func encoderMemory(for shape: ImageShape, frames: Int) -> Int

    /// The libvips call that writes a picture of `shape`.
    ///
    /// - Throws: an error if the options have wrong values, or the picture cannot be stored with them.
    func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver

    /// What a folder contains, for a format of folders that libvips does not write.
    ///
    /// - Throws: an error if the options have wrong values.
    func service(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> IIIFService?

    /// The metadata that are inserted while the file is written, if libvips does not write them.
    func insertion(of metadata: ImageMetadata, in layout: PixelLayout) -> Insertion?

    /// The loader's argument for a picture of 1/`factor` of its width and height (2, 4 or 8). Nil if it has none.
    func shrinking(by factor: Int) -> (name: String, value: VipsArgument)?

    /// Adds metadata to a file whose pixels are written. The file stores failures.
    func revise(_ file: OutputFile, adding metadata: ImageMetadata)

    /// Whether files can contain IPTC records.
    var holdsIPTC: Bool { get }

    /// Whether a file is always read back with the channels with which it was written. Some formats choose channels by the
    /// pixels.
    var keepsLayout: Bool { get }

    /// Whether files have no alpha if all pixels are opaque.
    var dropsOpaqueAlpha: Bool { get }

    /// The libraries behind libvips that write a file with these options, as prefixes of their file names.
    func libraries(for options: FormatOptions) -> [String]

    /// Whether a file written with these options returns exactly the samples that were written.
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
    package func picture(in file: InputFile) throws(OwnDecodingError) -> OwnPicture? { nil }
    package func picture(in file: InputFile, shrink: Int) throws(OwnDecodingError) -> OwnPicture? {
        try picture(in: file)
    }
    package func variant(of file: InputFile) -> any ImageFormat { self }
    package var findsPages: Bool { false }
    package func animation(in file: InputFile, pages: PageChoice) throws(OwnDecodingError) -> OwnPicture? { nil }
    package var isDrawn: Bool { false }
    package func drawing(in file: InputFile) throws(UnsupportedFeatureError) -> SVGDrawing? { nil }
    package func fitted(to values: [String: ParameterValue]) -> any ImageFormat { self }
    /// Formats that are decoded as a whole are also encoded as a whole.
    package func encoderMemory(for shape: ImageShape, frames: Int) -> Int {
        isDecodedWhole ? frames * shape.byteCount : 0
    }
    package var neededClass: String? { loader.className }
    package var module: String? { nil }
    package func service(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> IIIFService? { nil }
    package var keepsLayout: Bool { true }
    package var dropsOpaqueAlpha: Bool { false }
    package var holdsIPTC: Bool { false }
    package func libraries(for options: FormatOptions) -> [String] { [] }
    package var holdsCMYK: Bool { false }
    package func outputLayout(_ layout: PixelLayout) -> PixelLayout { holdsGray ? layout : layout.inColor }
    package var isDecodedWhole: Bool { false }
    package func shrinking(by factor: Int) -> (name: String, value: VipsArgument)? { nil }
    package func insertion(of metadata: ImageMetadata, in layout: PixelLayout) -> Insertion? { nil }
    package func revise(_ file: OutputFile, adding metadata: ImageMetadata) {}

    /// The colours in which a picture must be decoded to be written in this format. These are the requested ones, unless the
    /// profile would be lost, or a colour in sRGB is visible behind the picture. A profile is never dropped without a
    /// conversion. With `save.color`, the colours are converted after the filters.
    ///
    /// - Parameter output: the layout and format of the chain's output.
    package func colorPolicy(
        for header: ImageHeader, asked: ColorPolicy, save: SaveOptions, output: PixelLayout
    ) -> ColorPolicy {
        let losesGray = header.layout.removingAlpha == .gray && !holdsGray
        let losesProfile = save.metadata.kinds.map { !$0.contains(.icc) } ?? false
        let showsColor = output.hasAlpha && !descriptor.holdsAlpha && !Background(save.background).isInEverySpace
        let losesColor = save.color == nil && (losesProfile || losesGray || !descriptor.holdsProfile)
        return header.hasProfile && (losesColor || showsColor) ? .srgb : asked
    }
}

/// A file's picture that is read, as libvips reports it.
package struct LoadedPicture: Hashable {
    /// The page from 0; nil for the file's primary picture, or the first one.
    let page: Int?
    /// The number of pages.
    let pages: Int
    /// Whether it has a profile.
    let hasProfile: Bool
}

/// A libvips operation that reads files of one format.
package struct Loader: Hashable, Sendable {
    /// A property of the pixels that libvips reports wrongly, or that filters do not expect.
    enum Trait: Hashable, Sendable {
        /// The decoder rotates pictures upright. A remaining tag in the metadata must be ignored.
        case turnsUpright
        /// The loader reads one page or several of a file: `page` and `n`.
        case hasPages
        /// Samples are linear light, premultiplied by alpha.
        case linearPremultiplied
        /// The file has shapes, which can be drawn in any size: `scale`.
        case isDrawn
        /// The colours are computed from those of a sensor, whatever the tags of the file say of colours.
        case isDeveloped
    }

    let operation: String
    /// The name by which libvips allows or blocks it.
    let className: String
    /// Whether the loader needs a file name instead of a source. It receives a name that stands for the open file.
    let opensByName: Bool
    let traits: Set<Trait>

    init(_ operation: String, _ className: String, opensByName: Bool = false, traits: Set<Trait> = []) {
        self.operation = operation
        self.className = className
        self.opensByName = opensByName
        self.traits = traits
    }

    /// No operation, for a format that libvips does not read.
    static func own(_ traits: Set<Trait> = []) -> Loader { Loader("", "", traits: traits) }
}

/// A call of a libvips operation that writes to a target.
package struct Saver: Hashable, Sendable {
    let operation: String
    let arguments: [String: VipsArgument]
    /// The metadata that libvips writes into the file.
    let fields: Set<MetadataField>

    init(_ operation: String, _ arguments: [String: VipsArgument], fields: Set<MetadataField> = []) {
        self.operation = operation
        self.arguments = arguments
        self.fields = fields
    }
}

/// Metadata that libvips can write unchanged.
package enum MetadataField: String, Hashable, Sendable, CaseIterable {
    case icc = "icc-profile-data"
    case xmp = "xmp-data"
    case iptc = "iptc-data"
    case exif = "exif-data"
}

/// The reason why a picture cannot be written as requested.
package enum SaveError: Error, Hashable, Sendable {
    case option(String)
    case unsuitable(String)
}

/// The formats that Penumbra reads and writes.
package enum ImageFormats {
    package static let all: [any ImageFormat] = [
        JPEGFormat(), PNGFormat(), APNGFormat(), WebPFormat(), TIFFFormat(), GIFFormat(), AVIFFormat(), HEICFormat(),
        JPEGXLFormat(), JPEG2000Format(), PPMFormat(), BMPFormat(), PSDFormat(), OpenEXRFormat(), RadianceFormat(),
        CameraRawFormat(), SVGFormat(), PDFFormat(), DeepZoomFormat(), IIIFFormat(), MP4Format(), WebMFormat(),
        QuickTimeFormat(),
        MatroskaFormat(),
    ]

    /// The descriptors of the formats that this libvips supports, and of those that ffmpeg reads or writes.
    ///
    /// - Throws: an error if libvips does not start.
    package static func descriptors() throws(ImageFileError) -> [FormatDescriptor] {
        try VipsRuntime.startIfNeeded()
        return all.filter { $0 is any ClipFormat || VipsModules.offers($0) }.map(\.descriptor)
    }

    /// The format with this name in the catalog, such as `jpeg`.
    package static func named(_ name: String) -> (any ImageFormat)? { all.first { $0.descriptor.name == name } }

    /// The format of a file's content.
    static func recognizing(_ head: [UInt8]) -> (any ImageFormat)? { all.first { $0.recognizes(head) } }

    /// Whether a file is a clip, by its first bytes.
    package static func isClip(_ path: String, openedBy opener: FileOpener) throws(ImageFileError) -> Bool {
        recognizing(try InputFile(path: path, openedBy: opener).head(headLength)) is any ClipFormat
    }

    /// The number of a file's bytes that are needed to recognise it.
    static let headLength = 1024
}

/// The options of a format in a job, with the format's fallbacks for missing ones.
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

    func text(_ name: String) throws(SaveError) -> String {
        guard case .text(let value) = value(of: name) else { throw .option(name) }
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

/// The time of one core for a pixel of 8-bit RGB, in nanoseconds: measured on photographs with the formats' usual options, and
/// rough. The planner weighs it against filters.
package struct CodecCost: Hashable, Sendable {
    let decode: Double
    let encode: Double

    /// The time in seconds.
    package func decoding(_ shape: ImageShape) -> Double {
        seconds(decode, pixels: shape.width * shape.height, shape.layout, bytesPerSample: shape.sampleFormat.bytes)
    }

    /// The time in seconds.
    package func encoding(_ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat) -> Double {
        seconds(encode, pixels: rect.area, layout, bytesPerSample: format.bytes)
    }

    private func seconds(_ cost: Double, pixels: Int, _ layout: PixelLayout, bytesPerSample: Int) -> Double {
        cost * Double(pixels) * Double(layout.channels * bytesPerSample) / 3 / 1e9
    }
}
