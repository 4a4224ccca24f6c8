import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster

/// A folder of its own for each test, removed with it.
final class Workspace {
    let folder: URL

    init() throws {
        folder = URL.temporaryDirectory.appending(path: "penumbra-imagefiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)  // a folder that stays in /tmp harms nobody
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: folder.appending(path: name))
        return path(name)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    /// Encodes `picture`, after the conversion that the format needs, and returns the path.
    @discardableResult
    func save(
        _ picture: AnyRaster, as formatName: String, to name: String, save: SaveOptions = SaveOptions(),
        metadata: ImageMetadata = ImageMetadata()
    ) throws -> String {
        let format = try requireFormat(formatName)
        let conversion = OutputConversion(from: picture.layout, picture.format, to: format, save: save)
        let converted = conversion.convert(picture)
        try ImageEncoder.write(
            to: path(name), format: format, save: save, shape: converted.shape, metadata: metadata
        ) { rows in
            converted.cropped(to: .init(columns: 0..<converted.rect.width, rows: rows))
        }
        return path(name)
    }

    /// A whole decoded file.
    struct Decoded {
        let header: ImageHeader
        let metadata: ImageMetadata
        let raster: AnyRaster
    }

    func load(
        _ name: String, color: ColorPolicy = .keep, keepsCMYK: Bool = false, bandHeight: Int = 10,
        limits: DecodeLimits = .roomy, samples: SampleFormat? = nil, hdr: HDRPolicy = .refuse
    ) throws -> Decoded {
        let decoder = try ImageDecoder(
            path: path(name), limits: limits, color: color, keepsCMYK: keepsCMYK, samples: samples,
            hdr: hdr)
        let header = decoder.header
        var raster = AnyRaster(
            zeroed: .init(x: 0, y: 0, width: header.width, height: header.height), layout: header.layout,
            format: header.sampleFormat)
        var next = 0
        try decoder.readRows(bandHeight: bandHeight) { band in
            guard band.rect.y == next, band.rect.x == 0, band.rect.width == header.width else { throw OutOfOrder() }
            next = band.rect.bottom
            raster.paste(band)
        }
        guard next == header.height else { throw OutOfOrder() }
        return Decoded(header: header, metadata: decoder.metadata, raster: raster)
    }

    struct OutOfOrder: Error {}
    struct NoSuchFormat: Error {}

    func requireFormat(_ name: String) throws -> any ImageFormat {
        guard let format = ImageFormats.named(name) else { throw NoSuchFormat() }
        return format
    }
}

extension DecodeLimits {
    static let roomy = DecodeLimits(maxPixels: 2_000_000_000)
}

extension Workspace {
    /// Decodes a file of `Fixtures`.
    func load(fixture name: String) throws -> Decoded {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
        try FileManager.default.copyItem(at: source, to: folder.appending(path: name))
        return try load(name)
    }
}
