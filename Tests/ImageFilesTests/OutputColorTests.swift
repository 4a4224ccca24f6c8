import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Outputs in colours of their own: `save: {color: …}`.
@Suite struct OutputColorTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// Writes a picture in other colours, and reads it without a conversion.
    private func write(
        _ picture: AnyRaster, profile: [UInt8]? = nil, to target: OutputProfile, as format: String = "tiff",
        _ save: SaveOptions = SaveOptions(), intent: RenderingIntent = .relative, blackPoint: Bool = true
    ) throws -> Workspace.Decoded {
        let color = try ColorConversion(
            from: profile, of: picture.layout, to: target, intent: intent, blackPoint: blackPoint)
        let conversion = OutputConversion(
            from: picture.layout, picture.format, to: try workspace.requireFormat(format), save: save, color: color)
        let converted = conversion.convert(picture)
        #expect(converted.layout == conversion.outputLayout && converted.format == conversion.outputFormat)
        let metadata = ImageMetadata(icc: profile.map(Blob.init), resolution: .init(x: 12, y: 12))
        try ImageEncoder.write(
            to: workspace.path("out"), format: workspace.requireFormat(format), save: save, shape: converted.shape,
            metadata: metadata.converted(by: color)
        ) { converted.cropped(to: PixelRect(columns: 0..<converted.rect.width, rows: $0)) }
        let decoded = try workspace.load("out", keepsCMYK: true)
        if format == "tiff" {
            let isEqual = decoded.raster == converted
            #expect(isEqual)
        }
        return decoded
    }

    /// X, Y and Z of sRGB's primaries and others' under D65 need no adaptation to each other.
    private static func columns(_ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double)) -> Columns
    {
        Columns([red, green, blue].map { [$0.0 / $0.1, 1, (1 - $0.0 - $0.1) / $0.1] })
    }

    /// The primaries of a space, scaled so that together they are the white of D65.
    private struct Columns {
        let colors: [[Double]]

        init(_ rays: [[Double]]) {
            let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
            let shares = Self.solve(rays, white)
            colors = zip(rays, shares).map { ray, share in ray.map { $0 * share } }
        }

        /// How much of each column makes a colour: Cramer's rule.
        static func solve(_ columns: [[Double]], _ color: [Double]) -> [Double] {
            func volume(_ a: [Double], _ b: [Double], _ c: [Double]) -> Double {
                a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1])
                    + c[0] * (a[1] * b[2] - a[2] * b[1])
            }
            let whole = volume(columns[0], columns[1], columns[2])
            return [
                volume(color, columns[1], columns[2]) / whole, volume(columns[0], color, columns[2]) / whole,
                volume(columns[0], columns[1], color) / whole,
            ]
        }

        func xyz(_ light: [Double]) -> [Double] {
            (0..<3).map { row in (0..<3).reduce(0) { $0 + colors[$1][row] * light[$1] } }
        }
        func light(_ xyz: [Double]) -> [Double] { Self.solve(colors, xyz) }
    }

    private static let sRGB = columns((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
    private static let p3 = columns((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
    private static let adobe = columns((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))

    private func encodedAdobe(_ light: Double) -> Double {
        light < 0 ? -pow(-light, 256.0 / 563) : pow(light, 256.0 / 563)
    }

    @Test(arguments: [NamedColorSpace.p3, .adobe], SampleFormat.allCases)
    func `colours of sRGB become those of a wider space by the definition of both`(
        space: NamedColorSpace, format: SampleFormat
    ) throws {
        for layout in [PixelLayout.rgb, .rgba] {
            let picture = Pictures.busy(layout: layout, format: format)
            let decoded = try write(picture, to: .named(space))
            #expect(decoded.header.layout == layout && decoded.header.sampleFormat == format)
            #expect(decoded.metadata.icc != nil)
            var worst = 0.0
            let (before, after) = (picture.values, decoded.raster.values)
            for pixel in stride(from: 0, to: before.count, by: layout.channels) {
                let xyz = Self.sRGB.xyz((0..<3).map { trueLinear(before[pixel + $0]) })
                let truth =
                    space == .p3 ? Self.p3.light(xyz).map(trueEncoded) : Self.adobe.light(xyz).map(encodedAdobe)
                for channel in 0..<3 { worst = max(worst, abs(after[pixel + channel] - truth[channel])) }
                if layout.hasAlpha { #expect(after[pixel + 3] == before[pixel + 3]) }
            }
            #expect(worst < (format == .u8 ? 0.56 / 255 : format == .u16 ? 0.52 / 65535 : 2e-6), "\(worst)")
        }
    }

    @Test func `another reader takes the profile for the space that it describes`() throws {
        let picture = Pictures.smooth(format: .u16)
        for space in [NamedColorSpace.p3, .adobe] {
            _ = try write(picture, to: .named(space))
            // By the profile's own numbers, which have 16 bits behind the point.
            let back = try workspace.load("out", color: .srgb).raster
            let worst = zip(back.values, picture.values).reduce(0) { max($0, abs($1.0 - $1.1)) }
            #expect(worst < 1.0 / 4096, "\(space): \(worst)")
        }
    }

    @Test func `colours that sRGB lacks stay if the output has them`() throws {
        let profile = ProfileBuilder.rgb(gamma: 2, .displayP3)
        let pixels: [UInt16] = [65535, 0, 0, 0, 65535, 0, 65535, 30000, 0]
        let picture = AnyRaster.u16(
            Raster(rect: PixelRect(x: 0, y: 0, width: 3, height: 1), layout: .rgb, samples: pixels))
        let decoded = try write(picture, profile: profile, to: .named(.p3))
        // The same primaries with another curve, to what the rounded numbers of profiles allow.
        for (before, after) in zip(picture.values, decoded.raster.values) {
            #expect(abs(after - trueEncoded(before * before)) < 0.004)
        }
        let narrow = try write(picture, profile: profile, to: .named(.srgb)).raster.values
        #expect(narrow[0] == 1 && narrow[1] == 0 && narrow[4] == 1 && narrow[3] == 0)
    }

    @Test func `a picture that has the output's profile does not change`() throws {
        let picture = Pictures.busy()
        let first = try write(picture, to: .named(.p3))
        let again = try write(first.raster, profile: first.metadata.icc?.bytes, to: .named(.p3))
        let isEqual = again.raster == first.raster
        #expect(isEqual)
        let plain = try write(picture, to: .named(.srgb))
        #expect(plain.raster == picture && plain.metadata.icc == nil)
    }

    @Test(arguments: [SampleFormat.u8, .u16, .f32])
    func `gray is the brightness of light, without a profile`(format: SampleFormat) throws {
        let picture = Pictures.busy(format: format)
        let decoded = try write(picture, to: .named(.gray))
        #expect(decoded.header.layout == .gray && decoded.metadata.icc == nil)
        // The Y of sRGB's primaries under D50.
        let shares = [0.22249, 0.71687, 0.06061]
        let before = picture.values
        var worst = 0.0
        for (index, gray) in decoded.raster.values.enumerated() {
            let light = (0..<3).reduce(0) { $0 + shares[$1] * trueLinear(before[3 * index + $1]) }
            worst = max(worst, abs(gray - trueEncoded(light)))
        }
        #expect(worst < (format == .u8 ? 0.56 / 255 : 1e-4), "\(worst)")
    }

    @Test(arguments: ["png", "webp", "jpeg", "avif"])
    func `gray stays gray in sRGB, and has the channels of other spaces`(format: String) throws {
        let picture = Pictures.smooth(layout: .gray)
        let options = SaveOptions(values: format == "jpeg" ? ["quality": .integer(100)] : [:])
        let gray = try write(picture, to: .named(.srgb), as: format, options)
        #expect(gray.header.layout == (format == "png" || format == "jpeg" ? .gray : .rgb))
        let color = try write(picture, to: .named(.p3), as: format, options)
        #expect(color.header.layout == .rgb && color.metadata.icc != nil)
        if format == "png" {
            #expect(color.raster.values == picture.values.flatMap { [$0, $0, $0] })
        }
    }

    @Test func `bands have the colours of the whole picture`() throws {
        for target in [OutputProfile.named(.adobe), try OutputProfile(ProfileBuilder.ink())] {
            let picture = Pictures.busy(layout: .rgba, format: .u16)
            let color = try ColorConversion(
                from: nil, of: .rgba, to: target, intent: .perceptual, blackPoint: false)
            let conversion = OutputConversion(
                from: .rgba, .u16, to: try workspace.requireFormat("tiff"), save: SaveOptions(dither: true),
                color: color)
            let whole = conversion.convert(picture)
            for rows in [0..<7, 7..<8, 8..<29] {
                let band = PixelRect(columns: 0..<picture.rect.width, rows: rows)
                let isEqual = conversion.convert(picture.cropped(to: band)) == whole.cropped(to: band)
                #expect(isEqual)
            }
        }
    }

    @Test(arguments: [PixelLayout.gray, .rgb], [SampleFormat.u8, .u16])
    func `CMYK is what the tables of its profile say`(layout: PixelLayout, format: SampleFormat) throws {
        let grays = Pictures.picture(width: 256, height: 1, layout: layout, format: format) { x, _, _ in
            Double(x) / 255
        }
        let profile = try OutputProfile(ProfileBuilder.ink())
        for (intent, ink) in [(RenderingIntent.perceptual, 3), (.relative, 0), (.saturation, 0), (.absolute, 0)] {
            let decoded = try write(grays, to: profile, intent: intent, blackPoint: false)
            #expect(decoded.header.layout == .cmyk && decoded.header.sampleFormat == format)
            var worst = 0.0
            for (index, value) in decoded.raster.values.enumerated() {
                let light = trueLinear(Double(index / 4) / 255)
                let lightness = light > 216.0 / 24389 ? 116 * cbrt(light) - 16 : light * 24389 / 27
                worst = max(worst, abs(value - (index % 4 == ink ? 1 - lightness / 100 : 0)))
            }
            #expect(worst < 1.0 / 255, "\(intent): \(worst)")
        }
    }

    @Test func `with the black point, shadows differ that the inks alone could not show`() throws {
        let shadows = Pictures.picture(width: 60, height: 1, layout: .rgb, format: .u8) { x, _, _ in Double(x) / 255 }
        let profile = try OutputProfile(ProfileBuilder.ink(darkest: 30))
        func inks(_ blackPoint: Bool) throws -> Set<Double> {
            let values = try write(shadows, to: profile, blackPoint: blackPoint).raster.values
            return Set(stride(from: 0, to: values.count, by: 4).map { values[$0] })
        }
        #expect(try inks(false) == [1])
        #expect(try inks(true).count > 20)
    }

    @Test func `a JPEG holds CMYK with its profile and its resolution`() throws {
        let picture = Pictures.smooth()
        let profile = ProfileBuilder.ink()
        let exact = try write(picture, to: try OutputProfile(profile), as: "tiff")
        let decoded = try write(
            picture, to: try OutputProfile(profile), as: "jpeg", SaveOptions(values: ["quality": .integer(100)]))
        #expect(decoded.header.layout == .cmyk)
        #expect(decoded.metadata.icc?.bytes == profile)
        #expect(decoded.metadata.resolution.map { abs($0.x - 12) < 0.01 } ?? false)
        let worst = zip(decoded.raster.values, exact.raster.values).reduce(0) { max($0, abs($1.0 - $1.1)) }
        #expect(worst < 4.0 / 255, "\(worst)")
        // Filters get sRGB.
        #expect(try workspace.load("out").header.layout == .rgb)
    }

    @Test func `CMYK has no transparency, and shows the background`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 2, height: 1)
        let picture = AnyRaster.u8(Raster(rect: rect, layout: .rgba, samples: [0, 0, 0, 0, 0, 0, 0, 255]))
        let decoded = try write(picture, to: try OutputProfile(ProfileBuilder.ink()), intent: .perceptual)
        #expect(decoded.raster.values == [0, 0, 0, 0, 0, 0, 0, 1])
    }

    @Test func `profiles of tables make integers of floats`() throws {
        let picture = Pictures.smooth(format: .f32)
        let decoded = try write(picture, to: try OutputProfile(ProfileBuilder.ink()))
        #expect(decoded.header.sampleFormat == .u16)
        #expect(try write(picture, to: .named(.p3)).header.sampleFormat == .f32)
    }

    @Test func `EXIF does not call other colours sRGB`() throws {
        for (space, value) in [(NamedColorSpace.p3, UInt16.max), (.srgb, 1)] {
            let source = ProfileBuilder.rgb(gamma: 2)
            let color = try ColorConversion(
                from: source, of: .rgb, to: .named(space), intent: .relative, blackPoint: true)
            var exif = ExifBuilder()
            exif.exif = [.short(0xA001, 2)]
            let metadata = ImageMetadata(icc: Blob(source), exif: Blob(exif.build())).converted(by: color)
            let carried = metadata.carried(by: .keep, shape: Pictures.smooth().shape)
            // The tag, its type and its count in front of the value.
            let entry = [0x01, 0xA0, 3, 0, 1, 0, 0, 0, UInt8(value & 255), UInt8(value >> 8)]
            #expect(carried.exif?.bytes.firstRange(of: entry) != nil)
        }
    }

    @Test func `a file that is no profile for outputs is refused with the reason`() {
        for (bytes, reason) in [
            (Array("no profile".utf8), "is no ICC profile"),
            (ProfileBuilder.rgb(kind: "link"), "is not the profile of a device or a colour space"),
            (ProfileBuilder.rgb(gamma: 2, code: [9, 16, 0, 1]), "has HDR colours (PQ)"),
        ] {
            #expect { try OutputProfile(bytes) } throws: { "\($0)" == reason }
        }
    }

    @Test func `threads that need different profiles at once get their own`() async throws {
        let gray = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), layout: .rgb, samples: [60, 60, 60]))
        let format = try workspace.requireFormat("tiff")
        try await withThrowingTaskGroup(of: (Int, Double).self) { group in
            for darkest in 0..<20 {
                group.addTask {
                    let profile = try OutputProfile(ProfileBuilder.ink(darkest: Double(darkest)))
                    let color = try ColorConversion(
                        from: nil, of: .rgb, to: profile, intent: .perceptual, blackPoint: false)
                    let conversion = OutputConversion(from: .rgb, .u8, to: format, save: SaveOptions(), color: color)
                    return (darkest, conversion.convert(gray).values[3])
                }
            }
            // 60 of 255 has a lightness of 25.
            for try await (darkest, ink) in group {
                #expect(abs(ink - 0.75 / (1 - Double(darkest) / 100)) < 0.02, "\(darkest)")
            }
        }
    }

    @Test func `a profile that only reads colours is refused`() throws {
        for bytes in [ProfileBuilder.readOnly(), ProfileBuilder.invertedBlack()] {
            #expect(try OutputProfile(bytes).problem?.hasPrefix("cannot be used for outputs (") ?? false)
        }
        for bytes in [ProfileBuilder.ink(), ProfileBuilder.rgb(gamma: 2), ProfileBuilder.gray(gamma: 2)] {
            #expect(try OutputProfile(bytes).problem == nil)
        }
    }

    @Test func `formats refuse the colours that they cannot hold`() throws {
        func objection(_ format: String, _ profile: OutputProfile) throws -> String? {
            try workspace.requireFormat(format).objection(to: profile)
        }
        let (cmyk, gray) = (try OutputProfile(ProfileBuilder.ink()), try OutputProfile(ProfileBuilder.gray(gamma: 2)))
        for format in ["png", "webp", "avif", "jxl"] {
            #expect(try objection(format, cmyk)?.contains("is of CMYK, which ") ?? false)
        }
        for format in ["jpeg", "tiff"] { #expect(try objection(format, cmyk) == nil) }
        #expect(try objection("webp", gray) == "is of gray, which WebP does not hold; write 'color: gray'")
        #expect(try objection("png", gray) == nil)
        for format in ["gif", "ppm", "dzi", "jp2"] {
            #expect(try objection(format, .named(.p3))?.hasPrefix("needs a profile, for which ") ?? false)
            #expect(try objection(format, .named(.srgb)) == nil)
            #expect(try objection(format, .named(.gray)) == nil)
        }
    }
}
