import Catalogs
package import JobModel
package import Kernels

/// Reads one image file: first its header, then its rows, upright and in the colours that filters work in.
///
/// - Order: decode, colour, orientation. (Colour works pixel by pixel, so it may come before orientation.)
/// - Colour: gray and RGB keep their space and profile; CMYK (through its profile, else libvips' generic one), Lab and
///   palettes become sRGB. Under ``ColorPolicy/srgb`` gray and RGB with a profile that fits go through it to sRGB too.
///   What was converted carries no profile: untagged pixels are sRGB for every reader.
/// - Samples: 1 to 8 bits become u8, 16 bits u16; floats stay as they are. Anything else is refused.
/// - Of a file with several pages one is read, or, of an animation, every frame: ``PageChoice``.
/// - Damage is an error, never gray rows.
///
/// Used by one thread at a time.
package final class ImageDecoder {
    package let header: ImageHeader
    package let metadata: ImageMetadata
    /// What the delivered samples mean.
    package private(set) lazy var curve = TransferCurve(profile: metadata.icc?.bytes)
    /// What was asked for.
    package let color: ColorPolicy
    let pages: PageChoice
    let file: InputFile
    /// The picture as the file has it: not upright yet.
    let storedShape: ImageShape
    /// Upright, with the file's samples.
    let shape: ImageShape
    let formatTitle: String
    /// Nil where the file has pixels.
    let drawing: DrawingTime.Drawing?
    let orientation: Orientation
    let limits: DecodeLimits
    /// Samples come as linear light multiplied by alpha.
    let isLinear: Bool
    /// Where the pixels come from, until they are read.
    private var image: VipsImageReference?

    /// Opens a file and reads its header; no pixel is decoded and no memory taken for them.
    ///
    /// - Parameter name: of the file, as messages have it; nil for its path.
    /// - Parameter shrink: 2, 4 or 8 for a picture of that part of its width and height, rounded up, where the format's
    ///   decoder can make one (see ``ImageHeader/canShrink``).
    /// - Parameter isFine: whether samples of 8 bits are delivered as 16.
    package init(
        path: String, name: String? = nil, limits: DecodeLimits, color: ColorPolicy, shrink: Int = 1,
        pages: PageChoice = .first, isFine: Bool = false
    ) throws(ImageFileError) {
        try VipsRuntime.startIfNeeded()
        let stored = try StoredPicture(path: path, name: name, shrink: shrink, pages: pages)
        try stored.checkSize(maxPixels: limits.maxPixels)
        let picture = try Self.convert(stored, color)
        metadata = picture.metadata
        self.color = color
        self.pages = pages
        file = stored.file
        formatTitle = stored.format.title
        drawing = stored.drawing
        orientation = picture.orientation
        self.limits = limits
        isLinear = stored.format.loader.traits.contains(.linearPremultiplied)
        shape = picture.shape.turned(by: orientation)
        header = ImageHeader(
            formatName: stored.format.descriptor.name, shape: isFine ? shape.fine : shape,
            orientation: orientation.rawValue, pages: stored.pages, frames: stored.frames,
            hasProfile: picture.metadata.icc != nil, losses: picture.losses,
            isHeldWhole: stored.isHeldWhole, canShrink: stored.format.shrinking(by: 2) != nil)
        storedShape = picture.shape
        image = picture.takeImage()
    }

    static func convert(
        _ stored: borrowing StoredPicture, _ color: ColorPolicy
    ) throws(ImageFileError) -> ConvertedPicture {
        do throws(UnsupportedFeature) {
            return try ConvertedPicture(stored, policy: color)
        } catch {
            throw ImageFileError(
                path: stored.file.path,
                .unsupported(format: stored.format.title, feature: error.phrase, remedy: error.remedy))
        }
    }

    /// Hands over the image, once.
    func takeImage() -> VipsImageReference {
        guard let image = image.take() else { preconditionFailure("a decoder reads its rows once") }
        return image
    }
}

extension ImageShape {
    /// The same with samples of 16 bits in place of 8.
    fileprivate var fine: ImageShape {
        ImageShape(
            width: width, height: height, layout: layout, sampleFormat: sampleFormat == .u8 ? .u16 : sampleFormat)
    }

    /// The shape of the upright picture when this one is the file's.
    func turned(by orientation: Orientation) -> ImageShape {
        orientation.swapsSides
            ? ImageShape(width: height, height: width, layout: layout, sampleFormat: sampleFormat) : self
    }
}
