/// Writes PNG files of every sort, without compression: also of the sorts that Penumbra never writes.
struct PNGBuilder {
    enum ColorType: UInt8 {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        var channels: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    var width: Int
    var height: Int
    var bitDepth: UInt8 = 8
    var colorType: ColorType
    /// Big-endian samples, rows without padding; whole bytes only.
    var data: [UInt8]
    var isInterlaced = false
    /// Red, green, blue.
    var palette: [UInt8] = []
    /// Chunks before the pixels, by name.
    var chunks: [(name: String, payload: [UInt8])] = []

    /// What comes before the pixels.
    var head: [UInt8] {
        let header =
            big(UInt32(width)) + big(UInt32(height)) + [bitDepth, colorType.rawValue, 0, 0, isInterlaced ? 1 : 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
    }

    func build() -> [UInt8] {
        var result = head
        for (name, payload) in chunks { result += chunk(name, payload) }
        if !palette.isEmpty { result += chunk("PLTE", palette) }
        result += chunk("IDAT", deflated(isInterlaced ? interlacedRows : plainRows))
        return result + chunk("IEND", [])
    }

    private var pixelBytes: Int { colorType.channels * Int(bitDepth) / 8 }

    private var plainRows: [UInt8] {
        let stride = width * pixelBytes
        return (0..<height).flatMap { y -> [UInt8] in [0] + data[y * stride..<(y + 1) * stride] }
    }

    /// The seven passes of Adam7: first column, first row, distance of columns, distance of rows.
    private var interlacedRows: [UInt8] {
        let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        var result: [UInt8] = []
        for (left, top, right, down) in passes where left < width {
            for y in stride(from: top, to: height, by: down) {
                result.append(0)
                for x in stride(from: left, to: width, by: right) {
                    let start = (y * width + x) * pixelBytes
                    result += data[start..<start + pixelBytes]
                }
            }
        }
        return result
    }

    /// A zlib stream of stored blocks.
    private func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65535) {
            let block = bytes[start..<min(bytes.count, start + 65535)]
            let length = UInt16(block.count)
            result.append(start + block.count == bytes.count ? 1 : 0)
            result += [UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
            result += block
        }
        let (a, b) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let a = (sums.0 + UInt32(byte)) % 65521
            return (a, (sums.1 + a) % 65521)
        }
        return result + big(b << 16 | a)
    }

    func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + payload
        return big(UInt32(payload.count)) + checked + big(Self.crc(checked))
    }

    static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return ~crc
    }

    private func big<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
