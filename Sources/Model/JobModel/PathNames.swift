/// The names in a path, found among its bytes: to Swift's characters `/` and a combining mark behind it are one.
package enum PathNames {
    package static let slash = UInt8(ascii: "/")

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    package static func endsWithSlash(_ path: String) -> Bool { path.utf8.last == slash }

    /// All names but empty ones.
    package static func all(in path: String) -> [Substring] { path.utf8.split(separator: slash).map(Substring.init) }

    /// What follows the last slash; the whole of a path without one.
    package static func last(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// What is before the last slash: empty for what lies in the root; nil when there is no slash.
    package static func folder(of path: String) -> String? {
        path.utf8.lastIndex(of: slash).map { String(path[..<$0]) }
    }

    /// The path from a folder to what lies below it; nil for what does not. Both are absolute, without `.` and `..`.
    package static func relative(_ path: String, to folder: String) -> String? {
        rest(of: path, below: folder).map { String(Substring($0)) }
    }

    package static func isBelow(_ path: String, _ folder: String) -> Bool { rest(of: path, below: folder) != nil }

    private static func rest(of path: String, below folder: String) -> Substring.UTF8View? {
        let start = folder == "/" ? 0 : folder.utf8.count
        guard start == 0 || path.utf8.starts(with: folder.utf8) else { return nil }
        let rest = path.utf8.dropFirst(start)
        return rest.first == slash ? rest.dropFirst() : nil
    }

    /// The path of what a folder holds under a name.
    package static func joined(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    /// Wildcards and watches pass by what begins with a dot.
    package static func isHidden(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ".") }
}
