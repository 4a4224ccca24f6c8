import CVips
import Catalogs
import FileAccess
import Geometry
import Glibc
import JobModel

/// A picture as it is in its file. The header is read, and the pixels are in a libvips pipeline that has not run yet.
struct StoredPicture: ~Copyable {
    let file: InputFile
    let format: any ImageFormat
    let image: VipsImageReference
    /// Gives the rows of a picture that Penumbra decodes itself. It must outlive the image.
    let feed: RowFeed?
    /// The colours that the header of a picture states that Penumbra decodes itself.
    let stated: StatedColor?
    /// The number of frames, which are one below the other in ``image``.
    let frames: Int
    /// The requested page. Nil for the file's primary page, or its first.
    let page: Int?
    /// Nil if the file contains pixels.
    let drawing: DrawingTime.Drawing?
    /// Nil for anything else than a clip.
    let clip: Clip?
    /// The largest factor by which a decoder can shrink the picture. 1 if none can.
    let largestShrink: Int
    /// The memory that a decoder of ours needs, if that is more than the picture's.
    let heldBytes: Int?

    /// Opens a file and recognises its format by its content.
    ///
    /// - Parameter name: the file's name for messages; nil for its path.
    /// - Parameter shrink: 2, 4 or 8 for a picture of that fraction of its size, if the format supports it; else 1.
    /// - Parameter clips: decodes clips. Nil if only pictures are read.
    init(
        path: String, name: String?, openedBy opener: FileOpener, shrink: Int, pages: PageChoice, dpi: Int?,
        clips: (any ClipProgram)?
    ) throws(ImageFileError) {
        let file = try InputFile(path: path, name: name, openedBy: opener)
        guard file.size > 0 else { throw ImageFileError(path: file.path, .empty) }
        try self.init(file: file, shrink: shrink, pages: pages, dpi: dpi, clips: clips)
    }

