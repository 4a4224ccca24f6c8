import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Formats that Penumbra decodes itself: BMP, Photoshop and Radiance.
@Suite struct OwnFormatTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func decoded(
        _ bytes: [UInt8], color: ColorPolicy = .keep, bandHeight: Int = 3
    ) throws -> Workspace.Decoded {
        _ = try workspace.write(bytes, to: "picture")
        return try workspace.load("picture", color: color, bandHeight: bandHeight)
    }

    /// What the message says behind the path.
    private func failure(_ bytes: [UInt8], limits: DecodeLimits = .roomy) throws -> String {
        let path = try workspace.write(bytes, to: "picture")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("picture", limits: limits) }
        return String((error?.description ?? "").dropFirst(path.count + 2))
    }

    // MARK: BMP

    /// Red, green and blue of pixels that all differ.
    private static func pixels(_ width: Int, _ height: Int) -> [[UInt8]] {
        (0..<width * height).map { index in
            (0..<3).map { UInt8(truncatingIfNeeded: index &* 37 &+ $0 &* 91 &+ index / 7) }
        }
    }

    /// The rows from the bottom to the top, each padded to four bytes.
    private static func stored(_ rows: [[UInt8]], isTopDown: Bool = false) -> [UInt8] {
        (isTopDown ? rows : rows.reversed()).flatMap { row in
            row + Array(repeating: 0, count: (4 - row.count % 4) % 4)
        }
    }

    private static func rows<Element>(_ pixels: [Element], _ width: Int) -> [[Element]] {
        stride(from: 0, to: pixels.count, by: width).map { Array(pixels[$0..<$0 + width]) }
    }

    @Test(arguments: [24, 32], [false, true])
    func `a bitmap of three or four bytes a pixel has its rows from the bottom, or from the top down`(
        bits: Int, isTopDown: Bool
    ) throws {
        for (width, height) in [(1, 1), (3, 5), (17, 20), (64, 3)] {
            let pixels = Self.pixels(width, height)
            let rows: [[UInt8]] = Self.rows(pixels, width).map { row in
                row.flatMap { pixel -> [UInt8] in pixel.reversed() + (bits == 32 ? [9] : []) }
            }
            let builder = BMPBuilder(
                width: width, height: isTopDown ? -height : height, bits: bits,
                pixels: Self.stored(rows, isTopDown: isTopDown))
            let found = try decoded(builder.build())
            #expect(found.header.formatName == "bmp" && found.raster.layout == .rgb)
            #expect(found.header.largestShrink == 1 && found.header.streams)
            #expect(found.raster.bytes == pixels.flatMap(\.self))
        }
    }

    /// Colours of a palette, or grays.
    private static func palette(_ count: Int, isGray: Bool) -> [[UInt8]] {
        (0..<count).map { index in
            isGray
                ? Array(repeating: UInt8(255 - index * 255 / max(1, count - 1)), count: 3)
                : [UInt8(truncatingIfNeeded: index &* 77), UInt8(truncatingIfNeeded: index &* 3 &+ 5), UInt8(index)]
        }
    }

    @Test(arguments: [1, 4, 8], [false, true])
    func `a bitmap of indices has the colours of its palette`(bits: Int, isGray: Bool) throws {
        let (width, height) = (19, 7)
        let palette = Self.palette(1 << bits, isGray: isGray)
        let indices = (0..<width * height).map { ($0 &* 5 &+ $0 / 11) % palette.count }
        let rows = Self.rows(indices, width).map { row in
            stride(from: 0, to: width, by: 8 / bits).map { start -> UInt8 in
                (0..<8 / bits).reduce(0) { byte, index in
                    byte << UInt8(bits == 8 ? 0 : bits) | UInt8(start + index < width ? row[start + index] : 0)
                }
            }
        }
        for size in [12, 40, 108, 124] {
            let builder = BMPBuilder(
                width: width, height: height, bits: bits, headerSize: size, palette: palette,
                pixels: Self.stored(rows))
            let found = try decoded(builder.build())
            #expect(found.raster.layout == (isGray ? .gray : .rgb))
            #expect(found.raster.bytes == indices.flatMap { isGray ? [palette[$0][0]] : palette[$0] })
        }
    }

    @Test func `a bitmap of 16 bits has five bits of each colour, or what its masks say`() throws {
        func bitmap(_ pixels: [UInt16], _ compression: Int, _ masks: [UInt32], size: Int = 40) -> [UInt8] {
            BMPBuilder(
                width: pixels.count, height: 1, bits: 16, compression: compression, headerSize: size, masks: masks,
                pixels: Self.stored([pixels.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }])
            ).build()
        }
        #expect(
            try decoded(bitmap([0x7C00, 0x3E0, 0x1F, 0x4210], 0, [])).raster.bytes == [
                255, 0, 0, 0, 255, 0, 0, 0, 255, 132, 132, 132,
            ])
        let masks: [UInt32] = [0xF800, 0x7E0, 0x1F]
        #expect(
            try decoded(bitmap([0xF800, 0x7E0, 0x8410], 3, masks)).raster.bytes == [
                255, 0, 0, 0, 255, 0, 132, 130, 132,
            ])
        let alpha = try decoded(bitmap([0xFF0F, 0x80F0], 3, [0xF00, 0xF0, 0xF, 0xF000], size: 56))
        #expect(alpha.raster.layout == .rgba && alpha.raster.bytes == [255, 0, 255, 255, 0, 255, 0, 136])
    }

    @Test(arguments: [40, 56, 108, 124])
    func `the alpha of a bitmap counts if its header names the bits`(size: Int) throws {
        let masks: [UInt32] = [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000]
        let builder = BMPBuilder(
            width: 2, height: 1, bits: 32, compression: size == 40 ? 6 : 3, headerSize: size, masks: masks,
            pixels: [1, 2, 3, 4, 250, 251, 252, 253])
        let found = try decoded(builder.build())
        #expect(found.raster.layout == .rgba && found.raster.bytes == [1, 2, 3, 4, 250, 251, 252, 253])
        var opaque = builder
        (opaque.masks, opaque.compression) = ([0xFF, 0xFF00, 0xFF_0000, 0], 3)
        if size > 40 { #expect(try decoded(opaque.build()).raster.bytes == [1, 2, 3, 250, 251, 252]) }
        // Ten bits a colour.
        (opaque.masks, opaque.compression) = ([0x3FF0_0000, 0xF_FC00, 0x3FF], 3)
        opaque.pixels = [0xFF, 0x03, 0, 0, 0, 0, 0xF0, 0x3F]
        if size > 40 { opaque.masks.append(0) }
        #expect(try decoded(opaque.build()).raster.bytes == [0, 0, 255, 255, 0, 0])
    }

    private static func runs(_ bits: Int, _ width: Int, _ height: Int, _ bytes: [UInt8], colors: Int? = nil) -> [UInt8]
    {
        BMPBuilder(
            width: width, height: height, bits: bits, compression: bits == 8 ? 1 : 2,
            palette: palette(colors ?? 1 << bits, isGray: false), pixels: bytes
        ).build()
    }

    private func indices(_ bits: Int, _ width: Int, _ height: Int, _ bytes: [UInt8]) throws -> [[UInt8]] {
        let found = try decoded(Self.runs(bits, width, height, bytes)).raster.bytes
        // The third sample of each entry is its index.
        return Self.rows(stride(from: 2, to: found.count, by: 3).map { found[$0] }, width)
    }

    @Test func `runs of a bitmap repeat, copy, jump and end`() throws {
        // From the bottom: a run and three pixels; a jump to the right in the row above; two rows further up.
        let bytes: [UInt8] = [2, 7, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 1, 0, 2, 9, 0, 2, 1, 2, 1, 4, 0, 1]
        #expect(
            try indices(8, 5, 5, bytes) == [
                [0, 0, 0, 0, 0], [0, 0, 0, 0, 4], [0, 0, 0, 0, 0], [0, 9, 9, 0, 0], [7, 7, 1, 2, 3],
            ])
        #expect(
            try indices(4, 5, 2, [5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0, 0, 1]) == [
                [3, 4, 5, 6, 7], [1, 2, 1, 2, 1],
            ])
        #expect(try indices(8, 2, 2, [0, 1]) == [[0, 0], [0, 0]])
        // The end of the last row may stand before the end of the picture.
        #expect(try indices(8, 1, 1, [1, 6, 0, 0, 0, 1]) == [[6]])
    }

    @Test func `runs may contain the padding of rows, which is ignored`() throws {
        // A row of 2 pixels has 4 bytes of indices, and one of 9 pixels of four bits has 8.
        let copied: [UInt8] = [0, 4, 1, 2, 3, 4, 0, 0]
        #expect(try indices(8, 2, 3, [4, 7, 0, 0] + copied + [2, 5, 2, 99, 0, 1]) == [[5, 5], [1, 2], [7, 7]])
        #expect(
            try indices(4, 9, 2, [16, 0x12, 0, 0, 0, 9, 0x34, 0x56, 0x71, 0x23, 0x40, 0, 7, 0xFF, 0, 1]) == [
                [3, 4, 5, 6, 7, 1, 2, 3, 4], [1, 2, 1, 2, 1, 2, 1, 2, 1],
            ])
        // No pixel of the picture has the colours of the padding, so that its palette need not have them.
        let found = try decoded(Self.runs(8, 2, 1, [2, 1, 2, 200, 0, 1], colors: 2)).raster.bytes
        #expect(found[2] == 1 && found[5] == 1)
    }

    @Test(arguments: [
        ([5, 7, 0, 1], "its runs leave the picture"), ([0, 5, 1, 2, 3, 4, 5, 0, 0, 1], "its runs leave the picture"),
        ([4, 7, 1, 7, 0, 1], "its runs leave the picture"),
        ([0, 0, 0, 0, 1, 7, 0, 1], "its runs leave the picture"),
        (Array(repeating: 0, count: 1000), "its runs leave the picture"),
        ([0, 2, 0, 9, 1, 1, 0, 1], "its runs leave the picture"),
        ([0, 2, 5, 0, 0, 1], "its runs leave the picture"), ([2, 7, 0, 0, 2, 7], "it ends in its runs"),
        ([2, 9, 0, 1], "a pixel has colour 9, and its palette has 8"), ([], "it ends in its runs"),
    ])
    func `runs that are no picture are refused`(bytes: [UInt8], detail: String) throws {
        let message = try failure(Self.runs(8, 2, 2, bytes, colors: 8))
        #expect(message.hasPrefix("broken BMP: only 0 of 2 rows could be read (\(detail))"), "\(message)")
    }

    @Test func `a picture of runs takes no memory for rows that the file does not have`() throws {
        let builder = BMPBuilder(
            width: 1, height: 10_000_000, bits: 8, compression: 1, palette: [[1, 2, 3]], pixels: [0, 1])
        let path = try workspace.write(builder.build(), to: "tall")
        let decoder = try ImageDecoder(path: path, limits: .roomy, color: .keep)
        struct Enough: Error {}
        #expect(throws: Enough.self) {
            try decoder.readRows(bandHeight: 16) { band in
                #expect(band.bytes[..<3] == [1, 2, 3])
                throw Enough()
            }
        }
    }

    @Test func `a bitmap's resolution and profile are its own`() throws {
        let profile = ProfileBuilder.rgb(gamma: 1.8)
        let builder = BMPBuilder(
            width: 1, height: 1, bits: 24, headerSize: 124, resolution: 11811, profile: profile, pixels: [1, 2, 3, 0])
        let found = try decoded(builder.build())
        #expect(found.metadata.icc?.bytes == profile && found.header.hasProfile)
        #expect(abs((found.metadata.resolution?.x ?? 0) - 11.811) < 1e-9)
        #expect(try decoded(builder.build(), color: .srgb).metadata.icc == nil)
    }

    private static func changed(_ builder: BMPBuilder, _ change: (inout BMPBuilder) -> Void) -> [UInt8] {
        var builder = builder
        change(&builder)
        return builder.build()
    }

    @Test func `headers of bitmaps that are wrong, and what Penumbra does not read, are refused`() throws {
        let plain = BMPBuilder(width: 2, height: 2, bits: 24, pixels: Array(repeating: 0, count: 16))
        let cases: [([UInt8], String)] = [
            (Self.changed(plain) { $0.width = 0 }, "broken BMP: it states 0 × 2 pixels"),
            (Self.changed(plain) { $0.width = -2 }, "broken BMP: it states -2 × 2 pixels"),
            (Self.changed(plain) { $0.height = 0 }, "broken BMP: it states 2 × 0 pixels"),
            (
                Self.changed(plain) { $0.width = 0x7FFF_FFFF },
                "broken BMP: it states 2147483647 × 2 pixels, and no side may have more than 10000000"
            ),
            (Self.changed(plain) { $0.height = 3 }, "broken BMP: it ends in its pixels"),
            (Self.changed(plain) { $0.pixels.removeLast(3) }, "broken BMP: it ends in its pixels"),
            (
                Self.changed(plain) { $0.compression = 4 },
                "BMP with a JPEG in it, which Penumbra does not read; save it as JPEG"
            ),
            (
                Self.changed(plain) { ($0.compression, $0.bits) = (5, 0) },
                "BMP with a PNG in it, which Penumbra does not read; save it as PNG"
            ),
            (
                Self.changed(plain) { $0.bits = 2 },
                "BMP with 2 bits a pixel and compression 0, which Penumbra does not read"
            ),
            (
                Self.changed(plain) { ($0.compression, $0.bits) = (1, 24) },
                "BMP with 24 bits a pixel and compression 1, which Penumbra does not read"
            ),
            (
                Self.changed(plain) { ($0.bits, $0.compression, $0.masks) = (32, 3, [0xFF, 0xF0F00, 0xFF00_0000]) },
                "BMP with masks of colours that overlap or have gaps, which Penumbra does not read"
            ),
            (
                Self.changed(plain) { ($0.bits, $0.compression, $0.masks) = (32, 3, [0xFF, 0x1FF, 0xFF00_0000]) },
                "BMP with masks of colours that overlap or have gaps, which Penumbra does not read"
            ),
            (
                Self.changed(plain) { ($0.bits, $0.compression, $0.height, $0.palette) = (8, 1, -2, [[0, 0, 0]]) },
                "broken BMP: its runs begin at the top, which no bitmap's do"
            ),
            (Self.changed(plain) { ($0.bits, $0.stated) = (8, 3) }, "broken BMP: it has no palette"),
        ]
        for (bytes, message) in cases { #expect(try failure(bytes) == message) }
        var early = plain.build()
        early[10] = 20
        #expect(try failure(early) == "broken BMP: its pixels begin at byte 20, which is not behind its header")
    }

    @Test func `the padding of a bitmap's last row may be missing`() throws {
        let builder = BMPBuilder(width: 1, height: 2, bits: 24, pixels: [1, 2, 3, 0, 4, 5, 6])
        #expect(try decoded(builder.build()).raster.bytes == [6, 5, 4, 3, 2, 1])
    }

    // MARK: Photoshop

    private static func samples(_ count: Int, _ channel: Int, bits: Int) -> [Int] {
        // Runs, and samples that differ.
        (0..<count).map { index in
            let value = index % 40 < 17 ? 5 + channel : index &* 73 &+ channel &* 31
            return bits == 8 ? value & 255 : (value &* 259) & 65535
        }
    }

    @Test(arguments: [1, 3], [8, 16])
    func `a Photoshop file has its flattened picture, raw or packed`(mode: Int, bits: Int) throws {
        let (width, height) = (37, 23)
        let channels = (0..<mode).map { Self.samples(width * height, $0, bits: bits) }
        for isLarge in [false, true] {
            for compression in [0, 1] {
                let builder = PSDBuilder(
                    isLarge: isLarge, width: width, height: height, bits: bits, mode: mode, compression: compression,
                    channels: channels)
                let found = try decoded(builder.build())
                #expect(found.header.formatName == "psd")
                #expect(found.raster.layout == (mode == 1 ? .gray : .rgb))
                #expect(found.raster.format == (bits == 8 ? .u8 : .u16))
                let expected = (0..<width * height).flatMap { pixel in channels.map { $0[pixel] } }
                let full = bits == 8 ? 255.0 : 65535
                #expect(found.raster.values.map { Int(($0 * full).rounded()) } == expected)
            }
        }
    }

    @Test(arguments: [(false, 8), (true, 8), (false, 16), (true, 16)])
    func `transparency is the channel after the colours if the layers say so`(isLarge: Bool, bits: Int) throws {
        let full = bits == 8 ? 255 : 65535
        // In front of white: opaque red, half of black, and nothing.
        let half = full / 2
        let channels = [[full, full - half, full], [0, full - half, full], [0, full - half, full], [full, half, 0]]
        func builder(_ layers: Int?, hasBlock: Bool) -> [UInt8] {
            PSDBuilder(
                isLarge: isLarge, width: 3, height: 1, bits: bits, layers: layers, hasBlock: hasBlock,
                channels: channels
            ).build()
        }
        for hasBlock in [false, true] {
            let found = try decoded(builder(-2, hasBlock: hasBlock)).raster
            #expect(found.layout == .rgba)
            let expected = [full, 0, 0, full, 0, 0, 0, half, 0, 0, 0, 0]
            #expect(found.values.map { Int(($0 * Double(full)).rounded()) } == expected)
            #expect(try decoded(builder(2, hasBlock: hasBlock)).raster.layout == .rgb, "it is a saved selection")
        }
        #expect(try decoded(builder(nil, hasBlock: false)).raster.layout == .rgb)
    }

    @Test func `colours in front of white are computed back at every opacity`() throws {
        let opacities = Array(0...255)
        let colors = opacities.map { (250 * $0 + 255 * (255 - $0) + 127) / 255 }
        let found = try decoded(
            PSDBuilder(
                width: 256, height: 1, mode: 1, layers: -1, channels: [colors, opacities]
            ).build()
        ).raster.bytes
        for opacity in 1...255 {
            // One step of the flattened colour is so many of the colour.
            let step = 255 / opacity / 2 + 1
            #expect(abs(Int(found[2 * opacity]) - 250) <= step && Int(found[2 * opacity + 1]) == opacity)
        }
    }

    @Test func `a Photoshop file of a palette is in its colours`() throws {
        let palette = (0..<768).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let builder = PSDBuilder(width: 3, height: 1, mode: 2, palette: palette, channels: [[0, 7, 255]])
        let found = try decoded(builder.build()).raster
        #expect(found.layout == .rgb)
        let expected: [UInt8] = [0, 7, 255].flatMap { index -> [UInt8] in
            [palette[index], palette[256 + index], palette[512 + index]]
        }
        #expect(found.bytes == expected)
    }

    @Test(arguments: [8, 16])
    func `CMYK becomes sRGB`(bits: Int) throws {
        let full = bits == 8 ? 255 : 65535
        // No ink, and all black ink. Photoshop stores the opposite.
        let channels = [[full, full], [full, full], [full, full], [full, 0]]
        let found = try decoded(PSDBuilder(width: 2, height: 1, bits: bits, mode: 4, channels: channels).build())
        #expect(found.raster.layout == .rgb && found.header.losses == [.cmyk])
        let values = found.raster.values
        #expect(values[..<3].allSatisfy { $0 > 0.95 } && values[3...].allSatisfy { $0 < 0.25 }, "\(values)")
    }

    @Test func `the metadata of a Photoshop file are read`() throws {
        let (profile, xmp) = (ProfileBuilder.rgb(gamma: 1.8), Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8))
        let exif = ExifBuilder.full()
        let resolution: [UInt8] = [1, 44, 0, 0, 0, 1, 0, 1, 1, 44, 0, 0, 0, 1, 0, 1]
        let builder = PSDBuilder(
            width: 1, height: 1,
            resources: [
                (1005, resolution), (1028, [0x1C, 2, 120, 0, 1, 97]), (1036, [1, 2, 3]), (1039, profile), (1058, exif),
                (1060, xmp), (1057, [0, 0, 0, 1, 1]),
            ], channels: [[1], [2], [3]])
        let found = try decoded(builder.build()).metadata
        #expect(found.icc?.bytes == profile && found.xmp?.bytes == xmp && found.exif?.bytes == exif)
        #expect(found.iptc?.bytes == [0x1C, 2, 120, 0, 1, 97])
        #expect(abs((found.resolution?.x ?? 0) * 25.4 - 300) < 0.001 && found.resolution?.unit == .inch)
    }

    @Test(arguments: [0, 1, 65535, 65536] as [UInt32])
    func `less than one pixel per inch is no resolution`(stored: UInt32) throws {
        let bytes = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: stored >> UInt32($0)) }
        let resolution = bytes + [0, 1, 0, 1] + [1, 44, 0, 0, 0, 1, 0, 1]
        let builder = PSDBuilder(width: 1, height: 1, resources: [(1005, resolution)], channels: [[1], [2], [3]])
        let found = try decoded(builder.build()).metadata.resolution
        #expect((found != nil) == (stored == 65536))
    }

    private static func changed(_ change: (inout PSDBuilder) -> Void) -> [UInt8] {
        var builder = PSDBuilder(width: 2, height: 2, channels: Array(repeating: [1, 2, 3, 4], count: 3))
        change(&builder)
        return builder.build()
    }

    @Test func `Photoshop files that are wrong, and what Penumbra does not read, are refused`() throws {
        let read = "which Penumbra does not read"
        let cases: [([UInt8], String)] = [
            (Self.changed { $0.width = 0 }, "broken PSD: it states 0 × 2 pixels, and a side has 1 to 30000"),
            (Self.changed { $0.height = 30001 }, "broken PSD: it states 2 × 30001 pixels, and a side has 1 to 30000"),
            (
                Self.changed { ($0.height, $0.isLarge) = (300_001, true) },
                "broken PSD: it states 2 × 300001 pixels, and a side has 1 to 300000"
            ),
            (Self.changed { $0.height = 3 }, "broken PSD: it ends in its pixels"),
            (Self.changed { $0.channels.removeLast() }, "broken PSD: it states 2 channels"),
            (Self.changed { $0.mode = 9 }, "PSD with colours in Lab, \(read); save it in RGB"),
            (Self.changed { $0.mode = 0 }, "PSD with colours in a bitmap of one bit, \(read); save it in RGB"),
            (Self.changed { $0.mode = 77 }, "PSD with colours in the unknown mode 77, \(read); save it in RGB"),
            (Self.changed { $0.bits = 32 }, "PSD with 32-bit samples, \(read); save it with 8 or 16 bits"),
            (Self.changed { $0.compression = 2 }, "PSD with pixels in compression 2, \(read)"),
            (Self.changed { $0.mode = 2 }, "broken PSD: its palette has 0 bytes, not 768"),
            (
                Self.changed { $0.resources = [(1057, [0, 0, 0, 1, 0])] },
                "PSD with layers and no flattened picture, \(read); save it with 'Maximize compatibility'"
            ),
            (
                Self.changed { ($0.mode, $0.layers, $0.channels) = (4, -1, Array(repeating: [1, 2, 3, 4], count: 5)) },
                "PSD with transparent CMYK, \(read); save it in RGB"
            ),
        ]
        for (bytes, message) in cases { #expect(try failure(bytes) == message) }
    }

    @Test func `packed rows of another length than their row are refused`() throws {
        let start = 26 + 4 + 4 + 4 + 2 + 3 * 2 * 2
        for (offset, byte) in [(start, UInt8(2)), (start, 0), (start, 255)] {
            var bytes = Self.changed { $0.compression = 1 }
            bytes[offset] = byte
            let message = try failure(bytes)
            #expect(
                message
                    == "broken PSD: only 0 of 2 rows could be read (the runs of row 0 have another length than the row)"
            )
        }
    }

    // MARK: Radiance

    @Test(arguments: [false, true])
    func `Radiance's linear light becomes stored values`(isOfPlanes: Bool) throws {
        // 0.21404114 is the linear light of 0.5: its mantissa of 8 bits is 54.8 / 256. Exponent 129 is a factor of two.
        let row: [[UInt8]] = [
            [54, 0, 0, 128], [127, 127, 127, 129], [0, 0, 0, 0], [255, 128, 64, 130], [1, 1, 1, 120], [9, 9, 9, 128],
            [9, 9, 9, 128], [9, 9, 9, 128], [9, 9, 9, 128],
        ]
        let builder = RadianceBuilder(size: "-Y 2 +X 9", rows: [row, row.reversed()], isOfPlanes: isOfPlanes)
        guard !isOfPlanes || row.count >= 8 else { return }
        // A pixel of three ones means a repetition in rows that are not of planes.
        let found = try decoded(isOfPlanes ? builder.build() : Self.plain(builder).build())
        #expect(found.header.formatName == "hdr" && found.raster.layout == .rgb && found.raster.format == .f32)
        let values = found.raster.values
        #expect(abs(values[0] - 0.4985) < 0.001 && values[1] > 0 && values[1] < 0.05)
        #expect(abs(values[3] - 0.998) < 0.002 && values[6..<9].allSatisfy { $0 == 0 })
        #expect(values[9] > 1.5, "it is brighter than white")
        #expect(values[27..<30] == values[24..<27])
    }

    private static func plain(_ builder: RadianceBuilder) -> RadianceBuilder {
        var builder = builder
        builder.rows = builder.rows.map { $0.map { $0[..<3] == [1, 1, 1] ? [2, 3, 1, 120] : $0 } }
        return builder
    }

    @Test func `old rows repeat the pixel before`() throws {
        var builder = RadianceBuilder(
            size: "-Y 1 +X 300", rows: [[[9, 8, 7, 128], [1, 1, 1, 42], [1, 1, 1, 1], [5, 5, 5, 128]]])
        let found = try decoded(builder.build()).raster.values
        #expect(found[0] == found[3 * 298] && found[2] == found[3 * 298 + 2] && found[3 * 299] < found[0])
        builder.size = "-Y 1 +X 298"
        #expect(
            try failure(builder.build())
                == "broken Radiance HDR: only 0 of 1 rows could be read (its runs leave the picture)")
    }

    @Test(arguments: [
        ("-Y 2 +X 3", [0, 1, 2, 3, 4, 5]), ("-Y 2 -X 3", [2, 1, 0, 5, 4, 3]), ("+Y 2 +X 3", [3, 4, 5, 0, 1, 2]),
        ("+Y 2 -X 3", [5, 4, 3, 2, 1, 0]), ("+X 2 -Y 3", [0, 3, 1, 4, 2, 5]), ("-X 2 -Y 3", [3, 0, 4, 1, 5, 2]),
        ("+X 2 +Y 3", [2, 5, 1, 4, 0, 3]), ("-X 2 +Y 3", [5, 2, 4, 1, 3, 0]),
    ])
    func `rows of a Radiance picture run in all eight ways`(size: String, order: [Int]) throws {
        let pixels = (0..<6).map { [UInt8(20 * $0 + 10), 0, 0, 128] as [UInt8] }
        let builder = RadianceBuilder(size: size, rows: [Array(pixels[..<3]), Array(pixels[3...])])
        let found = try decoded(builder.build())
        #expect([found.raster.rect.width, found.raster.rect.height] == (size.contains("Y 2") ? [3, 2] : [2, 3]))
        let upright = try decoded(
            RadianceBuilder(size: "-Y 1 +X 6", rows: [order.map { pixels[$0] }]).build())
        #expect(found.raster.bytes == upright.raster.bytes)
    }

    @Test func `Radiance files that are wrong, and what Penumbra does not read, are refused`() throws {
        func file(_ lines: [String] = [], size: String = "-Y 1 +X 1", pixels: Int = 1) -> [UInt8] {
            RadianceBuilder(lines: lines, size: size, rows: [Array(repeating: [9, 9, 9, 128], count: pixels)]).build()
        }
        let prefix = "broken Radiance HDR: "
        #expect(try failure(file(["FORMAT=32-bit_rle_xyze"])).contains("with colours in XYZ"))
        #expect(try failure(file(["FORMAT=float"])).contains("with pixels in the form 'float'"))
        #expect(try failure(file(["PRIMARIES=0.7 0.3 red"])) == prefix + "its primaries are '0.7 0.3 red'")
        #expect(
            try failure(file(["PRIMARIES=0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.3"])).contains(
                "with primaries that do not span a colour space"))
        for size in ["-Y 1", "-Y 0 +X 1", "-Y 1 +Y 1", "-Y 99999999 +X 1", "-Y x +X 1", "-Z 1 +X 1", "-Y -1 +X 1"] {
            #expect(try failure(file(size: size)) == prefix + "its size is '\(size)'")
        }
        #expect(try failure(Array("#?RADIANCE\nFORMAT=32-bit".utf8)) == prefix + "it ends in its header")
        #expect(
            try failure(file(size: "-Y 2 +X 1")) == prefix + "only 0 of 2 rows could be read (it ends in its pixels)")
        let known = try decoded(
            file(["PRIMARIES= 0.640 0.330 0.290 0.600 0.150 0.060 0.333 0.333", "EXPOSURE=3", "SOFTWARE=x=y", "VIEW"]))
        #expect(known.raster.rect.width == 1)
        let planes = RadianceBuilder(
            size: "-Y 1 +X 9", rows: [Array(repeating: [9, 9, 9, 128], count: 8)], isOfPlanes: true)
        #expect(
            try failure(planes.build())
                == prefix + "only 0 of 1 rows could be read (a row states another length than the picture)")
    }

    // MARK: All

    /// A file of each kind, all of the same size.
    static let examples: [(name: String, bytes: [UInt8])] = {
        let (width, height) = (24, 9)
        let rows = Self.rows(Self.pixels(width, height), width)
        let channels = (0..<3).map { samples(width * height, $0, bits: 8) }
        let light = rows.map { $0.map { $0.map { max(3, $0) } + [128] } }
        var runs: [UInt8] = []
        for row in 0..<height { runs += [9, UInt8(row), 0, 12] + (0..<12).map { UInt8($0) } + [0, 0] }
        return [
            (
                "bytes",
                BMPBuilder(width: width, height: height, bits: 24, pixels: stored(rows.map { $0.flatMap(\.self) }))
                    .build()
            ),
            (
                "palette",
                BMPBuilder(
                    width: width, height: -height, bits: 8, headerSize: 108, palette: palette(256, isGray: false),
                    pixels: stored(rows.map { $0.map { $0[0] } }, isTopDown: true)
                ).build()
            ),
            ("runs", Self.runs(8, width, height, runs + [0, 1])),
            (
                "masks",
                BMPBuilder(
                    width: width, height: height, bits: 32, compression: 3, headerSize: 124,
                    masks: [0xFF00, 0xFF_0000, 0xFF00_0000, 0xFF], profile: ProfileBuilder.rgb(gamma: 2.2),
                    pixels: rows.flatMap { $0.flatMap { [$0[0]] + $0 } }
                ).build()
            ),
            (
                "raw",
                PSDBuilder(
                    width: width, height: height,
                    resources: [(1005, Array(repeating: 1, count: 16)), (1060, [60, 62])],
                    layers: -1, channels: channels + [channels[0]]
                ).build()
            ),
            ("packed", PSDBuilder(width: width, height: height, compression: 1, channels: channels).build()),
            (
                "large",
                PSDBuilder(
                    isLarge: true, width: width, height: height, bits: 16, mode: 1, layers: -1, hasBlock: true,
                    compression: 1,
                    channels: [samples(width * height, 1, bits: 16), samples(width * height, 2, bits: 16)]
                ).build()
            ),
            ("plain light", RadianceBuilder(size: "-Y \(height) +X \(width)", rows: light).build()),
            (
                "planes of light",
                RadianceBuilder(size: "-Y \(height) +X \(width)", rows: light, isOfPlanes: true).build()
            ),
        ]
    }()

    @Test(arguments: examples.map(\.name))
    func `a picture has the same pixels, whatever rows are asked for together`(name: String) throws {
        let bytes = try #require(Self.examples.first { $0.name == name }).bytes
        let whole = try decoded(bytes, bandHeight: 9).raster
        for height in [1, 2, 5, 100] { #expect(try decoded(bytes, bandHeight: height).raster == whole) }
        let part = PixelRect(x: 3, y: 4, width: 7, height: 3)
        let path = try workspace.write(bytes, to: "part")
        let regions = try ImageDecoder(path: path, limits: .roomy, color: .keep).readRegions([part])
        #expect(regions == [whole.cropped(to: part)])
    }

    @Test(arguments: examples.map(\.name))
    func `a picture that is cut short anywhere is refused`(name: String) throws {
        let bytes = try #require(Self.examples.first { $0.name == name }).bytes
        // A profile is behind the pixels. Other files end with them.
        for count in 1..<bytes.count {
            _ = try workspace.write(Array(bytes[..<count]), to: "short")
            #expect(throws: ImageFileError.self, "\(count) of \(bytes.count) bytes") {
                try workspace.load("short")
            }
        }
    }

    @Test(arguments: examples.map(\.name))
    func `a picture with changed bytes is read, or refused with words`(name: String) throws {
        let bytes = try #require(Self.examples.first { $0.name == name }).bytes
        let limits = DecodeLimits(maxPixels: 1_000_000)
        for seed in 0..<600 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Headers say most, so half of the changes are there.
                let range = Bool.random(using: &random) ? 0..<min(160, changed.count) : 0..<changed.count
                let values: [UInt8] = [0, 1, 127, 128, 255, UInt8.random(in: 0...255, using: &random)]
                changed[Int.random(in: range, using: &random)] = values.randomElement(using: &random) ?? 0
            }
            _ = try workspace.write(changed, to: "changed")
            do {
                _ = try workspace.load("changed", limits: limits)
            } catch let error as ImageFileError {
                #expect(error.description.count > workspace.path("changed").count + 2)
            }
        }
    }
}
