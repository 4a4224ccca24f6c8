import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import Synchronization
import TestSupport
import Testing

@Suite struct EncoderTests {
    private let workspace: Workspace
    private static let formats = ["jpeg", "png", "webp", "tiff"]

    init() throws {
        workspace = try Workspace()
    }

    /// Writes a flat picture and gives the row ranges that were asked for.
    private func write(
        _ format: String, to path: String, shape: ImageShape, save: SaveOptions = SaveOptions(),
        rows: (Range<Int>) throws -> Void = { _ in }
    ) throws {
        try ImageEncoder.write(
            to: path, format: workspace.requireFormat(format), save: save, shape: shape, metadata: ImageMetadata()
        ) { range in
            try rows(range)
            let rect = PixelRect(columns: 0..<shape.width, rows: range)
            return AnyRaster(zeroed: rect, layout: shape.layout, format: shape.sampleFormat)
        }
    }

    private let shape = ImageShape(width: 700, height: 555, layout: .rgb, sampleFormat: .u8)

    @Test(arguments: formats)
    func `rows are pulled from top to bottom, each of them once`(format: String) throws {
        for values: [String: ParameterValue] in format == "tiff" ? [[:], ["tile": .boolean(true)]] : [[:]] {
            var next = 0
            try write(format, to: workspace.path("picture"), shape: shape, save: .init(values: values)) { range in
                #expect(range.lowerBound == next && !range.isEmpty)
                next = range.upperBound
            }
            #expect(next == shape.height)
        }
    }

