extension ExifDocument {
    private static let headerLength = 8

    /// An EXIF block: a header, the directories with their values, and the maker note at the place that it had.
    /// Nothing of the block that was read gets into it but the document's entries.
    var block: [UInt8] {
        guard let makerNoteOffset, makerNoteOffset >= Self.headerLength,
            let note = self[.exif].first(where: { $0.tag == Self.makerNote })?.bytes, note.count > 4
        else {
            return header(pointingTo: Self.headerLength) + DirectoryWriter(self).bytes(at: Self.headerLength)
        }
        return block(note, at: makerNoteOffset)
    }

    /// The directories go before the note when there is room, else behind it.
    private func block(_ note: [UInt8], at noteOffset: Int) -> [UInt8] {
        let writer = DirectoryWriter(self, noteOffset: noteOffset)
        let fits = Self.headerLength + writer.byteCount <= noteOffset
        let behind = (noteOffset + note.count + 1) & ~1
        var result = header(pointingTo: fits ? Self.headerLength : behind)
        if fits { result += writer.bytes(at: Self.headerLength) }
        result += repeatElement(0, count: noteOffset - result.count)
        result = (result + note).paddedToEven
        return fits ? result : result + writer.bytes(at: behind)
    }

    private func header(pointingTo offset: Int) -> [UInt8] {
        (isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]) + .number(42, length: 2, littleEndian: isLittleEndian)
            + .number(offset, length: 4, littleEndian: isLittleEndian)
    }
}
