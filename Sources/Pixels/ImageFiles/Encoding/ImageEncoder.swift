import Catalogs
import CVips
package import JobModel
package import Raster

/// Writes image files, pulling their rows from top to bottom.
package enum ImageEncoder {
    /// Encodes a picture into a new file at `path`, whatever the name says about its format; or, where the format is one of
    /// folders, into a new folder.
    ///
    /// The same rows, options and metadata give the same bytes. The file is closed but not flushed to the disk: that,
    /// and its final name, are the caller's. When anything fails, the file is removed.
    ///
    /// - Parameters:
    ///   - shape: of the rows, after ``OutputConversion``.
    ///   - frames: how many pictures of this shape come one below the other, as an animation.
    ///   - name: of the file in a folder, without extension.
    ///   - metadata: of the picture that was read; `save.metadata` decides what of it is written.
    ///   - rows: gives the rows that it is asked for, perhaps with more around them: full width, in coordinates where the first row is 0. Called for
    ///     each row once and in order, from another thread, but never from two at a time; this function returns after
    ///     the last call.
    /// - Throws: ``ImageFileError``, or as it is what `rows` threw.
    package static func write(
        to path: String, format: any ImageFormat, save: SaveOptions, shape: ImageShape, frames: Int = 1,
        name: String = "image", metadata: ImageMetadata, rows: (Range<Int>) throws -> AnyRaster
    ) throws {
        try VipsRuntime.startIfNeeded()
        VipsModules.load(for: format)
        let saver = try saver(for: shape, format, save, path)
        let carried = metadata.carried(by: save.metadata, shape: shape, holdsIPTC: format.holdsIPTC)
        if format.descriptor.isFolder {
            return try withoutActuallyEscaping(rows) { rows in
                let feed = RowFeed(shape: shape, rows: rows)
                try withExtendedLifetime(feed) { try FolderEncoder(path: path, name: name).run(saver, feed, format) }
            }
        }
        let file = try OutputFile(path: path)
        let stream = EncodedStream(file: file, insertion: format.insertion(of: carried))
        do {
            try withoutActuallyEscaping(rows) { rows in
                let feed = RowFeed(shape: shape.repeated(frames), rows: rows)
                try withExtendedLifetime(feed) { try run(saver, feed, carried, frames, into: stream, format) }
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
    ) throws(ImageFileError) -> Saver {
        let largestSide = format.descriptor.largestSide
        guard max(shape.width, shape.height) <= largestSide else {
            throw ImageFileError(
                path: path,
                .tooLarge(format: format.title, width: shape.width, height: shape.height, largestSide: largestSide))
        }
        do throws(SaveProblem) {
            return try format.saver(for: shape, options: FormatOptions(save.values, of: format.descriptor))
        } catch {
            switch error {
            case .option(let name): throw ImageFileError(path: path, .option(format: format.title, name: name))
            case .unsuitable(let reason):
                throw ImageFileError(path: path, .unsuitable(format: format.title, reason: reason))
            }
        }
    }

    /// A failure has three possible causes, and the first one in this order is the reason of the others: the rows, the
    /// disk, the encoder.
    private static func run(
        _ saver: Saver, _ feed: RowFeed, _ metadata: ImageMetadata, _ frames: Int, into stream: EncodedStream,
        _ format: any ImageFormat
    ) throws {
        do throws(VipsFailure) {
            let image = try feed.image(metadata.resolution)
            image.setFields(metadata, only: saver.fields)
            if frames > 1 { image.setAnimation(metadata.animation, frameHeight: image.height / frames) }
            let call = try VipsCall(saver.operation)
            call.set("in", to: image)
            call.set("target", to: try VipsReference.writing(to: stream))
            for (name, argument) in saver.arguments { call.set(name, to: argument) }
            try call.run()
        } catch {
            if let reason = feed.failure { throw reason }
            let path = stream.file.path
            if let errno = stream.file.failure { throw ImageFileError(path: path, .write, errno: errno) }
            throw ImageFileError(path: path, .encoder(format: format.title, detail: error.line))
        }
    }
}

extension VipsReference where Object == VipsImage {
    fileprivate func setAnimation(_ animation: ImageMetadata.Animation?, frameHeight: Int) {
        setInteger("page-height", to: frameHeight)
        setInteger("n-pages", to: height / frameHeight)
        if let animation {
            setIntegers("delay", to: animation.delays)
            setInteger("loop", to: animation.repetitions)
        }
    }

    /// Attaches what a saver is to put into the file itself.
    fileprivate func setFields(_ metadata: ImageMetadata, only fields: Set<MetadataField>) {
        for field in MetadataField.allCases where fields.contains(field) {
            if let blob = metadata[field] { setBlob(field.rawValue, to: blob.bytes) }
        }
        if let unit = metadata.resolution?.unit { setText("resolution-unit", to: unit == .inch ? "in" : "cm") }
    }
}
