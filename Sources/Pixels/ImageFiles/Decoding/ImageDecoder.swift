import CVips
package import Catalogs
package import FileAccess
package import Geometry
package import JobModel
package import Kernels
package import Raster

/// Reads one image file: first its header, then its rows, upright and in the colours that filters work in.
///
/// - Order: decode, colour, orientation. (Colour works pixel by pixel, so it may come before orientation.)
/// - Colour: gray and RGB keep their space and profile. CMYK (through its profile, or else libvips' generic one), Lab and
///   palettes become sRGB. With ``ColorPolicy/srgb``, gray and RGB with a valid profile are converted to sRGB, too. Converted
///   pixels have no profile, because readers treat untagged pixels as sRGB.
/// - HDR: PQ and HLG, as files or their profiles state them, become floats with the curve of sRGB, if they are asked for. Light that is
///   brighter than the reference white has values above 1. With ``ColorPolicy/srgb``, the primaries are converted, too.
/// - Samples: 1 to 8 bits become u8, 16 bits u16. Floats do not change. Other formats are refused.
/// - Pages: of a file with several pages one is read, or every frame of an animation; see ``PageChoice``.
/// - Damage is an error. It never results in gray rows.
///
/// One thread at a time may use it.
package final class ImageDecoder {
    package let header: ImageHeader
    package let metadata: ImageMetadata
    /// The curves from the delivered samples to light.
    package private(set) lazy var curve = TransferCurve(profile: metadata.icc?.bytes)
    /// The requested colours.
    package let color: ColorPolicy
    private let keepsCMYK: Bool
    let pages: PageChoice
    package let file: InputFile
    /// The shape of the picture in the file, which may not be upright.
    let storedShape: ImageShape
    /// The shape of the upright picture, with the file's samples.
    let shape: ImageShape
    let formatTitle: String
    /// Nil if the file contains pixels.
    let drawing: DrawingTime.Drawing?
    /// Gives the rows of a picture that Penumbra decodes itself.
    let feed: RowFeed?
    /// Nil for anything else than a clip.
    package let clip: Clip?
    let orientation: Orientation
    let limits: DecodeLimits
    private let opener: FileOpener
    /// Whether samples are linear light premultiplied by alpha.
    let isLinear: Bool
    /// The conversion of linear light to the primaries of sRGB. Nil for a picture that has them or keeps its own.
    private let primaries: [[Double]]?
    /// The conversion of HDR samples. Nil for other pictures.
    private let hdr: HDRDecoding?
    /// Whether the picture is in HDR, and needs floats.
    package var isHDR: Bool { hdr != nil }
    /// The source of the pixels, until they are read.
    private var image: VipsImageReference?

    /// Opens a file and reads its header. No pixel is decoded, and no memory is allocated for pixels.
    ///
    /// - Parameter name: the file's name for messages; nil for its path.
    /// - Parameter opener: opens the file, and has the scratch file for a large picture that is turned.
    /// - Parameter keepsCMYK: whether CMYK is delivered as it is in the file, which no filter can use.
    /// - Parameter shrink: 2, 4 or 8 for a picture of that fraction of its width and height, rounded up, if the format's
    ///   decoder supports it (see ``ImageHeader/largestShrink``).
    /// - Parameter dpi: how finely a drawing is drawn, in pixels for each inch. Nil for 72.
    /// - Parameter samples: the delivered samples; nil for those of the file. Floats that become integers are clamped to 0–1.
    /// - Parameter hdr: whether pictures in HDR are converted, which needs floats.
    /// - Parameter clips: decodes clips. Nil if only pictures are read.
    package init(
        path: String, name: String? = nil, openedBy opener: FileOpener = FileOpener(), limits: DecodeLimits,
        color: ColorPolicy, keepsCMYK: Bool = false, shrink: Int = 1, pages: PageChoice = .first,
        samples: SampleFormat? = nil, dpi: Int? = nil, hdr: HDRPolicy = .refuse, clips: (any ClipProgram)? = nil
    ) throws(ImageFileError) {
        try VipsRuntime.startIfNeeded()
        self.opener = opener
        let stored = try StoredPicture(
            path: path, name: name, openedBy: opener, shrink: shrink, pages: pages, dpi: dpi, clips: clips)
        try stored.checkSize(maxPixels: limits.maxPixels)
        let picture = try Self.convert(stored, color, keepsCMYK: keepsCMYK, hdr: hdr)
        if picture.hdr != nil, let samples, samples != .f32 {
            throw ImageFileError(
                path: stored.file.path,
                .unsupported(
                    format: stored.format.title, feature: "HDR colours and a 'precision' of integers",
                    remedy: "leave 'precision' out, or write 'precision: float'"))
        }
        metadata = picture.metadata
        self.hdr = picture.hdr
        primaries = picture.primaries
        self.color = color
        self.keepsCMYK = keepsCMYK
        self.pages = pages
        file = stored.file
        formatTitle = stored.format.title
        drawing = stored.drawing
        feed = stored.feed
        clip = stored.clip
        orientation = picture.orientation
        self.limits = limits
        isLinear = stored.format.loader.traits.contains(.linearPremultiplied)
        shape = picture.shape.turned(by: orientation)
        header = ImageHeader(
            formatName: stored.format.descriptor.name,
            shape: shape.with(samples ?? (picture.hdr == nil ? shape.sampleFormat : .f32)),
            storedSamples: shape.sampleFormat, orientation: orientation.rawValue, pages: stored.pages,
            frames: stored.frames,
            hasProfile: picture.metadata.icc != nil, losses: picture.losses,
            isHeldWhole: stored.isHeldWhole, heldBytes: stored.heldBytes,
            // HDR must be averaged after its conversion, so the decoder does not shrink it.
            largestShrink: picture.hdr == nil ? stored.largestShrink : 1)
        storedShape = picture.shape
        image = picture.takeImage()
    }

    static func convert(
        _ stored: borrowing StoredPicture, _ color: ColorPolicy, keepsCMYK: Bool, hdr: HDRPolicy = .refuse
    ) throws(ImageFileError) -> ConvertedPicture {
        do throws(UnsupportedFeatureError) {
            return try ConvertedPicture(stored, policy: color, keepsCMYK: keepsCMYK, hdr: hdr)
        } catch {
            let title = stored.format.title
            if error.needsOtherFilters, let remedy = error.remedy {
                throw ImageFileError(
                    path: stored.file.path,
                    .needsOtherFilters(format: title, feature: error.phrase, remedy: remedy))
            }
            throw ImageFileError(
                path: stored.file.path, .unsupported(format: title, feature: error.phrase, remedy: error.remedy))
        }
    }

    /// Hands over the image. It can be called only once.
    func takeImage() -> VipsImageReference {
        guard let image = image.take() else { preconditionFailure("a decoder reads its rows once") }
        return image
    }
}

