/// The names in a path. They are found by bytes, because Swift joins `/` and a following combining mark to one character.
package enum PathNames {
    package static let slash = UInt8(ascii: "/")

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    package static func endsWithSlash(_ path: String) -> Bool { path.utf8.last == slash }

    /// All names except empty ones.
    package static func all(in path: String) -> [Substring] { path.utf8.split(separator: slash).map(Substring.init) }

    /// The text after the last slash, or the whole path.
    package static func last(of path: String) -> String {
        path.utf8.lastIndex(of: slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The text before the last slash: empty for names in the root; nil without a slash.
    package static func folder(of path: String) -> String? {
        path.utf8.lastIndex(of: slash).map { String(path[..<$0]) }
    }

    /// The path of a file below a folder, relative to the folder; nil for other files. Both paths are absolute, without `.`
    /// and `..`.
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

    /// The path of a name in a folder.
    package static func joined(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    /// Wildcards and watches ignore names that begin with a dot.
    package static func isHidden(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ".") }
}

/// A path that is compared by its bytes, as file systems do.
///
/// Swift compares strings by appearance: `é` may be one character or two, which are two files. So paths are compared as
/// values of this type, also as keys and members of sets.
package struct PathKey: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package static func == (a: PathKey, b: PathKey) -> Bool { isSame(a.path.utf8.span.bytes, b.path.utf8.span.bytes) }

    package func hash(into hasher: inout Hasher) {
        path.utf8.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        // As for strings, so that the end of a path within a larger key counts.
        hasher.combine(UInt8.max)
    }

    /// Eight bytes at a time, because single bytes take twice the time of strings for 200,000 paths. Both reads are below
    /// the common count.
    private static func isSame(_ a: RawSpan, _ b: RawSpan) -> Bool {
        let count = a.byteCount
        guard count == b.byteCount else { return false }
        var offset = 0
        while offset + 8 <= count {
            let other = b.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard a.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) == other else { return false }
            offset += 8
        }
        while offset < count {
            let other = b.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard a.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == other else { return false }
            offset += 1
        }
        return true
    }
}

extension PathKey: Comparable {
    package static func < (a: PathKey, b: PathKey) -> Bool { a.path.utf8.lexicographicallyPrecedes(b.path.utf8) }
}

/// The path of an output's receipt: `out/a.webp.receipt.json` beside `out/a.webp`.
package enum ReceiptName {
    package static let ending = ".receipt.json"

    package static func path(of output: String) -> String { output + ending }

    /// The output of a receipt; nil for any other file.
    package static func output(of path: String) -> String? {
        isReceipt(path.utf8) ? String(Substring(path.utf8.dropLast(ending.utf8.count))) : nil
    }

    /// - Parameter name: a file's name or path.
    package static func isReceipt(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.count > ending.utf8.count && name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }
}
