import Catalogs
import CVips
import JobModel

/// A picture as its file has it: the header is read, the pixels wait in a libvips pipeline.
struct StoredPicture: ~Copyable {
    let file: InputFile
    let format: any ImageFormat
    let image: VipsImageReference
    /// One below the other in ``image``.
    let frames: Int
    /// The page that was asked for; nil for the one that the file names, or its first.
    let page: Int?
    /// Nil where the file has pixels.
    let drawing: DrawingTime.Drawing?

    /// Opens a file and recognises it by its content.
    ///
    /// - Parameter name: of the file, as messages have it; nil for its path.
    /// - Parameter shrink: 2, 4 or 8 for a picture of that part of its size, where the format can; else 1.
    init(path: String, name: String?, shrink: Int, pages: PageChoice) throws(ImageFileError) {
        let file = try InputFile(path: path, name: name)
        guard file.size > 0 else { throw ImageFileError(path: file.path, .empty) }
        try self.init(file: file, shrink: shrink, pages: pages)
    }

    /// - Parameter access: how the pixels will be asked for; only some formats are any good at random.
    init(
        file: InputFile, shrink: Int = 1, pages: PageChoice, access: VipsAccess = VIPS_ACCESS_SEQUENTIAL
    ) throws(ImageFileError) {
        let head = try file.head(ImageFormats.headLength)
        guard let format = ImageFormats.recognizing(head) else { throw ImageFileError(path: file.path, .notAnImage) }
        if let feature = format.unsupportedFeature(in: head) {
            throw ImageFileError(path: file.path, .unsupported(format: format.title, feature: feature))
        }
        VipsModules.load(for: format)
        guard VipsModules.offers(format) else {
            throw ImageFileError(path: file.path, .noDecoder(format: format.title))
        }
        // Of a format without pages each one would be the same picture. libvips tells of other formats' pages.
        if case .page(let number) = pages, number > 0, !format.loader.traits.contains(.hasPages) {
            throw ImageFileError(
                path: file.path, .brokenHeader(format: format.title, detail: "it has no page \(number + 1)"))
        }
        if let damage = format.damage(in: file) {
            if let errno = file.failure { throw ImageFileError(path: file.path, .read, errno: errno) }
            throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: damage))
        }
        let file = try Self.readable(file, format)
        // Even to tell its size can take long.
        let outline = try Self.checked(file, format) { () throws(UnsupportedFeature) in try format.drawing(in: file) }
        try Self.check(outline, file, format)
        let page: Int? =
            if case .page(let number) = pages, format.loader.traits.contains(.hasPages) { number } else { nil }
        let drawing = DrawingTime.Drawing(file, format)
        let loaded = try DrawingTime.shared.counting(drawing) {
            () throws(ImageFileError) in try Self.load(file, format, shrink, pages, access)
        }
        let image = try Self.inOurFloats(loaded, file.floats[page ?? 0], file, format)
        try Self.check(outline, file, format, width: image.width, height: image.height)
        let pageHeight = image.integer("page-height") ?? image.height
        let isWhole = pageHeight > 0 && image.height % pageHeight == 0
        frames = pages == .animation && isWhole ? image.height / pageHeight : 1
        self.image = image
        self.page = page
        self.file = file
        self.format = format
        self.drawing = drawing
    }

    /// Refuses what clearly takes too long to draw.
    ///
    /// - Parameter width, height: of the picture; 0 while they are not known, for what does not depend on them.
    private static func check(
        _ outline: SVGDrawing?, _ file: InputFile, _ format: any ImageFormat, width: Int = 0, height: Int = 0
    ) throws(ImageFileError) {
        let limit = DrawingTime.shared
        guard let work = outline?.excess(over: limit.most, width: width, height: height) else { return }
        throw ImageFileError(
            path: file.path, .costlyDrawing(format: format.title, work: work, seconds: limit.wholeSeconds))
    }

    private static func load(
        _ file: InputFile, _ format: any ImageFormat, _ shrink: Int, _ pages: PageChoice, _ access: VipsAccess
    ) throws(ImageFileError) -> VipsImageReference {
        do throws(VipsFailure) {
            let call = try VipsCall(format.loader.operation)
            if format.loader.opensByName {
                call.set("filename", to: file.openName)
            } else {
                call.set("source", to: try VipsReference.reading(file))
            }
            call.set("access", to: .integer(Int(access.rawValue)))
            // The strictest: decoders go on after damage with a mere warning, and fill the rest with gray.
            call.set("fail_on", to: .integer(Int(VIPS_FAIL_ON_WARNING.rawValue)))
            if shrink > 1, let argument = format.shrinking(by: shrink) { call.set(argument.name, to: argument.value) }
            if format.loader.traits.contains(.hasPages) {
                switch pages {
                case .first, .frame: break  // of HEIC the one that the file names
                case .animation: if format.descriptor.holdsAnimation { call.set("n", to: .integer(-1)) }
                case .page(let number): call.set("page", to: .integer(number))
                }
            }
            return try call.image()
        } catch {
            if let errno = file.findFailure() { throw ImageFileError(path: file.path, .read, errno: errno) }
            throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: error.line))
        }
    }

    private static func checked<Result>(
        _ file: InputFile, _ format: any ImageFormat, _ body: () throws(UnsupportedFeature) -> Result
    ) throws(ImageFileError) -> Result {
        do throws(UnsupportedFeature) {
            return try body()
        } catch {
            throw ImageFileError(
                path: file.path,
                .unsupported(format: format.title, feature: error.phrase, remedy: error.remedy))
        }
    }

    /// The file as libvips can read it.
    private static func readable(
        _ file: InputFile, _ format: any ImageFormat
    ) throws(ImageFileError) -> InputFile {
        guard file.floats.isEmpty else { return file }
        let tiff = try checked(file, format) { () throws(UnsupportedFeature) in try FloatTIFF(file) }
        return try tiff.map { tiff throws(ImageFileError) in
            try InputFile(file, patches: tiff.patches, floats: tiff.samples)
        } ?? file
    }

    /// Floats of 16 and 64 bits as those of 32, which filters work on.
    private static func inOurFloats(
        _ image: consuming VipsImageReference, _ floats: FloatTIFF.Samples?, _ file: InputFile,
        _ format: any ImageFormat
    ) throws(ImageFileError) -> VipsImageReference {
        guard let floats else { return image }
        do throws(VipsFailure) {
            return try floats.floats(image)
        } catch {
            throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: error.line))
        }
    }

    func checkSize(maxPixels: Int) throws(ImageFileError) {
        let (pixels, overflows) = image.width.multipliedReportingOverflow(by: image.height)
        guard !overflows, pixels <= maxPixels else {
            throw ImageFileError(
                path: file.path, .tooManyPixels(width: image.width, height: image.height, limit: maxPixels))
        }
    }

    var orientation: Orientation {
        format.loader.traits.contains(.turnsUpright) ? .upright : Orientation(tag: image.integer("orientation") ?? 1)
    }

    /// The tags of a TIFF file, most of which libvips does not tell; nil for other formats.
    var directories: TIFFDirectories? {
        TIFFDirectories(size: file.size) { [file] in file.bytes(in: $0) }
    }

    /// True when libvips takes memory for all pixels.
    var isHeldWhole: Bool {
        format.isDecodedWhole || image.integer("interlaced") == 1 || image.integer("jpeg-multiscan") == 1
    }

    var pages: Int {
        guard format.loader.traits.contains(.hasPages), !isPyramid else { return 1 }
        return image.integer("n-pages") ?? 1
    }

    /// True when the second directory of a TIFF has the first one's picture, only smaller.
    private var isPyramid: Bool {
        guard let directories, case let second = directories.directory(at: directories.offsetAfterMain),
            let kind = second.first(where: { $0.tag == ExifTag.newSubfileType })
        else { return false }
        return (directories.number(of: kind) ?? 0) & 1 == 1
    }
}
