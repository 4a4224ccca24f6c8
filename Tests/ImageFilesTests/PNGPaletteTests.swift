import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// PNG files that have a number of a colour for each pixel.
@Suite struct PNGPaletteTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func palette(_ more: [String: ParameterValue] = [:]) -> SaveOptions {
        SaveOptions(values: more.merging(["palette": .boolean(true)]) { $1 })
    }

    /// The chunks of a written file by name.
    private func chunks(_ name: String) throws -> [String: [UInt8]] {
        let bytes = try workspace.bytes(name)
        var (offset, found): (Int, [String: [UInt8]]) = (8, [:])
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let chunk = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
            found[chunk, default: []] += bytes[offset + 8..<offset + 8 + length]
            offset += 12 + length
        }
        return found
    }

    @Test(arguments: [(256, 8), (17, 8), (16, 4), (5, 4), (4, 2), (3, 2), (2, 1)])
    func `a palette has as many colours as asked for, rounded up to what its bits can count`(
        colors: Int, bits: Int
    ) throws {
        try workspace.save(Pictures.busy(), as: "png", to: "picture", save: palette(["colors": .integer(colors)]))
        let chunks = try chunks("picture")
        let header = try #require(chunks["IHDR"])
        #expect(Int(header[8]) == bits && header[9] == 3, "it has a palette, and so many bits")
        let entries = try #require(chunks["PLTE"]).count / 3
        #expect(entries > 1 && entries <= 1 << bits)
        let found = try workspace.load("picture")
        #expect(found.header.layout == .rgb && found.header.sampleFormat == .u8)
        let samples = found.raster.bytes
        let used = Set(stride(from: 0, to: samples.count, by: 3).map { Array(samples[$0..<$0 + 3]) })
        #expect(used.count <= 1 << bits)
    }

    @Test func `few colours stay as they are, and so does their alpha`() throws {
        let colors: [[UInt8]] = [[0, 0, 0, 255], [200, 30, 40, 255], [10, 90, 250, 128], [0, 0, 0, 0]]
        let samples = (0..<300).flatMap { colors[$0 * 7 % 4] }
        let rect = PixelRect(x: 0, y: 0, width: 20, height: 15)
        let picture = AnyRaster.u8(Raster(rect: rect, layout: .rgba, samples: samples))
        try workspace.save(picture, as: "png", to: "picture", save: palette(["palette_dither": .number(0)]))
        let found = try workspace.load("picture").raster
        #expect(found.layout == .rgba)
        // Pixels that nobody sees may have any colour.
        func visible(_ bytes: [UInt8]) -> [[UInt8]] {
            (0..<300).map { bytes[4 * $0 + 3] == 0 ? [0] : Array(bytes[4 * $0..<4 * $0 + 4]) }
        }
        #expect(visible(found.bytes) == visible(samples))
    }

    @Test func `the alpha of an opaque picture is left out, as the format says`() throws {
        let format = try workspace.requireFormat("png").fitted(to: ["palette": .boolean(true)])
        #expect(format.dropsOpaqueAlpha && !format.holdsGray && format.descriptor.sampleFormats == [.u8])
        let samples = (0..<800).map { (index: Int) -> UInt8 in index % 4 == 3 ? 255 : UInt8(index % 251) }
        let rect = PixelRect(x: 0, y: 0, width: 20, height: 10)
        try workspace.save(
            AnyRaster.u8(Raster(rect: rect, layout: .rgba, samples: samples)), as: "png", to: "picture",
            save: palette())
        #expect(try workspace.load("picture").header.layout == .rgb)
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `every picture can have a palette, and stays close to what it was`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pictures.smooth(layout: layout, format: format)
        let conversion = OutputConversion(
            from: layout, format, to: try workspace.requireFormat("png"), save: palette())
        #expect(conversion.outputFormat == .u8)
        #expect(
            conversion.outputLayout == (layout.hasAlpha ? .rgba : layout == .gray ? .gray : .rgb),
            "gray with alpha has colours of the palette")
        try workspace.save(picture, as: "png", to: "picture", save: palette())
        let found = try workspace.load("picture").raster
        #expect(found.layout == conversion.outputLayout)
        #expect(found.largestDifference(from: conversion.convert(picture)) < 0.1)
    }

    @Test(arguments: [(256, true), (17, true), (16, false), (2, false)])
    func `opaque gray has no palette that has room for all grays, and keeps every sample`(
        colors: Int, isPlain: Bool
    ) throws {
        let picture = Pictures.smooth(layout: .gray, format: .u8)
        let save = palette(["colors": .integer(colors)])
        let conversion = OutputConversion(from: .gray, .u8, to: try workspace.requireFormat("png"), save: save)
        #expect(conversion.outputLayout == (isPlain ? .gray : .rgb))
        try workspace.save(picture, as: "png", to: "picture", save: save)
        let hasPalette = try chunks("picture")["PLTE"] != nil
        #expect(hasPalette != isPlain)
        let found = try workspace.load("picture").raster
        #expect(found.layout == conversion.outputLayout && (found == picture) == isPlain)
        guard isPlain else { return }
        let size = try workspace.bytes("picture").count
        try workspace.save(picture, as: "png", to: "picture", save: SaveOptions())
        #expect(try workspace.bytes("picture").count == size, "it is as small as a gray picture without the option")
    }

    @Test func `errors of colours are spread only if they are asked to be`() throws {
        func used(_ dither: Double) throws -> [UInt8] {
            try workspace.save(
                Pictures.smooth(), as: "png", to: "picture",
                save: palette(["colors": .integer(4), "palette_dither": .number(dither)]))
            return try workspace.load("picture").raster.bytes
        }
        #expect(try used(0) != used(1))
    }

    @Test func `a palette is as lossless as the format says, and needs memory for its picture`() throws {
        let format = try workspace.requireFormat("png")
        let shape = ImageShape(width: 10_000, height: 10_000, layout: .rgb, sampleFormat: .u8)
        for hasPalette in [false, true] {
            let values: [String: ParameterValue] = ["palette": .boolean(hasPalette)]
            let fitted = format.fitted(to: values)
            #expect(
                fitted.isLossless(.rgb, options: FormatOptions(values, of: fitted.descriptor)) == !hasPalette)
            #expect((fitted.encoderMemory(for: shape, frames: 1) >= 500_000_000) == hasPalette)
        }
    }

    @Test func `metadata and a profile are beside a palette, too`() throws {
        let metadata = ImageMetadata(
            icc: Blob(ProfileBuilder.rgb(gamma: 1.8)), exif: Blob(ExifBuilder.full()),
            resolution: .init(x: 300 / 25.4, y: 300 / 25.4))
        try workspace.save(Pictures.busy(), as: "png", to: "picture", save: palette(), metadata: metadata)
        let found = try workspace.load("picture").metadata
        #expect(found.icc == metadata.icc && found.exif != nil && found.resolution != nil)
    }

    @Test func `a file names the library that has chosen its colours`() throws {
        let format = try workspace.requireFormat("png")
        try VipsRuntime.prepare(format)
        #expect(ImageEncoder.versions(of: format, save: palette()).contains("libimagequant"))
        #expect(!ImageEncoder.versions(of: format, save: SaveOptions()).contains("libimagequant"))
    }

    @Test func `samples of 16 bits, and gray of few colours that is not converted, are refused`() throws {
        let format = try workspace.requireFormat("png")
        for (layout, samples) in [(PixelLayout.rgb, SampleFormat.u16), (.gray, .u8)] {
            let shape = ImageShape(width: 2, height: 2, layout: layout, sampleFormat: samples)
            let path = workspace.path("picture")
            let error = #expect(throws: ImageFileError.self) {
                try ImageEncoder.write(
                    to: path, format: format, save: palette(["colors": .integer(16)]), shape: shape,
                    metadata: ImageMetadata()
                ) { rows in
                    AnyRaster(zeroed: PixelRect(columns: 0..<2, rows: rows), layout: layout, format: samples)
                }
            }
            #expect(
                error?.description
                    == "\(path): cannot be written as PNG: 'palette: true' takes colours of 8 bits")
        }
    }
}
