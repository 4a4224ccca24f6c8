import CZlib

/// The parts of an OpenEXR file that contain its pixels: some lines each, or a tile.
///
/// If a part has fewer bytes than its pixels need, OpenEXR 3.1 reports no error. It takes the rest from its memory, where
/// earlier pictures of the process were. So the parts are measured before a picture is decoded. Without a compression, with
/// runs and with zlib they can be too short. The other compressions fill all samples, or report an error.
struct OpenEXRParts {
    /// What the header of the first picture says.
    private struct Header {
        /// The bytes of a sample, and for how many columns and rows there is one. By the channel's name.
        var channels: [[UInt8]: (bytes: Int, columns: Int, rows: Int)] = [:]
        var compression: UInt8 = 0
        /// Left, top, right, bottom, with the last column and row.
        var window: [Int] = []
        /// The width and height of a tile. Nil if the parts are lines.
        var tile: (width: Int, height: Int)?
        var isTiled: Bool
        /// The x and y of red, green, blue and white.
        var chromaticities: [Double]?
    }

    private enum Compression {
        static let none: UInt8 = 0
        static let runLengths: UInt8 = 1
        static let zip: ClosedRange<UInt8> = 2...3
        /// How many lines a part has, by the number of the compression.
        static let lines = [1, 1, 1, 16, 32, 16, 32, 32, 32, 256]
    }

    private static let longestName = 256
    /// libvips reads no longer sides.
    private static let longestSide = 10_000_000
    /// Pictures have one or two, for colours that are stored at a lower resolution than brightness.
    private static let mostSamplings = 16
    private static let mostChannels = 4096
    private static let tiledFlag: UInt8 = 0x02
    private static let severalPicturesFlag: UInt8 = 0x10

    private let size: Int
    private let fetch: (Range<Int>) -> [UInt8]?
    private var header: Header
    /// Where the table with the positions of parts begins.
    private let table: Int
    /// The bytes of all channels that have a sample for so many columns and rows.
    private var samplings: [[Int]: Int] = [:]
    /// Each part of a file with several pictures begins with the number of its picture.
    private let hasSeveralPictures: Bool

    /// Returns nil if the header cannot be read. OpenEXR does not read it either.
    init?(size: Int, fetch: @escaping (Range<Int>) -> [UInt8]?) {
        guard size >= 8, let head = fetch(0..<8) else { return nil }
        (self.size, self.fetch) = (size, fetch)
        hasSeveralPictures = head[5] & Self.severalPicturesFlag != 0
        header = Header(isTiled: head[5] & Self.tiledFlag != 0)
        var offset = 8
        guard Self.readHeader(into: &header, at: &offset, size, fetch) else { return nil }
        if hasSeveralPictures {
            // An empty header ends the list.
            var other = Header(isTiled: false)
            while let byte = Self.bytes(offset, 1, size, fetch), byte[0] != 0 {
                guard Self.readHeader(into: &other, at: &offset, size, fetch) else { return nil }
            }
            offset += 1
        }
        table = offset
        guard header.window.count == 4, width > 0, height > 0, !header.channels.isEmpty,
            !header.isTiled || header.tile != nil, Int(header.compression) < Compression.lines.count
        else { return nil }
        for channel in header.channels.values {
            samplings[[channel.columns, channel.rows], default: 0] += channel.bytes
        }
    }

    /// The x and y of red, green, blue and white. Nil for the primaries of sRGB, which OpenEXR has where a file states none.
    var chromaticities: [Double]? { header.chromaticities }

    private var width: Int { header.window[2] - header.window[0] + 1 }
    private var height: Int { header.window[3] - header.window[1] + 1 }

    // MARK: The header

