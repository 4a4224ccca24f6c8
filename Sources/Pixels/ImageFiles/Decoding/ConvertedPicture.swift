import Arithmetic
import CVips
import Catalogs
import JobModel
import Kernels

/// A picture in the colours of the first filter, with the corresponding metadata. Its rows are still in the order of the file.
struct ConvertedPicture: ~Copyable {
    let image: VipsImageReference
    /// The shape of one frame.
    let shape: ImageShape
    let metadata: ImageMetadata
    /// The orientation of the rows.
    let orientation: Orientation
    /// The contents of the file that the picture does not keep.
    let losses: [DecodingLoss]
    /// The conversion that the rows still need. Nil for all pictures but those in HDR.
    let hdr: HDRDecoding?
    /// The conversion of linear light to the primaries of sRGB that the rows still need. Nil for most pictures.
    let primaries: [[Double]]?

    /// - Parameter keepsCMYK: whether CMYK is not converted to sRGB. Filters cannot use it.
    init(
        _ stored: borrowing StoredPicture, policy: ColorPolicy, keepsCMYK: Bool = false, hdr: HDRPolicy = .refuse
    ) throws(UnsupportedFeatureError) {
        var metadata = ImageMetadata(of: stored.image)
        if let directories = stored.directories {
            try directories.checkFirstPage()
            metadata.takeTags(from: directories)
        }
        let found = Self.complete(&metadata, of: stored)
        metadata.resolution = metadata.resolution ?? found?.resolution
        let color = try StoredColor(stored.image)
        let picture = LoadedPicture(page: stored.page, pages: stored.pages, hasProfile: metadata.icc != nil)
        var stated = stored.stated
        if stated == nil { stated = try stored.format.statedColor(in: stored.file, of: picture) }
        var profile = metadata.icc.flatMap { ICCProfile($0.bytes) }
        if picture.hasProfile, stated?.outranksProfile != true { stated = try Self.statedHDR(profile, color) }
        if let stated {
            let own = stated.profile(isGray: color.space == .gray)
            (metadata.icc, profile) = (own.map(Blob.init), own.flatMap(ICCProfile.init))
        }
        let decoding = try Self.decoding(stated, color, stored, policy, hdr)
        let isLinear = stored.format.loader.traits.contains(.linearPremultiplied)
        let linear = isLinear && policy == .srgb ? stated?.primaries.matrixToSRGB : nil
        // What the decoder converts to sRGB has no profile.
        if decoding != nil && policy == .srgb || linear != nil { (metadata.icc, profile) = (nil, nil) }
        // The conversion reads the profile from the image.
        let profiled = try Self.profiled(stored.image, metadata.icc)
        let plan = try ColorPlan(color, profile: profile, policy: policy, keepsCMYK: keepsCMYK)
        if plan != .keep(profile: true) { metadata.icc = nil }
        metadata.isConverted = plan.converts || decoding != nil || linear != nil || stored.isDeveloped
        let image = try Self.convert(profiled, color, plan)
        shape = try Self.shape(of: image, color, plan, frames: stored.frames)
        if stored.frames > 1 { metadata.animation = ImageMetadata.Animation(of: stored.image, frames: stored.frames) }
        losses = Self.losses(stored, color)
        orientation = found?.orientation ?? stored.orientation
        self.hdr = decoding
        self.primaries = linear
        self.image = image
        self.metadata = metadata
    }

    /// The HDR colours that the profile of a picture states. Nil for a picture in another range, and for a profile that is
    /// not valid for it.
    private static func statedHDR(
        _ profile: ICCProfile?, _ color: StoredColor
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        guard let layout = color.space.layout, let profile, profile.fits(layout) else { return nil }
        return try profile.statedHDR()
    }

    /// The conversion of HDR samples. Nil for a picture in another range.
    private static func decoding(
        _ stated: StatedColor?, _ color: StoredColor, _ stored: borrowing StoredPicture, _ policy: ColorPolicy,
        _ hdr: HDRPolicy
    ) throws(UnsupportedFeatureError) -> HDRDecoding? {
        guard let stated, let curve = stated.hdr else { return nil }
        switch hdr {
        case .refuse: throw .hdr(curve)
        case .askForToneMap(let lack): throw .hdr(curve, lack)
        case .convert: break
        }
        guard color.space == .gray || color.space == .rgb, color.sampleFormat == .u8 || color.sampleFormat == .u16,
            let full = stored.fullIntensity,
            let decoding = stated.decoding(to: policy, isGray: color.space == .gray, full: full)
        else { throw .hdr(curve) }
        return decoding
    }

