/// All problems of a list of files. They are found without access to the files.
package struct FileListError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case utf16
        /// The byte at which the text stops to be JSON, counted from 1.
        case brokenRecord(column: Int)
        case noPath
        case pathIsNoText
        case setIsNoObject
        case unknownKey(String)
        case keyTwice(String)
        case nulInPath
        case remotePath(String)
        /// A key of `set` that is not the path of a value.
        case badSettingPath(String)
        /// A key inside the value of a path.
        case badKey(String, path: String)
        case null(String)
        case otherSettings(path: String, firstLine: Int)
    }

    package struct Problem: Hashable, Sendable {
        /// Counted from 1.
        package let line: Int
        package let kind: Kind
    }

    /// The list's name in messages.
    package let list: String
    /// In the order of the lines.
    package let problems: [Problem]

    /// A file that is no list has a problem on every line. Messages show no more than this number.
    private static let shown = 100

    /// Each problem with its line and its remedy, one below the other.
    package var message: String {
        let list = PathText.visible(list)
        var lines = problems.prefix(Self.shown).map { "\(list):\($0.line): error: \($0.kind.words)" }
        if problems.count > Self.shown { lines.append("\(list): error: \(problems.count - Self.shown) more problems") }
        return lines.joined(separator: "\n")
    }
}

extension FileListError.Kind {
    var words: String {
        switch self {
        case .utf16:
            "the list is UTF-16\n   = save it as UTF-8"
        case .brokenRecord(let column):
            "a line that begins with '{' is a JSON record, and this one is broken at column \(column)\n   = write "
                + "{\"path\": \"photos/a.jpg\", \"set\": {\"save.quality\": 90}}, all in one line; a file whose name "
                + "begins with '{' is listed as './{…'"
        case .noPath:
            "the record has no 'path'\n   = write {\"path\": \"photos/a.jpg\"}"
        case .pathIsNoText:
            "'path' is no text\n   = write {\"path\": \"photos/a.jpg\"}, a line for each file"
        case .setIsNoObject:
            "'set' is no object\n   = write {\"set\": {\"save.quality\": 90}}: paths of the manifest with their values"
        case .unknownKey(let key):
            "unknown key '\(PathText.visible(key))'\n   = a record has 'path' and 'set'; values of the manifest go into "
                + "'set'"
        case .keyTwice(let key):
            "the key '\(PathText.visible(key))' is there twice\n   = keep one"
        case .nulInPath:
            "the path has a NUL in it, which no file's name can have\n   = look at how the list is made"
        case .remotePath(let path):
            PlanError.remotePath(path)
        case .badSettingPath(let path):
            "'\(PathText.visible(path))' is no path of the manifest\n   = write keys and indexes as --set takes them: "
                + "filters[0].gaussian.radius"
        case .badKey(let key, let path):
            "'\(path)' has a key '\(PathText.visible(key))', which no manifest can have\n   = keys are letters, digits, "
                + "'_' and '-'"
        case .null(let path):
            "'\(path)' is null\n   = leave it out to keep the manifest's value"
        case .otherSettings(let path, let firstLine):
            "\(PathText.visible(path)): line \(firstLine) lists this file with other settings\n   = list it once, or "
                + "run the job twice with outputs of different names"
        }
    }
}
