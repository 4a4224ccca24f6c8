import Catalogs
import Digests
import FileAccess
import Geometry
import Glibc
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// Encodes, syncs and digests an output at its temporary path.
    func write(
        _ rows: OutputRows, name: String, frames: Int = 1, output: OutputSpec,
        metadata: ImageMetadata, clip: OpenedClip? = nil, shrink: Int, syncs: Bool, to path: String
    ) throws -> OutputReceipt {
        let format = try output.imageFormat
        let shape = ImageShape(
            width: rows.extent.width, height: rows.extent.height / frames, layout: rows.conversion.outputLayout,
            sampleFormat: rows.conversion.outputFormat)
        let encoder: String
        do {
            let converted = metadata.converted(by: rows.conversion.color)
            if let video = format.video {
                encoder = try write(rows, shape, frames, output.save, converted, clip, as: video, to: path)
            } else {
                try ImageEncoder.write(
                    to: path, openedBy: opener, format: format, save: output.save, shape: shape, frames: frames,
                    name: name, metadata: converted
                ) { try rows.rows($0) }
                encoder = ImageEncoder.versions(of: format, save: output.save, color: rows.conversion.color)
            }
        } catch let error as ImageFileError where error.path == path && ![.storage, .process].contains(error.kind) {
            // The input picture is not to blame.
            throw TaskFailure(Self.kind(of: error), "\(error)")
        }
        let (digest, bytes) =
            format.descriptor.isFolder
            ? try finishFolder(path, syncs) : (try Digest(ofFileAt: path, openedBy: opener), try finish(path, syncs))
        let bands = rows.receipts()
        return OutputReceipt(
            path: path, digest: digest, bytes: bytes,
            image: ImageFacts(
                fileFormat: format.descriptor.name, width: shape.width, height: shape.height, layout: shape.layout,
                format: shape.sampleFormat, frames: frames),
            bands: bands,
            pixels: EncodedPixels(
                digest: Digest(of: bands.map(\.digest)),
                encoding: OutputEncoding(
                    encoder: encoder, layout: shape.layout,
                    samples: shape.sampleFormat, frames: frames, shrink: shrink,
                    filterSamples: rows.conversion.sampleFormat == shape.sampleFormat
                        ? nil : rows.conversion.sampleFormat,
                    penumbra: Version.penumbra)))
    }

    /// Writes a video.
    ///
    /// - Returns: The versions of what encoded it.
    private func write(
        _ rows: OutputRows, _ shape: ImageShape, _ frames: Int, _ save: SaveOptions, _ metadata: ImageMetadata,
        _ clip: OpenedClip?, as format: any VideoFormat, to path: String
    ) throws -> String {
        let timing = VideoTiming(metadata.animation ?? ImageMetadata.Animation(delays: [], repetitions: 0))
        let counts = clip?.clip.timing.counts ?? timing.counts
        let stream = try VideoStream(shape, timing, format: format, save: save, path: path, clip: clip?.clip)
        let sound = stream.clip?.sounds.isEmpty ?? true ? nil : clip?.file
        let report = try video(for: format, path) { video in
            try video.encode(stream, sound: sound?.number) { write in
                for (frame, count) in zip(0..<frames, counts) {
                    let rect = PixelRect(x: 0, y: frame * shape.height, width: shape.width, height: shape.height)
                    let bytes = stream.bytes(of: try rows.rows(rect.rows).cropped(to: rect))
                    for _ in 0..<count { try write(bytes) }
                }
            } film: { film in
                try ImageEncoder.write(film, as: format, to: path, openedBy: opener)
            }
        }
        if let detail = report.failure {
            throw ImageFileError(path: path, .encoder(format: format.title, detail: detail))
        }
        return report.versions
    }

    /// Works with ffmpeg.
    func video<Result>(
        for format: any VideoFormat, _ path: String, _ body: (VideoProgram) throws -> Result
    ) throws -> Result {
        guard let video = toolbox.video else {
            throw TaskFailure(
                .output, "\(path): this machine has no ffmpeg for \(format.title); \(VideoProgram.remedy)")
        }
        do {
            return try body(video)
        } catch is VideoProgram.EndedError {
            throw TaskFailure(.transient, "\(path): the process that starts ffmpeg has ended")
        }
    }

    private static func kind(of error: ImageFileError) -> TaskFailure.Kind {
        switch error.kind {
        case .value: .value
        case .permission: .permission
        case .data, .limit, .storage, .process, .missing, .unreadable: .output
        }
    }

    /// Waits until the disk has the whole file, and returns its size. Otherwise a rename could survive a crash that the
    /// data does not.
    ///
    /// - Parameter mode: The mode that the file gets. Nil if it has the right one.
    private func finish(_ path: String, _ syncs: Bool, mode: mode_t? = nil) throws -> Int {
        let file: Int32
        do {
            file = try opener.open(path, O_RDONLY).descriptor
        } catch {
            throw writeError(path, error.code)
        }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw writeError(path, errno) }
        // The sandbox refuses it. Then the coordinator does it, when it moves the folder to its place.
        if let mode, found.st_mode & 0o7777 != mode, fchmod(file, mode) != 0, errno != EPERM {
            throw writeError(path, errno)
        }
        guard !syncs || fsync(file) == 0 else { throw writeError(path, errno) }
        return Int(found.st_size)
    }

    /// Gives all files of a folder their modes, and waits until the disk has them, and the folder's names.
    private func finishFolder(_ path: String, _ syncs: Bool) throws -> (Digest, Int) {
        let files = try TreeDigest.files(in: path, under: "")
        // libvips makes files that only their owner may read, and changes their modes by their paths, which a worker may
        // be kept from. The folder has what the user's umask leaves of all rights.
        let mode = try mode(ofFolder: path) & 0o666
        for file in files { _ = try finish("\(path)/\(file)", syncs, mode: mode) }
        guard syncs else { return try contents(ofFolder: path) }
        let folders = Set(
            files.flatMap { file in
                let names = PathNames.all(in: file).dropLast()
                return names.indices.map { PathKey(names[...$0].joined(separator: "/")) }
            })
        for folder in folders { _ = try finish("\(path)/\(folder.path)", true) }
        _ = try finish(path, true)
        return try contents(ofFolder: path)
    }

    private func contents(ofFolder path: String) throws -> (Digest, Int) {
        let tree = try TreeDigest(ofFolderAt: path)
        return (tree.digest, tree.bytes)
    }

    private func mode(ofFolder path: String) throws -> mode_t {
        var found = stat()
        guard lstat(path, &found) == 0 else { throw writeError(path, errno) }
        return found.st_mode
    }

    private func writeError(_ path: String, _ code: Int32) -> any Error {
        if let shortage = ResourceLimitError(ofFile: code) { return shortage }
        let concernsStorage = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
        return TaskFailure(
            concernsStorage ? .storage : .transient, "\(path): cannot be written: \(String(cString: strerror(code)))")
    }
}

