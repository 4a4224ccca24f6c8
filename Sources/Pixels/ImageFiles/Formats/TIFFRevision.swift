/// Puts EXIF and IPTC into a TIFF file, which libvips cannot: a new main directory at the file's end has the entries of
/// the old one and the new ones, and the header points to it.
enum TIFFRevision {
    static func add(_ metadata: ImageMetadata, to file: OutputFile) {
        guard metadata.exif != nil || metadata.iptc != nil,
            let directories = TIFFDirectories(size: file.size, fetch: file.bytes)
        else { return }
        let rows = directories.main
        let document = document(of: metadata, beside: rows, littleEndian: directories.isLittleEndian)
        let place = (file.size + 1) & ~1
        let bytes = DirectoryWriter(
            document, offsets: directories.offsets, foreignRows: rows, next: directories.offsetAfterMain
        ).bytes(at: place)
        // A file that is as large as its offsets reach keeps its pixels and goes without.
        guard directories.offsets == .big || place + bytes.count <= UInt32.max else { return }
        file.put(bytes, at: place)
        let pointer = [UInt8].number(
            place, length: directories.offsets.length, littleEndian: directories.isLittleEndian)
        file.put(pointer, at: directories.offsets.headerPointer)
    }

    /// The entries that the file does not have. A maker note's offsets would be wrong at any other place than its own.
    private static func document(
        of metadata: ImageMetadata, beside rows: [TIFFDirectories.Entry], littleEndian: Bool
    ) -> ExifDocument {
        let source = metadata.exif.flatMap { ExifDocument(block: $0.bytes) }
        var document = source ?? ExifDocument(littleEndian: littleEndian)
        document.removeEntries(in: .exif) { $0.tag == ExifDocument.makerNote }
        document = document.reordered(littleEndian: littleEndian)
        if let iptc = metadata.iptc {
            document.add(ExifDocument.Entry(tag: ExifTag.iptc, type: .undefined, bytes: iptc.bytes), to: .main)
        }
        let present = Set(rows.map(\.tag))
        document.removeEntries(in: .main) { ExifTag.ofJPEG.contains($0.tag) || present.contains($0.tag) }
        return document
    }
}
