/// The files that `--files-from` names, and the settings for single files.
///
/// The text has one entry a line. If the text contains a NUL, every entry ends with a NUL instead.
/// An entry is a path. In lines it may also be a JSON record:
/// `{"path": "photos/a.jpg", "set": {"filters[0].gaussian.radius": 30, "save.quality": 90}}`.
/// A name that begins with a brace is written `./{…`. Empty entries are skipped.
package struct FileList: Sendable {
    /// One value that a record sets, as the flag `--set PATH=VALUE` would.
    package struct Setting: Hashable, Sendable {
        package let path: String
        /// As a manifest has it behind `key: `.
        package let value: String

        /// The flag's argument.
        package var argument: String { "\(path)=\(value)" }
    }

    package struct Entry: Hashable, Sendable {
        /// Absolute, without `.` and `..`, like ``InputFile/path``.
        package let path: String
        /// Like ``InputFile/bytes``.
        package let bytes: [UInt8]?
        /// Counted from 1. If entries end with a NUL, the entry's number.
        package let line: Int
        /// In the record's order.
        package let settings: [Setting]

        var exactPath: [UInt8] { bytes ?? Array(path.utf8) }
    }

    /// The list's name in messages.
    package let name: String
    /// Each file once, in the order of ``JobPlan/frames``.
    package let entries: [Entry]

    /// - Parameters:
    ///   - name: The file that the text is from. `-` is the standard input.
    ///   - folder: The absolute path that relative paths start from.
    /// - Throws: All problems of the text.
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

    /// Each file once. A file with two different lists of settings is a problem, reported at its later line.
    private static func sorted(_ entries: [Entry], _ problems: inout [FileListError.Problem]) -> [Entry] {
        let files = entries.map { InputFile($0) }
        var result: [Int] = []
        for index in entries.indices.sorted(by: { InputFile.isInOrder(files[$0], files[$1]) }) {
            guard let first = result.last, files[first].isSameFile(as: files[index]) else {
                result.append(index)
                continue
            }
            if entries[first].settings != entries[index].settings {
                problems.append(
                    .init(
                        line: entries[index].line,
                        kind: .otherSettings(path: entries[index].path, firstLine: entries[first].line)))
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

/// The contents of one entry of a list.
struct FileListRecord: Sendable {
    /// As it was written. It may not be UTF-8.
    let path: [UInt8]
    let settings: [FileList.Setting]
}

/// All problems of one entry.
struct ListFormatError: Error {
    let kinds: [FileListError.Kind]
}

/// Splits a list's text into entries.
enum FileListText {
    struct Line: Sendable {
        let number: Int
        let content: Result<FileListRecord, ListFormatError>
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The entries that are not empty.
    static func lines(of text: [UInt8]) -> [Line] {
        if text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) {
            return [Line(number: 1, content: .failure(ListFormatError(kinds: [.utf16])))]
        }
        let body = text.starts(with: byteOrderMark) ? text.dropFirst(byteOrderMark.count) : text[...]
        let hasNULs = text.contains(0)
        let parts = body.split(separator: hasNULs ? 0 : lineFeed, omittingEmptySubsequences: false)
        let entries = zip(1..., hasNULs ? parts : parts.map { $0.last == carriageReturn ? $0.dropLast() : $0 })
        return concurrentMap(entries.filter { !$0.1.isEmpty }) { number, entry in
            let isRecord = !hasNULs && entry.first == UInt8(ascii: "{")
            return Line(number: number, content: isRecord ? record(entry) : path(Array(entry)))
        }
    }

    private static func path(_ path: [UInt8]) -> Result<FileListRecord, ListFormatError> {
        let text = NonUTF8Name.readable(path)
        guard !PathText.isRemote(text) else { return .failure(ListFormatError(kinds: [.remotePath(text)])) }
        return .success(FileListRecord(path: path, settings: []))
    }

    private static func record(_ json: ArraySlice<UInt8>) -> Result<FileListRecord, ListFormatError> {
        let value: JSONValue
        do {
            value = try JSONScanner.value(of: Array(json))
        } catch {
            return .failure(ListFormatError(kinds: [.brokenRecord(column: error.column)]))
        }
        return Result { () throws(ListFormatError) in try JSONRecord(value).record() }
    }
}

/// A JSON record of a list, as it was written: any keys with any values.
struct JSONRecord {
    private let path: JSONValue?
    private let set: JSONValue?
    private var kinds: [FileListError.Kind] = []

    /// - Parameter value: The value of a line that begins with a brace.
    init(_ value: JSONValue) {
        guard case .object(let members) = value else { preconditionFailure("a brace begins an object") }
        var known: [String: JSONValue] = [:]
        for member in members {
            if !["path", "set"].contains(member.key) { kinds.append(.unknownKey(member.key)) }
            if known.updateValue(member.value, forKey: member.key) != nil { kinds.append(.keyTwice(member.key)) }
        }
        path = known["path"]
        set = known["set"]
    }

    /// - Throws: All problems of the record.
    func record() throws(ListFormatError) -> FileListRecord {
        var kinds = kinds
        let path = pathText(&kinds)
        let settings = settings(&kinds)
        guard kinds.isEmpty else { throw ListFormatError(kinds: kinds) }
        return FileListRecord(path: Array(path.utf8), settings: settings)
    }

    private func pathText(_ kinds: inout [FileListError.Kind]) -> String {
        switch path {
        case .text(let path):
            if path.isEmpty { kinds.append(.noPath) }
            if path.utf8.contains(0) { kinds.append(.nulInPath) }
            if PathText.isRemote(path) { kinds.append(.remotePath(path)) }
            return path
        case nil: kinds.append(.noPath)
        default: kinds.append(.pathIsNoText)
        }
        return ""
    }

    private func settings(_ kinds: inout [FileListError.Kind]) -> [FileList.Setting] {
        guard let set else { return [] }
        guard case .object(let members) = set else {
            kinds.append(.setIsNoObject)
            return []
        }
        return members.compactMap { setting($0.key, $0.value, &kinds) }
    }

    private func setting(
        _ path: String, _ value: JSONValue, _ kinds: inout [FileListError.Kind]
    ) -> FileList.Setting? {
        guard Self.isSettingPath(path) else { return refusal(.badSettingPath(path), &kinds) }
        if value.hasNull { return refusal(.null(path), &kinds) }
        if let key = value.firstInvalidKey { return refusal(.badKey(key, path: path), &kinds) }
        return FileList.Setting(path: path, value: value.manifestText)
    }

    private func refusal(_ kind: FileListError.Kind, _ kinds: inout [FileListError.Kind]) -> FileList.Setting? {
        kinds.append(kind)
        return nil
    }

    /// Whether the path contains no character that could end it in `--set PATH=VALUE`. The manifest reader has the
    /// grammar.
    private static func isSettingPath(_ path: String) -> Bool {
        !path.isEmpty && path.utf8.allSatisfy { JSONValue.isWordPart($0) || ".[]".utf8.contains($0) }
    }
}
