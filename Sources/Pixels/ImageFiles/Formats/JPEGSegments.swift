/// The segments that carry a JPEG's metadata, from the start-of-image marker to the first table.
enum JPEGSegments {
    /// A segment's length counts its own two bytes.
    static let largestPayload = 65533

    /// What does not fit into its segment is left out: EXIF, XMP and IPTC have one each.
    static func bytes(for metadata: ImageMetadata) -> [UInt8] {
        let exif = segment(0xE1, Array("Exif\0\0".utf8), metadata.exif)
        var result = exif.isEmpty ? jfif(metadata.resolution) : exif  // some readers take one of them only
        result += segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8), metadata.xmp)
        result += segment(0xED, Array("Photoshop 3.0\0".utf8), metadata.iptc.map(PhotoshopResources.wrapping))
        if let icc = metadata.icc { result += profile(icc.bytes) }
        return result
    }

    private static func segment(_ marker: UInt8, _ name: [UInt8], _ blob: Blob?) -> [UInt8] {
        guard let blob, name.count + blob.bytes.count <= largestPayload else { return [] }
        return segment(marker, name + blob.bytes)
    }

    private static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0xFF, marker] + .number(payload.count + 2, length: 2, littleEndian: false) + payload
    }

    /// Says that colour is YCbCr, and the resolution; without one, that pixels are square.
    private static func jfif(_ resolution: ImageMetadata.Resolution?) -> [UInt8] {
        var payload = Array("JFIF\0".utf8) + [1, 1]
        let (unit, scale): (UInt8, Double) =
            switch resolution?.unit {
            case nil: (0, 0)
            case .inch: (1, 25.4)
            case .centimetre: (2, 10)
            }
        payload += [unit] + density(resolution?.x, scale) + density(resolution?.y, scale)
        return segment(0xE0, payload + [0, 0])
    }

    private static func density(_ value: Double?, _ scale: Double) -> [UInt8] {
        .number(Int(max(1, min(65535, ((value ?? 0) * scale).rounded()))), length: 2, littleEndian: false)
    }

    /// The profile in numbered parts, at most 255 of them.
    private static func profile(_ icc: [UInt8]) -> [UInt8] {
        let name = Array("ICC_PROFILE\0".utf8)
        let capacity = largestPayload - name.count - 2
        let parts = (icc.count + capacity - 1) / capacity
        guard parts <= 255 else { return [] }
        var result: [UInt8] = []
        for part in 0..<parts {
            let bytes = icc[part * capacity..<min(icc.count, (part + 1) * capacity)]
            result += segment(0xE2, name + [UInt8(part + 1), UInt8(parts)] + bytes)
        }
        return result
    }
}
