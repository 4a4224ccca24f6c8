/// PNG chunks that libvips does not write as Penumbra wants them.
enum PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The signature and the header chunk, after which others may follow.
    static let headerLength = 33

    static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + payload
        return .number(payload.count, length: 4, littleEndian: false) + checked
            + .number(Int(crc(checked)), length: 4, littleEndian: false)
    }

    /// The CRC of ISO 3309, bit by bit: metadata are small.
    static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 {
                crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320
            }
        }
        return ~crc
    }
}
