import Glibc
import JobModel

/// Paths as text, without access to a disk.
package enum PathText {
    /// The names of an absolute path, without `.` and `..`.
    package static func components(_ path: String) -> [String] {
        var result: [String] = []
        for bytes in path.utf8.split(separator: PathBytes.slash) {
            switch String(Substring(bytes)) {
            case ".": continue
            case "..": _ = result.popLast()
            case let name: result.append(name)
            }
        }
        return result
    }

    package static func joined(_ components: some Sequence<String>) -> String {
        "/" + components.joined(separator: "/")
    }

    /// The path, absolute and without `.` and `..`.
    package static func normalized(_ path: String, in folder: String) -> String {
        String(decoding: PathBytes.normalized(Array(path.utf8), in: Array(folder.utf8)), as: UTF8.self)
    }

    /// For people: relative to `folder` if it lies below it, and ``visible(_:)``. If `folder` is the root, the path
    /// stays absolute, because the log of a service is read in another folder.
    package static func shown(_ path: String, from folder: String) -> String {
        visible(folder == "/" ? path : PathNames.relative(path, to: folder) ?? path)
    }

    /// On one line, whatever its characters are. See ``VisibleText``.
    package static func visible(_ name: String) -> String { VisibleText.line(name) }

    package static func folder(of path: String) -> String {
        guard let slash = lastSlash(ifNormal: path.utf8.span) else { return joined(components(path).dropLast()) }
        return slash == 0 ? "/" : String(path[..<path.utf8.index(path.startIndex, offsetBy: slash)])
    }

    package static func name(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: PathBytes.slash)
        switch path[(slash.map(path.utf8.index(after:)) ?? path.startIndex)...] {
        case "", ".", "..": return components(path).last ?? ""
        case let name: return String(name)
        }
    }

    /// The length of the path's name in bytes.
    static func nameLength(of path: String) -> Int {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: PathBytes.slash) else { return bytes.count }
        return bytes.distance(from: slash, to: bytes.endIndex) - 1
    }

    /// A name without its last extension, and the extension without the dot. The extension is empty if there is none.
    package static func split(name: String) -> (stem: String, ext: String) {
        let (stem, ext) = parts(name[...])
        return (String(stem), String(ext))
    }

    /// The stem and extension of a path's name, which is not `.` or `..`.
    static func nameParts(of path: String) -> (stem: Substring, ext: Substring) {
        let slash = path.utf8.lastIndex(of: PathBytes.slash)
        return parts(path[(slash.map(path.utf8.index(after:)) ?? path.startIndex)...])
    }

    private static func parts(_ name: Substring) -> (stem: Substring, ext: Substring) {
        guard let dot = name.utf8.lastIndex(of: PathBytes.dot), dot != name.startIndex else { return (name, "") }
        return (name[..<dot], name[name.utf8.index(after: dot)...])
    }

    /// Negative if the bytes of `a` are before those of `b`, and 0 if they are equal. (Strings are equal if they look
    /// the same, whatever their bytes are.)
    static func order(_ a: String, _ b: String) -> Int {
        let (a, b) = (a.utf8.span, b.utf8.span)
        for index in 0..<min(a.count, b.count) where a[index] != b[index] {
            return a[index] < b[index] ? -1 : 1
        }
        return a.count - b.count
    }

    /// Whether the path names an object store or a server: `s3://…`, `https://…`.
    package static func isRemote(_ path: String) -> Bool {
        let scheme = path.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard let first = scheme.first, isLetter(first), path.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
        else { return false }
        return scheme.allSatisfy { isLetter($0) || "0123456789+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// The offset of a path's last slash. Nil unless the path is absolute, and none of its names is `.`, `..` or empty.
    private static func lastSlash(ifNormal path: Span<UInt8>) -> Int? {
        guard !path.isEmpty, path[0] == PathBytes.slash else { return nil }
        var slash = 0
        var dots = 0
        for index in 1..<path.count {
            if path[index] == PathBytes.slash {
                let nameLength = index - slash - 1
                if nameLength == dots, nameLength <= 2 { return nil }
                (slash, dots) = (index, 0)
            } else if path[index] == PathBytes.dot {
                dots += 1
            }
        }
        let nameLength = path.count - slash - 1
        return nameLength == dots && nameLength <= 2 ? nil : slash
    }
}

/// Paths as file systems have them: bytes, of which only `/`, `.` and `..` have a meaning.
enum PathBytes {
    static let slash = PathNames.slash
    static let dot = UInt8(ascii: ".")

    /// The path, absolute and without `.` and `..`.
    ///
    /// - Parameter folder: The absolute path that a relative path starts from.
    static func normalized(_ path: [UInt8], in folder: [UInt8]) -> [UInt8] {
        var start: [UInt8] = []
        append(folder, to: &start)
        return joined(normal: start, path)
    }

    /// The same for a folder that is normalized already.
    static func normalized(_ path: [UInt8], inNormal folder: [UInt8]) -> [UInt8] {
        joined(normal: folder == [slash] ? [] : folder, path)
    }

    private static func joined(normal folder: [UInt8], _ path: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(folder.count + path.count + 1)
        if path.first != slash { result += folder }
        append(path, to: &result)
        return result.isEmpty ? [slash] : result
    }

    /// - Parameter result: A path as ``normalized(_:in:)`` gives it, but empty for the root.
    private static func append(_ path: [UInt8], to result: inout [UInt8]) {
        var start = 0
        while start < path.count {
            let end = path[start...].firstIndex(of: slash) ?? path.count
            push(path[start..<end], onto: &result)
            start = end + 1
        }
    }

    private static func push(_ name: ArraySlice<UInt8>, onto result: inout [UInt8]) {
        if name.isEmpty || name.count == 1 && name.first == dot { return }
        if name.count == 2, name.first == dot, name.last == dot {
            result.removeLast(result.count - (result.lastIndex(of: slash) ?? 0))
            return
        }
        result.append(slash)
        result.append(contentsOf: name)
    }

    /// The path of a name in a folder.
    static func joined(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(folder.count + 1 + name.count)
        if folder != [slash] { result += folder }
        result.append(slash)
        result += name
        return result
    }

    /// The part behind the last slash.
    static func name(of path: [UInt8]) -> ArraySlice<UInt8> {
        path[((path.lastIndex(of: slash) ?? -1) + 1)...]
    }

    /// The path of the folder that contains a path.
    static func folder(of path: [UInt8]) -> [UInt8] {
        let slash = path.lastIndex(of: slash) ?? 0
        return Array(path[..<max(1, slash)])
    }

    /// The last extension of a name, without its dot. Empty if there is none.
    static func fileExtension(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: dot), dot > name.startIndex else { return [] }
        return name[(dot + 1)...]
    }

    /// With ASCII capitals in lower case.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

/// The path with every symbolic link resolved, as far as it exists.
package func realPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else {
        let parent = PathText.folder(of: path)
        return parent == path
            ? path : PathText.joined(PathText.components(realPath(parent)) + [PathText.name(of: path)])
    }
    defer { free(resolved) }
    return String(cString: resolved)
}
