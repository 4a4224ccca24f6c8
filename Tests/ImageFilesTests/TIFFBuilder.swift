import ImageFiles

/// Writes TIFF files of every sort, uncompressed: also of the sorts that Penumbra never writes.
struct TIFFBuilder {
    enum Photometric: UInt16 {
        case whiteIsZero = 0
        case blackIsZero = 1
        case rgb = 2
        case palette = 3
        case separated = 5
        case lab = 8
    }

    enum SampleKind: UInt16 {
        case unsigned = 1
        case signed = 2
        case float = 3
    }

    var width: Int
    var height: Int
    var samplesPerPixel = 1
    var bitsPerSample = 8
    var photometric = Photometric.blackIsZero
    var kind = SampleKind.unsigned
    var orientation: UInt16 = 1
    /// 1 for premultiplied, 2 for not premultiplied; nil for none.
    var alpha: UInt16?
    /// 16-bit entries: all reds, all greens, all blues.
    var colorMap: [UInt16] = []
    var profile: [UInt8] = []
    /// The rows, each of them padded to whole bytes.
    var data: [UInt8]
    var rowsPerStrip = 8
    /// The sides of tiles, which a file has in place of strips; a multiple of 16.
    var tileSize: Int?
    var pages = 1
    /// Pages behind these, each as its own builder has it.
    var others: [TIFFBuilder] = []
    /// Of all numbers but the samples in `data`.
    var isBigEndian = false
    /// 1 for a picture that stands for a larger one.
    var subfileType: UInt32?
    /// More entries of the first directory, as text.
    var texts: [(tag: UInt16, text: String)] = []

    private struct Entry {
        let tag: UInt16
        let type: UInt16
        let values: [UInt32]
        var raw: [UInt8]?
    }

    func build() -> [UInt8] {
        var file: [UInt8] = (isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]) + [0, 0, 0, 0]
        var pointer = 4
        for page in Array(repeating: self, count: pages) + others {
            let strips = page.appendStrips(to: &file)
            var entries = page.entries(strips).sorted { $0.tag < $1.tag }
            for index in entries.indices { place(&entries[index], in: &file) }
            if file.count % 2 == 1 { file.append(0) }
            file.replaceSubrange(pointer..<pointer + 4, with: stored(UInt32(file.count)))
            file += stored(UInt16(entries.count))
            for entry in entries { file += row(entry) }
            pointer = file.count
            file += stored(UInt32(0))
        }
        return file
    }

    /// Tiles reach beyond the picture, with zeros there.
    private func appendTiles(_ size: Int, to file: inout [UInt8]) -> (offsets: [UInt32], counts: [UInt32]) {
        let pixel = samplesPerPixel * bitsPerSample / 8
        var offsets: [UInt32] = []
        for top in Swift.stride(from: 0, to: height, by: size) {
            for left in Swift.stride(from: 0, to: width, by: size) {
                offsets.append(UInt32(file.count))
                for row in top..<top + size {
                    let columns = left..<min(width, left + size)
                    let inside =
                        row < height
                        ? data[(row * width + columns.lowerBound) * pixel..<(row * width + columns.upperBound) * pixel]
                        : []
                    file += inside + Array(repeating: 0, count: size * pixel - inside.count)
                }
            }
        }
        return (offsets, offsets.map { _ in UInt32(size * size * pixel) })
    }

    private func appendStrips(to file: inout [UInt8]) -> (offsets: [UInt32], counts: [UInt32]) {
        if let tileSize { return appendTiles(tileSize, to: &file) }
        let stride = (width * samplesPerPixel * bitsPerSample + 7) / 8
        var offsets: [UInt32] = []
        var counts: [UInt32] = []
        for top in Swift.stride(from: 0, to: height, by: rowsPerStrip) {
            let bytes = data[top * stride..<min(height, top + rowsPerStrip) * stride]
            offsets.append(UInt32(file.count))
            counts.append(UInt32(bytes.count))
            file += bytes
        }
        return (offsets, counts)
    }

    private func entries(_ strips: (offsets: [UInt32], counts: [UInt32])) -> [Entry] {
        func short(_ tag: UInt16, _ values: [UInt16]) -> Entry {
            Entry(tag: tag, type: 3, values: values.map(UInt32.init))
        }
        func long(_ tag: UInt16, _ values: [UInt32]) -> Entry { Entry(tag: tag, type: 4, values: values) }
        func bytes(_ tag: UInt16, _ type: UInt16, _ raw: [UInt8]) -> Entry {
            Entry(tag: tag, type: type, values: [], raw: raw)
        }
        var result = [
            long(256, [UInt32(width)]), long(257, [UInt32(height)]),
            short(258, Array(repeating: UInt16(bitsPerSample), count: samplesPerPixel)), short(259, [1]),
            short(262, [photometric.rawValue]), short(274, [orientation]),
            short(277, [UInt16(samplesPerPixel)]),
            short(339, Array(repeating: kind.rawValue, count: samplesPerPixel)),
        ]
        if let tileSize {
            let side = [UInt32(tileSize)]
            result += [long(322, side), long(323, side), long(324, strips.offsets), long(325, strips.counts)]
        } else {
            result += [long(273, strips.offsets), long(278, [UInt32(rowsPerStrip)]), long(279, strips.counts)]
        }
        if let subfileType { result.append(long(254, [subfileType])) }
        if let alpha { result.append(short(338, [alpha])) }
        if photometric == .separated { result.append(short(332, [1])) }
        if !colorMap.isEmpty { result.append(short(320, colorMap)) }
        if !profile.isEmpty { result.append(bytes(34675, 7, profile)) }
        result += texts.map { bytes($0.tag, 2, Array($0.text.utf8) + [0]) }
        return result
    }

    private func encoded(_ entry: Entry) -> [UInt8] {
        entry.raw ?? entry.values.flatMap { entry.type == 3 ? stored(UInt16($0)) : stored($0) }
    }

    /// Moves values that do not fit into the entry to the file's end.
    private func place(_ entry: inout Entry, in file: inout [UInt8]) {
        let bytes = encoded(entry)
        guard bytes.count > 4 else { return }
        if file.count % 2 == 1 { file.append(0) }
        let unit = entry.type == 3 ? 2 : entry.type == 4 ? 4 : 1
        let header = stored(UInt32(bytes.count / unit)) + stored(UInt32(file.count))
        entry = Entry(tag: entry.tag, type: entry.type, values: [], raw: header)
        file += bytes
    }

    private func row(_ entry: Entry) -> [UInt8] {
        let front = stored(entry.tag) + stored(entry.type)
        if let raw = entry.raw, raw.count == 8 { return front + raw }
        let bytes = encoded(entry)
        let unit = entry.type == 3 ? 2 : entry.type == 4 ? 4 : 1
        return front + stored(UInt32(bytes.count / unit)) + bytes + Array(repeating: 0, count: 4 - bytes.count)
    }

    private func stored<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
    }
}
