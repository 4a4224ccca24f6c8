import ImageFiles
import JobModel
import Testing

/// What is believed of the strips that a TIFF file states.
@Suite struct StripTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func strips(_ bytes: [UInt8]) throws -> TIFFStrips? {
        TIFFStrips(try InputFile(path: try workspace.write(bytes, to: "picture.tif")))
    }

    @Test(arguments: [701, 65536, Int(UInt32.max)])
    func `a strip that states more rows than its picture has all of its rows`(stated: Int) throws {
        let builder = TIFFBuilder(
            width: 2, height: 700, data: Array(repeating: 0, count: 1400), rowsPerStrip: stated)
        #expect(try strips(builder.build())?.rowsPerStrip == 700)
    }

    private static func high(_ rowsPerStrip: Int, isBigEndian: Bool = false) -> TIFFBuilder {
        let samples = (0..<3 * 2000 * 500).map { (index: Int) -> UInt8 in
            UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13)
        }
        var builder = TIFFBuilder(width: 2000, height: 500, data: samples, rowsPerStrip: rowsPerStrip)
        (builder.samplesPerPixel, builder.photometric, builder.isBigEndian) = (3, .rgb, isBigEndian)
        return builder
    }

    @Test(arguments: [(200, 40), (201, 3), (498, 6)], [false, true])
    func `a file of high strips without compression is read as one of low strips`(
        rows: (stated: Int, read: Int), isBigEndian: Bool
    ) throws {
        var builder = Self.high(rows.stated, isBigEndian: isBigEndian)
        builder.others = [TIFFBuilder(width: 3, height: 2, data: Array(repeating: 7, count: 6))]
        let file = try InputFile(path: try workspace.write(builder.build(), to: "high.tif"))
        #expect(TIFFStrips(file)?.rowsPerStrip == rows.stated)
        for pages in [PageChoice.first, .animation, .frame(0), .page(0)] {
            let decoder = try ImageDecoder(path: workspace.path("high.tif"), limits: .roomy, color: .keep, pages: pages)
            #expect(TIFFStrips(decoder.file)?.rowsPerStrip == (pages == .page(0) ? rows.stated : rows.read), "\(pages)")
        }
        let decoded = try workspace.load("high.tif")
        #expect(decoded.raster.bytes == builder.data)
        #expect(decoded.header.pages == 2)
    }

    @Test func `strips that are low, or not of plain rows, are left as they are`() throws {
        func isLowered(_ change: (inout TIFFBuilder) -> Void) throws -> Bool {
            var builder = Self.high(200)
            change(&builder)
            let file = try InputFile(path: try workspace.write(builder.build(), to: "picture.tif"))
            return try TIFFStrips(file)?.lowered(file) != nil
        }
        #expect(try isLowered { _ in })
        #expect(try !isLowered { $0.rowsPerStrip = 100 })
        #expect(try !isLowered { $0.rowsPerStrip = 199 }, "strips of single rows would be small")
        #expect(try !isLowered { $0.texts = [(324, "1")] }, "libtiff would look at tiles")
        #expect(try !isLowered { $0.rowsPerStrip = 500 }, "libtiff divides a single strip itself")
        #expect(try !isLowered { $0.texts = [(259, "1")] }, "compression is stated twice")
        #expect(try isLowered { $0.texts = [(274, "1")] }, "the orientation twice")
    }

    /// Strips that share the bytes of a small file would make millions of low ones.
    @Test func `a picture of very many rows is left as it is`() throws {
        // Two primes. So the only low strips that pay have 16411 bytes, and there would be 268,000.
        let (rows, strips) = (67 * 16411, 4000)
        var file: [UInt8] = [0x49, 0x49, 43, 0, 8, 0, 0, 0] + number(16)
        let numbers = [(256, 1), (257, strips * rows), (258, 8), (259, 1), (262, 1), (277, 1), (278, rows)]
        let lists = 16 + 8 + 20 * (numbers.count + 2) + 8
        func entry(_ tag: Int, _ count: Int, _ value: Int) -> [UInt8] {
            [UInt8(tag & 255), UInt8(tag >> 8), 16, 0] + number(count) + number(value)
        }
        file += number(numbers.count + 2)
        for (tag, value) in numbers {
            file += entry(tag, 1, value)
            if tag == 262 { file += entry(273, strips, lists) }
        }
        file += entry(279, strips, lists + 8 * strips) + number(0)
        for value in [lists + 16 * strips, rows] { for _ in 0..<strips { file += number(value) } }
        file += Array(repeating: 0, count: rows)
        let input = try InputFile(path: try workspace.write(file, to: "shared.tif"))
        let stated = try #require(TIFFStrips(input))
        #expect(stated.rowsPerStrip == rows)
        #expect(try stated.lowered(input) == nil)
    }

    /// A directory of a BigTIFF file with one strip. Fuzzing has found that the number of strips was a sum that could be too large.
    @Test(arguments: [Int.max, Int.max - 1, 1 << 62, 1 << 32], [1, 2, 1 << 31, 1 << 62])
    func `a height for which strips are missing is not believed, however large it is`(
        height: Int, rowsPerStrip: Int
    ) throws {
        let entries = [(257, height), (273, 16), (278, rowsPerStrip), (279, 8)]
        var file: [UInt8] = [0x49, 0x49, 43, 0, 8, 0, 0, 0] + number(16) + number(entries.count)
        for (tag, value) in entries { file += [UInt8(tag & 255), UInt8(tag >> 8), 16, 0] + number(1) + number(value) }
        file += number(0)
        let strips = try strips(file)
        #expect(height <= rowsPerStrip ? strips?.rowsPerStrip == height : strips == nil)
    }

    private func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(value).littleEndian) { Array($0) } }
}