    /// Reads one header, and moves behind it.
    private static func readHeader(
        into header: inout Header, at offset: inout Int, _ size: Int, _ fetch: (Range<Int>) -> [UInt8]?
    ) -> Bool {
        while let name = text(at: offset, size, fetch) {
            offset += name.count + 1
            if name.isEmpty { return true }
            guard let type = text(at: offset, size, fetch),
                let length = bytes(offset + type.count + 1, 4, size, fetch).map({ number($0[...]) }), length >= 0
            else { return false }
            offset += type.count + 5
            if let wanted = Attribute(rawValue: String(decoding: name, as: UTF8.self)) {
                guard let value = bytes(offset, length, size, fetch), read(wanted, value, into: &header) else {
                    return false
                }
            }
            offset += length
            guard offset <= size else { return false }
        }
        return false
    }

    private enum Attribute: String {
        case channels, chromaticities, compression, dataWindow, tiles, type
    }

    private static func read(_ attribute: Attribute, _ value: [UInt8], into header: inout Header) -> Bool {
        switch attribute {
        case .channels: return readChannels(value, into: &header)
        case .chromaticities:
            // OpenEXR refuses other lengths, unless the attribute is of another type. Then it means nothing.
            guard value.count == 32 else { break }
            header.chromaticities = (0..<8).map { index in
                let bits = UInt32(truncatingIfNeeded: number(value[(4 * index)...]))
                return Double(Float(bitPattern: bits))
            }
        case .compression:
            guard value.count == 1 else { return false }
            header.compression = value[0]
        case .dataWindow:
            guard value.count == 16 else { return false }
            header.window = (0..<4).map { number(value[(4 * $0)...]) }
        case .tiles:
            guard value.count == 9 else { return false }
            header.tile = (number(value[...]), number(value[4...]))
            guard let tile = header.tile, tile.width > 0, tile.height > 0 else { return false }
        case .type: header.isTiled = value.starts(with: Array("tiled".utf8))
        }
        return true
    }

    private static func readChannels(_ value: [UInt8], into header: inout Header) -> Bool {
        var rest = value[...]
        header.channels = [:]
        while let end = rest.firstIndex(of: 0), end > rest.startIndex {
            let name = Array(rest[..<end])
            rest = rest[(end + 1)...]
            guard rest.count >= 16 else { return false }
            let columns = number(rest.dropFirst(8))
            let rows = number(rest.dropFirst(12))
            guard columns > 0, rows > 0 else { return false }
            // 1 is a half float. Whole numbers and floats have four bytes.
            header.channels[name] = (number(rest) == 1 ? 2 : 4, columns, rows)
            rest = rest.dropFirst(16)
        }
        return true
    }

    // MARK: The parts

    /// A side that is too long, or the first part that is too short, in words. Nil if there is none, and for parts that OpenEXR
    /// does not read.
    var damage: String? {
        // libvips would first ask for memory for whole lines, and end the process if it gets none.
        guard max(width, height) <= Self.longestSide else {
            return "it states \(width) × \(height) pixels, and no side may have more than \(Self.longestSide)"
        }
        let isMeasured =
            [Compression.none, Compression.runLengths].contains(header.compression)
            || Compression.zip.contains(header.compression)
        guard isMeasured else { return nil }
        guard header.channels.count <= Self.mostChannels, samplings.count <= Self.mostSamplings else {
            return "it has too many channels"
        }
        let (columns, count) = partCounts
        // The numbers may say anything, but the table has to be in the file.
        guard count <= (size - table) / 8, let offsets = fetch(table..<(table + 8 * count)) else { return nil }
        for index in 0..<count {
            let low = Self.number(offsets[(8 * index)...])
            let high = Self.number(offsets[(8 * index + 4)...])
            let offset = (low & 0xFFFF_FFFF) | high << 32
            // OpenEXR would look for the parts in the order of the file.
            guard offset > 0 else { return "its table has no place for \(words(index, columns))" }
            // OpenEXR does not read parts behind the end of the file.
            if offset < size, isTooShort(at: offset, pixelBytes(index, columns)) {
                return "\(words(index, columns)) has fewer bytes than its pixels need"
            }
        }
        return nil
    }

