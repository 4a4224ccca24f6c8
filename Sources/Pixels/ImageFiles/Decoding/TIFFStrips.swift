/// The strips of a TIFF file's first page, and files that have only some of them.
///
/// libvips reads strips from the first to the last. For a few rows of a large picture it gets a file with a directory of
/// just their strips, which lie where they are: <https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>, section 8.
struct TIFFStrips {
    let rowsPerStrip: Int
    private let directories: TIFFDirectories
    private let entries: [TIFFDirectories.Entry]
    private let offsets: [Int]
    private let byteCounts: [Int]
    private let height: Int

    private enum Tag {
        static let height: UInt16 = 257
        static let stripOffsets: UInt16 = 273
        static let rowsPerStrip: UInt16 = 278
        static let stripByteCounts: UInt16 = 279
        static let planarConfiguration: UInt16 = 284
    }

    /// Nil for files of other kinds, tiled ones, and those whose channels lie apart.
    init?(_ file: InputFile) {
        guard let directories = TIFFDirectories(size: file.size, fetch: { file.bytes(in: $0) }) else { return nil }
        let entries = directories.main
        func numbers(_ tag: UInt16) -> [Int] {
            entries.first { $0.tag == tag }.flatMap(directories.numbers) ?? []
        }
        guard let height = numbers(Tag.height).first, height > 0 else { return nil }
        let rowsPerStrip = min(height, numbers(Tag.rowsPerStrip).first ?? height)
        let planar = numbers(Tag.planarConfiguration).first ?? 1
        offsets = numbers(Tag.stripOffsets)
        byteCounts = numbers(Tag.stripByteCounts)
        guard rowsPerStrip > 0, planar == 1, offsets.count == byteCounts.count,
            offsets.count == (height + rowsPerStrip - 1) / rowsPerStrip,
            // A directory behind the end has to be within reach.
            directories.offsets == .big || file.size + 16 * (offsets.count + entries.count) < 4_000_000_000
        else { return nil }
        self.rowsPerStrip = rowsPerStrip
        self.directories = directories
        self.entries = entries
        self.height = height
    }

    /// The file as if it had only the strips that hold `rows`.
    ///
    /// - Returns: with the first row that is in it, and how many there are.
    func excerpt(of file: InputFile, rows: Range<Int>) throws(ImageFileError) -> (file: InputFile, rows: Range<Int>) {
        let strips = rows.lowerBound / rowsPerStrip..<(rows.upperBound - 1) / rowsPerStrip + 1
        let held = strips.lowerBound * rowsPerStrip..<min(height, strips.upperBound * rowsPerStrip)
        let place = (file.size + 7) & ~7
        let patches = [
            InputFile.Patch(
                offset: directories.offsets.headerPointer, bytes: number(place, directories.offsets.length)),
            InputFile.Patch(offset: place, bytes: directory(strips, height: held.count, at: place)),
        ]
        return (try InputFile(file, patches: patches), held)
    }

    /// A directory, and behind it what its new entries point to.
    private func directory(_ strips: Range<Int>, height: Int, at place: Int) -> [UInt8] {
        let layout = directories.offsets
        let valuesPlace = place + layout.countLength + entries.count * layout.rowLength + layout.length
        let type: TIFFType = layout == .big ? .long8 : .long
        var values: [UInt8] = []
        let rows = entries.map { entry -> [UInt8] in
            let new: [Int]
            switch entry.tag {
            case Tag.height: new = [height]
            case Tag.stripOffsets: new = Array(offsets[strips])
            case Tag.stripByteCounts: new = Array(byteCounts[strips])
            default: return entry.row
            }
            let head =
                number(Int(entry.tag), 2) + number(Int(type.rawValue), 2) + number(new.count, layout.length)
            if new.count == 1 { return head + number(new[0], layout.length) }
            defer { values += new.flatMap { number($0, layout.length) } }
            return head + number(valuesPlace + values.count, layout.length)
        }
        return number(rows.count, layout.countLength) + rows.flatMap(\.self) + number(0, layout.length) + values
    }

    private func number(_ value: Int, _ length: Int) -> [UInt8] {
        .number(value, length: length, littleEndian: directories.isLittleEndian)
    }
}