    /// - Parameter access: the order in which pixels will be read; only some formats support random access well.
    init(
        file: InputFile, shrink: Int = 1, pages: PageChoice, dpi: Int? = nil,
        clips: (any ClipProgram)? = nil, access: VipsAccess = VIPS_ACCESS_SEQUENTIAL
    ) throws(ImageFileError) {
        let head = try file.head(ImageFormats.headLength)
        guard let format = ImageFormats.recognizing(head)?.variant(of: file) else {
            throw ImageFileError(path: file.path, .notAnImage)
        }
        if let feature = format.unsupportedFeature(in: head) {
            throw ImageFileError(path: file.path, .unsupported(format: format.title, feature: feature))
        }
        VipsModules.load(for: format)
        guard VipsModules.offers(format) else {
            throw ImageFileError(path: file.path, .noDecoder(format: format.title))
        }
        // In a format without pages, every page would be the same picture. libvips reports the pages of other formats.
        if case .page(let number) = pages, number > 0, !format.loader.traits.contains(.hasPages), !format.findsPages {
            throw ImageFileError(
                path: file.path, .brokenHeader(format: format.title, detail: "it has no page \(number + 1)"))
        }
        if let damage = format.damage(in: file) {
            if let errno = file.failure { throw ImageFileError(path: file.path, .read, errno: errno) }
            throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: damage))
        }
        let isDeveloped = format.loader.traits.contains(.isDeveloped)
        let file = isDeveloped ? file : try Self.withLowStrips(Self.readable(file, format), pages)
        // Even computing its size may take long.
        let outline = try Self.checked(file, format) { () throws(UnsupportedFeatureError) in
            try format.drawing(in: file)
        }
        try Self.check(outline, file, format)
        let page: Int? =
            if case .page(let number) = pages, format.loader.traits.contains(.hasPages) { number } else { nil }
        let drawing = DrawingTime.Drawing(file, format)
        let clip = try Self.clip(file, format, pages, clips)
        let own = if let clip { clip.picture } else { try Self.ownPicture(file, format, shrink, pages) }
        let loaded = try DrawingTime.shared.counting(drawing) {
            () throws(ImageFileError) in try Self.load(file, format, own, shrink, pages, dpi, access)
        }
        let image = try Self.inOurFloats(loaded, file.floats[page ?? 0], file, format)
        try Self.check(outline, file, format, width: image.width, height: image.height)
        let pageHeight = image.integer("page-height") ?? image.height
        let isWhole = pageHeight > 0 && image.height % pageHeight == 0
        frames = pages == .animation && isWhole ? image.height / pageHeight : 1
        self.image = image
        feed = own?.feed
        stated = own?.stated
        self.page = page
        self.file = file
        self.format = format
        self.drawing = drawing
        self.clip = clip?.clip
        largestShrink = own?.largestShrink ?? (format.shrinking(by: 2) == nil ? 1 : Self.largestFactor)
        heldBytes = own?.heldBytes
    }

    /// A clip with its pictures. Nil for other formats.
    private static func clip(
        _ file: InputFile, _ format: any ImageFormat, _ pages: PageChoice, _ program: (any ClipProgram)?
    ) throws(ImageFileError) -> (clip: Clip, picture: OwnPicture)? {
        guard let format = format as? any ClipFormat else { return nil }
        return try decoding(file, format) { () throws(OwnDecodingError) in
            guard let program else { throw .unsupported("moving pictures", remedy: "a picture is needed here") }
            if case .page = pages { throw .unsupported("frames that become pages", remedy: format.framesRemedy) }
            let clip = try Clip(file, format.container, program)
            return (clip, clip.picture(of: file, program, isFirstOnly: pages != .animation))
        }
    }

    /// Refuses pictures that clearly take too long to draw.
    ///
    /// - Parameter width, height: the picture's size; 0 while it is unknown, for checks that do not depend on it.
    private static func check(
        _ outline: SVGDrawing?, _ file: InputFile, _ format: any ImageFormat, width: Int = 0, height: Int = 0
    ) throws(ImageFileError) {
        let limit = DrawingTime.shared
        guard let work = outline?.excess(over: limit.most, width: width, height: height) else { return }
        throw ImageFileError(
            path: file.path, .costlyDrawing(format: format.title, work: work, seconds: limit.wholeSeconds))
    }

    /// A picture that Penumbra decodes itself. Nil if libvips decodes it.
    private static func ownPicture(
        _ file: InputFile, _ format: any ImageFormat, _ shrink: Int, _ pages: PageChoice
    ) throws(ImageFileError) -> OwnPicture? {
        try decoding(file, format) { () throws(OwnDecodingError) in
            if let picture = try format.picture(in: file, shrink: shrink) { return picture }
            return try format.animation(in: file, pages: pages)
        }
    }

    private static func decoding<Result>(
        _ file: InputFile, _ format: any ImageFormat, _ body: () throws(OwnDecodingError) -> Result
    ) throws(ImageFileError) -> Result {
        do throws(OwnDecodingError) {
            return try body()
        } catch {
            if let errno = file.findFailure() { throw ImageFileError(path: file.path, .read, errno: errno) }
            switch error {
            case .broken(let damage):
                throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: damage))
            case .unsupported(let feature):
                throw ImageFileError(
                    path: file.path,
                    .unsupported(format: format.title, feature: feature.phrase, remedy: feature.remedy))
            case .noProgram(let remedy):
                throw ImageFileError(path: file.path, .noVideoProgram(format: format.title, remedy: remedy))
            case .interrupted: throw ImageFileError(path: file.path, .interrupted(format: format.title))
            case .file(let failure): throw failure
            }
        }
    }

    private static func load(
        _ file: InputFile, _ format: any ImageFormat, _ own: OwnPicture?, _ shrink: Int, _ pages: PageChoice,
        _ dpi: Int?, _ access: VipsAccess
    ) throws(ImageFileError) -> VipsImageReference {
        let name = format.loader.opensByName ? try file.openName() : nil
        do throws(VipsError) {
            if let own { return try own.image() }
            let call = try VipsCall(format.loader.operation)
            if let name {
                call.set("filename", to: name)
            } else {
                call.set("source", to: try VipsReference.reading(file))
            }
            call.set("access", to: .integer(Int(access.rawValue)))
            // The strictest setting: without it, decoders continue after damage with a warning, and fill the rest with gray.
            call.set("fail_on", to: .integer(Int(VIPS_FAIL_ON_WARNING.rawValue)))
            // Otherwise libvips writes the pixels of a large picture into a file in /tmp, which a worker may not create.
            if format.isDecodedWhole { call.set("memory", to: .boolean(true)) }
            if shrink > 1, let argument = format.shrinking(by: shrink) { call.set(argument.name, to: argument.value) }
            if let dpi, format.loader.traits.contains(.isDrawn) { call.set("scale", to: .number(Double(dpi) / 72)) }
            if format.loader.traits.contains(.hasPages) {
                switch pages {
                case .first, .frame: break  // for HEIC the primary picture
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
        _ file: InputFile, _ format: any ImageFormat, _ body: () throws(UnsupportedFeatureError) -> Result
    ) throws(ImageFileError) -> Result {
        do throws(UnsupportedFeatureError) {
            return try body()
        } catch {
            throw ImageFileError(
                path: file.path,
                .unsupported(format: format.title, feature: error.phrase, remedy: error.remedy))
        }
    }

    /// The file in a form that libvips can read.
    private static func readable(_ file: InputFile, _ format: any ImageFormat) throws(ImageFileError) -> InputFile {
        guard file.floats.isEmpty else { return file }
        let tiff = try checked(file, format) { () throws(UnsupportedFeatureError) in try FloatTIFF(file) }
        return try tiff.map { tiff throws(ImageFileError) in
            try InputFile(file, patches: tiff.patches, floats: tiff.samples)
        } ?? file
    }

    /// The same picture in lower strips, if those of its first page are high; see ``TIFFStrips/lowered(_:)``.
    private static func withLowStrips(_ file: InputFile, _ pages: PageChoice) throws(ImageFileError) -> InputFile {
        if case .page = pages { return file }
        guard let strips = TIFFStrips(file) else { return file }
        return try strips.lowered(file) ?? file
    }

    /// Converts floats of 16 and 64 bits to those of 32 bits, which filters need.
    private static func inOurFloats(
        _ image: consuming VipsImageReference, _ floats: FloatTIFF.Samples?, _ file: InputFile,
        _ format: any ImageFormat
    ) throws(ImageFileError) -> VipsImageReference {
        guard let floats else { return image }
        do throws(VipsError) {
            return try floats.floats(image)
        } catch {
            throw ImageFileError(path: file.path, .brokenHeader(format: format.title, detail: error.line))
        }
    }

    func checkSize(maxPixels: Int) throws(ImageFileError) {
        // The frames of a clip are decoded one after the other.
        let height = clip?.height ?? image.height
        let (pixels, overflows) = image.width.multipliedReportingOverflow(by: height)
        guard !overflows, pixels <= maxPixels else {
            throw ImageFileError(
                path: file.path, .tooManyPixels(width: image.width, height: height, limit: maxPixels))
        }
    }

    var orientation: Orientation {
        format.loader.traits.contains(.turnsUpright) ? .upright : Orientation(tag: image.integer("orientation") ?? 1)
    }

    /// The tags of a TIFF file, most of which libvips does not report. Nil for other formats.
    var directories: TIFFDirectories? {
        isDeveloped ? nil : TIFFDirectories(size: file.size) { [file] in file.bytes(in: $0) }
    }

    /// Whether the colours are computed from those of a sensor.
    var isDeveloped: Bool { format.loader.traits.contains(.isDeveloped) }

    /// The largest factor of the formats that libvips shrinks.
    private static let largestFactor = 8

    /// The integer that stands for full intensity in the picture's samples. Nil for floats.
    ///
    /// libvips shifts the 10 or 12 bits of a HEIF file to the left, and leaves zeros on the right.
    var fullIntensity: Int? {
        switch image.bandFormat {
        case VIPS_FORMAT_UCHAR: return 255
        case VIPS_FORMAT_USHORT:
            guard let bits = image.integer("heif-bitdepth"), (9...15).contains(bits) else { return 65535 }
            return ((1 << bits) - 1) << (16 - bits)
        default: return nil
        }
    }

    /// Whether libvips allocates memory for all pixels.
    var isHeldWhole: Bool {
        format.isDecodedWhole || format.findsPages || image.integer("interlaced") == 1
            || image.integer("jpeg-multiscan") == 1
    }

    var pages: Int {
        guard format.loader.traits.contains(.hasPages) || format.findsPages, !isPyramid else { return 1 }
        return image.integer("n-pages") ?? 1
    }

    /// Whether the second directory of a TIFF contains a smaller version of the first one's picture.
    private var isPyramid: Bool {
        guard let directories, case let second = directories.directory(at: directories.offsetAfterMain),
            let kind = second.first(where: { $0.tag == ExifTag.newSubfileType })
        else { return false }
        return (directories.number(of: kind) ?? 0) & 1 == 1
    }
}

/// The rows of a picture in the order of its file, decoded from top to bottom on the calling thread.
struct StoredRows: ~Copyable {
    /// The number of rows that libvips decodes at once. It is small, so that an error can tell how much of the file is intact.
    private static let step = 16

    private let image: VipsImageReference
    private let region: VipsReference<VipsRegion>
    private let file: InputFile
    private let formatTitle: String
    private let shape: ImageShape
    private let drawing: DrawingTime.Drawing?
    /// Gives the rows of a picture that Penumbra decodes itself.
    private let feed: RowFeed?
    private let isClip: Bool

    /// - Parameter shape: the shape of `image`: that of the decoder, unless it is a part of the picture.
    init(
        _ image: consuming VipsImageReference, of decoder: ImageDecoder, shape: ImageShape? = nil
    ) throws(ImageFileError) {
        guard let region = VipsReference(adopting: vips_region_new(image.pointer)) else {
            throw ImageFileError(path: decoder.file.path, .library(VipsError.take().line))
        }
        self.region = region
        self.image = image
        file = decoder.file
        formatTitle = decoder.formatTitle
        self.shape = shape ?? decoder.storedShape
        drawing = decoder.drawing
        feed = decoder.feed
        isClip = decoder.clip != nil
    }

    /// Decodes `rows`, which must follow those of the last call, into `buffer`: row after row without padding.
    func decode(_ rows: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) throws(ImageFileError) {
        try decode(PixelRect(columns: 0..<shape.width, rows: rows), into: buffer)
    }

    /// Decodes a part whose rows do not begin above those of the last call, into `buffer`.
    func decode(_ part: PixelRect, into buffer: UnsafeMutableRawBufferPointer) throws(ImageFileError) {
        let stride = part.width * shape.layout.channels * shape.sampleFormat.bytes
        precondition(buffer.count >= part.height * stride, "the buffer has room for the rows")
        for top in Swift.stride(from: part.y, to: part.bottom, by: Self.step) {
            let some = top..<min(top + Self.step, part.bottom)
            var rect = VipsRect(left: gint(part.x), top: gint(top), width: gint(part.width), height: gint(some.count))
            try DrawingTime.shared.counting(drawing) { () throws(ImageFileError) in
                guard vips_region_prepare(region.pointer, &rect) == 0 else { throw broken(after: top) }
            }
            for row in some {
                let start = (row - part.y) * stride
                UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + stride]).copyMemory(
                    from: UnsafeRawBufferPointer(
                        start: penumbra_region_address(region.pointer, gint(part.x), gint(row)), count: stride))
            }
        }
    }

    /// Closes the picture after its last row.
    ///
    /// libvips asks libjpeg about damage before each strip of eight rows. Damage in the last strip causes only a warning when
    /// the file is closed.
    consuming func finish() throws(ImageFileError) {
        let (file, formatTitle, height) = (self.file, self.formatTitle, shape.height)
        var parts: Parts? = Parts(image: image, region: region)
        guard VipsWarnings.occur(during: { _ = parts.take() }) else { return }
        throw ImageFileError(
            path: file.path,
            .broken(format: formatTitle, rows: (height - 1) / 8 * 8, height: height, detail: VipsError.take().line))
    }

    private struct Parts: ~Copyable {
        let image: VipsImageReference
        let region: VipsReference<VipsRegion>
    }

    private func broken(after rows: Int) -> ImageFileError {
        let failure = VipsError.take()
        if let errno = file.findFailure() { return ImageFileError(path: file.path, .read, errno: errno) }
        let own = feed?.failure as? OwnDecodingError
        if case .file(let error) = own { return error }
        if own == .interrupted { return ImageFileError(path: file.path, .interrupted(format: formatTitle)) }
        let detail = own?.detail ?? failure.line
        if isClip, let feed {
            let (decoded, all) = (rows / shape.height, feed.shape.height / shape.height)
            return ImageFileError(
                path: file.path,
                .brokenHeader(
                    format: formatTitle, detail: "only \(decoded) of \(all) frames can be decoded (\(detail))"))
        }
        return ImageFileError(
            path: file.path, .broken(format: formatTitle, rows: rows, height: shape.height, detail: detail))
    }
}

