import CVips
import Catalogs
package import FileAccess
import FoundationEssentials
import Geometry
import Glibc
package import JobModel
package import Raster
import Synchronization

/// Writes image files. It requests their rows from top to bottom.
package enum ImageEncoder {
    /// Encodes a picture into a new file at `path`, whatever format its name suggests. Formats that are folders are written
    /// into a new folder.
    ///
    /// The same rows, options and metadata give the same bytes. The file is closed but not flushed to the disk. The caller
    /// flushes it and gives it its final name. If anything fails, the file is removed.
    ///
    /// - Parameters:
    ///   - opener: opens the file. A file that it was handed is not removed.
    ///   - shape: the shape of the rows, after ``OutputConversion``.
    ///   - frames: the number of pictures of this shape, one below the other, in an animation.
    ///   - name: the name of the file in a folder, without extension.
    ///   - metadata: the metadata of the input; `save.metadata` decides which of it is written.
    ///   - rows: returns the requested rows, perhaps with more around them: full width, in coordinates where the first row is
    ///     0. It is called for each row once and in order, from another thread, but never from two threads at a time. This
    ///     function returns after the last call.
    /// - Throws: ``ImageFileError``, or the unchanged error of `rows`.
    package static func write(
        to path: String, openedBy opener: FileOpener = FileOpener(), format: any ImageFormat, save: SaveOptions,
        shape: ImageShape, frames: Int = 1, name: String = "image", metadata: ImageMetadata,
        rows: (Range<Int>) throws -> AnyRaster
    ) throws {
        try VipsRuntime.startIfNeeded()
        VipsModules.load(for: format)
        let (saver, service) = try saver(for: shape, format, save, path)
        if let service { return try writeFolder(path, of: service, layout: shape.layout, rows) }
        let carried = metadata.carried(
            by: save.metadata, setting: save.texts, shape: shape, holdsIPTC: format.holdsIPTC)
        if let apng = format as? APNGFormat {
            return try write(frames, of: shape, as: apng, by: saver, carried, to: path, openedBy: opener, rows: rows)
        }
        if format.descriptor.isFolder {
            return try withoutActuallyEscaping(rows) { rows in
                let feed = RowFeed(shape: shape, rows: rows)
                try withExtendedLifetime(feed) { try writeFolder(path, of: name, saver, feed, format) }
            }
        }
        let file = try OutputFile(
            path: path, openedBy: opener, insertion: format.insertion(of: carried, in: shape.layout))
        do {
            try withoutActuallyEscaping(rows) { rows in
                let feed = RowFeed(shape: shape.repeated(frames), rows: rows)
                try withExtendedLifetime(feed) { try run(saver, feed, carried, frames, into: file, format) }
            }
            format.revise(file, adding: carried)
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }

    private static func saver(
        for shape: ImageShape, _ format: any ImageFormat, _ save: SaveOptions, _ path: String
    ) throws(ImageFileError) -> (Saver, IIIFService?) {
        let largestSide = format.descriptor.largestSide
        guard max(shape.width, shape.height) <= largestSide else {
            throw ImageFileError(
                path: path,
                .tooLarge(format: format.title, width: shape.width, height: shape.height, largestSide: largestSide))
        }
        do throws(SaveError) {
            let options = FormatOptions(save.values, of: format.descriptor)
            return (try format.saver(for: shape, options: options), try format.service(for: shape, options: options))
        } catch {
            switch error {
            case .option(let name): throw ImageFileError(path: path, .option(format: format.title, name: name))
            case .unsuitable(let reason):
                throw ImageFileError(path: path, .unsuitable(format: format.title, reason: reason))
            }
        }
    }

    /// Runs the saver. A failure has three possible causes. The first one in this order is the reason for the others: the
    /// rows, the disk, the encoder.
    static func run(
        _ saver: Saver, _ feed: RowFeed, _ metadata: ImageMetadata, _ frames: Int, into file: OutputFile,
        _ format: any ImageFormat
    ) throws {
        do throws(VipsError) {
            let image = try feed.image(metadata.resolution)
            image.setFields(metadata, only: saver.fields)
            if frames > 1 { image.setAnimation(metadata.animation, frameHeight: image.height / frames, format) }
            let call = try VipsCall(saver.operation)
            call.set("in", to: image)
            call.set("target", to: try VipsReference.writing(to: file))
            for (name, argument) in saver.arguments { call.set(name, to: argument) }
            penumbra_use_one_openmp_thread()
            try call.run()
        } catch {
            if let reason = feed.failure { throw reason }
            if let errno = file.failure { throw ImageFileError(path: file.path, .write, errno: errno) }
            throw ImageFileError(path: file.path, .encoder(format: format.title, detail: error.line))
        }
    }
}

extension VipsReference where Object == VipsImage {
    fileprivate func setAnimation(
        _ animation: ImageMetadata.Animation?, frameHeight: Int, _ format: any ImageFormat
    ) {
        setInteger("page-height", to: frameHeight)
        setInteger("n-pages", to: height / frameHeight)
        if let animation {
            setIntegers("delay", to: animation.delays(unit: format.descriptor.frameTime ?? 1))
            setInteger("loop", to: animation.repetitions)
        }
    }

    /// Attaches the metadata that a saver writes into the file itself.
    fileprivate func setFields(_ metadata: ImageMetadata, only fields: Set<MetadataField>) {
        for field in MetadataField.allCases where fields.contains(field) {
            if let blob = metadata[field] { setBlob(field.rawValue, to: blob.bytes) }
        }
        if let unit = metadata.resolution?.unit { setText("resolution-unit", to: unit == .inch ? "in" : "cm") }
    }
}

extension ImageEncoder {
    /// Writes a format that is a folder, which libvips fills itself, by file names. If anything fails, the folder is removed.
    ///
    /// - Parameter name: the name of the file in the folder, without extension.
    private static func writeFolder(
        _ path: String, of name: String, _ saver: Saver, _ feed: RowFeed, _ format: any ImageFormat
    ) throws {
        guard mkdir(path, 0o777) == 0 else { throw ImageFileError(path: path, .create, errno: errno) }
        do throws(VipsError) {
            let call = try VipsCall(saver.operation)
            call.set("in", to: try feed.image(nil))
            // A fixed name: libvips would interpret options or archive extensions in a picture's name.
            call.set("filename", to: "\(path)/image")
            call.set("container", to: .integer(Int(VIPS_FOREIGN_DZ_CONTAINER_FS.rawValue)))
            for (name, argument) in saver.arguments { call.set(name, to: argument) }
            try call.run()
            unlink("\(path)/image\(DeepZoomNames.tilesEnding)/vips-properties.xml")  // it contains the time
        } catch {
            let isFull = isFull(path)
            remove(path)
            if let reason = feed.failure { throw reason }
            if isFull { throw ImageFileError(path: path, .write, errno: ENOSPC) }
            throw ImageFileError(path: path, .encoder(format: format.title, detail: error.line))
        }
        for ending in [DeepZoomNames.descriptorEnding, DeepZoomNames.tilesEnding]
        where rename("\(path)/image\(ending)", "\(path)/\(name)\(ending)") != 0 {
            // libvips reports success even though it could not create a file.
            let code = errno == ENOENT && isFull(path) ? ENOSPC : errno
            remove(path)
            throw ImageFileError(path: path, .write, errno: code)
        }
    }

    /// Writes a format that is a folder, which libvips does not know. If anything fails, the folder is removed.
    private static func writeFolder(
        _ path: String, of service: IIIFService, layout: PixelLayout, _ rows: (Range<Int>) throws -> AnyRaster
    ) throws {
        guard mkdir(path, 0o777) == 0 else { throw ImageFileError(path: path, .create, errno: errno) }
        do {
            var writer = try IIIFWriter(folder: path, service: service, layout: layout)
            try writer.write(rows)
        } catch let error as ImageFileError where error.path == path || error.path.hasPrefix("\(path)/") {
            remove(path)
            // People know the folder only.
            throw ImageFileError(path: path, error.problem)
        } catch {
            remove(path)
            throw error
        }
    }

    /// Whether the disk is full. libvips reports the reason of a failure only as text.
    private static func isFull(_ path: String) -> Bool {
        var system = statvfs()
        return statvfs(path, &system) == 0 && (system.f_bavail < 16 || system.f_files > 0 && system.f_favail == 0)
    }

    private static func remove(_ path: String) {
        // Files that cannot be removed now are in the run's journal.
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Passes the rows of a picture to libvips, which requests them from top to bottom on one of its own threads.
///
/// A closure that is not `Sendable` may be called, because only one call runs at a time, and the caller of the encoder waits
/// meanwhile. `sequential` before the saver ensures the first, the saver the second.
final class RowFeed {
    let shape: ImageShape
    /// Nil for that of the shape.
    private let interpretation: VipsInterpretation?
    let rows: (Range<Int>) throws -> AnyRaster
    private var next = 0
    /// The error of the closure.
    private(set) var failure: (any Error)?

    init(
        shape: ImageShape, interpretation: VipsInterpretation? = nil,
        rows: @escaping (Range<Int>) throws -> AnyRaster
    ) {
        self.shape = shape
        self.interpretation = interpretation
        self.rows = rows
    }

    /// An image whose rows come from this feed. The feed must outlive it.
    func image(_ resolution: ImageMetadata.Resolution?) throws(VipsError) -> VipsImageReference {
        guard let image = VipsReference(adopting: vips_image_new()) else { throw VipsError.take() }
        vips_image_init_fields(
            image.pointer, gint(shape.width), gint(shape.height), gint(shape.layout.channels), shape.bandFormat,
            VIPS_CODING_NONE, interpretation ?? shape.interpretation, resolution?.x ?? ImageMetadata.Resolution.nominal,
            resolution?.y ?? ImageMetadata.Resolution.nominal)
        guard penumbra_image_begin(image.pointer, VIPS_DEMAND_STYLE_FATSTRIP) == 0,
            vips_image_generate(
                image.pointer, nil,
                { region, _, _, context, _ in
                    guard let region, let context else { return -1 }
                    return Unmanaged<RowFeed>.fromOpaque(context).takeUnretainedValue().fill(region) ? 0 : -1
                },
                nil, nil, Unmanaged.passUnretained(self).toOpaque()) == 0
        else { throw VipsError.take() }
        return try Self.inOrder(image)
    }

    /// Adds `sequential`. Without it, several threads request rows out of order.
    private static func inOrder(_ image: borrowing VipsImageReference) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("sequential")
        call.set("in", to: image)
        call.set("tile_height", to: .integer(16))
        return try call.image()
    }

    /// Returns false after a failure, or if libvips requests rows in another order.
    private func fill(_ region: UnsafeMutablePointer<VipsRegion>) -> Bool {
        let valid = region.pointee.valid
        let wanted = Int(valid.top)..<Int(valid.top + valid.height)
        guard wanted.lowerBound == next, valid.left == 0, valid.width == shape.width else { return false }
        do {
            let raster = try rows(wanted)
            precondition(
                wanted.clamped(to: raster.rect.rows) == wanted && raster.rect.width == shape.width
                    && raster.layout == shape.layout
                    && raster.format == shape.sampleFormat, "rows have the shape that was announced")
            copy(wanted, of: raster, to: region)
            next = wanted.upperBound
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func copy(_ rows: Range<Int>, of raster: AnyRaster, to region: UnsafeMutablePointer<VipsRegion>) {
        let stride = shape.stride
        raster.withBytes { span in
            span.withUnsafeBytes { source in
                for row in rows {
                    let index = row - raster.rect.y
                    let bytes = UnsafeRawBufferPointer(rebasing: source[index * stride..<(index + 1) * stride])
                    let target = penumbra_region_address(region, 0, gint(row))
                    UnsafeMutableRawBufferPointer(start: target, count: stride).copyMemory(from: bytes)
                }
            }
        }
    }
}

extension ImageShape {
    fileprivate var bandFormat: VipsBandFormat {
        switch sampleFormat {
        case .u8: VIPS_FORMAT_UCHAR
        case .u16: VIPS_FORMAT_USHORT
        case .f32: VIPS_FORMAT_FLOAT
        }
    }

    /// The interpretation with which no saver converts pixels.
    fileprivate var interpretation: VipsInterpretation {
        if layout == .cmyk { return VIPS_INTERPRETATION_CMYK }
        let isGray = layout.removingAlpha == .gray
        return switch sampleFormat {
        case .u8: isGray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        case .u16: isGray ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16
        case .f32: isGray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_scRGB
        }
    }
}

extension ImageEncoder {
    private static let knownVersions = Mutex<[[String]: String]>([:])

    /// The libraries that encode a format, with their versions: `libvips 8.14.1, libjpeg 62.3.0`. Call it after a file was
    /// written, when all necessary libraries are loaded.
    ///
    /// - Parameter color: the conversion of the file's colours.
    package static func versions(
        of format: any ImageFormat, save: SaveOptions, color: ColorConversion? = nil
    ) -> String {
        let wanted =
            format.libraries(for: FormatOptions(save.values, of: format.descriptor))
            + (color?.needsIntegers ?? false ? ["liblcms"] : [])
        return knownVersions.withLock { known in
            if let text = known[wanted] { return text }
            let text = (["libvips \(VipsRuntime.version)"] + LoadedLibraries().described(wanted))
                .joined(separator: ", ")
            known[wanted] = text
            return text
        }
    }
}
