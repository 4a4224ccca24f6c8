/// Writes HEIF files with pictures that others have coded: ISO/IEC 23008-12.
struct HEIFBuilder {
    /// A picture, or what one is made of. Its number is its place in the file, from 1.
    struct Item {
        var kind = "av01"
        var isHidden = false
        /// Boxes.
        var properties: [[UInt8]]
        var data: [UInt8]
    }

    var items: [Item]
    var primary = 1
    var references: [(kind: String, item: Int, targets: [Int])] = []
    /// Whether there is a sequence of pictures, too.
    var isSequence = false
    /// The numbers under which the items are listed; those of all where it is empty.
    var listed: [Int] = []

    func build() -> [UInt8] {
        let kind = Self.box("ftyp", Array("avif".utf8) + [0, 0, 0, 0] + Array("avifmif1".utf8))
        let front = kind.count + meta(dataAt: 0).count + 8
        let data = Self.box("mdat", items.flatMap(\.data))
        return kind + meta(dataAt: front) + data + (isSequence ? Self.box("moov", []) : [])
    }

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + Array(name.utf8) + content
    }

    /// What a picture says of its colours by the code points of ITU-T H.273.
    static func nclx(_ primaries: Int, _ transfer: Int) -> [UInt8] {
        box("colr", Array("nclx".utf8) + big(primaries, 2) + big(transfer, 2) + [0, 6, 0x80])
    }

    /// The size of a picture.
    static func size(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", 0, big(width, 4) + big(height, 4)) }

    /// A grid of one tile.
    static func grid(_ width: Int, _ height: Int) -> [UInt8] { [0, 0, 0, 0] + big(width, 2) + big(height, 2) }

    private static func full(_ name: String, _ version: UInt8, _ content: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        box(name, [version, 0, 0, flags] + content)
    }

    private static func big(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func meta(dataAt start: Int) -> [UInt8] {
        let (numbers, big) = (Array(1...items.count), Self.big)
        var (places, next) = ([UInt8](), start)
        for (number, item) in zip(numbers, items) {
            places += big(number, 2) + [0, 0, 0, 1] + big(next, 4) + big(item.data.count, 4)
            next += item.data.count
        }
        let infos = (listed.isEmpty ? numbers : listed).map { number in
            let item = items[number - 1]
            return Self.full(
                "infe", 2, big(number, 2) + [0, 0] + Array(item.kind.utf8) + [0], flags: item.isHidden ? 1 : 0)
        }
        var (known, associations) = ([[UInt8]](), [UInt8]())
        for (number, item) in zip(numbers, items) {
            let first = known.count + 1
            known += item.properties
            associations +=
                big(number, 2) + [UInt8(item.properties.count)] + (first..<known.count + 1).map { UInt8($0) }
        }
        let properties = Self.box(
            "iprp",
            Self.box("ipco", known.flatMap(\.self)) + Self.full("ipma", 0, big(items.count, 4) + associations))
        let references = self.references.flatMap { kind, item, targets in
            Self.box(kind, big(item, 2) + big(targets.count, 2) + targets.flatMap { big($0, 2) })
        }
        return Self.full(
            "meta", 0,
            Self.full("hdlr", 0, [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
                + Self.full("pitm", 0, big(primary, 2))
                + Self.full("iloc", 0, [0x44, 0] + big(items.count, 2) + places)
                + Self.full("iinf", 0, big(infos.count, 2) + infos.flatMap(\.self)) + properties
                + (references.isEmpty ? [] : Self.full("iref", 0, references)))
    }
}

extension HEIFBuilder.Item {
    /// The picture of a file with one, without what it says of its colours.
    ///
    /// - Returns: nil where the file is not as libheif writes it.
    init?(of file: [UInt8]) {
        func number(_ at: Int, _ length: Int) -> Int { file[at..<at + length].reduce(0) { $0 << 8 | Int($1) } }
        let places = ["av1C", "ispe", "pixi"].compactMap { file.firstRange(of: Array($0.utf8))?.lowerBound }
        guard places.count == 3, let table = file.firstRange(of: Array("iloc".utf8))?.upperBound,
            // Offsets, lengths and bases of four bytes each; the picture is the first item, of one extent.
            file[table] == 0, number(table + 4, 2) == 0x4440, number(table + 16, 2) == 1
        else { return nil }
        let start = number(table + 12, 4) + number(table + 18, 4)
        self.init(
            properties: places.map { Array(file[$0 - 4..<$0 - 4 + number($0 - 4, 4)]) },
            data: Array(file[start..<start + number(table + 22, 4)]))
    }

    /// The same picture with other code points in its AV1 sequence header, in which libheif writes 2, 2 and 6.
    func coding(_ primaries: UInt8, _ transfer: UInt8) -> Self? {
        func bits(_ bytes: [UInt8]) -> [Bool] { bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 == 1 } } }
        var (all, result) = (bits(data), self)
        guard let place = all.firstRange(of: [true] + bits([2, 2, 6])) else { return nil }
        all.replaceSubrange(place, with: [true] + bits([primaries, transfer, 6]))
        result.data = stride(from: 0, to: all.count, by: 8).map { start in
            all[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
        return result
    }
}
