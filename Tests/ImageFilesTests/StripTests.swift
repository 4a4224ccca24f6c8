import ImageFiles
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
