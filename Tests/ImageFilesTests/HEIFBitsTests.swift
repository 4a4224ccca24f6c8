import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// AVIF and HEIC files with 8, 10 and 12 bits.
@Suite struct HEIFBitsTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    /// The bits of the luma that the file's codec configuration states.
    private func statedBits(_ name: String, _ format: String) throws -> Int {
        let bytes = try workspace.bytes(name)
        let kind = Array((format == "avif" ? "av1C" : "hvcC").utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: kind) }) + 4
        if format == "heic" { return Int(bytes[start + 17] & 7) + 8 }
        let (isHigh, isTwelve) = (bytes[start + 2] & 0x40 != 0, bytes[start + 2] & 0x20 != 0)
        return isHigh ? (isTwelve ? 12 : 10) : 8
    }

    @Test(
        arguments: [
            ("avif", "auto", SampleFormat.u8, 8), ("avif", "auto", .u16, 12), ("avif", "8", .u16, 8),
            ("avif", "12", .u8, 12), ("heic", "auto", .u8, 8), ("heic", "auto", .u16, 12), ("heic", "8", .f32, 8),
            ("heic", "10", .u8, 10), ("heic", "10", .u16, 10), ("heic", "12", .f32, 12),
        ], [PixelLayout.rgb, .rgba])
    func `a file has as many bits as asked for`(
        what: (format: String, bits: String, samples: SampleFormat, expected: Int), layout: PixelLayout
    ) throws {
        let save = SaveOptions(values: ["bits": .word(what.bits), "quality": .integer(95)])
        let picture = Pictures.smooth(layout: layout, format: what.samples)
        try workspace.save(picture, as: what.format, to: "picture", save: save)
        #expect(try statedBits("picture", what.format) == what.expected)
        let found = try workspace.load("picture").raster
        #expect(found.format == (what.expected == 8 ? .u8 : .u16) && found.layout == layout)
        #expect(found.largestDifference(from: picture) < 0.03)
    }

    @Test func `10 bits are finer than 8, and 12 than 10`() throws {
        let picture = Pictures.smooth(format: .u16)
        func levels(_ bits: String) throws -> Int {
            let save = SaveOptions(values: ["bits": .word(bits), "quality": .integer(100)])
            try workspace.save(picture, as: "heic", to: "picture", save: save)
            return Set(try workspace.load("picture").raster.values).count
        }
        let counts = [try levels("8"), try levels("10"), try levels("12")]
        #expect(counts == counts.sorted() && Set(counts).count == 3)
    }

    @Test func `AVIF has no 10 bits`() throws {
        let format = try workspace.requireFormat("avif")
        let path = workspace.path("picture")
        let shape = ImageShape(width: 2, height: 2, layout: .rgb, sampleFormat: .u16)
        let error = #expect(throws: ImageFileError.self) {
            try ImageEncoder.write(
                to: path, format: format, save: SaveOptions(values: ["bits": .word("10")]), shape: shape,
                metadata: ImageMetadata()
            ) { rows in AnyRaster(zeroed: PixelRect(columns: 0..<2, rows: rows), layout: .rgb, format: .u16) }
        }
        #expect(error?.description == "\(path): cannot be written as AVIF: AVIF has no 'bits: 10'")
        let kinds = format.descriptor.options.filter { $0.name == "bits" }.map(\.kind)
        #expect(kinds == [.choice(["auto", "8", "12"])])
    }

    @Test func `samples that an option does not take are refused with words`() throws {
        let path = workspace.path("picture")
        let shape = ImageShape(width: 2, height: 2, layout: .rgb, sampleFormat: .u8)
        let error = #expect(throws: ImageFileError.self) {
            try ImageEncoder.write(
                to: path, format: try workspace.requireFormat("heic"),
                save: SaveOptions(values: ["bits": .word("12")]), shape: shape, metadata: ImageMetadata()
            ) { rows in AnyRaster(zeroed: PixelRect(columns: 0..<2, rows: rows), layout: .rgb, format: .u8) }
        }
        #expect(
            error?.description
                == "\(path): cannot be written as HEIC: 'bits: 12' does not go with samples of 8 bits")
    }
}
