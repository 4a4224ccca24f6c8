import Arithmetic
import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Raw pictures of cameras, which LibRaw develops.
@Suite struct CameraRawTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    /// Samples of 16 bits, pixel by pixel.
    private func developed(
        _ builder: DNGBuilder, as name: String = "a.dng", shrink: Int = 1
    ) throws -> (header: ImageHeader, pixels: [[Int]]) {
        _ = try workspace.write(builder.build(), to: name)
        let decoder = try ImageDecoder(path: workspace.path(name), limits: .roomy, color: .keep, shrink: shrink)
        var pixels: [[Int]] = []
        try decoder.readRows(bandHeight: 7) { band in
            let bytes = band.bytes
            let channels = decoder.header.layout.channels
            for start in stride(from: 0, to: bytes.count, by: 2 * channels) {
                pixels.append((0..<channels).map { Int(bytes[start + 2 * $0]) | Int(bytes[start + 2 * $0 + 1]) << 8 })
            }
        }
        return (decoder.header, pixels)
    }

    /// What the message says behind the path.
    private func failure(
        _ bytes: [UInt8], as name: String = "a.dng", limits: DecodeLimits = .roomy
    ) throws -> String {
        let path = try workspace.write(bytes, to: name)
        let error = #expect(throws: ImageFileError.self) { try workspace.load(name, limits: limits) }
        return String((error?.description ?? "").dropFirst(path.count + 2))
    }

    private static func stored(_ light: [Double]) -> [Double] { light.map { SRGBCurve.encode($0) * 65535 } }

    /// LibRaw computes linear light in 16-bit integers: the difference of two steps, in stored values.
    private static func isNear(_ found: [Int], _ expected: [Double]) -> Bool {
        zip(found, expected).allSatisfy { found, expected in
            let light = SRGBCurve.decode(expected / 65535)
            let step =
                (SRGBCurve.encode(min(1, light + 2.0 / 65535)) - SRGBCurve.encode(max(0, light - 2.0 / 65535))) * 65535
            return abs(Double(found) - expected) <= step
        }
    }

    @Test(arguments: DNGBuilder.Pattern.allCases, [1, 2])
    func `a field of one colour gets the colour that the camera's matrix and white give it`(
        pattern: DNGBuilder.Pattern, shrink: Int
    ) throws {
        let truth = DevelopedLight(matrix: DNGBuilder.matrix, neutral: DNGBuilder.neutral)
        for levels in [[10000, 20000, 12000], [30000, 9000, 4000], [800, 900, 1000], [2000, 2000, 20000]] {
            let builder = DNGBuilder(width: 40, height: 26, pattern: pattern) { color, _, _ in levels[color] }
            let found = try developed(builder, shrink: shrink)
            let expected = Self.stored(truth(levels.map { Double($0) / 65535 }))
            #expect(found.pixels.count == 40 * 26 / (shrink * shrink))
            #expect(found.pixels.allSatisfy { Self.isNear($0, expected) }, "\(found.pixels[0]) is not \(expected)")
        }
    }

    @Test func `the levels of black and white are those of the file, and more light than white is clipped`() throws {
        let truth = DevelopedLight(matrix: DNGBuilder.matrix, neutral: DNGBuilder.neutral)
        var builder = DNGBuilder(width: 32, height: 32) { color, _, _ in 512 + [1000, 2000, 1300][color] }
        (builder.black, builder.white) = (512, 4512)
        let found = try developed(builder)
        let expected = Self.stored(truth([0.25, 0.5, 0.325]))
        // The file has 4000 steps of light, which LibRaw stretches to 16 bits.
        #expect(
            zip(found.pixels[500], expected).allSatisfy { abs(Double($0) - $1) < 40 },
            "\(found.pixels[500]), \(expected)")
        var bright = DNGBuilder(width: 32, height: 32) { _, _, _ in 65535 }
        bright.white = 4000
        #expect(try developed(bright).pixels.allSatisfy { $0.allSatisfy { $0 >= 65500 } })
    }

    @Test func `nothing is brightened, whatever the brightest pixel is`() throws {
        func corner(_ brightest: Int) throws -> [Int] {
            try developed(DNGBuilder(width: 64, height: 64) { _, x, y in x > 50 && y > 50 ? brightest : 6000 }).pixels[
                0]
        }
        #expect(try corner(6000) == corner(60000))
    }

    @Test func `without a white of the camera, that of daylight is taken`() throws {
        var builder = DNGBuilder(width: 32, height: 32) { color, _, _ in [9000, 15000, 8000][color] }
        builder.neutral = nil
        let found = try developed(builder).pixels[300]
        // The camera's colour of white: the sums of its matrix' rows over the primaries of sRGB.
        let white = [0.95047, 1, 1.08883]
        let neutral = (0..<3).map { row in (0..<3).reduce(0) { $0 + DNGBuilder.matrix[3 * row + $1] * white[$1] } }
        let largest = neutral.max() ?? 1
        let truth = DevelopedLight(matrix: DNGBuilder.matrix, neutral: neutral.map { $0 / largest })
        let expected = Self.stored(truth([9000, 15000, 8000].map { Double($0) / 65535 }))
        #expect(zip(found, expected).allSatisfy { abs(Double($0) - $1) < 60 }, "\(found), \(expected)")
    }

    @Test(arguments: DNGBuilder.Pattern.allCases)
    func `a ramp of gray stays a ramp`(pattern: DNGBuilder.Pattern) throws {
        let (width, height) = (61, 43)
        let builder = DNGBuilder(width: width, height: height, pattern: pattern) { color, x, _ in
            Int((DNGBuilder.neutral[color] * Double(1000 + 900 * x)).rounded())
        }
        let found = try developed(builder)
        #expect(found.header.width == width && found.header.height == height)
        // LibRaw copies the colours of the nearest pixels at the border.
        for row in 6..<height - 6 {
            let line = found.pixels[row * width + 6..<row * width + width - 6]
            for channel in 0..<3 {
                #expect(zip(line, line.dropFirst()).allSatisfy { $0[channel] < $1[channel] })
            }
        }
    }

    @Test(arguments: 1...8)
    func `a picture is turned upright by the camera's orientation`(orientation: Int) throws {
        var builder = DNGBuilder(width: 48, height: 32) { _, x, y in 2000 + 900 * x + 300 * y }
        let upright = try developed(builder).pixels
        builder.orientation = orientation
        let found = try developed(builder)
        let steps = Orientation(tag: orientation).steps(width: 48, height: 32)
        let isTurned = orientation >= 5
        #expect(found.header.orientation == orientation)
        #expect(found.header.width == (isTurned ? 32 : 48) && found.header.height == (isTurned ? 48 : 32))
        for (index, pixel) in found.pixels.enumerated() {
            let (x, y) = (index % found.header.width, index / found.header.width)
            guard pixel != upright[steps.origin + x * steps.right + y * steps.down] else { continue }
            Issue.record("the pixel at \(x), \(y) is another one")
            return
        }
    }

    @Test
    func `the header says what is known before the pixels: 16 bits, in sRGB, and that half of the size is to be had`()
        throws
    {
        let builder = DNGBuilder(width: 50, height: 30) { _, x, y in 100 * x + y }
        let header = try developed(builder).header
        #expect(header.formatName == "raw" && header.layout == .rgb && header.sampleFormat == .u16)
        #expect(!header.hasProfile && header.isHeldWhole && header.pages == 1)
        #expect(header.largestShrink == 2)
        // The file and what demosaicing needs are in memory, too.
        let others = builder.build().count + (32 << 20)
        #expect(header.heldBytes == 50 * 30 * 10 + others)
        let half = try developed(builder, shrink: 2).header
        #expect(half.width == 25 && half.height == 15 && half.heldBytes == 50 * 30 * 6 + others)
    }

    /// LibRaw leaves the last column out, so that half would be less than half.
    @Test func `a picture with an odd side has no half, and is decoded whole`() throws {
        let builder = DNGBuilder(width: 51, height: 30) { _, x, y in 900 * x + y }
        let whole = try developed(builder)
        #expect(whole.header.largestShrink == 1)
        let asked = try developed(builder, shrink: 2)
        #expect(asked.header.width == 51 && asked.pixels == whole.pixels)
    }

    @Test func `a sensor without a colour filter gives gray`() throws {
        var builder = DNGBuilder(width: 40, height: 30) { _, x, _ in 1000 * x }
        builder.photometric = 34892
        builder.neutral = nil
        let found = try developed(builder)
        #expect(found.header.layout == .gray && found.header.largestShrink == 1)
        let line = found.pixels[400..<440]
        #expect(zip(line, line.dropFirst()).allSatisfy { $0[0] < $1[0] })
        #expect(abs(Double(line.last?[0] ?? 0) - SRGBCurve.encode(39000.0 / 65535) * 65535) < 40)
    }

    @Test func `what the camera says of the picture is kept, and what it says of its sensor is not`() throws {
        for hasPreview in [false, true] {
            var builder = DNGBuilder(width: 32, height: 32) { _, _, _ in 9000 }
            (builder.hasPreview, builder.orientation) = (hasPreview, 6)
            _ = try workspace.write(builder.build(), to: "a.dng")
            let metadata = try workspace.load("a.dng").metadata
            #expect(metadata.value(of: .camera) == "Test Camera" && metadata.value(of: .lens) == "Test 50mm")
            #expect(metadata.value(of: .exposure) == "1/125 s" && metadata.value(of: .iso) == "ISO 400")
            #expect(metadata.value(of: .date) == "2021-03-04")
            #expect(metadata.isConverted && metadata.icc == nil)
            let tags = try #require(metadata.exif).bytes
            // The tags of DNG begin at C612, those of the filter at 828D.
            for tag in [0x12, 0xC6, 0x21, 0xC6, 0x8D, 0x82, 0x12, 0x01].chunkedByTwo {
                #expect(!Self.firstDirectory(of: tags).contains(tag))
            }
        }
    }

    /// What a raw file without pixels says of itself.
    private func tags(_ bytes: [UInt8], as name: String) throws -> ImageMetadata {
        let file = try InputFile(path: try workspace.write(bytes, to: name))
        var metadata = ImageMetadata()
        CameraRawFormat().complete(&metadata, of: file) { _ in nil }
        return metadata
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Array($0) } + Array(name.utf8) + content
    }

    /// A box of Canon for each directory of EXIF: that of the picture, of the exposure, of the maker, and of the place.
    @Test func `a CR3 file keeps its date, its place and its copyright`() throws {
        func block(_ entries: [ExifBuilder.Entry]) -> [UInt8] {
            var builder = ExifBuilder()
            builder.main = entries
            return builder.build()
        }
        let main = block([.text(0x010F, "Canon"), .text(0x8298, "Jane Doe"), .short(0x0112, 6), .long(0x0111, 9)])
        let exposure = block([
            .text(0x9003, "2026:11:21 14:05:09"), .short(0x8827, 400), .bytes(0x927C, [1, 2, 3, 4, 5]),
            .long(0xA005, 77),
        ])
        let own: [UInt8] = [
            0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
        ]
        let ofXMP: [UInt8] = [
            0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
        ]
        let boxes =
            own + Self.box("CNCV", [0]) + Self.box("CMT1", main) + Self.box("CMT2", exposure)
            + Self.box("CMT3", block([.short(1, 1)])) + Self.box("CMT4", block([.text(1, "N")]))
        let file =
            Self.box("ftyp", Array("crx ".utf8) + [0, 0, 0, 1]) + Self.box("moov", Self.box("uuid", boxes))
            + Self.box("uuid", ofXMP + Array("<x:xmpmeta/>".utf8)) + Self.box("mdat", [0, 0])
        let metadata = try tags(file, as: "a.cr3")
        #expect(metadata.value(of: .date) == "2026-11-21" && metadata.value(of: .iso) == "ISO 400")
        #expect(metadata.xmp?.bytes == Array("<x:xmpmeta/>".utf8))
        let exif = try #require(metadata.exif).bytes
        #expect(exif.firstRange(of: Array("Jane Doe".utf8)) != nil)
        #expect(exif.firstRange(of: [0x25, 0x88]) != nil)  // the directory of the place
        // The place of the pixels, the turn and the maker's note do not belong to the developed picture.
        for tag in [[0x11, 0x01], [0x12, 0x01], [0x7C, 0x92]] as [[UInt8]] {
            #expect(!Self.firstDirectory(of: exif).contains(tag))
        }
        #expect(exif.firstRange(of: [0x7C, 0x92]) == nil)
        for length in [11, 30, 60, file.count / 2, file.count - 20] {
            let cut = try tags(Array(file[..<length]), as: "cut.cr3")
            #expect(cut.exif == (length == file.count - 20 ? metadata.exif : nil))
        }
    }

    @Test func `a file of Minolta keeps the tags of its part TTW`() throws {
        var builder = ExifBuilder()
        builder.main = [.text(0x010F, "Minolta")]
        builder.exif = [.text(0x9003, "2003:05:06 07:08:09")]
        func part(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) } + content
        }
        let parts = part("\0PRD", Array(repeating: 7, count: 24)) + part("\0TTW", builder.build())
        let file = part("\0MRM", parts)
        #expect(try tags(file, as: "a.mrw").value(of: .date) == "2003-05-06")
        for length in [8, 12, 40, 60] { #expect(try tags(Array(file[..<length]), as: "cut.mrw").exif == nil) }
    }

    /// The tags of a little-endian block's first directory, as their bytes.
    private static func firstDirectory(of block: [UInt8]) -> [[UInt8]] {
        let start = Int(block[4]) | Int(block[5]) << 8
        let count = Int(block[start]) | Int(block[start + 1]) << 8
        return (0..<count).map { Array(block[start + 2 + 12 * $0..<start + 4 + 12 * $0]) }
    }

    @Test func `a raw picture is known by its contents or its name, and a TIFF's name keeps a TIFF`() throws {
        var builder = DNGBuilder(width: 32, height: 32) { _, _, _ in 9000 }
        #expect(try developed(builder, as: "a.NEF").header.formatName == "raw")
        builder.hasPreview = true
        #expect(try developed(builder, as: "a.tif").header.formatName == "raw")
        #expect(try developed(builder, as: "a").header.formatName == "raw")
        let tiff = TIFFBuilder(width: 2, height: 1, data: [1, 2]).build()
        _ = try workspace.write(tiff, to: "b.tif")
        #expect(try workspace.load("b.tif").header.formatName == "tiff")
        for length in [4, 8, 11] {
            #expect(try failure(Array(tiff[..<length]), as: "c.tif").contains("TIFF"))
        }
        // The contents decide, as with all other formats.
        try workspace.save(Pictures.smooth(), as: "jpeg", to: "c.cr2")
        #expect(try workspace.load("c.cr2").header.formatName == "jpeg")
    }

    @Test func `a TIFF with a raw picture's name, and other contents that LibRaw does not know, are refused`() throws {
        let tiff = TIFFBuilder(width: 2, height: 1, data: [1, 2]).build()
        let unknown =
            "camera raw with contents that LibRaw 0.20.2 does not know, which Penumbra does not read; "
            + "save it as an older DNG of integers with lossless compression"
        let unknownElsewhere =
            "camera raw with contents that LibRaw 0.20.2 does not know, which Penumbra does not read; "
            + "convert it to DNG; a file that is a TIFF needs the name of one"
        #expect(try failure(tiff) == unknown)
        #expect(
            try failure(Array("FUJIFILMCCD-RAW 0201".utf8) + Array(repeating: 0, count: 3000), as: "a.raf")
                == unknownElsewhere)
        #expect(try failure(Array("IIRO".utf8) + Array(repeating: 0, count: 3000), as: "a.orf") == unknownElsewhere)
    }

    /// LibRaw would take what is stored for light, so that all is pink.
    @Test func `a DNG whose values are stored by curves of its own is refused`() throws {
        let refused =
            "camera raw with values stored by curves of its own (DNG opcodes), which Penumbra does not read; "
            + "save it as a DNG with lossless compression"
        for hasPreview in [false, true] {
            var builder = DNGBuilder(width: 32, height: 32) { _, _, _ in 9000 }
            builder.hasPreview = hasPreview
            for code in [7, 8] {
                builder.opcodes = [(1, 1), (code, 0)]
                #expect(try failure(builder.build()) == refused)
            }
            // What a program may leave out, and what changes no value.
            builder.opcodes = [(8, 1), (1, 0), (9, 1)]
            #expect(try developed(builder).header.width == 32)
        }
    }

    @Test func `without a matrix of a camera that LibRaw does not know, no colours are made up`() throws {
        var builder = DNGBuilder(width: 32, height: 32) { _, _, _ in 9000 }
        builder.matrix = nil
        #expect(try failure(builder.build()).hasPrefix("camera raw with contents that LibRaw 0.20.2 does not know"))
    }

    @Test func `a file that is cut off fails, wherever the cut is`() throws {
        for hasPreview in [false, true] {
            var builder = DNGBuilder(width: 64, height: 48) { _, x, y in 500 * x + y }
            builder.hasPreview = hasPreview
            let whole = builder.build()
            let pixels = whole.count - 64 * 48 * 2
            for length in [pixels, pixels + 1, pixels + 3000, whole.count - 128, whole.count - 1] {
                #expect(
                    try failure(Array(whole[..<length]))
                        == "broken camera raw: only 0 of 48 rows could be read (its pixels are damaged or cut off)")
            }
            for length in [4, 8, 9, 20, 60, 100, 150, 200, 300, 400, pixels - 30] where length < pixels {
                let message = try failure(Array(whole[..<length]))
                #expect(message.contains("camera raw"), "\(length): \(message)")
            }
        }
    }

    @Test func `damaged headers fail or give a picture, and never end the process`() throws {
        var builder = DNGBuilder(width: 32, height: 16) { _, x, y in 1500 * x + y }
        builder.hasPreview = true
        let whole = builder.build()
        let head = whole.count - 32 * 16 * 2
        for index in stride(from: 8, to: head, by: 3) {
            var bytes = whole
            bytes[index] ^= 0x5A
            _ = try workspace.write(bytes, to: "a.dng")
            do {
                let found = try workspace.load("a.dng", limits: DecodeLimits(maxPixels: 1_000_000))
                #expect(found.header.width * found.header.height <= 1_000_000)
            } catch is ImageFileError {
                // Most of them.
            }
        }
    }

    @Test func `sizes are compared with max_pixels before anything is decoded`() throws {
        let builder = DNGBuilder(width: 60, height: 50) { _, _, _ in 9000 }
        #expect(
            try failure(builder.build(), limits: DecodeLimits(maxPixels: 2999))
                == "60 × 50 pixels are more than max_pixels: 2999; raise it if the picture is meant")
    }

    @Test func `parts of a picture are those of the whole one`() throws {
        let builder = DNGBuilder(width: 48, height: 40) { _, x, y in 700 * x + 600 * y }
        _ = try workspace.write(builder.build(), to: "a.dng")
        let whole = try workspace.load("a.dng").raster
        let rects = [PixelRect(x: 3, y: 5, width: 20, height: 11), PixelRect(x: 40, y: 30, width: 8, height: 10)]
        let parts = try ImageDecoder(path: workspace.path("a.dng"), limits: .roomy, color: .keep).readRegions(rects)
        for (rect, part) in zip(rects, parts) { #expect(part.bytes == whole.cropped(to: rect).bytes) }
    }

    private static func sine(_ degrees: Double) -> Double { DeterministicMath.sinCos(degrees: degrees).sin }

    @Test func `half of the size shows the same picture`() throws {
        // Gray, since a square's red and blue lie half a pixel beside its middle.
        let scene = DNGBuilder(width: 128, height: 128) { color, x, y in
            let light = 0.5 + 0.15 * (Self.sine(Double(x) * 6) + Self.sine(Double(y) * 4))
            return Int(light * DNGBuilder.neutral[color] * 60000)
        }
        let whole = try developed(scene).pixels
        let half = try developed(scene, shrink: 2).pixels
        var worst = 0
        for y in 8..<56 {
            for x in 8..<56 {
                for channel in 0..<3 {
                    let mean = (0..<4).reduce(0) { $0 + whole[(2 * y + $1 / 2) * 128 + 2 * x + $1 % 2][channel] } / 4
                    worst = max(worst, abs(mean - half[y * 64 + x][channel]))
                }
            }
        }
        #expect(worst < 1500, "\(worst)")
    }
}

extension [Int] {
    /// The numbers as bytes, two by two.
    fileprivate var chunkedByTwo: [[UInt8]] {
        stride(from: 0, to: count, by: 2).map { [UInt8(self[$0]), UInt8(self[$0 + 1])] }
    }
}
