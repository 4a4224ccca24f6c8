import Foundation

/// A small synthetic picture: waves with noise, so that no part of it is blank and every byte of it counts.
struct Picture: Hashable, Sendable {
    enum Form: String, Sendable { case png, ppm }

    let stem: String
    let width: Int
    let height: Int
    /// 1, 3 or 4; a PPM has 3.
    let channels: Int
    let form: Form
    /// Pictures of two numbers differ everywhere.
    var number: UInt64

    var fileName: String { "\(stem).\(form.rawValue)" }

    var pixels: [UInt8] {
        var noise = SplitMix64(seed: number &* 977 &+ fingerprint(stem))
        let (dx, dy) = (Int(noise.next() % 5) + 1, Int(noise.next() % 5) + 1)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * channels)
        for y in 0..<height {
            for x in 0..<width {
                let random = noise.next()
                for channel in 0..<channels {
                    let wave = (x * dx + y * dy * (channel + 1)) & 0xff
                    bytes.append(UInt8((wave * 3 + Int(random >> (UInt64(channel) * 8) & 0xff)) / 4) | 1)
                }
            }
        }
        return bytes
    }

    var file: Data {
        switch form {
        case .png: PNG.file(width: width, height: height, channels: channels, pixels)
        case .ppm: Data("P6\n\(width) \(height)\n255\n".utf8) + Data(pixels)
        }
    }
}

/// PNG files with their bytes stored, not compressed. <https://www.w3.org/TR/png-3/>, RFC 1950 and 1951.
enum PNG {
    static func file(width: Int, height: Int, channels: Int, _ pixels: [UInt8]) -> Data {
        let colorType: UInt8 = channels == 1 ? 0 : channels == 3 ? 2 : 6
        let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, colorType, 0, 0, 0]
        // 300 pixels an inch, so that there are metadata.
        let density = bigEndian(11811) + bigEndian(11811) + [1]
        var rows: [UInt8] = []
        rows.reserveCapacity(pixels.count + height)
        for y in 0..<height {
            rows.append(0)
            rows += pixels[y * width * channels..<(y + 1) * width * channels]
        }
        return Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
            + chunk("IHDR", header) + chunk("pHYs", density) + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func chunk(_ name: String, _ body: [UInt8]) -> Data {
        let content = Array(name.utf8) + body
        return Data(bigEndian(UInt32(body.count)) + content + bigEndian(crc(content)))
    }

    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65535) {
            let part = bytes[start..<min(start + 65535, bytes.count)]
            let length = UInt16(part.count)
            result.append(start + part.count == bytes.count ? 1 : 0)
            result += withUnsafeBytes(of: length.littleEndian) { Array($0) }
            result += withUnsafeBytes(of: (~length).littleEndian) { Array($0) }
            result += part
        }
        return result + bigEndian(adler(bytes))
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }

    private static let crcTable: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { entry, _ in entry & 1 == 1 ? 0xedb8_8320 ^ (entry >> 1) : entry >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crcTable[Int(($0 ^ UInt32($1)) & 0xff)] ^ ($0 >> 8) }
    }
}