/// The strips of a TIFF file's first page, and other views of the file with directories that state other strips.
///
/// libvips reads strips from the first to the last. For a few rows of a large picture it receives a file with a directory of
/// only their strips, which keep their positions: <https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>, section 8.
/// It holds several strips at once, so it receives a directory of lower ones if that is possible.
package struct TIFFStrips {
    /// At most the rows of the picture, whatever the file states.
    package let rowsPerStrip: Int
    /// The rows of the picture, as its directory states them.
    let height: Int
    private let directories: TIFFDirectories
    private let entries: [TIFFDirectories.Entry]
    private let offsets: [Int]
    private let byteCounts: [Int]

    private enum Tag {
        static let width: UInt16 = 256
        static let height: UInt16 = 257
        static let bitsPerSample: UInt16 = 258
        static let compression: UInt16 = 259
        static let photometric: UInt16 = 262
        static let stripOffsets: UInt16 = 273
        static let samplesPerPixel: UInt16 = 277
        static let rowsPerStrip: UInt16 = 278
        static let stripByteCounts: UInt16 = 279
        static let planarConfiguration: UInt16 = 284

        /// All that say where a strip is, and how long its rows are.
        static let ofStrips = [
            width, height, bitsPerSample, compression, photometric, stripOffsets, samplesPerPixel, rowsPerStrip,
            stripByteCounts, planarConfiguration,
        ]
        /// Their sizes, offsets and lengths.
        static let ofTiles: ClosedRange<UInt16> = 322...325
    }

    /// The most strips of a picture. Each entry of a directory may claim to have as many values as the file has bytes.
    private static let mostStrips = 1 << 22

    /// Returns nil for other formats, for tiled files, for files with separate planes for channels, and for files that do not have
    /// as many strips as their picture needs.
    package init?(_ file: InputFile) {
        guard let directories = TIFFDirectories(size: file.size, fetch: { file.bytes(in: $0) }) else { return nil }
        let entries = directories.main
        // If a file has tiles, libtiff does not look at strips.
        guard !entries.contains(where: { Tag.ofTiles.contains($0.tag) }) else { return nil }
        func first(_ tag: UInt16) -> Int? {
            entries.first { $0.tag == tag }.flatMap { directories.numbers(of: $0, in: 0..<1)?.first }
        }
        guard let height = first(Tag.height), height > 0 else { return nil }
        let rowsPerStrip = min(height, first(Tag.rowsPerStrip) ?? height)
        guard rowsPerStrip > 0, first(Tag.planarConfiguration) ?? 1 == 1 else { return nil }
        let count = (height - 1) / rowsPerStrip + 1
        func all(_ tag: UInt16) -> [Int]? {
            guard let entry = entries.first(where: { $0.tag == tag }), entry.count == count else { return nil }
            return directories.numbers(of: entry, in: 0..<count)
        }
        guard count <= Self.mostStrips, let offsets = all(Tag.stripOffsets), let byteCounts = all(Tag.stripByteCounts),
            // The offset of a directory after the end must fit the format.
            directories.offsets == .big || file.size + 16 * (count + entries.count) < 4_000_000_000
        else { return nil }
        self.rowsPerStrip = rowsPerStrip
        self.directories = directories
        self.entries = entries
        self.height = height
        self.offsets = offsets
        self.byteCounts = byteCounts
    }

    /// A virtual file with only the strips that contain `rows`.
    ///
    /// - Returns: the file, its first row, and the number of its rows.
    func excerpt(of file: InputFile, rows: Range<Int>) throws(ImageFileError) -> (file: InputFile, rows: Range<Int>) {
        let strips = rows.lowerBound / rowsPerStrip..<(rows.upperBound - 1) / rowsPerStrip + 1
        let held = strips.lowerBound * rowsPerStrip..<min(height, strips.upperBound * rowsPerStrip)
        let view = View(
            height: held.count, rowsPerStrip: nil, offsets: Array(offsets[strips]),
            byteCounts: Array(byteCounts[strips]),
            next: 0)
        return (try self.view(view, of: file), held)
    }

    /// The strips of a view, and the offset of the next page's directory.
    private struct View {
        let height: Int
        /// Nil if it does not change.
        let rowsPerStrip: Int?
        let offsets: [Int]
        let byteCounts: [Int]
        let next: Int
    }

    private func view(_ view: View, of file: InputFile) throws(ImageFileError) -> InputFile {
        let position = (file.size + 7) & ~7
        let patches = [
            InputFile.Patch(
                offset: directories.offsets.headerPointer, bytes: number(position, directories.offsets.length)),
            InputFile.Patch(offset: position, bytes: directory(view, at: position)),
        ]
        return try InputFile(file, patches: patches)
    }

    /// Strips of so many bytes or fewer are taken as they are.
    private static let highStrip = 1 << 20
    /// The size of lowered strips, unless a row has more bytes, and the size below which they do not pay.
    private static let (lowStrip, lowestStrip) = (1 << 18, 1 << 14)
    private static let mostLowStrips = 1 << 18

    /// The same file with a directory of lower strips, if its strips have more than 1 MiB, and their rows simply follow one
    /// another: without compression and without subsampled colours. libvips holds seven strips. Nil for other files.
    ///
    /// libtiff itself does this for a picture of one strip.
    package func lowered(_ file: InputFile) throws(ImageFileError) -> InputFile? {
        guard offsets.count > 1, let rowBytes = plainRowBytes, rowBytes * rowsPerStrip > Self.highStrip,
            // The new directory would lack a damaged entry, and libtiff could not warn of it.
            directories.isMainComplete
        else { return nil }
        // No strip may have rows of two of the former ones, which can lie anywhere.
        let most = min(max(1, Self.lowStrip / rowBytes), rowsPerStrip - 1)
        guard let rows = (1...max(1, most)).last(where: rowsPerStrip.isMultiple), rows < rowsPerStrip,
            rows * rowBytes >= Self.lowestStrip, (height - 1) / rows < Self.mostLowStrips
        else { return nil }
        let starts = Array(stride(from: 0, to: height, by: rows))
        // The offset of the new directory must fit the format.
        guard directories.offsets == .big || file.size + 16 * (starts.count + entries.count) < 4_000_000_000,
            zip(offsets, byteCounts).allSatisfy({ $0 <= file.size && $1 <= file.size - $0 })
        else { return nil }
        let view = View(
            height: height, rowsPerStrip: rows,
            offsets: starts.map { offsets[$0 / rowsPerStrip] + $0 % rowsPerStrip * rowBytes },
            byteCounts: starts.map { min(rows, height - $0) * rowBytes }, next: directories.offsetAfterMain)
        return try self.view(view, of: file)
    }

    /// The number of bytes of each row, if all strips contain nothing but rows of that length.
    private var plainRowBytes: Int? {
        func only(_ tag: UInt16, _ fallback: Int) -> Int? {
            guard let entry = entries.first(where: { $0.tag == tag }) else { return fallback }
            guard entry.count <= 1 << 16, let values = directories.numbers(of: entry) else { return nil }
            return Set(values).count == 1 ? values.first : nil
        }
        // libtiff may take the other one of two entries. (libvips writes the orientation twice.)
        let stated = entries.map(\.tag).filter(Tag.ofStrips.contains)
        guard Set(stated).count == stated.count else { return nil }
        let subsampled = 6
        guard only(Tag.compression, 1) == 1, let photometric = only(Tag.photometric, subsampled),
            photometric != subsampled,
            let width = only(Tag.width, 0), let samples = only(Tag.samplesPerPixel, 1),
            let bits = only(Tag.bitsPerSample, 1), (1...1 << 31).contains(width), (1...1 << 16).contains(samples),
            (1...64).contains(bits)
        else { return nil }
        let rowBytes = (width * samples * bits + 7) / 8
        let isPlain = byteCounts.indices.allSatisfy { index in
            let (size, overflows) = rowBytes.multipliedReportingOverflow(
                by: min(rowsPerStrip, height - index * rowsPerStrip))
            return !overflows && byteCounts[index] == size
        }
        return isPlain ? rowBytes : nil
    }

    /// A directory, followed by the values of its new entries.
    private func directory(_ view: View, at position: Int) -> [UInt8] {
        let layout = directories.offsets
        let valuesPlace = position + layout.countLength + entries.count * layout.rowLength + layout.length
        let type: TIFFType = layout == .big ? .long8 : .long
        var values: [UInt8] = []
        let rows = entries.map { entry -> [UInt8] in
            let new: [Int]
            switch entry.tag {
            case Tag.height: new = [view.height]
            case Tag.rowsPerStrip: new = [view.rowsPerStrip ?? rowsPerStrip]
            case Tag.stripOffsets: new = view.offsets
            case Tag.stripByteCounts: new = view.byteCounts
            default: return entry.row
            }
            let head =
                number(Int(entry.tag), 2) + number(Int(type.rawValue), 2) + number(new.count, layout.length)
            if new.count == 1 { return head + number(new[0], layout.length) }
            defer { values += new.flatMap { number($0, layout.length) } }
            return head + number(valuesPlace + values.count, layout.length)
        }
        return number(rows.count, layout.countLength) + rows.flatMap(\.self) + number(view.next, layout.length) + values
    }

    private func number(_ value: Int, _ length: Int) -> [UInt8] {
        .number(value, length: length, littleEndian: directories.isLittleEndian)
    }
}