    @Test(arguments: formats)
    func `what the rows throw comes back as it is, and no file stays`(format: String) throws {
        struct Trouble: Error, Equatable { let row: Int }
        #expect(throws: Trouble(row: 320)) {
            try write(format, to: workspace.path("picture"), shape: shape) { range in
                if range.contains(320) { throw Trouble(row: 320) }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: workspace.path("picture")))
    }

    @Test(arguments: formats)
    func `the same picture gives the same bytes`(format: String) throws {
        let picture = Pictures.smooth(width: 300, height: 200)
        let metadata = ImageMetadata(
            icc: Blob(ProfileBuilder.rgb(gamma: 2.2)), exif: Blob(ExifBuilder.full()),
            resolution: .init(x: 300 / 25.4, y: 300 / 25.4))
        try workspace.save(picture, as: format, to: "first", metadata: metadata)
        try workspace.save(picture, as: format, to: "second", metadata: metadata)
        let isEqual = try workspace.bytes("first") == workspace.bytes("second")
        #expect(isEqual)
    }

    @Test(arguments: formats)
    func `a full disk is a condition of the place`(format: String) throws {
        // Larger than any buffer on the way: noise does not compress.
        let picture = Pictures.busy(width: 400, height: 400)
        let error = #expect(throws: ImageFileError.self) {
            let conversion = OutputConversion(
                from: picture.layout, picture.format, to: try workspace.requireFormat(format), save: SaveOptions())
            try ImageEncoder.write(
                to: "/dev/full", format: workspace.requireFormat(format), save: SaveOptions(), shape: picture.shape,
                metadata: ImageMetadata()
            ) { rows in conversion.convert(picture.cropped(to: PixelRect(columns: 0..<400, rows: rows))) }
        }
        #expect(error?.description == "/dev/full: cannot be written: no space left on device")
        #expect(error?.kind == .storage)
        #expect(FileManager.default.fileExists(atPath: "/dev/full"))
    }

    @Test func `a folder that is missing`() throws {
        let path = workspace.path("nowhere/picture.png")
        let error = #expect(throws: ImageFileError.self) { try write("png", to: path, shape: shape) }
        #expect(error?.description == "\(path): cannot be created: no such file or directory")
        #expect(error?.kind == .missing)
    }

    @Test func `a read-only file system is a condition of the place`() {
        for (code, words) in [(EROFS, "read-only file system"), (EDQUOT, "disk quota exceeded")] {
            let error = ImageFileError(path: "out/x.png", .system(.create, errno: code))
            #expect(error.description == "out/x.png: cannot be created: \(words)")
            #expect(error.kind == .storage)
        }
    }

    @Test func `a picture that is larger than its format`() throws {
        let shape = ImageShape(width: 10, height: 16384, layout: .rgb, sampleFormat: .u8)
        let path = workspace.path("tall.webp")
        let error = #expect(throws: ImageFileError.self) {
            try write("webp", to: path, shape: shape) { _ in Issue.record("no row is asked for") }
        }
        #expect(error?.description == "\(path): 10 × 16384 pixels are more than WebP can hold (16,383 on a side)")
        #expect(error?.kind == .limit)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: ["jpeg": 65500, "webp": 16383])
    func `the largest side that a format names can be written`(format: String, side: Int) throws {
        let shape = ImageShape(width: side, height: 2, layout: .rgb, sampleFormat: .u8)
        try write(format, to: workspace.path("wide"), shape: shape)
        #expect(try workspace.load("wide").header.width == side)
    }

    @Test func `an option that has no such value`() throws {
        let path = workspace.path("picture.jpg")
        for value: ParameterValue in [.integer(0), .integer(101), .number(82), .word("high")] {
            let error = #expect(throws: ImageFileError.self) {
                try write("jpeg", to: path, shape: shape, save: .init(values: ["quality": value]))
            }
            #expect(error?.description == "\(path): save.quality has no such value for JPEG")
        }
    }

    @Test func `deep samples and JPEG compression do not go together`() throws {
        let deep = ImageShape(width: 10, height: 10, layout: .rgb, sampleFormat: .u16)
        let path = workspace.path("picture.tif")
        let error = #expect(throws: ImageFileError.self) {
            try write("tiff", to: path, shape: deep, save: .init(values: ["compression": .word("jpeg")]))
        }
        #expect(
            error?.description
                == "\(path): cannot be written as TIFF: compression: jpeg holds 8-bit samples only")
        #expect(error?.kind == .value)
    }

    @Test(arguments: ["none", "lzw", "deflate", "zstd"], [true, false])
    func `every lossless TIFF option gives the same pixels`(compression: String, tile: Bool) throws {
        for format in SampleFormat.allCases {
            let picture = Pictures.busy(width: 301, height: 277, layout: .rgba, format: format)
            let values: [String: ParameterValue] = [
                "compression": .word(compression), "tile": .boolean(tile), "bigtiff": .word(tile ? "on" : "off"),
                "predictor": .boolean(format != .u8),
            ]
            try workspace.save(picture, as: "tiff", to: "picture", save: SaveOptions(values: values))
            let isEqual = try workspace.load("picture").raster == picture
            #expect(isEqual)
            #expect(try workspace.bytes("picture")[2] == (tile ? 43 : 42))
        }
    }

    @Test func `options change what they say`() throws {
        let picture = Pictures.busy(width: 200, height: 200)
        func size(_ format: String, _ values: [String: ParameterValue]) throws -> Int {
            try workspace.save(picture, as: format, to: "picture", save: SaveOptions(values: values))
            return try workspace.bytes("picture").count
        }
        #expect(try size("jpeg", ["quality": .integer(30)]) < size("jpeg", ["quality": .integer(90)]))
        #expect(try size("jpeg", ["subsampling": .word("on")]) < size("jpeg", ["subsampling": .word("off")]))
        #expect(try size("jpeg", ["optimize": .boolean(true)]) < size("jpeg", [:]))
        #expect(try size("webp", ["quality": .integer(30)]) < size("webp", ["lossless": .boolean(true)]))
        #expect(try size("png", ["compression": .integer(9)]) < size("png", ["compression": .integer(0)]))
        let zstd = ["compression": ParameterValue.word("zstd")]
        #expect(try size("tiff", zstd) < size("tiff", ["compression": .word("none")]))
        #expect(try size("tiff", zstd.merging(["level": .integer(19)]) { $1 }) < size("tiff", zstd))
        #expect(try size("tiff", ["compression": .word("jpeg")]) < size("tiff", ["compression": .word("none")]))
    }
}
