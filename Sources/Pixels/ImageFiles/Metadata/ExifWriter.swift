/// Lays out an EXIF block: a header, the directories with their values, and the maker note at the place that it had.
/// Nothing of the block that was read gets into it but the document's entries.
struct ExifWriter {
    private typealias Directory = ExifDocument.Directory
    private typealias Entry = ExifDocument.Entry

    private static let headerLength = 8

    private let document: ExifDocument
    /// The directories that are written, in their order.
    private let directories: [Directory]
    /// A maker note that has a place of its own.
    private let note: (offset: Int, bytes: [UInt8])?
    private var output: [UInt8] = []

    static func block(of document: ExifDocument) -> [UInt8] {
        var writer = ExifWriter(document)
        writer.write()
        return writer.output
    }

    private init(_ document: ExifDocument) {
        self.document = document
        directories = Directory.allCases.filter { directory in
            directory == .main || !document[directory].isEmpty
                || directory == .exif && !document[.interoperability].isEmpty
        }
        let bytes = document[.exif].first { $0.tag == ExifDocument.makerNote }?.bytes ?? []
        note =
            bytes.count > 4
            ? document.makerNoteOffset.flatMap { $0 >= Self.headerLength ? (offset: $0, bytes: bytes) : nil } : nil
    }

    /// The directories go before the note when there is room, else behind it.
    private mutating func write() {
        let size = directories.reduce(0) { $0 + byteCount(of: $1) }
        guard let note else {
            writeHeader(pointingTo: Self.headerLength)
            writeDirectories()
            return
        }
        let fits = Self.headerLength + size <= note.offset
        writeHeader(pointingTo: fits ? Self.headerLength : (note.offset + note.bytes.count + 1) & ~1)
        if fits { writeDirectories() }
        output += repeatElement(0, count: note.offset - output.count)
        output += note.bytes
        if !fits {
            output = Self.padded(output)
            writeDirectories()
        }
    }

    private mutating func writeHeader(pointingTo offset: Int) {
        output += document.isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
        output += number(UInt16(42)) + number(offset)
    }

    private mutating func writeDirectories() {
        var offset = output.count
        var offsets: [Directory: Int] = [:]
        for directory in directories {
            offsets[directory] = offset
            offset += byteCount(of: directory)
        }
        for directory in directories { write(directory, offsets) }
    }

    private mutating func write(_ directory: Directory, _ offsets: [Directory: Int]) {
        let valuesOffset = output.count + tableLength(of: directory)
        var values: [UInt8] = []
        var rows = children(of: directory).map { child in
            (tag: child.tag, bytes: row(child.tag, .long, count: 1, field: number(offsets[child.directory] ?? 0)))
        }
        for entry in document[directory] {
            let field: [UInt8]
            if entry.bytes.count <= 4 {
                field = entry.bytes + repeatElement(0, count: 4 - entry.bytes.count)
            } else if let note, isNote(entry, in: directory) {
                field = number(note.offset)
            } else {
                field = number(valuesOffset + values.count)
                values += Self.padded(entry.bytes)
            }
            let count = entry.bytes.count / entry.type.size
            rows.append((entry.tag, row(entry.tag, entry.type, count: count, field: field)))
        }
        output += number(UInt16(rows.count))
        for row in rows.sorted(by: { $0.tag < $1.tag }) { output += row.bytes }
        output += number(0)  // no next directory: the thumbnail would be there
        output += values
    }

    private func row(_ tag: UInt16, _ type: ExifType, count: Int, field: [UInt8]) -> [UInt8] {
        number(tag) + number(type.rawValue) + number(count) + field
    }

    /// The note has its place outside of its directory's values.
    private func isNote(_ entry: Entry, in directory: Directory) -> Bool {
        directory == .exif && entry.tag == ExifDocument.makerNote && note != nil
    }

    private func children(of parent: Directory) -> [(directory: Directory, tag: UInt16)] {
        directories.compactMap { child in
            child.pointer.flatMap { $0.parent == parent ? (directory: child, tag: $0.tag) : nil }
        }
    }

    /// A count, twelve bytes for each entry, and where the next directory is.
    private func tableLength(of directory: Directory) -> Int {
        2 + 12 * (document[directory].count + children(of: directory).count) + 4
    }

    private func byteCount(of directory: Directory) -> Int {
        document[directory].reduce(tableLength(of: directory)) { size, entry in
            entry.bytes.count <= 4 || isNote(entry, in: directory) ? size : size + Self.padded(entry.bytes).count
        }
    }

    private func number(_ value: UInt16) -> [UInt8] {
        withUnsafeBytes(of: document.isLittleEndian ? value.littleEndian : value.bigEndian) { Array($0) }
    }

    private func number(_ value: Int) -> [UInt8] {
        let long = UInt32(clamping: value)
        return withUnsafeBytes(of: document.isLittleEndian ? long.littleEndian : long.bigEndian) { Array($0) }
    }

    /// Offsets are even.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.count.isMultiple(of: 2) ? bytes : bytes + [0]
    }
}