    private static func losses(_ stored: borrowing StoredPicture, _ color: StoredColor) -> [DecodingLoss] {
        var losses: [DecodingLoss] = []
        switch color.space {
        case .cmyk: losses.append(.cmyk)
        case .lab: losses.append(.lab)
        case .gray, .rgb: break
        }
        if case .double = stored.file.floats[stored.page ?? 0] { losses.append(.doubles) }
        if stored.format.holdsFurtherPictures(stored.file) { losses.append(.furtherPictures) }
        return losses
    }

    /// Adds metadata that libvips does not report.
    ///
    /// - Returns: the orientation in EXIF, if libvips has not read it.
    private static func complete(_ metadata: inout ImageMetadata, of stored: borrowing StoredPicture) -> ExifDocument? {
        let image = stored.image.retained()
        let isSeen = metadata.exif != nil
        stored.format.complete(&metadata, of: stored.file) { image.text($0) }
        return isSeen ? nil : metadata.exif.flatMap { ExifDocument(block: $0.bytes) }
    }

    consuming func takeImage() -> VipsImageReference { image }

    /// The image with this profile, if it has another one or none.
    private static func profiled(
        _ image: borrowing VipsImageReference, _ icc: Blob?
    ) throws(UnsupportedFeatureError) -> VipsImageReference {
        guard let icc, image.blob(MetadataField.icc.rawValue) != icc.bytes else { return image.retained() }
        do throws(VipsError) {
            let call = try VipsCall("copy")
            call.set("in", to: image)
            let copy = try call.image()
            copy.setBlob(MetadataField.icc.rawValue, to: icc.bytes)
            return copy
        } catch {
            throw UnsupportedFeatureError("colours that cannot be converted (\(error.line))")
        }
    }

    private static func convert(
        _ image: borrowing VipsImageReference, _ color: StoredColor, _ plan: ColorPlan
    ) throws(UnsupportedFeatureError) -> VipsImageReference {
        do throws(VipsError) {
            return try plan.apply(to: image, color)
        } catch {
            throw UnsupportedFeatureError("colours that cannot be converted (\(error.line))")
        }
    }

    private static func shape(
        of image: borrowing VipsImageReference, _ color: StoredColor, _ plan: ColorPlan, frames: Int
    ) throws(UnsupportedFeatureError) -> ImageShape {
        let layout: PixelLayout =
            switch (color.space, color.hasAlpha) {
            case (.gray, false): .gray
            case (.gray, true): .grayAlpha
            case (.cmyk, _) where !plan.converts: .cmyk
            case (_, false): .rgb
            case (_, true): .rgba
            }
        guard image.bands == layout.channels else { throw UnsupportedFeatureError("\(image.bands) channels") }
        return ImageShape(
            width: image.width, height: image.height / frames, layout: layout,
            sampleFormat: try StoredColor.sampleFormat(image.bandFormat))
    }
}

extension TIFFDirectories {
    /// Refuses contents that libvips reads wrongly without a warning.
    fileprivate func checkFirstPage() throws(UnsupportedFeatureError) {
        let entries = main
        func value(_ tag: UInt16) -> Int { entries.first { $0.tag == tag }.flatMap(number) ?? 0 }
        // For example raw files of cameras, whose main picture is in another directory.
        guard value(ExifTag.newSubfileType) & 1 == 0 else {
            throw UnsupportedFeatureError("a mere preview as its first page")
        }
        let (premultiplied, float) = (1, 3)
        guard value(ExifTag.extraSamples) != premultiplied || value(ExifTag.sampleFormat) != float else {
            throw UnsupportedFeatureError("floating-point samples that are multiplied by alpha")
        }
    }
}

/// The conversion of a picture's colours between the file and the first filter.
enum ColorPlan: Hashable {
    /// No conversion. A profile for another colour space than the picture's is dropped.
    case keep(profile: Bool)
    /// A conversion to sRGB through the embedded profile, or through libvips' profile of this name if there is none.
    case throughProfile(fallback: String?)
    /// A conversion to sRGB through the embedded profile, by its definition: 16 bits.
    case throughMatrix(MatrixProfile)
    /// The same for gray, whose profile is only a curve. It keeps the picture's bits.
    case throughCurve(ToneCurve)
    /// A conversion from Lab, which needs no profile.
    case fromLab

    var converts: Bool {
        switch self {
        case .keep: false
        case .throughProfile, .throughMatrix, .throughCurve, .fromLab: true
        }
    }

