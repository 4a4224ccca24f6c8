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
        let isPlace = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
        return TaskFailure(
            isPlace ? .place : .transient, "\(path): cannot be written: \(String(cString: strerror(code)))")
    }
}
