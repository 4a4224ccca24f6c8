import JobModel

/// Paths as file systems have them: bytes, of which only `/` and the names `.` and `..` have a meaning.
enum PathBytes {
    static let slash = PathNames.slash
    static let dot = UInt8(ascii: ".")

    /// Absolute and without `.` and `..`.
    ///
    /// - Parameter folder: what a relative path starts from; absolute.
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

    /// - Parameter result: a path as ``normalized(_:in:)`` gives it, but empty for the root.
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

    /// The path of what a folder holds under a name.
    static func joined(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(folder.count + 1 + name.count)
        if folder != [slash] { result += folder }
        result.append(slash)
        result += name
        return result
    }

    /// What follows the last slash.
    static func name(of path: [UInt8]) -> ArraySlice<UInt8> {
        path[((path.lastIndex(of: slash) ?? -1) + 1)...]
    }

    /// What a path's name lies in.
    static func folder(of path: [UInt8]) -> [UInt8] {
        let slash = path.lastIndex(of: slash) ?? 0
        return Array(path[..<max(1, slash)])
    }

    /// A name's last extension without its dot; empty when there is none.
    static func fileExtension(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let dot = name.lastIndex(of: dot), dot > name.startIndex else { return [] }
        return name[(dot + 1)...]
    }

    /// With ASCII's capitals in lower case.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
