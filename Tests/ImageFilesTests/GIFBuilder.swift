/// Writes animated GIF files whose data are not compressed.
struct GIFBuilder {
    let width: Int
    let height: Int
    let frames: Int

    private var head: [UInt8] {
        Array("GIF89a".utf8) + short(width) + short(height) + [0xF7, 0, 0]
            + (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
            + [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    }

    /// Where the frames end; the trailer follows.
    var ends: [Int] {
        (1...frames).map { head.count + (0..<$0).reduce(0) { $0 + frame($1).count } }
    }

    func build() -> [UInt8] { head + (0..<frames).flatMap(frame) + [0x3B] }

    private func frame(_ number: Int) -> [UInt8] {
        let pixels = (0..<width * height).map {
            UInt8(truncatingIfNeeded: $0 % width * 3 + $0 / width * 7 + number * 50)
        }
        let data = packed(pixels)
        let pieces = stride(from: 0, to: data.count, by: 255).flatMap { start in
            let piece = data[start..<min(data.count, start + 255)]
            return [UInt8(piece.count)] + piece
        }
        return [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0] + short(width) + short(height) + [0, 8] + pieces + [0]
    }

    /// Nine bits for each pixel, as long as codes are cleared before they would grow.
    private func packed(_ pixels: [UInt8]) -> [UInt8] {
        var (bits, count, result): (UInt32, UInt32, [UInt8]) = (0, 0, [])
        func put(_ code: UInt32) {
            bits |= code << count
            count += 9
            while count >= 8 {
                result.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                count -= 8
            }
        }
        for (index, pixel) in pixels.enumerated() {
            if index % 200 == 0 { put(256) }
            put(UInt32(pixel))
        }
        put(257)
        return count > 0 ? result + [UInt8(truncatingIfNeeded: bits)] : result
    }

    private func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
}