/// What a decoder does with a picture in HDR: with PQ or HLG, as its file or its profile states them.
package enum HDRPolicy: Hashable, Sendable {
    case refuse
    /// It is refused with the advice to map its tones.
    case askForToneMap(Lack)
    /// It becomes floats with values above 1. Filters have to bring them into the range of a display.
    case convert

    /// The reason why the filters do not bring all light into the range of a display.
    package enum Lack: Hashable, Sendable {
        /// No filter maps tones.
        case noFilter
        /// The filters of some outputs do not.
        case someOutputs
        /// The filter is limited to a part of the picture.
        case partOfPicture

        var remedy: String {
            switch self {
            case .noFilter: "add the filter 'tone-map' for the whole picture"
            case .someOutputs: "add the filter 'tone-map' to every output, or write it under the filters of all of them"
            case .partOfPicture:
                "its 'tone-map' is limited by 'within' or 'mask'; leave them out, so that it maps the whole picture"
            }
        }
    }
}

extension ImageShape {
    /// The same shape with other samples.
    fileprivate func with(_ samples: SampleFormat) -> ImageShape {
        ImageShape(width: width, height: height, layout: layout, sampleFormat: samples)
    }

    /// The shape of the upright picture, for a file of this shape.
    func turned(by orientation: Orientation) -> ImageShape {
        orientation.swapsSides
            ? ImageShape(width: height, height: width, layout: layout, sampleFormat: sampleFormat) : self
    }
}

