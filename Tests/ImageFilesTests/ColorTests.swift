import Catalogs
import Foundation
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

@Suite struct ColorTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    @Test(arguments: ["png", "jpeg", "webp", "tiff"])
    func `keep leaves pixels and profile as they are`(format: String) throws {
        let profile = ProfileBuilder.rgb(gamma: 1)
        let picture = Pictures.smooth()
        try workspace.save(picture, as: format, to: "linear", metadata: ImageMetadata(icc: Blob(profile)))
        try workspace.save(picture, as: format, to: "plain")
        let decoded = try workspace.load("linear")
        let isEqual = try decoded.raster == workspace.load("plain").raster
        #expect(isEqual)
        #expect(decoded.header.hasProfile)
        #expect(decoded.metadata.icc?.bytes == profile)
        #expect(!decoded.metadata.isConverted)
    }

    @Test(arguments: PixelLayout.allCases, [SampleFormat.u8, .u16])
    func `srgb converts through the profile, at the samples' own depth`(layout: PixelLayout, format: SampleFormat)
        throws
    {
        let isGray = layout.removingAlpha == .gray
        let gamma = 1.75
        let profile = isGray ? ProfileBuilder.gray(gamma: gamma) : ProfileBuilder.rgb(gamma: gamma)
        let picture = Pictures.smooth(layout: layout, format: format)
        try workspace.save(picture, as: "png", to: "profiled", metadata: ImageMetadata(icc: Blob(profile)))
        let decoded = try workspace.load("profiled", color: .srgb)
        #expect(decoded.raster.layout == layout && decoded.raster.format == format)
        #expect(decoded.metadata.icc == nil && decoded.metadata.isConverted && !decoded.header.hasProfile)
        var largest = 0.0
        for (index, (before, after)) in zip(picture.values, decoded.raster.values).enumerated() {
            let isAlpha = layout.hasAlpha && index % layout.channels == layout.channels - 1
            largest = max(largest, abs(after - (isAlpha ? before : trueEncoded(pow(before, gamma)))))
        }
        // Two parts in 255: the colour library works with tables.
        #expect(largest < 0.008)
    }

    @Test func `srgb leaves a picture without a profile alone`() throws {
        let picture = Pictures.busy()
        try workspace.save(picture, as: "png", to: "plain")
        let decoded = try workspace.load("plain", color: .srgb)
        let isEqual = decoded.raster == picture
        #expect(isEqual)
        #expect(!decoded.metadata.isConverted)
    }

    @Test(arguments: ColorPolicy.allCases)
    func `a profile of another space is not taken over`(policy: ColorPolicy) throws {
        let tiff = TIFFBuilder(width: 2, height: 1, profile: ProfileBuilder.rgb(gamma: 1), data: [10, 200])
        _ = try workspace.write(tiff.build(), to: "gray.tif")
        let decoded = try workspace.load("gray.tif", color: policy)
        #expect(decoded.metadata.icc == nil)
        #expect(decoded.raster.bytes == [10, 200])
    }

    @Test func `floats with a profile are refused under srgb`() throws {
        let picture = Pictures.busy(layout: .rgb, format: .f32)
        let metadata = ImageMetadata(icc: Blob(ProfileBuilder.rgb(gamma: 1)))
        try workspace.save(picture, as: "tiff", to: "float", metadata: metadata)
        let error = #expect(throws: ImageFileError.self) { try workspace.load("float", color: .srgb) }
        #expect(
            error?.description == workspace.path("float")
                + ": TIFF with floating-point samples and a profile that has to be converted to sRGB, which Penumbra "
                + "does not read; store it in sRGB, or in 16 bits")
        let isEqual = try workspace.load("float").raster == picture
        #expect(isEqual)
    }

    @Test func `CMYK becomes sRGB`() throws {
        // No ink, cyan, magenta, yellow, black.
        let inks: [UInt8] = [0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255]
        let tiff = TIFFBuilder(width: 5, height: 1, samplesPerPixel: 4, photometric: .separated, data: inks)
        _ = try workspace.write(tiff.build(), to: "cmyk.tif")
        let decoded = try workspace.load("cmyk.tif")
        #expect(decoded.raster.layout == .rgb && decoded.raster.format == .u8 && decoded.metadata.isConverted)
        expectInkColors(decoded.raster.bytes)
    }

    @Test func `CMYK goes through its own profile when it has one`() throws {
        let tiff = TIFFBuilder(
            width: 2, height: 1, samplesPerPixel: 4, photometric: .separated, profile: ProfileBuilder.invertedBlack(),
            data: [0, 0, 0, 0, 0, 0, 0, 255])
        _ = try workspace.write(tiff.build(), to: "cmyk.tif")
        let decoded = try workspace.load("cmyk.tif")
        let bytes = decoded.raster.bytes
        #expect(bytes[..<3].allSatisfy { $0 < 10 } && bytes[3...].allSatisfy { $0 > 245 })
        #expect(decoded.metadata.icc == nil)
    }

    @Test func `a profiled picture is converted where a colour of sRGB shows through it, and nowhere else`() throws {
        let profile = ImageMetadata(icc: Blob(ProfileBuilder.rgb(gamma: 1.75)))
        try workspace.save(Pictures.smooth(layout: .rgba), as: "png", to: "profiled", metadata: profile)
        let header = try workspace.load("profiled").header
        let (jpeg, png) = try (workspace.requireFormat("jpeg"), workspace.requireFormat("png"))
        func policy(_ format: any ImageFormat, _ background: [Int], _ output: PixelLayout) -> ColorPolicy {
            format.colorPolicy(
                for: header, asked: .keep, save: SaveOptions(background: background), output: output)
        }
        #expect(policy(jpeg, [0x33, 0x66, 0xCC], .rgba) == .srgb)
        #expect(policy(jpeg, [128, 128, 128], .rgba) == .srgb)
        #expect(policy(jpeg, [255, 255, 255], .rgba) == .keep)
        #expect(policy(jpeg, [0, 0, 0], .rgba) == .keep)
        #expect(policy(jpeg, [0x33, 0x66, 0xCC], .rgb) == .keep)
        #expect(policy(png, [0x33, 0x66, 0xCC], .rgba) == .keep)
    }

    @Test func `a profile that the output would lose is converted first`() throws {
        let profile = ImageMetadata(icc: Blob(ProfileBuilder.gray(gamma: 1.75)))
        try workspace.save(Pictures.smooth(layout: .gray), as: "png", to: "gray", metadata: profile)
        let header = try workspace.load("gray").header
        let (webp, png) = try (workspace.requireFormat("webp"), workspace.requireFormat("png"))
        #expect(
            webp.colorPolicy(for: header, asked: .keep, save: SaveOptions(metadata: .keep), output: header.layout)
                == .srgb)
        #expect(
            png.colorPolicy(for: header, asked: .keep, save: SaveOptions(metadata: .keep), output: header.layout)
                == .keep)
        #expect(
            png.colorPolicy(for: header, asked: .keep, save: SaveOptions(metadata: .strip), output: header.layout)
                == .srgb)
        let lost = try workspace.load("gray").metadata
        try workspace.save(Pictures.smooth(layout: .gray), as: "webp", to: "webp", metadata: lost)
        #expect(try workspace.load("webp").metadata.icc == nil)
    }

    @Test func `a CMYK JPEG becomes sRGB`() throws {
        let decoded = try workspace.load(fixture: "cmyk_should_be_srgb.jpg")
        #expect(decoded.raster.layout == .rgb && decoded.metadata.isConverted)
        // Five fields of eight pixels: the middles of their fourth row.
        let bytes = decoded.raster.bytes
        expectInkColors(
            (0..<5).flatMap { field -> ArraySlice<UInt8> in
                let start = (3 * 40 + field * 8 + 4) * 3
                return bytes[start..<start + 3]
            })
    }

    /// White, cyan, magenta, yellow, black, as inks are.
    private func expectInkColors(_ bytes: [UInt8]) {
        let colors = stride(from: 0, to: bytes.count, by: 3).map { bytes[$0..<$0 + 3].map(Int.init) }
        #expect(colors[0].allSatisfy { $0 > 240 })
        #expect(colors[1][0] < 60 && colors[1][2] > 180)
        #expect(colors[2][0] > 180 && colors[2][1] < 60)
        #expect(colors[3][0] > 220 && colors[3][2] < 90)
        #expect(colors[4].allSatisfy { $0 < 90 })
    }

    @Test func `Lab of 16 bits becomes sRGB of 16 bits`() throws {
        // L, a, b of white and of a gray.
        let samples: [UInt16] = [65535, 0, 0, 32768, 0, 0]
        let tiff = TIFFBuilder(
            width: 2, height: 1, samplesPerPixel: 3, bitsPerSample: 16, photometric: .lab,
            data: samples.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        _ = try workspace.write(tiff.build(), to: "lab.tif")
        let decoded = try workspace.load("lab.tif")
        #expect(decoded.raster.layout == .rgb && decoded.raster.format == .u16 && decoded.metadata.isConverted)
        let values = decoded.raster.values
        #expect(values[0..<3].allSatisfy { $0 > 0.99 })
        #expect(values[3..<6].allSatisfy { abs($0 - 0.466) < 0.01 })  // L* = 50
    }

    @Test func `Lab becomes sRGB`() throws {
        // 8 bits: L, a, b of white, black and a red.
        let tiff = TIFFBuilder(
            width: 3, height: 1, samplesPerPixel: 3, photometric: .lab, data: [255, 0, 0, 0, 0, 0, 136, 80, 67])
        _ = try workspace.write(tiff.build(), to: "lab.tif")
        let decoded = try workspace.load("lab.tif")
        #expect(decoded.raster.layout == .rgb && decoded.raster.format == .u8 && decoded.metadata.isConverted)
        let bytes = decoded.raster.bytes.map(Int.init)
        #expect(bytes[0..<3].allSatisfy { $0 >= 250 } && bytes[3..<6].allSatisfy { $0 <= 1 })
        #expect(bytes[6] > 230 && bytes[7] < 40 && bytes[8] < 40)
    }
}
