import Catalogs
import Digests
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
        _ rows: OutputRows, name: String, frames: Int = 1, conversion: OutputConversion, output: OutputSpec,
        metadata: ImageMetadata, shrink: Int, syncs: Bool, to path: String
    ) throws -> OutputReceipt {
        let format = try format(output)
        let shape = ImageShape(
            width: rows.extent.width, height: rows.extent.height / frames, layout: conversion.outputLayout,
            sampleFormat: conversion.outputFormat)
        do {
            try ImageEncoder.write(
                to: path, format: format, save: output.save, shape: shape, frames: frames, name: name,
                metadata: metadata
            ) { try rows.rows($0) }
        } catch let error as ImageFileError where error.path == path && ![.place, .process].contains(error.kind) {
            // The picture that was read is not to blame.
            throw TaskFailure(Self.kind(of: error), "\(error)")
        }
        let (digest, bytes) =
            format.descriptor.isFolder
            ? try finishFolder(path, syncs) : (try Digest(ofFileAt: path), try finish(path, syncs))
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
                    encoder: EncoderVersions.text(of: format, save: output.save), layout: shape.layout,
                    samples: shape.sampleFormat, frames: frames, shrink: shrink, penumbra: Version.penumbra)))
    }

    private static func kind(of error: ImageFileError) -> TaskFailure.Kind {
        switch error.kind {
        case .value: .value
        case .permission: .permission
        case .data, .limit, .place, .process, .missing, .unreadable: .output
        }
    }

    /// Waits until the disk has the whole file, and returns its size. A rename before that could outlive its data.
    private func finish(_ path: String, _ syncs: Bool) throws -> Int {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw trouble(path, errno) }
        defer { close(file) }
        guard !syncs || fsync(file) == 0 else { throw trouble(path, errno) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw trouble(path, errno) }
        return Int(found.st_size)
    }

    /// Waits until the disk has all files of a folder, and the folders' names.
    private func finishFolder(_ path: String, _ syncs: Bool) throws -> (Digest, Int) {
        let files = syncs ? try TreeDigest.files(in: path, under: "") : []
        for file in files { _ = try finish("\(path)/\(file)", true) }
        let folders = Set(
            files.flatMap { file in
                let names = PathNames.all(in: file).dropLast()
                return names.indices.map { PathKey(names[...$0].joined(separator: "/")) }
            })
        for folder in folders { _ = try finish("\(path)/\(folder.path)", true) }
        _ = try finish(path, syncs)
        let tree = try TreeDigest(ofFolderAt: path)
        return (tree.digest, tree.bytes)
    }

    private func trouble(_ path: String, _ code: Int32) -> any Error {
        if let shortage = Shortage(ofFile: code) { return shortage }
        let concernsStorage = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
        return TaskFailure(
            concernsStorage ? .storage : .transient, "\(path): cannot be written: \(String(cString: strerror(code)))")
    }
}

/// The rows of an output, as an encoder pulls them: converted to what the file holds, digested on the way.
///
/// Used by one thread at a time.
final class OutputRows {
    /// Of all rows; the first one of the file is its first.
    let extent: PixelRect
    private let conversion: OutputConversion
    /// Renders the next rows of the extent, from the row that it is given; at least one row.
    private let renderBand: (Int) throws -> AnyRaster
    private var band: AnyRaster?
    private var digests: BandDigests? = BandDigests()

    init(extent: PixelRect, conversion: OutputConversion, renderBand: @escaping (Int) throws -> AnyRaster) {
        self.extent = extent
        self.conversion = conversion
        self.renderBand = renderBand
    }

    /// The rows of a file, which begin at 0, asked for in order; perhaps with more rows around them.
    func rows(_ range: Range<Int>) throws -> AnyRaster {
        let wanted = PixelRect(
            columns: extent.columns, rows: extent.y + range.lowerBound..<extent.y + range.upperBound)
        // What an encoder asks for is a small part of a band: no copy is made of it.
        if conversion.isIdentity, case let band = try bandHolding(wanted.y), band.rect.contains(wanted) {
            digests?.append(band, rows: wanted.rows)
            return band.translated(x: -extent.x, y: -extent.y)
        }
        let converted = conversion.convert(try collect(wanted))
        digests?.append(converted)
        return converted.translated(x: -extent.x, y: -extent.y)
    }

    /// Crops the rows from the band that was rendered last, and renders more where it ends.
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

    /// A receipt for every 256 rows; once, after the last row.
    func receipts() -> [BandReceipt] {
        guard let all = digests.take()?.finish() else { return [] }
        return all.enumerated().map { index, digest in
            let first = index * BandReceipt.height
            return BandReceipt(rows: first..<min(first + BandReceipt.height, extent.height), digest: digest)
        }
    }
}
