/// Writes EXIF blocks, with a thumbnail if wanted.
struct ExifBuilder {
    struct Entry {
        let tag: UInt16
        let type: UInt16
        let bytes: [UInt8]

        static func short(_ tag: UInt16, _ value: UInt16) -> Entry {
            Entry(tag: tag, type: 3, bytes: [UInt8(value & 255), UInt8(value >> 8)])
        }

        static func long(_ tag: UInt16, _ value: UInt32) -> Entry {
            Entry(tag: tag, type: 4, bytes: withUnsafeBytes(of: value.littleEndian) { Array($0) })
        }

        static func text(_ tag: UInt16, _ text: String) -> Entry {
            Entry(tag: tag, type: 2, bytes: Array(text.utf8) + [0])
        }

        static func bytes(_ tag: UInt16, _ bytes: [UInt8]) -> Entry {
            Entry(tag: tag, type: 7, bytes: bytes)
        }

        var count: Int { bytes.count / (type == 3 ? 2 : type == 4 ? 4 : type == 5 ? 8 : 1) }
    }

    var main: [Entry] = []
    var exif: [Entry] = []
    var gps: [Entry] = []
    var thumbnail: [UInt8] = []

    /// A block with everything that the rules are about.
    static func full(thumbnail: [UInt8] = jpegLikeBytes, makerNote: [UInt8] = Array("Maker note".utf8)) -> [UInt8] {
        var builder = ExifBuilder()
        builder.main = [
            .text(0x010E, "A boat"), .text(0x010F, "Penumbra"), .short(0x0112, 6), .text(0x013B, "Jane Doe"),
            .text(0x8298, "Copyright Jane Doe"), .long(0x0100, 4000),
        ]
        builder.exif = [
            .short(0x8827, 200), .bytes(0x927C, makerNote), .long(0xA002, 4000), .short(0xA003, 3000),
            .short(0xA001, 0xFFFF), .text(0xA431, "SN-12345"), .text(0xA430, "Owner Jane"),
            .bytes(0x9286, Array("hello".utf8)),
        ]
        builder.gps = [.text(0x0001, "N"), .text(0x001D, "2026:11:21")]
        builder.thumbnail = thumbnail
        return builder.build()
    }

    static let jpegLikeBytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 0xAB, count: 200) + [0xFF, 0xD9]

    func build() -> [UInt8] {
        var block: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let mainLength = length(main) + 12 * ((exif.isEmpty ? 0 : 1) + (gps.isEmpty ? 0 : 1))
        let exifOffset = 8 + mainLength
        let gpsOffset = exifOffset + (exif.isEmpty ? 0 : length(exif))
        let nextOffset = gpsOffset + (gps.isEmpty ? 0 : length(gps))
        var pointers: [Entry] = []
        if !exif.isEmpty { pointers.append(.long(0x8769, UInt32(exifOffset))) }
        if !gps.isEmpty { pointers.append(.long(0x8825, UInt32(gpsOffset))) }
        block += directory(main + pointers, at: 8, next: thumbnail.isEmpty ? 0 : nextOffset)
        if !exif.isEmpty { block += directory(exif, at: exifOffset, next: 0) }
        if !gps.isEmpty { block += directory(gps, at: gpsOffset, next: 0) }
        guard !thumbnail.isEmpty else { return block }
        let entries: [Entry] = [
            .short(0x0103, 6), .long(0x0201, UInt32(nextOffset + 2 + 36 + 4)), .long(0x0202, UInt32(thumbnail.count)),
        ]
        return block + directory(entries, at: nextOffset, next: 0) + thumbnail
    }

    private func length(_ entries: [Entry]) -> Int {
        entries.reduce(2 + 12 * entries.count + 4) { $0 + ($1.bytes.count > 4 ? ($1.bytes.count + 1) & ~1 : 0) }
    }

    private func directory(_ entries: [Entry], at offset: Int, next: Int) -> [UInt8] {
        var values: [UInt8] = []
        let valuesOffset = offset + 2 + 12 * entries.count + 4
        var result = little(UInt16(entries.count))
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            result += little(entry.tag) + little(entry.type) + little(UInt32(entry.count))
            if entry.bytes.count <= 4 {
                result += entry.bytes + Array(repeating: 0, count: 4 - entry.bytes.count)
            } else {
                result += little(UInt32(valuesOffset + values.count))
                values += entry.bytes + (entry.bytes.count % 2 == 0 ? [] : [0])
            }
        }
        return result + little(UInt32(next)) + values
    }

    private func little<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
