/// A list's JSON record as it was written: any keys with any values.
struct JSONRecord {
    private let path: JSONValue?
    private let set: JSONValue?
    private var kinds: [FileListError.Kind] = []

    /// - Parameter value: of a line that begins with a brace.
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

    /// - Throws: all that is wrong.
    func record() throws(FileListFault) -> FileListRecord {
        var kinds = kinds
        let path = pathText(&kinds)
        let settings = settings(&kinds)
        guard kinds.isEmpty else { throw FileListFault(kinds: kinds) }
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
        if let key = value.firstOddKey { return refusal(.badKey(key, path: path), &kinds) }
        return FileList.Setting(path: path, value: value.manifestText)
    }

    private func refusal(_ kind: FileListError.Kind, _ kinds: inout [FileListError.Kind]) -> FileList.Setting? {
        kinds.append(kind)
        return nil
    }

    /// Whether nothing in it could end the path of `--set PATH=VALUE`; its grammar is the manifest reader's.
    private static func isSettingPath(_ path: String) -> Bool {
        !path.isEmpty && path.utf8.allSatisfy { JSONValue.isWordPart($0) || ".[]".utf8.contains($0) }
    }
}
