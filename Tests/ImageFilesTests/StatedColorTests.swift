import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Colours that a file states without an ICC profile.
@Suite struct StatedColorTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// Chunks and what they mean.
    struct Statement: Sendable, CustomStringConvertible {
        let description: String
        let chunks: [(name: String, payload: [UInt8])]
        var primaries = TruePrimaries.sRGB
        let light: @Sendable (Double) -> Double
    }

    private static func chunk(_ name: String, _ values: [Int]) -> (name: String, payload: [UInt8]) {
        (name, values.flatMap { value in (0..<4).reversed().map { UInt8(value >> (8 * $0) & 255) } })
    }

    private static let p3 = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000]
    private static let sRGB = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
    private static let adobe = [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000]

    static let statements = [
        Statement(
            description: "gAMA and cHRM", chunks: [chunk("gAMA", [45455]), chunk("cHRM", adobe)], primaries: .adobeRGB
        ) { pow($0, 100_000 / 45455) },
        Statement(description: "gAMA alone", chunks: [chunk("gAMA", [100_000])]) { $0 },
        Statement(description: "cHRM alone", chunks: [chunk("cHRM", p3)], primaries: .displayP3) { trueLinear($0) },
        Statement(description: "cICP of Display P3", chunks: [("cICP", [12, 13, 0, 1])], primaries: .displayP3) {
            trueLinear($0)
        },
        Statement(
            description: "cICP before sRGB and gAMA",
            chunks: [("sRGB", [0]), chunk("gAMA", [50000]), ("cICP", [1, 8, 0, 1])]
        ) { $0 },
    ]

    /// The pixels of a picture, with these chunks before them.
    private func write(_ picture: AnyRaster, _ chunks: [(name: String, payload: [UInt8])], to name: String) throws {
        let isGray = picture.layout.removingAlpha == .gray
        let type: PNGBuilder.ColorType =
            picture.layout.hasAlpha ? (isGray ? .grayAlpha : .rgba) : isGray ? .gray : .rgb
        let png = PNGBuilder(
            width: picture.rect.width, height: picture.rect.height, bitDepth: picture.format == .u8 ? 8 : 16,
            colorType: type, data: picture.bigEndianBytes, chunks: chunks)
        _ = try workspace.write(png.build(), to: name)
    }

    @Test(arguments: statements, [SampleFormat.u8, .u16])
    func `a PNG's statement is converted as float64 does`(_ statement: Statement, format: SampleFormat) throws {
        let picture = Pictures.smooth(layout: .rgba, format: format)
        try write(picture, statement.chunks, to: "stated.png")
        let decoded = try workspace.load("stated.png", color: .srgb)
        #expect(!decoded.header.hasProfile && decoded.metadata.isConverted)
        let (before, after) = (picture.values, decoded.raster.values)
        var worst = 0.0
        for start in stride(from: 0, to: before.count, by: 4) {
            let truth = statement.primaries.inSRGB(light: before[start..<start + 3].map(statement.light))
            for channel in 0..<3 {
                worst = max(worst, abs(after[start + channel] - truth[channel]))
            }
            #expect(before[start + 3] == after[start + 3])
        }
        #expect(worst < (format == .u8 ? 0.012 : 0.002))
    }

    @Test(arguments: ["png", "jpeg", "webp", "tiff"])
    func `keep hands a PNG's statement on as a profile, which says the same`(format: String) throws {
        let picture = Pictures.smooth()
        for statement in Self.statements {
            try write(picture, statement.chunks, to: "stated.png")
            let read = try workspace.load("stated.png")
            #expect(read.header.hasProfile && read.raster == picture)
            let values: [String: ParameterValue] =
                format == "webp" ? ["lossless": .boolean(true)] : format == "jpeg" ? ["quality": .integer(100)] : [:]
            try workspace.save(
                read.raster, as: format, to: "kept", save: .init(values: values), metadata: read.metadata)
            let kept = try workspace.load("kept", color: .srgb)
            #expect(kept.metadata.isConverted)
            let direct = try workspace.load("stated.png", color: .srgb)
            #expect(
                kept.raster.largestDifference(from: direct.raster) < (format == "jpeg" ? 0.1 : 1e-9))
        }
    }

    @Test func `what says sRGB leaves a picture without a profile`() throws {
        let sRGBs: [[(name: String, payload: [UInt8])]] = [
            [("sRGB", [0])], [("sRGB", [0]), Self.chunk("gAMA", [100_000])], [("cICP", [1, 13, 0, 1])],
            [("cICP", [1, 1, 0, 1])], [("cICP", [2, 2, 0, 1])], [Self.chunk("gAMA", [45455])],
            [Self.chunk("gAMA", [45455]), Self.chunk("cHRM", Self.sRGB)], [Self.chunk("gAMA", [0])],
            // Neither a statement of no colours nor one of the wrong length is one.
            [Self.chunk("cHRM", [0, 0, 0, 0, 0, 0, 0, 0])], [Self.chunk("cHRM", Array(repeating: -1, count: 8))],
            [Self.chunk("gAMA", [1, 2])], [("cICP", [9])],
        ]
        for chunks in sRGBs {
            try write(Pictures.busy(), chunks, to: "plain.png")
            for color in ColorPolicy.allCases {
                let read = try? workspace.load("plain.png", color: color)
                // libspng refuses some of them as broken, which is fine, too.
                if let read { #expect(!read.header.hasProfile && read.raster == Pictures.busy(), "\(chunks)") }
            }
        }
    }

    @Test(arguments: [PixelLayout.gray, .grayAlpha], [SampleFormat.u8, .u16])
    func `gray pictures have the curve alone, and every value is the nearest one`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pictures.picture(width: 256, height: 2, layout: layout, format: format) { x, y, channel in
            channel == 0 ? Double(x) / 255 : Double(x) / 255 * Double(y)
        }
        try write(picture, [Self.chunk("gAMA", [100_000])], to: "gray.png")
        let decoded = try workspace.load("gray.png", color: .srgb)
        #expect(decoded.raster.layout == layout && decoded.raster.format == format)
        let (before, after) = (picture.values, decoded.raster.values)
        for index in before.indices {
            let isAlpha = index % layout.channels == 1
            let truth = isAlpha ? before[index] : trueEncoded(before[index])
            #expect(abs(after[index] - truth) <= (isAlpha ? 0 : 0.5001 / (format == .u8 ? 255 : 65535)))
        }
        try write(picture, [Self.chunk("cHRM", Self.p3)], to: "gray.png")
        #expect(try !workspace.load("gray.png").header.hasProfile)
    }

    @Test func `a profile counts more than sRGB and gAMA, and less than cICP`() throws {
        let profile = ProfileBuilder.rgb(gamma: 1)
        try workspace.save(
            Pictures.smooth(), as: "png", to: "profiled.png", metadata: ImageMetadata(icc: Blob(profile)))
        let bytes = try workspace.bytes("profiled.png")
        func with(_ name: String, _ payload: [UInt8]) throws -> Workspace.Decoded {
            let chunk = PNGBuilder(width: 1, height: 1, colorType: .gray, data: []).chunk(name, payload)
            _ = try workspace.write(Array(bytes[..<33]) + chunk + bytes[33...], to: "both.png")
            return try workspace.load("both.png")
        }
        #expect(try with("gAMA", [0, 1, 0x86, 0xA0]).metadata.icc?.bytes == profile)
        #expect(try with("cICP", [1, 13, 0, 1]).metadata.icc == nil)
        let p3 = try with("cICP", [12, 13, 0, 1]).metadata.icc?.bytes
        #expect(p3 != nil && p3 != profile)
    }

    @Test(
        arguments: [
            ([9, 16, 0, 1], "PNG with HDR colours (PQ), which Penumbra does not read"),
            ([9, 18, 0, 1], "PNG with HDR colours (HLG), which Penumbra does not read"),
            ([1, 9, 0, 1], "PNG with logarithmic colours (transfer 9), which Penumbra does not read"),
            ([77, 13, 0, 1], "PNG with the unknown colour primaries 77, which Penumbra does not read"),
            ([1, 13, 0, 0], "PNG with samples of video range (cICP), which Penumbra does not read"),
        ] as [([UInt8], String)])
    func `what cannot be mapped is refused by name`(code: [UInt8], words: String) throws {
        try write(Pictures.smooth(), [("cICP", code)], to: "hdr.png")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("hdr.png") }
        #expect(error?.description == "\(workspace.path("hdr.png")): \(words)")
        #expect(error?.kind == .data)
    }

    @Test(arguments: [(UInt8(16), "PQ"), (18, "HLG")])
    func `a profile that says HDR beside its curves is refused by name without 'tone-map'`(
        transfer: UInt8, curve: String
    ) throws {
        let profile = ProfileBuilder.rgb(gamma: 2.25, code: [9, transfer, 0, 1])
        try workspace.save(
            Pictures.smooth(), as: "jpeg", to: "hdr.jpg", metadata: ImageMetadata(icc: Blob(profile)))
        let error = #expect(throws: ImageFileError.self) { try workspace.load("hdr.jpg") }
        #expect(
            error?.description
                == "\(workspace.path("hdr.jpg")): JPEG with HDR colours (\(curve)), which Penumbra does not read")
        let plain = ImageMetadata(icc: Blob(ProfileBuilder.rgb(gamma: 2.25, code: [12, 13, 0, 1])))
        try workspace.save(Pictures.smooth(), as: "jpeg", to: "plain.jpg", metadata: plain)
        #expect(try workspace.load("plain.jpg").header.hasProfile)
    }

    @Test func `a PNG that states one frame is a picture, and one that states more than it has is broken`() throws {
        try write(Pictures.smooth(), [Self.chunk("acTL", [1, 0])], to: "still.png")
        let still = try workspace.load("still.png")
        #expect(still.raster == Pictures.smooth() && still.header.formatName == "png")
        try write(Pictures.smooth(), [Self.chunk("acTL", [3, 0])], to: "moving.png")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("moving.png") }
        #expect(
            error?.description == "\(workspace.path("moving.png")): broken APNG: it states 3 frames and has 0")
    }

    /// Gives the primary picture of a HEIC that was written without one an `nclx`, for which all that lies behind moves.
    private func addStatement(_ name: String) throws {
        var bytes = try workspace.bytes(name)
        guard bytes.firstRange(of: Array("colrnclx".utf8)) == nil else { return }
        func place(of box: String) throws -> Int { try #require(bytes.firstRange(of: Array(box.utf8))).lowerBound - 4 }
        func number(_ at: Int, _ length: Int) -> Int { bytes[at..<at + length].reduce(0) { $0 << 8 | Int($1) } }
        func grow(_ at: Int, by count: Int) {
            let size = number(at, 4) + count
            bytes.replaceSubrange(at..<at + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) })
        }
        let property: [UInt8] = [0, 0, 0, 19] + Array("colrnclx".utf8) + [0, 1, 0, 13, 0, 1, 0x80]
        // Where the pixels lie: an item is its name, method and file, a base, and its extents.
        let items = try place(of: "iloc") + 8
        try #require(bytes[items] == 1 && number(items + 4, 2) == 0x4440)
        var item = items + 8
        for _ in 0..<number(items + 6, 2) {
            let extents = number(item + 10, 2)
            for extent in 0..<extents where number(item + 2, 2) == 0 {
                grow(item + 12 + 8 * extent, by: property.count + 1)
            }
            item += 12 + 8 * extents
        }
        let primary = number(try place(of: "pitm") + 12, 2)
        // How many properties there are before it, which is the last.
        let known = try place(of: "ipco")
        var (count, next) = (0, known + 8)
        while next < known + number(known, 4) {
            next += number(next, 4)
            count += 1
        }
        var entry = try place(of: "ipma") + 16
        while number(entry, 2) != primary { entry += 3 + number(entry + 2, 1) }
        bytes[entry + 2] += 1
        bytes.insert(UInt8(count + 1), at: entry + 3 + number(entry + 2, 1) - 1)
        grow(try place(of: "ipma"), by: 1)
        bytes.insert(contentsOf: property, at: next)
        grow(known, by: property.count)
        for box in ["iprp", "meta"] { grow(try place(of: box), by: property.count + 1) }
        _ = try workspace.write(bytes, to: name)
    }

    /// Makes a file's `nclx` say other colours.
    private func restate(_ name: String, _ primaries: UInt8, _ transfer: UInt8) throws {
        var bytes = try workspace.bytes(name)
        let mark = try #require(bytes.firstRange(of: Array("colrnclx".utf8)))
        bytes.replaceSubrange(mark.upperBound..<mark.upperBound + 4, with: [0, primaries, 0, transfer])
        _ = try workspace.write(bytes, to: name)
    }

    @Test(arguments: ["avif", "heic"])
    func `nclx is converted as float64 does, or kept as a profile`(format: String) throws {
        guard try VipsRuntime.canWrite(format) else { return }
        try workspace.save(Pictures.smooth(), as: format, to: "a", save: .init(values: ["quality": .integer(95)]))
        try addStatement("a")
        try restate("a", 1, 13)
        let plain = try workspace.load("a")
        #expect(!plain.header.hasProfile)
        for (primaries, transfer) in [(UInt8(1), UInt8(1)), (2, 2), (1, 6)] {
            try restate("a", primaries, transfer)
            #expect(try !workspace.load("a", color: .srgb).metadata.isConverted)
        }
        try restate("a", 12, 13)
        let kept = try workspace.load("a")
        #expect(kept.header.hasProfile && kept.raster == plain.raster)
        let converted = try workspace.load("a", color: .srgb)
        var worst = 0.0
        let (before, after) = (plain.raster.values, converted.raster.values)
        for start in stride(from: 0, to: before.count, by: 3) {
            let truth = TruePrimaries.displayP3.inSRGB(light: before[start..<start + 3].map { trueLinear($0) })
            for channel in 0..<3 {
                worst = max(worst, abs(after[start + channel] - truth[channel]))
            }
        }
        #expect(worst < 0.012)
        try restate("a", 9, 16)
        let error = #expect(throws: ImageFileError.self) { try workspace.load("a") }
        #expect(
            error?.description
                == "\(workspace.path("a")): \(format.uppercased()) with HDR colours (PQ), which Penumbra does not read")
    }

    @Test func `boxes that lie about their sizes trap nothing`() throws {
        guard try VipsRuntime.canWrite("avif") else { return }
        try workspace.save(Pictures.smooth(), as: "avif", to: "a")
        let bytes = try workspace.bytes("a")
        for place in 0..<min(400, bytes.count) {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[place] = value
                _ = try workspace.write(damaged, to: "damaged")
                // Whatever it says, it is a picture or an error.
                _ = try? ImageDecoder(path: workspace.path("damaged"), limits: .roomy, color: .keep)
            }
        }
    }
}

extension VipsRuntime {
    /// Whether this machine's libvips has the format.
    static func canWrite(_ format: String) throws -> Bool {
        try ImageFormats.descriptors().contains { $0.name == format }
    }
}