/// Memory for decoded rows: ordinary memory for a band, or a mapped scratch file for a whole picture.
final class PixelStore {
    let bytes: UnsafeMutableRawBufferPointer
    private let isMapped: Bool
    /// Called when the memory is not used any more.
    private let release: () -> Void

    /// Allocates ordinary memory.
    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 64)
        isMapped = false
        release = {}
    }

    /// Allocates memory for a whole picture, in a file without a name if it is large.
    ///
    /// The file's blocks are allocated in advance, so that a full disk causes an error here instead of a SIGBUS later.
    ///
    /// - Parameter opener: may have been handed such a file. Otherwise one is created in the scratch folder.
    init(byteCount: Int, limits: DecodeLimits, opener: FileOpener) throws(MappingError) {
        isMapped = byteCount > limits.memoryBytes
        guard isMapped else {
            bytes = .allocate(byteCount: byteCount, alignment: 64)
            release = {}
            return
        }
        let handed: FileOpener.ScratchRange?
        do {
            handed = try opener.takeScratch(byteCount)
        } catch {
            throw MappingError(errno: error.code)
        }
        guard let handed else {
            bytes = try Self.map(byteCount, in: limits.scratchFolder)
            release = {}
            return
        }
        defer { close(handed.descriptor) }
        do throws(MappingError) {
            bytes = try Self.map(handed.descriptor, handed.range)
        } catch {
            opener.giveBackScratch(handed.range)
            throw error
        }
        release = { opener.giveBackScratch(handed.range) }
    }

    deinit {
        if isMapped {
            munmap(bytes.baseAddress, bytes.count)
            release()
        } else {
            bytes.deallocate()
        }
    }

    struct MappingError: Error {
        let errno: Int32
    }

    private static func map(_ byteCount: Int, in folder: String) throws(MappingError) -> UnsafeMutableRawBufferPointer {
        var name = Array((folder + "/penumbra-XXXXXX").utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw MappingError(errno: errno) }
        defer { close(descriptor) }
        unlink(name)
        let allocated = posix_fallocate(descriptor, 0, off_t(byteCount))
        guard allocated == 0 else { throw MappingError(errno: allocated) }
        return try map(descriptor, 0..<byteCount)
    }

    private static func map(
        _ descriptor: Int32, _ range: Range<Int>
    ) throws(MappingError) -> UnsafeMutableRawBufferPointer {
        let address = mmap(
            nil, range.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(range.lowerBound))
        guard let address, address != MAP_FAILED else { throw MappingError(errno: errno) }
        return UnsafeMutableRawBufferPointer(start: address, count: range.count)
    }
}
