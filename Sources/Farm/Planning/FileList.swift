/// The files that `--files-from` names, and what is set for some of them alone.
///
/// The text has an entry a line; or entries that end with a NUL, if there is a NUL in it. An entry is a path; or, in
/// lines, a JSON record: `{"path": "photos/a.jpg", "set": {"filters[0].gaussian.radius": 30, "save.quality": 90}}`.
/// (A name that begins with a brace is written `./{…`.) Empty entries are skipped.
package struct FileList: Sendable {
    /// One value that a record sets, as the flag `--set PATH=VALUE` would.
    package struct Setting: Hashable, Sendable {
        package let path: String
        /// As a manifest would have it behind `key: `.
        package let value: String

        package init(path: String, value: String) {
            self.path = path
            self.value = value
        }

        /// The flag's argument.
        package var argument: String { "\(path)=\(value)" }
    }

    package struct Entry: Hashable, Sendable {
        /// Absolute, without `.` and `..`; as ``InputFile/path``.
        package let path: String
        /// As ``InputFile/bytes``.
        package let bytes: [UInt8]?
        /// From 1. Where entries end with a NUL, the entry's number.
        package let line: Int
        /// In the record's order.
        package let settings: [Setting]

        var exactPath: [UInt8] { bytes ?? Array(path.utf8) }
    }

    /// As messages show it.
    package let name: String
    /// Each file once, in the order of ``JobPlan/frames``.
    package let entries: [Entry]

    /// - Parameters:
    ///   - name: of the file that the text is from; `-` is the standard input.
    ///   - folder: the absolute path that relative paths start from.
    /// - Throws: all problems of the text.
    package init(_ text: [UInt8], name: String, folder: String) throws(FileListError) {
        self.name = name == "-" ? "standard input" : name
        var problems: [FileListError.Problem] = []
        var entries: [Entry] = []
        let start = Array(folder.utf8)
        for line in FileListText.lines(of: text) {
            switch line.content {
            case .failure(let found): problems += found.kinds.map { .init(line: line.number, kind: $0) }
            case .success(let record): entries.append(Entry(record, line: line.number, folder: start))
            }
        }
        self.entries = Self.sorted(entries, &problems)
        guard problems.isEmpty else {
            throw FileListError(list: self.name, problems: problems.sorted { $0.line < $1.line })
        }
    }

    /// Each file once; a file with two lists of settings is a problem of its later line.
    private static func sorted(_ entries: [Entry], _ problems: inout [FileListError.Problem]) -> [Entry] {
        let files = entries.map { InputFile($0) }
        var result: [Int] = []
        for place in entries.indices.sorted(by: { InputFile.isInOrder(files[$0], files[$1]) }) {
            guard let first = result.last, files[first].isSameFile(as: files[place]) else {
                result.append(place)
                continue
            }
            if entries[first].settings != entries[place].settings {
                problems.append(
                    .init(
                        line: entries[place].line,
                        kind: .otherSettings(path: entries[place].path, firstLine: entries[first].line)))
            }
        }
        return result.map { entries[$0] }
    }
}

extension InputFile {
    fileprivate init(_ entry: FileList.Entry) {
        self = entry.bytes.map { InputFile(bytes: $0, dir: "") } ?? InputFile(path: entry.path, dir: "")
    }
}

extension FileList.Entry {
    fileprivate init(_ record: FileListRecord, line: Int, folder: [UInt8]) {
        let file = InputFile(bytes: PathBytes.normalized(record.path, in: folder), dir: "")
        self.init(path: file.path, bytes: file.bytes, line: line, settings: record.settings)
    }
}