extension ImageDecoder {
    /// Decodes the picture and lends its bands, from top to bottom, each of them once.
    ///
    /// - Parameters:
    ///   - bandHeight: rows of a band; the last one may have fewer.
    ///   - body: receives rasters of the picture's full width, in coordinates that start at (0, 0). An error that it throws
    ///     stops the reading and is rethrown.
    /// - Throws: ``ImageFileError``, or the error of `body`. Damage in the last rows may be found only after the last band was
    ///   lent.
    /// - Precondition: this is the decoder's first and only reading.
    package func readRows(bandHeight: Int, _ body: (AnyRaster) throws -> Void) throws {
        precondition(bandHeight > 0 && header.frames == 1, "a band has rows, and they are of one picture")
        let rows = try StoredRows(takeImage(), of: self)
        let body = { try body(self.delivered($0)) }
        if header.streams {
            try readStreaming(rows, bandHeight, body)
        } else {
            try readWhole(rows, bandHeight, body)
        }
    }

    /// Decodes an animation, or a picture as its only frame, and lends the frames in order: whole rasters in coordinates that
    /// start at (0, 0). Otherwise it is like ``readRows(bandHeight:_:)``.
    package func readFrames(_ body: (AnyRaster) throws -> Void) throws {
        let source = try StoredRows(takeImage(), of: self)
        let (stored, upright) = (try wholeStore(), bandStore(header.height))
        for frame in 0..<header.frames {
            let top = frame * storedShape.height
            try source.decode(top..<top + storedShape.height, into: stored.bytes)
            turn(0..<header.height, stored, height: storedShape.height, into: upright)
            try body(delivered(raster(0..<header.height, from: upright)))
        }
        try source.finish()
    }

    /// Reads pictures whose upright rows are the file's rows, or those rows mirrored.
    private func readStreaming(
        _ source: consuming StoredRows, _ bandHeight: Int, _ body: (AnyRaster) throws -> Void
    ) throws {
        if orientation == .upright {
            for rows in bands(of: bandHeight) {
                try body(filledRaster(rows) { try source.decode(rows, into: $0) })
            }
            return try source.finish()
        }
        let (stored, upright) = (bandStore(bandHeight), bandStore(bandHeight))
        for rows in bands(of: bandHeight) {
            try source.decode(rows, into: stored.bytes)
            turn(0..<rows.count, stored, height: bandHeight, into: upright)
            try body(raster(rows, from: upright))
        }
        try source.finish()
    }

    /// Reads pictures that must be rotated: every upright band needs the whole file.
    private func readWhole(
        _ source: consuming StoredRows, _ bandHeight: Int, _ body: (AnyRaster) throws -> Void
    ) throws {
        let stored = try wholeStore()
        try source.decode(0..<storedShape.height, into: stored.bytes)
        try source.finish()
        let upright = bandStore(bandHeight)
        for rows in bands(of: bandHeight) {
            turn(rows, stored, height: storedShape.height, into: upright)
            try body(raster(rows, from: upright))
        }
    }

    private func bands(of bandHeight: Int) -> some Sequence<Range<Int>> {
        let height = header.height
        return stride(from: 0, to: height, by: bandHeight).lazy.map { $0..<min($0 + bandHeight, height) }
    }

