import Catalogs
import FileAccess
import Foundation
import Geometry
import Glibc
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Pictures whose files were opened by somebody else.
@Suite struct HandedPicturesTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func open(_ name: String, _ flags: Int32) throws -> FileOpener.Handed {
        let file = Glibc.open(workspace.path(name), flags | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        return .descriptor(file)
    }

    private func bytes(_ name: String) -> [UInt8] { Array(workspace.path(name).utf8) }

    private func pixels(_ decoder: ImageDecoder) throws -> AnyRaster {
        let header = decoder.header
        var raster = AnyRaster(zeroed: header.rect, layout: header.layout, format: header.sampleFormat)
        try decoder.readRows(bandHeight: 64) { raster.paste($0) }
        return raster
    }

    @Test(arguments: ["png", "tiff", "jpeg", "webp"])
    func `a picture is decoded from the open file, though its path has none any more`(format: String) throws {
        try workspace.save(Pictures.smooth(width: 64, height: 48), as: format, to: "a")
        let expected = try workspace.load("a").raster
        let opener = FileOpener(read: [bytes("a"): try open("a", O_RDONLY)], created: [:], scratch: nil)
        try FileManager.default.removeItem(atPath: workspace.path("a"))
        // Each decoder of a task reads the file from its beginning.
        for _ in 0..<2 {
            let decoder = try ImageDecoder(path: workspace.path("a"), openedBy: opener, limits: .roomy, color: .keep)
            let isEqual = try pixels(decoder) == expected
            #expect(isEqual)
        }
    }

    /// The library for OpenEXR opens files by names.
    @Test func `an OpenEXR is decoded from a copy in memory`() throws {
        let row: [[Float]] = (0..<40).map { [Float($0) / 40, 0.5, 0.25, 1] }
        _ = try workspace.write(
            OpenEXRBuilder(width: 40, rgba: Array(repeating: row, count: 30).flatMap(\.self)).build(), to: "a.exr")
        let expected = try workspace.load("a.exr").raster
        let opener = FileOpener(read: [bytes("a.exr"): try open("a.exr", O_RDONLY)], created: [:], scratch: nil)
        try FileManager.default.removeItem(atPath: workspace.path("a.exr"))
        let decoder = try ImageDecoder(path: workspace.path("a.exr"), openedBy: opener, limits: .roomy, color: .keep)
        let isEqual = try pixels(decoder) == expected
        #expect(isEqual)
    }

    @Test func `large pictures are turned in the scratch file that was handed over`() throws {
        let stored = Pictures.busy(width: 300, height: 500)
        let builder = TIFFBuilder(
            width: 300, height: 500, samplesPerPixel: 3, bitsPerSample: 8, photometric: .rgb, orientation: 6,
            data: stored.bytes)
        _ = try workspace.write(builder.build(), to: "turned.tif")
        let expected = try workspace.load("turned.tif").raster
        let scratch = try open("scratch", O_RDWR | O_CREAT)
        let opener = FileOpener(read: [:], created: [:], scratch: scratch)
        // The folder is not needed.
        let limits = DecodeLimits(maxPixels: .max, memoryBytes: 1000, scratchFolder: workspace.path("nowhere"))
        let decoders = try (0..<2).map { _ in
            try ImageDecoder(path: workspace.path("turned.tif"), openedBy: opener, limits: limits, color: .keep)
        }
        for decoder in decoders {
            let isUpright = try pixels(decoder) == expected
            #expect(isUpright)
        }
        let size = try FileManager.default.attributesOfItem(atPath: workspace.path("scratch"))[.size] as? Int
        #expect(size == stored.bytes.count)
    }

    @Test func `a scratch file that could not be created is told as before`() throws {
        let builder = TIFFBuilder(
            width: 30, height: 50, samplesPerPixel: 3, bitsPerSample: 8, photometric: .rgb, orientation: 6,
            data: Pictures.busy(width: 30, height: 50).bytes)
        _ = try workspace.write(builder.build(), to: "turned.tif")
        let opener = FileOpener(read: [:], created: [:], scratch: .failed(ENOSPC))
        let decoder = try ImageDecoder(
            path: workspace.path("turned.tif"), openedBy: opener, limits: DecodeLimits(maxPixels: .max, memoryBytes: 0),
            color: .keep)
        let error = #expect(throws: ImageFileError.self) { try pixels(decoder) }
        #expect(
            error?.description == workspace.path("turned.tif")
                + ": cannot be held whole to turn it upright: no space left on device")
    }

    @Test func `an output goes into the open file, which stays after a failure`() throws {
        struct Stopped: Error {}
        let picture = Pictures.smooth(width: 64, height: 48)
        let format = try workspace.requireFormat("png")
        func write(_ opener: FileOpener, failing: Bool) throws {
            try ImageEncoder.write(
                to: workspace.path("a.png"), openedBy: opener, format: format, save: SaveOptions(),
                shape: picture.shape,
                metadata: ImageMetadata()
            ) { rows in
                if failing { throw Stopped() }
                return picture.cropped(to: PixelRect(columns: 0..<64, rows: rows))
            }
        }
        let opener = FileOpener(
            read: [:], created: [bytes("a.png"): try open("a.png", O_RDWR | O_CREAT)], scratch: nil)
        #expect(throws: Stopped.self) { try write(opener, failing: true) }
        #expect(FileManager.default.fileExists(atPath: workspace.path("a.png")))
        try write(opener, failing: false)
        let isEqual = try workspace.load("a.png").raster == picture
        #expect(isEqual)
        // An own file is removed.
        #expect(throws: Stopped.self) { try write(FileOpener(), failing: true) }
        #expect(!FileManager.default.fileExists(atPath: workspace.path("a.png")))
    }
}
