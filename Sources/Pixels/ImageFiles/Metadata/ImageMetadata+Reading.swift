import CVips

extension ImageMetadata {
    /// What libvips found in a file beside the pixels.
    init(of image: borrowing VipsImageReference) {
        self.init(
            icc: image.blob(MetadataField.icc.rawValue).map(Blob.init),
            exif: image.blob(MetadataField.exif.rawValue).flatMap(Self.exifStructure),
            xmp: image.blob(MetadataField.xmp.rawValue).map(Blob.init),
            iptc: (image.blob(MetadataField.iptc.rawValue) ?? image.blob("photoshop-data"))
                .flatMap(PhotoshopResources.iptc),
            resolution: Self.resolution(of: image))
    }

    /// Some formats put a mark before the structure, and some writers put it where it does not belong.
    static func exifStructure(_ bytes: [UInt8]) -> Blob? {
        let mark = Array("Exif\0\0".utf8)
        let structure = bytes.starts(with: mark) ? Array(bytes[mark.count...]) : bytes
        return structure.isEmpty ? nil : Blob(structure)
    }

    /// Nil where a file says nothing: libvips then gives 1 pixel per millimetre, or 72 per inch, which is also what
    /// files give that have to give something.
    private static func resolution(of image: borrowing VipsImageReference) -> Resolution? {
        let (x, y) = image.resolution
        let isDefault = [1, Resolution.nominal].contains { abs(x - $0) < 0.001 && abs(y - $0) < 0.001 }
        guard x > 0, y > 0, x.isFinite, y.isFinite, !isDefault else { return nil }
        return Resolution(x: x, y: y, unit: image.text("resolution-unit") == "cm" ? .centimetre : .inch)
    }
}

extension ImageMetadata.Animation {
    /// What a browser takes for a frame that states no time, in milliseconds.
    private static let usualDelay = 100

    init(of image: borrowing VipsImageReference, frames: Int) {
        let stated = image.integers("delay") ?? []
        self.init(
            delays: (0..<frames).map { $0 < stated.count ? stated[$0] : Self.usualDelay },
            repetitions: image.integer("loop") ?? 0)
    }
}