/// The rows of an output, as an encoder asks for them: converted to the file's samples, and digested.
///
/// One thread at a time may use it.
final class OutputRows {
    /// The extent of all rows. The file's first row is its first row.
    let extent: PixelRect
    let conversion: OutputConversion
    /// Renders at least one row of the extent, from the given row on.
    private let renderBand: (Int) throws -> AnyRaster
    private var band: AnyRaster?
    private var digests: BandDigests? = BandDigests()

    init(extent: PixelRect, conversion: OutputConversion, renderBand: @escaping (Int) throws -> AnyRaster) {
        self.extent = extent
        self.conversion = conversion
        self.renderBand = renderBand
    }

    /// The rows of a file, counted from 0. The encoder asks for them in order. The raster may contain more rows around
    /// them.
    func rows(_ range: Range<Int>) throws -> AnyRaster {
        let wanted = PixelRect(columns: extent.columns, rows: extent.y + range.lowerBound..<extent.y + range.upperBound)
        // An encoder asks for a small part of a band, which is not copied.
        if conversion.isIdentity, case let band = try bandHolding(wanted.y), band.rect.contains(wanted) {
            digests?.append(band, rows: wanted.rows)
            return band.translated(x: -extent.x, y: -extent.y)
        }
        let converted = conversion.convert(try collect(wanted))
        digests?.append(converted)
        return converted.translated(x: -extent.x, y: -extent.y)
    }

    /// Crops the rows from the last rendered band, and renders the next bands as needed.
    private func collect(_ wanted: PixelRect) throws -> AnyRaster {
        if let band, band.rect.contains(wanted) { return band.cropped(to: wanted) }
        var result = AnyRaster(zeroed: wanted, layout: conversion.layout, format: conversion.sampleFormat)
        var row = wanted.y
        while row < wanted.bottom {
            let current = try bandHolding(row)
            let part = current.rect.intersection(wanted)
            result.paste(current.cropped(to: part))
            row = part.bottom
        }
        return result
    }

    private func bandHolding(_ row: Int) throws -> AnyRaster {
        if let band, band.rect.rows.contains(row) { return band }
        band = nil
        let rendered = try renderBand(row)
        band = rendered
        return rendered
    }

    /// A receipt for every 256 rows. Call it once, after the last row.
    func receipts() -> [BandReceipt] {
        guard let all = digests.take()?.finish() else { return [] }
        return all.enumerated().map { index, digest in
            let first = index * BandReceipt.height
            return BandReceipt(rows: first..<min(first + BandReceipt.height, extent.height), digest: digest)
        }
    }
}
