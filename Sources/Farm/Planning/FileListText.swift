/// What one entry of a list says.
struct FileListRecord: Sendable {
    /// As it was written; in UTF-8 or not.
    let path: [UInt8]
    let settings: [FileList.Setting]
}

/// All that is wrong with one entry.
struct FileListFault: Error {
    let kinds: [FileListError.Kind]
}

/// Takes a list's text apart.
enum FileListText {
    struct Line: Sendable {
        let number: Int
        let content: Result<FileListRecord, FileListFault>
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The entries that are not empty.
    static func lines(of text: [UInt8]) -> [Line] {
        if text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) {
            return [Line(number: 1, content: .failure(FileListFault(kinds: [.utf16])))]
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

    private static func path(_ path: [UInt8]) -> Result<FileListRecord, FileListFault> {
        let text = NonUTF8Name.readable(path)
        guard !PathText.isRemote(text) else { return .failure(FileListFault(kinds: [.remotePath(text)])) }
        return .success(FileListRecord(path: path, settings: []))
    }

    private static func record(_ json: ArraySlice<UInt8>) -> Result<FileListRecord, FileListFault> {
        let value: JSONValue
        do {
            value = try JSONScanner.value(of: Array(json))
        } catch {
            return .failure(FileListFault(kinds: [.brokenRecord(column: error.column)]))
        }
        return Result { () throws(FileListFault) in try JSONRecord(value).record() }
    }
}
