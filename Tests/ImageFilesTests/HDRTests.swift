import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Pictures in PQ and HLG, as filters get them where `tone-map` is among them.
@Suite struct HDRTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// Code points of H.273: BT.2020, and PQ or HLG.
    enum Curve: UInt8, CaseIterable, Sendable {
        case pq = 16
        case hlg = 18

        /// The display's light in multiples of 203 nits, for stored values 0–1.
        ///
        /// - Parameter luminances: of red, green and blue.
        func light(_ color: [Double], _ luminances: [Double]) -> [Double] {
            if self == .pq { return color.map { TrueTones.nits(ofPQ: $0) / 203 } }
            let scene = color.map(TrueTones.scene)
            let luminance =
                color.count == 1 ? scene[0] : zip(scene, luminances).reduce(0) { $0 + $1.0 * $1.1 }
            return scene.map { 1000 * pow(luminance, 0.2) * $0 / 203 }
        }
    }

    private static let bt2020 = [0.2627, 0.6780, 0.0593]
    /// From the light of BT.2020 to that of BT.709, as BT.2087 has it, with more digits.
    private static let toSRGB = [
        [1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349], [-0.018151, -0.100579, 1.118730],
    ]

    private func write(_ picture: AnyRaster, _ code: [UInt8], to name: String) throws {
        let isGray = picture.layout.removingAlpha == .gray
        let type: PNGBuilder.ColorType =
            picture.layout.hasAlpha ? (isGray ? .grayAlpha : .rgba) : isGray ? .gray : .rgb
        let png = PNGBuilder(
            width: picture.rect.width, height: picture.rect.height, bitDepth: picture.format == .u8 ? 8 : 16,
            colorType: type, data: picture.bigEndianBytes, chunks: [("cICP", code)])
        _ = try workspace.write(png.build(), to: name)
    }

    /// - Parameter full: the integer that stands for the end of the curve.
    private func worst(
        _ before: AnyRaster, _ after: AnyRaster, _ curve: Curve, toSRGB: Bool, full: Double
    ) -> Double {
        let (channels, colors) = (before.layout.channels, before.layout.removingAlpha.channels)
        let (old, new) = (before.doubles, after.doubles)
        var worst = 0.0
        for pixel in stride(from: 0, to: old.count, by: channels) {
            var light = curve.light(old[pixel..<pixel + colors].map { $0 / full }, Self.bt2020)
            if toSRGB, colors == 3 {
                light = Self.toSRGB.map { row in zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } }
            }
            for (channel, value) in light.map(trueEncoded).enumerated() {
                worst = max(worst, abs(new[pixel + channel] - value))
            }
            if channels > colors { worst = max(worst, abs(new[pixel + colors] - old[pixel + colors] / full)) }
        }
        return worst
    }

    @Test(arguments: Curve.allCases, [SampleFormat.u8, .u16])
    func `samples become the light of a display, in multiples of 203 nits`(
        curve: Curve, format: SampleFormat
    ) throws {
        for layout in PixelLayout.allCases {
            let rect = PixelRect(x: 0, y: 0, width: 41, height: 23)
            let picture = Pattern.noise.picture(rect, layout, format)
            try write(picture, [9, curve.rawValue, 0, 1], to: "hdr.png")
            for color in ColorPolicy.allCases {
                let found = try workspace.load("hdr.png", color: color, hdr: .convert)
                #expect((found.header.sampleFormat, found.header.storedSamples) == (.f32, format))
                #expect((found.header.layout, found.metadata.isConverted) == (layout, true))
                let isColor = layout.removingAlpha == .rgb
                #expect(found.header.hasProfile == (isColor && color == .keep))
                // The chromaticities of BT.2020 have three digits, and its luminances four.
                let off = worst(picture, found.raster, curve, toSRGB: color == .srgb, full: format.full)
                #expect(off < 1e-4, "\(layout) \(color)")
            }
        }
    }

    @Test func `the white of paper is 1, and the ends are 10000 and 1000 nits`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 3, height: 1)
        // PQ has 203 nits at 58.07 %, and HLG at 75 %.
        for (curve, white, peak) in [(Curve.pq, 0.580689, 10_000.0 / 203), (.hlg, 0.75, 1000.0 / 203)] {
            let samples = [0, UInt16((white * 65535).rounded()), 65535]
            try write(
                .u16(Raster(rect: rect, layout: .gray, samples: samples)), [9, curve.rawValue, 0, 1], to: "a.png")
            let found = try workspace.load("a.png", hdr: .convert).raster.doubles
            #expect(found[0] == 0)
            #expect(abs(found[1] - 1) < 0.002)
            #expect(abs(trueLinear(found[2]) - peak) < 1e-4)
        }
    }

    @Test func `the profile of the result has the file's primaries and the curve of sRGB`() throws {
        try write(Pictures.smooth(), [9, 16, 0, 1], to: "hdr.png")
        try write(Pictures.smooth(), [9, 13, 0, 1], to: "sdr.png")
        let profile = try workspace.load("hdr.png", hdr: .convert).metadata.icc
        #expect(try profile != nil && profile == workspace.load("sdr.png").metadata.icc)
        #expect(try workspace.load("hdr.png", color: .srgb, hdr: .convert).metadata.icc == nil)
        try write(Pictures.smooth(), [1, 16, 0, 1], to: "hdr.png")
        #expect(try workspace.load("hdr.png", hdr: .convert).metadata.icc == nil)
    }

    @Test func `where filters could map its tones, a refusal says how`() throws {
        try write(Pictures.smooth(), [9, 18, 0, 1], to: "hdr.png")
        for (lack, remedy) in [
            (HDRPolicy.Lack.noFilter, "add the filter 'tone-map' for the whole picture"),
            (.someOutputs, "add the filter 'tone-map' to every output, or write it under the filters of all of them"),
            (
                .partOfPicture,
                "its 'tone-map' is limited by 'within' or 'mask'; leave them out, so that it maps the whole picture"
            ),
        ] {
            let error = #expect(throws: ImageFileError.self) {
                try workspace.load("hdr.png", hdr: .askForToneMap(lack))
            }
            #expect(
                error?.description
                    == "\(workspace.path("hdr.png")): PNG with HDR colours (HLG), which these filters do not take; \(remedy)"
            )
        }
    }

    @Test func `pictures in other ranges are read as before`() throws {
        try write(Pictures.smooth(), [12, 13, 0, 1], to: "p3.png")
        for color in ColorPolicy.allCases {
            let (plain, allowed) = try (
                workspace.load("p3.png", color: color), workspace.load("p3.png", color: color, hdr: .convert)
            )
            #expect(plain.raster == allowed.raster && plain.metadata.icc == allowed.metadata.icc)
        }
    }

    @Test(arguments: [SampleFormat.u8, .u16]) func `integers cannot hold it, and are refused`(
        samples: SampleFormat
    ) throws {
        try write(Pictures.smooth(), [9, 16, 0, 1], to: "hdr.png")
        let error = #expect(throws: ImageFileError.self) {
            try workspace.load("hdr.png", samples: samples, hdr: .convert)
        }
        #expect(
            error?.description
                == "\(workspace.path("hdr.png")): PNG with HDR colours and a 'precision' of integers, which Penumbra does "
                + "not read; leave 'precision' out, or write 'precision: float'")
        #expect(try workspace.load("hdr.png", samples: .f32, hdr: .convert).header.sampleFormat == .f32)
    }

    @Test func `parts are those of the whole picture`() throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 40, height: 30), .rgb, .u16)
        try write(picture, [9, 18, 0, 1], to: "hdr.png")
        let whole = try workspace.load("hdr.png", hdr: .convert).raster
        let part = PixelRect(x: 7, y: 11, width: 20, height: 9)
        let decoder = try ImageDecoder(
            path: workspace.path("hdr.png"), limits: .roomy, color: .keep, hdr: .convert)
        #expect(try decoder.readRegions([part]) == [whole.cropped(to: part)])
    }

    @Test(arguments: Curve.allCases, [SampleFormat.u8, .u16])
    func `nclx of AVIF is read, with 8 and 12 bits`(curve: Curve, format: SampleFormat) throws {
        guard try VipsRuntime.canWrite("avif") else { return }
        let picture = Pictures.smooth().converted(to: format)
        try workspace.save(picture, as: "avif", to: "one", save: .init(values: ["quality": .integer(95)]))
        let plain = try workspace.load("one").raster
        var item = try #require(HEIFBuilder.Item(of: try workspace.bytes("one")))
        item.properties.append(HEIFBuilder.nclx(9, Int(curve.rawValue)))
        _ = try workspace.write(HEIFBuilder(items: [item]).build(), to: "hdr")
        for color in ColorPolicy.allCases {
            let found = try workspace.load("hdr", color: color, hdr: .convert)
            // libvips leaves the four lowest bits of 16 empty.
            let full = format == .u8 ? 255.0 : Double(4095 << 4)
            #expect(worst(plain, found.raster, curve, toSRGB: color == .srgb, full: full) < 1e-4, "\(color)")
        }
    }

    @Test(arguments: Curve.allCases, [SampleFormat.u8, .u16])
    func `a profile that states HDR beside its curves is read`(curve: Curve, format: SampleFormat) throws {
        let rect = PixelRect(x: 0, y: 0, width: 23, height: 19)
        let code: [UInt8] = [9, curve.rawValue, 0, 1]
        for layout in PixelLayout.allCases where layout != .cmyk {
            let picture = Pattern.noise.picture(rect, layout, format)
            let isGray = layout.removingAlpha == .gray
            let profile =
                isGray
                ? ProfileBuilder.gray(gamma: 2.25, code: code) : ProfileBuilder.rgb(gamma: 2.25, code: code)
            try workspace.save(picture, as: "tiff", to: "hdr.tif", metadata: ImageMetadata(icc: Blob(profile)))
            for color in ColorPolicy.allCases {
                let found = try workspace.load("hdr.tif", color: color, hdr: .convert)
                #expect((found.header.sampleFormat, found.header.storedSamples) == (.f32, format))
                #expect(found.header.hasProfile == (!isGray && color == .keep))
                #expect(found.metadata.icc != Blob(profile))
                let off = worst(picture, found.raster, curve, toSRGB: color == .srgb, full: format.full)
                #expect(off < 1e-4, "\(layout) \(color)")
            }
        }
    }

    @Test(
        arguments: [
            ([2, 16, 0, 1], "HDR colours (PQ) whose primaries have no code"),
            ([9, 16, 9, 1], "HDR samples that are not RGB (cicp)"),
            ([9, 16, 0, 0], "HDR samples of video range (cicp)"),
        ] as [([UInt8], String)])
    func `a profile without primaries, with a matrix or of video range is refused`(
        code: [UInt8], words: String
    ) throws {
        let profile = ProfileBuilder.rgb(gamma: 2.25, code: code)
        try workspace.save(
            Pictures.smooth(), as: "jpeg", to: "hdr.jpg", metadata: ImageMetadata(icc: Blob(profile)))
        let error = #expect(throws: ImageFileError.self) { try workspace.load("hdr.jpg", hdr: .convert) }
        #expect(error?.description == "\(workspace.path("hdr.jpg")): JPEG with \(words), which Penumbra does not read")
    }

    @Test func `a JPEG in HDR is not shrunk while it is decoded`() throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 64, height: 64), .rgb, .u8)
        for (code, largest) in [([9, 16, 0, 1] as [UInt8], 1), ([9, 13, 0, 1], 8)] {
            let profile = ProfileBuilder.rgb(gamma: 2.25, code: code)
            try workspace.save(picture, as: "jpeg", to: "a.jpg", metadata: ImageMetadata(icc: Blob(profile)))
            #expect(try workspace.load("a.jpg", hdr: .convert).header.largestShrink == largest)
        }
    }
}
