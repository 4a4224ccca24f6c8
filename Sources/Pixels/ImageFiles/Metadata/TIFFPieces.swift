/// The strips or tiles of a TIFF page, and how much of the file each of them needs.
///
/// Nothing is refused that libtiff reads whole. Some writers state wrong byte counts for uncompressed pixels: libtiff reads as
/// many bytes as the pixels take. A piece without an offset and a length is sparse, and empty.
struct TIFFPieces {
    enum Tag {
        static let width: UInt16 = 256
        static let height: UInt16 = 257
        static let bitsPerSample: UInt16 = 258
        static let compression: UInt16 = 259
        static let photometric: UInt16 = 262
        static let samplesPerPixel: UInt16 = 277
        static let rowsPerStrip: UInt16 = 278
        static let planarConfiguration: UInt16 = 284
        static let tileWidth: UInt16 = 322
        static let tileHeight: UInt16 = 323
        static let strips: (offsets: UInt16, byteCounts: UInt16) = (273, 279)
        static let tiles: (offsets: UInt16, byteCounts: UInt16) = (324, 325)
        /// Without any of them no pixel is read. Their values may lie anywhere in the file.
        static let indispensable = [
            bitsPerSample, strips.offsets, strips.byteCounts, tiles.offsets, tiles.byteCounts,
        ]
    }

    private let offsets: TIFFDirectories.Entry
    private let byteCounts: TIFFDirectories.Entry?
    private let isCompressed: Bool
    private let isTiled: Bool
    private let height: Int
    /// Rows of a strip or tile, but for the last strip of each plane.
    private let rows: Int
    /// How many of them the pixels are in. A list may be longer.
    private let pieces: Double
    /// Bytes of a row of one piece, not compressed; a product of numbers that may be lies.
    private let rowBytes: Double

    /// Nil for a page without pixels, or of a kind whose strips are not what they say: JPEG as TIFF 6 had it.
    init?(of entries: [TIFFDirectories.Entry], in directories: TIFFDirectories) {
        func entry(_ tag: UInt16) -> TIFFDirectories.Entry? { entries.first { $0.tag == tag } }
        func number(_ tag: UInt16) -> Int? {
            entry(tag).flatMap { directories.numbers(of: $0, in: 0..<1) }?.first
        }
        let compression = number(Tag.compression) ?? 1
        guard let width = number(Tag.width), let height = number(Tag.height), compression != 6 else { return nil }
        isTiled = entry(Tag.tiles.offsets) != nil
        let tags = isTiled ? Tag.tiles : Tag.strips
        guard let offsets = entry(tags.offsets) else { return nil }
        self.offsets = offsets
        byteCounts = entry(tags.byteCounts)
        isCompressed = compression != 1
        self.height = height
        rows = isTiled ? number(Tag.tileHeight) ?? 0 : min(height, number(Tag.rowsPerStrip) ?? height)
        let isApart = number(Tag.planarConfiguration) == 2
        // YCbCr may have fewer samples of colour: its brightness alone is sure to be there.
        let isYCbCr = number(Tag.photometric) == 6
        let channels = number(Tag.samplesPerPixel) ?? 1
        let samples = isApart || isYCbCr ? 1 : channels
        let columns = isTiled ? number(Tag.tileWidth) ?? 0 : width
        let grid = columns > 0 && rows > 0 ? ((width - 1) / columns + 1, (height - 1) / rows + 1) : (0, 0)
        pieces = Double(grid.0) * Double(grid.1) * Double(isApart ? channels : 1)
        rowBytes = (Double(columns) * Double(samples) * Double(number(Tag.bitsPerSample) ?? 1) / 8).rounded(.up)
    }

    /// Whether one of them does.
    ///
    /// - Parameter budget: how many of them are looked at, at most; what was looked at is taken from it.
    func reachBehind(_ end: Int, in directories: TIFFDirectories, within budget: inout Int) -> Bool {
        let listed = offsets.range.count / offsets.type.size
        let count = min(budget, pieces < Double(listed) ? Int(pieces) : listed)
        let stated = byteCounts.map { $0.range.count / $0.type.size } ?? 0
        budget -= count
        for first in stride(from: 0, to: count, by: Self.portion) {
            let indices = first..<min(count, first + Self.portion)
            guard let places = directories.numbers(of: offsets, in: indices) else { return false }
            let sure = indices.clamped(to: 0..<stated)
            let lengths = byteCounts.flatMap { sure.isEmpty ? nil : directories.numbers(of: $0, in: sure) } ?? []
            for (index, place) in zip(indices, places) {
                let length = index - first < lengths.count ? lengths[index - first] : nil
                if place == 0, length ?? 0 == 0 { continue }
                let needed = needed(ofPiece: index, stating: length)
                if Double(place) + needed > Double(end) { return true }
            }
        }
        return false
    }

    /// Numbers that are held at once.
    private static let portion = 1 << 14

    /// - Parameter length: as the file states it; nil where it does not.
    private func needed(ofPiece index: Int, stating length: Int?) -> Double {
        let whole = rowBytes * Double(isTiled ? rows : rowsOfStrip(index))
        let stated = Double(length ?? 0)
        // libtiff passes over most of a length that is absurd for what it holds.
        if isCompressed { return stated > 1_048_576 && whole > 0 ? min(stated, 10 * whole + 4096) : stated }
        return stated > 0 ? min(stated, whole) : isTiled ? 0 : whole
    }

    private func rowsOfStrip(_ index: Int) -> Int {
        guard rows > 0 else { return 0 }
        let strips = (height - 1) / rows + 1
        return min(rows, height - index % strips * rows)
    }
}