    init(
        _ color: StoredColor, profile: ICCProfile?, policy: ColorPolicy, keepsCMYK: Bool
    ) throws(UnsupportedFeatureError) {
        switch color.space {
        case .cmyk where keepsCMYK:
            self = .keep(profile: profile?.fits(.cmyk) ?? false)
        case .cmyk:
            guard color.sampleFormat != .f32 else { throw UnsupportedFeatureError("floating-point CMYK samples") }
            self = .throughProfile(fallback: "cmyk")
        case .lab:
            self = .fromLab
        case .gray, .rgb:
            let fits = color.space.layout.map { profile?.fits($0) ?? false } ?? false
            guard policy == .srgb, fits else {
                self = .keep(profile: fits)
                return
            }
            guard color.sampleFormat != .f32 else {
                throw UnsupportedFeatureError(
                    "floating-point samples and a profile that has to be converted to sRGB",
                    remedy: "store it in sRGB, or in 16 bits")
            }
            if color.sampleFormat == .u16, color.space == .rgb, let matrix = profile?.matrix {
                self = .throughMatrix(matrix)
            } else if color.space == .gray, let curve = profile?.grayCurve {
                self = .throughCurve(curve)
            } else {
                self = .throughProfile(fallback: nil)
            }
        }
    }
}

extension ColorPlan {
    /// Adds the steps of the conversion to a libvips pipeline. Every step works pixel by pixel.
    func apply(to image: borrowing VipsImageReference, _ color: StoredColor) throws(VipsError) -> VipsImageReference {
        switch self {
        case .keep:
            return image.retained()
        case .fromLab:
            return try Self.fromLab(image)
        case .throughMatrix(let profile):
            return try Self.throughMatrix(image, profile, hasAlpha: color.hasAlpha)
        case .throughCurve(let curve):
            let bands = color.hasAlpha ? 2 : 1
            let table =
                if color.sampleFormat == .u16 {
                    try VipsImageReference(table: Self.grays(curve, color, full: UInt16.max), bands: bands)
                } else {
                    try VipsImageReference(table: Self.grays(curve, color, full: UInt8.max), bands: bands)
                }
            return try Self.looked(up: image, in: table)
        case .throughProfile(let fallback):
            let converted = try Self.throughProfile(
                image, fallback: fallback, depth: color.sampleFormat == .u16 ? 16 : 8)
            return color.space == .gray ? try Self.grayAgain(converted, hasAlpha: color.hasAlpha) : converted
        }
    }

    private static func fromLab(_ image: borrowing VipsImageReference) throws(VipsError) -> VipsImageReference {
        // 16-bit Lab needs 16-bit RGB.
        let isFine = image.interpretation == VIPS_INTERPRETATION_LABS
        let call = try VipsCall("colourspace")
        call.set("in", to: image)
        call.set("space", to: .integer(Int((isFine ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB).rawValue)))
        return try call.image()
    }

    /// A conversion with relative colorimetric intent, without black point compensation: libvips' default.
    private static func throughProfile(
        _ image: borrowing VipsImageReference, fallback: String?, depth: Int
    ) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("icc_transform")
        call.set("in", to: image)
        call.set("embedded", to: .boolean(true))
        if let fallback { call.set("input_profile", to: fallback) }
        call.set("output_profile", to: "srgb")
        call.set("depth", to: .integer(depth))
        return try call.image()
    }

    /// Applies the profile's curves, the matrix from its primaries to those of sRGB, and the curve of sRGB. Alpha does not
    /// change.
    private static func throughMatrix(
        _ image: borrowing VipsImageReference, _ profile: MatrixProfile, hasAlpha: Bool
    ) throws(VipsError) -> VipsImageReference {
        let bands = hasAlpha ? 4 : 3
        let matrix = profile.matrix(hasAlpha: hasAlpha, full: Double(MatrixProfile.steps))
        let light = try looked(
            up: image, in: try VipsImageReference(table: profile.light(hasAlpha: hasAlpha), bands: bands))
        let mix = try VipsCall("recomb")
        mix.set("in", to: light)
        mix.set("m", to: try VipsImageReference(matrix: matrix))
        let round = try VipsCall("round")
        round.set("in", to: try mix.image())
        round.set("round", to: .integer(Int(VIPS_OPERATION_ROUND_RINT.rawValue)))
        // The cast clamps to integers from 0 on. The table clamps at its other end.
        let cast = try VipsCall("cast")
        cast.set("in", to: try round.image())
        cast.set("format", to: .integer(Int(VIPS_FORMAT_UINT.rawValue)))
        let encoded = try VipsImageReference(table: MatrixProfile.encoded(hasAlpha: hasAlpha), bands: bands)
        let tagged = try VipsCall("copy")
        tagged.set("in", to: try looked(up: try cast.image(), in: encoded))
        tagged.set("interpretation", to: .integer(Int(VIPS_INTERPRETATION_RGB16.rawValue)))
        return try tagged.image()
    }

    /// The sRGB value for every value of a gray picture. If there is alpha, each is followed by the unchanged alpha.
    private static func grays<Sample: FixedWidthInteger>(
        _ curve: ToneCurve, _ color: StoredColor, full: Sample
    ) -> [Sample] {
        (0...full).flatMap { value -> [Sample] in
            let light = curve.light(of: Double(value) / Double(full))
            let gray = Sample((SRGBCurve.encode(light) * Double(full)).rounded())
            return color.hasAlpha ? [gray, value] : [gray]
        }
    }

    private static func looked(
        up image: borrowing VipsImageReference, in table: borrowing VipsImageReference
    ) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("maplut")
        call.set("in", to: image)
        call.set("lut", to: table)
        return try call.image()
    }

    /// Reduces RGB with three equal channels, which results from gray through a profile, to one of them and alpha.
    private static func grayAgain(
        _ image: borrowing VipsImageReference, hasAlpha: Bool
    ) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("extract_band")
        call.set("in", to: image)
        call.set("band", to: .integer(2))
        call.set("n", to: .integer(hasAlpha ? 2 : 1))
        return try call.image()
    }
}

