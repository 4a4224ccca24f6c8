/// Photoshop's image resources (`8BIM`), in which JPEG and TIFF files carry IPTC records, among previews and other
/// things that no output takes over.
enum PhotoshopResources {
    private static let signature = Array("8BIM".utf8)
    private static let iptcRecords: UInt16 = 0x0404

    /// The IPTC records in a block of resources, or nil when there are none or the block is broken before them.
    ///
    /// - Parameter block: the resources, with or without the `Photoshop 3.0` mark that a JPEG puts before them; or bare
    ///   IPTC records, which TIFF files have too.
    static func iptc(in block: [UInt8]) -> Blob? {
        let mark = Array("Photoshop 3.0\0".utf8)
        var rest = block.starts(with: mark) ? block[mark.count...] : block[...]
        if rest.first == 0x1C { return Blob(Array(rest)) }
        while let (identifier, data) = takeResource(from: &rest) {
            if identifier == iptcRecords { return data.isEmpty ? nil : Blob(Array(data)) }
        }
        return nil
    }

    /// One resource: signature, identifier, a name and the data, both of them padded to an even length.
    private static func takeResource(from bytes: inout ArraySlice<UInt8>) -> (UInt16, ArraySlice<UInt8>)? {
        guard bytes.starts(with: signature), bytes.count >= 12 else { return nil }
        let start = bytes.startIndex
        let identifier = UInt16(bytes[start + 4]) << 8 | UInt16(bytes[start + 5])
        let nameLength = Int(bytes[start + 6])
        bytes = bytes.dropFirst(6 + (nameLength + 2) / 2 * 2)
        guard bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(4)
        guard bytes.count >= length else { return nil }
        let data = bytes.prefix(length)
        bytes = bytes.dropFirst((length + 1) / 2 * 2)
        return (identifier, data)
    }

    /// The records as a block of one resource.
    static func wrapping(_ iptc: Blob) -> Blob {
        let emptyName: [UInt8] = [0, 0]
        return Blob(
            signature + .number(Int(iptcRecords), length: 2, littleEndian: false) + emptyName
                + .number(iptc.bytes.count, length: 4, littleEndian: false) + iptc.bytes.paddedToEven)
    }
}