    /// - Parameter height: the number of stored rows.
    private func turn(_ rows: Range<Int>, _ stored: PixelStore, height: Int, into upright: PixelStore) {
        orientation.copy(
            rows, from: UnsafeRawBufferPointer(stored.bytes), width: storedShape.width, height: height,
            pixelBytes: header.layout.channels * shape.sampleFormat.bytes, into: upright.bytes)
    }

    private func bandStore(_ bandHeight: Int) -> PixelStore {
        PixelStore(byteCount: min(bandHeight, header.height) * shape.stride)
    }

    private func wholeStore() throws(ImageFileError) -> PixelStore {
        do throws(PixelStore.MappingError) {
            return try PixelStore(byteCount: storedShape.byteCount, limits: limits, opener: opener)
        } catch {
            throw ImageFileError(path: file.path, .system(.turn, errno: error.errno))
        }
    }

    private func filledRaster(
        _ rows: Range<Int>, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows -> AnyRaster {
        try AnyRaster(
            rect: PixelRect(columns: 0..<header.width, rows: rows), layout: header.layout, format: shape.sampleFormat,
            filling: fill)
    }

    private func raster(_ rows: Range<Int>, from store: PixelStore) -> AnyRaster {
        let bytes = UnsafeRawBufferPointer(rebasing: store.bytes[..<(rows.count * shape.stride)])
        return AnyRaster(
            bytes: bytes.bytes, rect: PixelRect(columns: 0..<header.width, rows: rows), layout: header.layout,
            format: shape.sampleFormat)
    }

    /// The decoded raster in the form that filters need.
    func delivered(_ raster: AnyRaster) -> AnyRaster {
        let encoded = hdr?.convert(raster) ?? (isLinear ? raster.encodedFromLinear(primaries) : raster)
        return encoded.converted(to: header.sampleFormat)
    }
}

extension ImageDecoder {
    /// Decodes parts of the picture, each as a separate raster.
    ///
    /// For TIFF the cost is that of the parts. For other formats it is that of all rows down to the last one that is needed.
    /// Pixels are the same as those of ``readRows(bandHeight:_:)``.
    ///
    /// - Parameter rects: parts of the picture, upright; not empty.
    /// - Precondition: this is the decoder's first and only reading.
    package func readRegions(_ rects: [PixelRect]) throws -> [AnyRaster] {
        precondition(rects.allSatisfy { header.rect.contains($0) && !$0.isEmpty }, "parts lie in the picture")
        guard orientation == .upright, !isLinear, pages == .first, feed == nil else { return try regionsOfRows(rects) }
        // A directory may have an entry twice, and libtiff may have taken the other one.
        if TIFFStrips(file)?.height == header.rect.height { return try rects.map(regionOfStrips) }
        guard let directories = TIFFDirectories(size: file.size, fetch: { [file] in file.bytes(in: $0) }),
            directories.main.contains(where: { $0.tag == Self.tileWidthTag })
        else { return try regionsOfRows(rects) }
        let picture = try reopened(file, access: VIPS_ACCESS_RANDOM)
        let rows = try StoredRows(picture.takeImage(), of: self)
        return try rects.map { rect in
            delivered(
                try AnyRaster(rect: rect, layout: shape.layout, format: shape.sampleFormat) {
                    try rows.decode(rect, into: $0)
                })
        }
    }

    private static let tileWidthTag: UInt16 = 322

    private func reopened(_ file: InputFile, access: VipsAccess) throws(ImageFileError) -> ConvertedPicture {
        try Self.convert(
            try StoredPicture(file: file, pages: pages, access: access), color, keepsCMYK: keepsCMYK)
    }

    private func regionOfStrips(_ rect: PixelRect) throws -> AnyRaster {
        guard let strips = TIFFStrips(file) else { throw ImageFileError(path: file.path, .notAnImage) }
        let excerpt = try strips.excerpt(of: file, rows: rect.rows)
        let picture = try reopened(excerpt.file, access: VIPS_ACCESS_SEQUENTIAL)
        let shape = picture.shape
        let rows = try StoredRows(picture.takeImage(), of: self, shape: shape)
        let part = PixelRect(x: rect.x, y: rect.y - excerpt.rows.lowerBound, width: rect.width, height: rect.height)
        return delivered(
            try AnyRaster(rect: rect, layout: self.shape.layout, format: self.shape.sampleFormat) {
                try rows.decode(part, into: $0)
            })
    }

