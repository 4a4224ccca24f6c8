import Catalogs
import CVips
import JobModel

/// A picture in the colours that the first filter sees, with the metadata that go with them; rows still as in the file.
struct ConvertedPicture: ~Copyable {
    let image: VipsImageReference
    /// Of one frame.
    let shape: ImageShape
    let metadata: ImageMetadata
    /// How the rows lie.
    let orientation: Orientation
    /// What of the file is not in it.
    let losses: [DecodingLoss]

    init(_ stored: borrowing StoredPicture, policy: ColorPolicy) throws(UnsupportedFeature) {
        var metadata = ImageMetadata(of: stored.image)
        if let directories = stored.directories {
            try directories.checkFirstPage()
            metadata.takeTags(from: directories)
        }
        let found = Self.complete(&metadata, of: stored)
        metadata.resolution = metadata.resolution ?? found?.resolution
        let color = try StoredColor(stored.image)
        let picture = LoadedPicture(page: stored.page, pages: stored.pages, hasProfile: metadata.icc != nil)
        let stated = try stored.format.statedColor(in: stored.file, of: picture)
        if let stated, !picture.hasProfile || stated.outranksProfile {
            metadata.icc = stated.profile(isGray: color.space == .gray).map(Blob.init)
        }
        // What converts reads the profile from the image.
        let profiled = try Self.profiled(stored.image, metadata.icc)
        let plan = try ColorPlan(color, profile: metadata.icc.flatMap { ICCProfile($0.bytes) }, policy: policy)
        if plan != .keep(profile: true) { metadata.icc = nil }
        metadata.isConverted = plan.converts
        let image = try Self.convert(profiled, color, plan)
        shape = try Self.shape(of: image, color, frames: stored.frames)
        if stored.frames > 1 { metadata.animation = ImageMetadata.Animation(of: stored.image, frames: stored.frames) }
        losses = Self.losses(stored, color)
        orientation = found?.orientation ?? stored.orientation
        self.image = image
        self.metadata = metadata
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

    /// Adds metadata that libvips does not tell.
    ///
    /// - Returns: what EXIF says, where libvips has not seen it.
    private static func complete(
        _ metadata: inout ImageMetadata, of stored: borrowing StoredPicture
    ) -> ExifDocument? {
        let image = stored.image.retained()
        let isSeen = metadata.exif != nil
        stored.format.complete(&metadata, of: stored.file) { image.text($0) }
        return isSeen ? nil : metadata.exif.flatMap { ExifDocument(block: $0.bytes) }
    }

    consuming func takeImage() -> VipsImageReference { image }

    /// The image with this profile, where it has another or none.
    private static func profiled(
        _ image: borrowing VipsImageReference, _ icc: Blob?
    ) throws(UnsupportedFeature) -> VipsImageReference {
        guard let icc, image.blob(MetadataField.icc.rawValue) != icc.bytes else { return image.retained() }
        do throws(VipsFailure) {
            let call = try VipsCall("copy")
            call.set("in", to: image)
            let copy = try call.image()
            copy.setBlob(MetadataField.icc.rawValue, to: icc.bytes)
            return copy
        } catch {
            throw UnsupportedFeature("colours that cannot be converted (\(error.line))")
        }
    }

    private static func convert(
        _ image: borrowing VipsImageReference, _ color: StoredColor, _ plan: ColorPlan
    ) throws(UnsupportedFeature) -> VipsImageReference {
        do throws(VipsFailure) {
            return try ColorConversion.apply(plan, to: image, color: color)
        } catch {
            throw UnsupportedFeature("colours that cannot be converted (\(error.line))")
        }
    }

    private static func shape(
        of image: borrowing VipsImageReference, _ color: StoredColor, frames: Int
    ) throws(UnsupportedFeature) -> ImageShape {
        let layout: PixelLayout =
            switch (color.space, color.hasAlpha) {
            case (.gray, false): .gray
            case (.gray, true): .grayAlpha
            case (_, false): .rgb
            case (_, true): .rgba
            }
        guard image.bands == layout.channels else { throw UnsupportedFeature("\(image.bands) channels") }
        return ImageShape(
            width: image.width, height: image.height / frames, layout: layout,
            sampleFormat: try StoredColor.sampleFormat(image.bandFormat))
    }
}

extension TIFFDirectories {
    /// Refuses what libvips reads without a word, and wrongly.
    fileprivate func checkFirstPage() throws(UnsupportedFeature) {
        let entries = main
        func value(_ tag: UInt16) -> Int { entries.first { $0.tag == tag }.flatMap(number) ?? 0 }
        // As in many raw files of cameras, whose picture is elsewhere.
        guard value(ExifTag.newSubfileType) & 1 == 0 else {
            throw UnsupportedFeature("a mere preview as its first page")
        }
        let (premultiplied, float) = (1, 3)
        guard value(ExifTag.extraSamples) != premultiplied || value(ExifTag.sampleFormat) != float else {
            throw UnsupportedFeature("floating-point samples that are multiplied by alpha")
        }
    }
}
