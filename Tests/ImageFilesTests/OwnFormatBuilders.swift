/// Writes bitmaps.
struct BMPBuilder {
    var width: Int
    /// Negative for rows from the top down.
    var height: Int
    var bits: Int
    var compression = 0
    /// 12 for that of OS/2, 40, 52, 56, 108 or 124.
    var headerSize = 40
    /// Red, green and blue of each entry.
    var palette: [[UInt8]] = []
    /// The number of colours in the header; nil for that of the palette.
    var stated: Int?
    /// Red, green, blue, and alpha.
    var masks: [UInt32] = []
    /// Pixels per metre.
    var resolution = 0
    var profile: [UInt8] = []
    /// The stored rows, with their padding.
    var pixels: [UInt8]

    func build() -> [UInt8] {
        var header = little(headerSize, 4)
        if headerSize == 12 {
            header += little(width, 2) + little(height, 2) + little(1, 2) + little(bits, 2)
        } else {
            header += little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2) + little(compression, 4)
            header += little(pixels.count, 4) + little(resolution, 4) + little(resolution, 4)
            header += little(stated ?? palette.count, 4) + little(0, 4)
            if headerSize > 40 { header += masks.flatMap { little(Int($0), 4) } }
            header += Array(repeating: 0, count: max(0, headerSize - header.count))
            if headerSize == 40 { header += masks.flatMap { little(Int($0), 4) } }
        }
        let colors: [UInt8] = palette.flatMap { color -> [UInt8] in
            color.reversed() + (headerSize == 12 ? [] : [0])
        }
        let offset = 14 + header.count + colors.count
        if !profile.isEmpty {
            header.replaceSubrange(56..<60, with: Array("DEBM".utf8))
            header.replaceSubrange(112..<120, with: little(offset - 14 + pixels.count, 4) + little(profile.count, 4))
        }
        let size = offset + pixels.count + profile.count
        var file = Array("BM".utf8) + little(size, 4) + little(0, 4) + little(offset, 4)
        for part in [header, colors, pixels, profile] { file += part }
        return file
    }

    private func little(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// Writes Photoshop files without layers, unless `layers` has some.
struct PSDBuilder {
    var isLarge = false
    var width: Int
    var height: Int
    var bits = 8
    /// 1 gray, 2 a palette, 3 RGB, 4 CMYK.
    var mode = 3
    var palette: [UInt8] = []
    /// Numbers with data.
    var resources: [(Int, [UInt8])] = []
    /// The number of layers; negative if the picture has transparency. Nil for no layers.
    var layers: Int?
    /// Whether the layers are in a block of their own, as in files of 16 bits.
    var hasBlock = false
    /// 0 raw, 1 run-length encoded.
    var compression = 0
    /// The samples of each channel.
    var channels: [[Int]]

    func build() -> [UInt8] {
        var bytes = Array("8BPS".utf8) + big(isLarge ? 2 : 1, 2) + Array(repeating: 0, count: 6)
        bytes += big(channels.count, 2) + big(height, 4) + big(width, 4) + big(bits, 2) + big(mode, 2)
        bytes += big(palette.count, 4) + palette
        let blocks = resources.flatMap { number, data -> [UInt8] in
            Array("8BIM".utf8) + big(number, 2) + [3, 97, 98, 99] + big(data.count, 4) + data
                + (data.count.isMultiple(of: 2) ? [] : [0])
        }
        bytes += big(blocks.count, 4) + blocks
        let section = layerSection
        bytes += big(section.count, long) + section
        return bytes + big(compression, 2) + (compression == 0 ? channels.flatMap(raw) : packed)
    }

    private var long: Int { isLarge ? 8 : 4 }

    private var layerSection: [UInt8] {
        guard let layers else { return [] }
        let info = big(layers, 2) + [0, 0]
        guard hasBlock else { return big(info.count, long) + info + big(0, 4) }
        let block = Array("8BIMLr16".utf8) + big(info.count, long) + info
        return big(0, long) + big(0, 4) + Array("8BIMPatt".utf8) + big(4, 4) + [1, 2, 3, 4] + block
    }

    private func raw(_ samples: [Int]) -> [UInt8] { samples.flatMap { big($0, bits / 8) } }

    private var packed: [UInt8] {
        var (table, rows): ([UInt8], [UInt8]) = ([], [])
        for channel in channels {
            let bytes = raw(channel)
            let length = width * bits / 8
            for row in 0..<height {
                let packed = Self.packBits(Array(bytes[row * length..<(row + 1) * length]))
                table += big(packed.count, isLarge ? 4 : 2)
                rows += packed
            }
        }
        return table + rows
    }

    /// Runs of three bytes and more, and what is between them.
    static func packBits(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        var others: [UInt8] = []
        func flush() {
            for start in stride(from: 0, to: others.count, by: 128) {
                let part = others[start..<min(others.count, start + 128)]
                result += [UInt8(part.count - 1)] + part
            }
            others = []
        }
        while let first = rest.first {
            let run = min(128, rest.prefix { $0 == first }.count)
            if run >= 3 {
                flush()
                result += [UInt8(257 - run), first]
                rest = rest.dropFirst(run)
            } else {
                others.append(first)
                rest = rest.dropFirst()
            }
        }
        flush()
        return result
    }

    private func big(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

/// Writes Radiance pictures.
struct RadianceBuilder {
    var lines = ["FORMAT=32-bit_rle_rgbe"]
    /// The size, as the file has it.
    var size: String
    /// The pixels of each stored row: red, green, blue, exponent.
    var rows: [[[UInt8]]]
    /// Whether each row is stored channel by channel.
    var isOfPlanes = false

    func build() -> [UInt8] {
        let header = (["#?RADIANCE"] + lines + ["", size]).map { $0 + "\n" }.joined()
        return Array(header.utf8) + rows.flatMap { isOfPlanes ? planes($0) : $0.flatMap(\.self) }
    }

    private func planes(_ row: [[UInt8]]) -> [UInt8] {
        [2, 2, UInt8(row.count >> 8), UInt8(row.count & 255)]
            + (0..<4).flatMap { channel -> [UInt8] in
                var rest = row.map { $0[channel] }[...]
                var result: [UInt8] = []
                while let first = rest.first {
                    let run = min(127, rest.prefix { $0 == first }.count)
                    result += run > 1 ? [UInt8(128 + run), first] : [1, first]
                    rest = rest.dropFirst(run)
                }
                return result
            }
    }
}