    /// Crops the parts from whole rows, from the top down to the last row that is needed.
    private func regionsOfRows(_ rects: [PixelRect]) throws -> [AnyRaster] {
        struct Enough: Error {}
        var parts = rects.map { AnyRaster(zeroed: $0, layout: header.layout, format: header.sampleFormat) }
        let last = rects.map(\.bottom).max() ?? 0
        do {
            try readRows(bandHeight: 64) { band in
                for index in parts.indices {
                    let common = band.rect.intersection(parts[index].rect)
                    if !common.isEmpty { parts[index].paste(band.cropped(to: common)) }
                }
                if band.rect.bottom >= last { throw Enough() }
            }
        } catch is Enough {}
        return parts
    }
}

extension ImageHeader {
    /// The picture as a rectangle.
    package var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
}

/// The order of a file's rows in the upright picture: the orientation tag of TIFF and EXIF.
package enum Orientation: Int, Hashable, Sendable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case flipped = 4
    /// Rows are columns of the upright picture.
    case transposed = 5
    /// The picture must be rotated clockwise.
    case turnedLeft = 6
    /// Rows are columns, mirrored from the opposite corner.
    case transversed = 7
    /// The picture must be rotated counter-clockwise.
    case turnedRight = 8

    /// Unknown tags count as upright, as in other programs.
    package init(tag: Int) { self = Orientation(rawValue: tag) ?? .upright }

    /// Whether an upright row needs only one row of the file.
    package var isRowLocal: Bool { self == .upright || self == .mirrored }

    /// Whether the file's width is the upright picture's height.
    package var swapsSides: Bool { rawValue >= 5 }

    /// The positions of the upright picture's pixels in a file of `width` by `height` pixels: pixel (x, y) is the file's pixel
    /// number `origin + x * right + y * down`.
    package func steps(width: Int, height: Int) -> (origin: Int, right: Int, down: Int) {
        let last = width * height - 1
        return switch self {
        case .upright: (0, 1, width)
        case .mirrored: (width - 1, -1, width)
        case .upsideDown: (last, -1, -width)
        case .flipped: (last - width + 1, 1, -width)
        case .transposed: (0, width, 1)
        case .turnedLeft: (last - width + 1, -width, 1)
        case .transversed: (last, -width, -1)
        case .turnedRight: (width - 1, width, -1)
        }
    }
}

extension Orientation {
    /// The number of columns that are copied together. When rows become columns, this many pages of the source are in use at
    /// once.
    private static let blockWidth = 256

    /// Copies rows of the upright picture from the rows of its file.
    ///
    /// - Parameters:
    ///   - source: all rows of the file.
    ///   - width, height: the size in the file.
    ///   - target: `rows.count` upright rows.
    func copy(
        _ rows: Range<Int>, from source: UnsafeRawBufferPointer, width: Int, height: Int, pixelBytes: Int,
        into target: UnsafeMutableRawBufferPointer
    ) {
        let steps = steps(width: width, height: height)
        let uprightWidth = swapsSides ? height : width
        for left in stride(from: 0, to: uprightWidth, by: Self.blockWidth) {
            let columns = left..<min(uprightWidth, left + Self.blockWidth)
            for (index, row) in rows.enumerated() {
                var from = (steps.origin + row * steps.down + left * steps.right) * pixelBytes
                var to = (index * uprightWidth + left) * pixelBytes
                for _ in columns {
                    for byte in 0..<pixelBytes { target[to + byte] = source[from + byte] }
                    from += steps.right * pixelBytes
                    to += pixelBytes
                }
            }
        }
    }
}