/// The colour space and sample format of a file's picture, as libvips reads them.
struct StoredColor: Hashable {
    enum Space: Hashable {
        case gray
        case rgb
        case cmyk
        case lab

        /// The layout of pixels that filters can use. Nil if there is none.
        var layout: PixelLayout? {
            switch self {
            case .gray: .gray
            case .rgb: .rgb
            case .cmyk, .lab: nil
            }
        }
    }

    let space: Space
    let hasAlpha: Bool
    /// Nil for Lab, which has formats of its own and is converted to one of ours.
    let sampleFormat: SampleFormat?

    /// - Throws: a phrase that names the unsupported feature.
    init(_ image: borrowing VipsImageReference) throws(UnsupportedFeatureError) {
        space = try Self.space(image.interpretation, bands: image.bands)
        let colors =
            switch space {
            case .gray: 1
            case .rgb, .lab: 3
            case .cmyk: 4
            }
        // A packed Lab pixel is four bytes of three channels.
        let bands = image.coding == VIPS_CODING_LABQ ? 3 : image.bands
        guard bands == colors || (bands == colors + 1 && space != .cmyk) else {
            throw UnsupportedFeatureError("\(bands) channels")
        }
        hasAlpha = bands > colors
        sampleFormat = space == .lab ? nil : try Self.sampleFormat(image.bandFormat)
    }

    private static func space(
        _ interpretation: VipsInterpretation, bands: Int
    ) throws(UnsupportedFeatureError) -> Space {
        switch interpretation {
        case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: .gray
        case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_scRGB:
            .rgb
        case VIPS_INTERPRETATION_CMYK: .cmyk
        case VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LABQ: .lab
        default: throw UnsupportedFeatureError("\(bands) channels of an unknown colour space")
        }
    }

    static func sampleFormat(_ format: VipsBandFormat) throws(UnsupportedFeatureError) -> SampleFormat {
        switch format {
        case VIPS_FORMAT_UCHAR: .u8
        case VIPS_FORMAT_USHORT: .u16
        case VIPS_FORMAT_FLOAT: .f32
        case VIPS_FORMAT_CHAR, VIPS_FORMAT_SHORT: throw UnsupportedFeatureError("signed samples")
        case VIPS_FORMAT_UINT, VIPS_FORMAT_INT: throw UnsupportedFeatureError("32-bit integer samples")
        case VIPS_FORMAT_DOUBLE: throw UnsupportedFeatureError("64-bit samples")
        default: throw UnsupportedFeatureError("complex samples")
        }
    }
}

/// An unsupported feature of a picture, as a phrase that follows "with".
package struct UnsupportedFeatureError: Error, Hashable {
    let phrase: String
    /// The remedy for the user.
    let remedy: String?
    /// Whether the remedy is another filter.
    let needsOtherFilters: Bool

    init(_ phrase: String, remedy: String? = nil, needsOtherFilters: Bool = false) {
        self.phrase = phrase
        self.remedy = remedy
        self.needsOtherFilters = needsOtherFilters
    }

    /// The error for an animation of which libvips would read only one picture.
    static func animation(_ phrase: String) -> UnsupportedFeatureError {
        UnsupportedFeatureError(phrase, remedy: "make an animated WebP or GIF of it")
    }
}
