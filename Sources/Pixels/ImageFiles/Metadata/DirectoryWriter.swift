/// Lays out directories of a TIFF structure, one after the other with the values of each behind it.
struct DirectoryWriter {
    private typealias Directory = ExifDocument.Directory
    private typealias Entry = ExifDocument.Entry

    /// The directories that are written, in their order.
    private let directories: [ExifDocument.Directory]
    private let document: ExifDocument
    private let offsets: TIFFOffsets
    /// Rows of the main directory that are there already, whose values lie elsewhere.
    private let foreignRows: [TIFFDirectories.Entry]
    /// Where the directory behind the main one lies: the next page or, in a pyramid, the next level.
    private let next: Int
    /// Where the maker note lies, when it has a place of its own.
    private let noteOffset: Int?

    init(
        _ document: ExifDocument, offsets: TIFFOffsets = .classic, foreignRows: [TIFFDirectories.Entry] = [],
        next: Int = 0, noteOffset: Int? = nil
    ) {
        self.next = next
        self.document = document
        self.offsets = offsets
        self.foreignRows = foreignRows
        self.noteOffset = noteOffset
        directories = Directory.allCases.filter { directory in
            directory == .main || !document[directory].isEmpty
                || directory == .exif && !document[.interoperability].isEmpty
        }
    }

    /// How many bytes ``bytes(at:)`` gives.
    var byteCount: Int {
        directories.reduce(0) { $0 + byteCount(of: $1) }
    }

    /// The directories as they are at `start`, an even offset; the main one is the first.
    func bytes(at start: Int) -> [UInt8] {
        var places: [ExifDocument.Directory: Int] = [:]
        var place = start
        for directory in directories {
            places[directory] = place
            place += byteCount(of: directory)
        }
        return directories.flatMap { bytes(of: $0, places) }
    }

    private func bytes(of directory: Directory, _ places: [Directory: Int]) -> [UInt8] {
        let valuesOffset = (places[directory] ?? 0) + tableLength(of: directory)
        var values: [UInt8] = []
        var rows = directory == .main ? foreignRows.map { (tag: $0.tag, bytes: $0.row) } : []
        for (child, tag) in children(of: directory) {
            rows.append((tag, row(tag, offsets.pointerType, count: 1, field: offset(places[child] ?? 0))))
        }
        for entry in document[directory] {
            let field: [UInt8]
            if entry.bytes.count <= offsets.length {
                field = entry.bytes + repeatElement(0, count: offsets.length - entry.bytes.count)
            } else if let noteOffset, isNote(entry, in: directory) {
                field = offset(noteOffset)
            } else {
                field = offset(valuesOffset + values.count)
                values += entry.bytes.paddedToEven
            }
            let count = entry.bytes.count / entry.type.size
            rows.append((entry.tag, row(entry.tag, entry.type, count: count, field: field)))
        }
        let table = rows.sorted { $0.tag < $1.tag }.flatMap(\.bytes)
        let following = offset(directory == .main ? next : 0)
        return number(rows.count, length: offsets.countLength) + table + following + values
    }

    private func row(_ tag: UInt16, _ type: TIFFType, count: Int, field: [UInt8]) -> [UInt8] {
        number(Int(tag), length: 2) + number(Int(type.rawValue), length: 2) + offset(count) + field
    }

    /// The note has its place outside of its directory's values.
    private func isNote(_ entry: Entry, in directory: Directory) -> Bool {
        noteOffset != nil && directory == .exif && entry.tag == ExifDocument.makerNote
    }

    private func children(of parent: Directory) -> [(directory: Directory, tag: UInt16)] {
        directories.compactMap { child in
            child.pointer.flatMap { $0.parent == parent ? (directory: child, tag: $0.tag) : nil }
        }
    }

    /// A count, the rows, and where the next directory is.
    private func tableLength(of directory: Directory) -> Int {
        let rows =
            document[directory].count + children(of: directory).count + (directory == .main ? foreignRows.count : 0)
        return offsets.countLength + offsets.rowLength * rows + offsets.length
    }

    private func byteCount(of directory: Directory) -> Int {
        document[directory].reduce(tableLength(of: directory)) { size, entry in
            entry.bytes.count <= offsets.length || isNote(entry, in: directory)
                ? size : size + entry.bytes.paddedToEven.count
        }
    }

    private func offset(_ value: Int) -> [UInt8] { number(value, length: offsets.length) }

    private func number(_ value: Int, length: Int) -> [UInt8] {
        .number(value, length: length, littleEndian: document.isLittleEndian)
    }
}
