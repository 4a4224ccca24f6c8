extension ImageMetadata {
    /// Of a TIFF file's tags, more is never of use.
    private static let largestTags = 1 << 20

    /// Takes over the tags of a TIFF file that describe the picture, and its IPTC records.
    ///
    /// What says how the pixels lie is known otherwise; a maker note does not survive the move to another offset.
    mutating func takeTags(from directories: TIFFDirectories) {
        if let entry = directories.main.first(where: { $0.tag == ExifTag.iptc }),
            entry.range.count <= Self.largestTags, let bytes = directories.values(of: entry)
        {
            iptc = PhotoshopResources.iptc(in: bytes)
        }
        guard var document = ExifDocument(directories, limit: Self.largestTags) else { return }
        document.removeEntries(in: .main) { ExifTag.ofShape.contains($0.tag) }
        document.removeEntries(in: .exif) { $0.tag == ExifDocument.makerNote }
        exif = document.isEmpty ? nil : Blob(document.block)
    }
}
