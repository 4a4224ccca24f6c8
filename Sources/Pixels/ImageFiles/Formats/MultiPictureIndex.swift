/// The index of a JPEG that holds several pictures, one behind the other: files of phones with a gain map or a depth map, and
/// those of cameras with two lenses. <https://www.cipa.jp/std/documents/e/DC-X007-KEY_E.pdf>
struct MultiPictureIndex {
    /// What the first picture's segments say each of the pictures is.
    private let kinds: [Int]

    /// True when there is another picture beside the first one, and beside smaller copies of that.
    var holdsFurther: Bool { kinds.dropFirst().contains { $0 >> 16 != Self.largeThumbnail } }

    private static let name = Array("MPF\0".utf8)
    private static let entries: UInt16 = 0xB002
    private static let entryLength = 16
    private static let largeThumbnail = 1
    /// More segments are none that anybody writes before the pixels.
    private static let mostSegments = 1000

    /// Nil for a file that has none.
    init?(_ file: InputFile) {
        guard let payload = Self.payload(of: file), let index = TIFFDirectories(block: payload),
            let entry = index.main.first(where: { $0.tag == Self.entries })
        else { return nil }
        let count = entry.range.count / Self.entryLength
        kinds = (0..<count).map { place in
            let start = entry.range.lowerBound + place * Self.entryLength
            let digits = payload[start..<start + 4]
            // In the highest byte are flags, and the format.
            return (index.isLittleEndian ? Array(digits.reversed()) : Array(digits)).dropFirst().reduce(0) {
                $0 << 8 | Int($1)
            }
        }
    }

    /// What follows the name in its segment.
    private static func payload(of file: InputFile) -> [UInt8]? {
        var place = 2
        for _ in 0..<mostSegments {
            guard place + 4 + name.count <= file.size, let head = file.bytes(in: place..<place + 4 + name.count),
                head[0] == 0xFF
            else { return nil }
            // A marker may have any number of these before it.
            guard head[1] != 0xFF else {
                place += 1
                continue
            }
            let length = Int(head[2]) << 8 | Int(head[3])
            // The pixels begin, or it is no segment.
            guard head[1] != 0xDA, length >= 2 else { return nil }
            let end = place + 2 + length
            if head[1] == 0xE2, head[4...].elementsEqual(name), end <= file.size {
                return file.bytes(in: place + head.count..<max(place + head.count, end))
            }
            place = end
        }
        return nil
    }
}