    /// How many parts are beside each other, and how many there are in all. Of a picture in several sizes, those of the largest.
    private var partCounts: (columns: Int, all: Int) {
        guard header.isTiled, let tile = header.tile else { return (1, Self.parts(of: height, linesOfPart)) }
        let columns = Self.parts(of: width, tile.width)
        return (columns, columns * Self.parts(of: height, tile.height))
    }

    private static func parts(of length: Int, _ side: Int) -> Int { (length + side - 1) / side }

    private var linesOfPart: Int { Compression.lines[Int(header.compression)] }

    /// The bytes of all samples of a part.
    private func pixelBytes(_ index: Int, _ columns: Int) -> Int {
        if header.isTiled, let tile = header.tile {
            let width = min(tile.width, width - index % columns * tile.width)
            let height = min(tile.height, height - index / columns * tile.height)
            return samplings.values.reduce(0) { $0 + $1 * width * height }
        }
        let first = header.window[1] + index * linesOfPart
        return (first...min(first + linesOfPart - 1, header.window[3])).reduce(0) { sum, line in
            samplings.reduce(sum) { sum, sampling in
                let (columns, rows) = (sampling.key[0], sampling.key[1])
                return line.isMultiple(of: rows) ? sum + sampling.value * width / columns : sum
            }
        }
    }

    private func words(_ index: Int, _ columns: Int) -> String {
        if header.isTiled, header.tile != nil { return "tile \(index % columns), \(index / columns)" }
        return linesOfPart == 1 ? "line \(index)" : "the part from line \(index * linesOfPart) on"
    }

    private func isTooShort(at offset: Int, _ needed: Int) -> Bool {
        let start = offset + (hasSeveralPictures ? 4 : 0) + (header.isTiled ? 16 : 4)
        guard let length = Self.bytes(start, 4, size, fetch).map({ Self.number($0[...]) }), length >= 0,
            length < needed
        else { return false }
        if header.compression == Compression.none { return true }
        guard let data = Self.bytes(start + 4, length, size, fetch) else { return false }
        let unpacked =
            header.compression == Compression.runLengths
            ? Self.runLengths(data) : Self.inflatedLength(data, most: needed)
        return unpacked.map { $0 < needed } ?? false
    }

    // MARK: Compressions

    /// The length of data that are stored as runs. Nil if OpenEXR does not accept them.
    private static func runLengths(_ data: [UInt8]) -> Int? {
        var (index, length) = (0, 0)
        while index < data.count {
            let count = Int(Int8(bitPattern: data[index]))
            index += count < 0 ? 1 - count : 2
            length += count < 0 ? -count : count + 1
        }
        return index == data.count ? length : nil
    }

    /// The length of data behind zlib's compression, up to `most`. Nil if zlib does not accept them.
    private static func inflatedLength(_ data: [UInt8], most: Int) -> Int? {
        var stream = z_stream()
        guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var (input, output) = (data, [UInt8](repeating: 0, count: 1 << 16))
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                var length = 0
                while length < most {
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let result = inflate(&stream, Z_NO_FLUSH)
                    length += output.count - Int(stream.avail_out)
                    if result == Z_STREAM_END { break }
                    guard result == Z_OK else { return nil }
                }
                return length
            }
        }
    }

    // MARK: Bytes

    private static func bytes(
        _ offset: Int, _ count: Int, _ size: Int, _ fetch: (Range<Int>) -> [UInt8]?
    ) -> [UInt8]? {
        offset >= 0 && offset <= size && count <= size - offset ? fetch(offset..<(offset + count)) : nil
    }

    /// A text that ends with a zero byte, without it. Nil if it does not end.
    private static func text(at offset: Int, _ size: Int, _ fetch: (Range<Int>) -> [UInt8]?) -> [UInt8]? {
        guard let window = bytes(offset, min(longestName, size - offset), size, fetch),
            let end = window.firstIndex(of: 0)
        else { return nil }
        return Array(window[..<end])
    }

    /// A signed number of 32 bits. The slice has at least four bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(Int32(bitPattern: bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }))
    }
}
