import Glibc

/// The shared libraries of this process: `libjpeg 62.3.0`, `libpng16 16.39.0`.
///
/// The kernel tells the files that were really loaded, whatever links lead to others by now, and also when a package's
/// upgrade has removed them since.
package struct LoadedLibraries {
    /// Of their files, each once.
    private let names: [Substring]

    /// Those that are loaded now.
    package init() {
        // Where the kernel does not tell, they stay unnamed.
        self.init(maps: Self.contents(of: "/proc/self/maps"))
    }

    /// The kernel makes the text while it is read, and tells no size before.
    private static func contents(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// - Parameter maps: as in `/proc/self/maps`.
    package init(maps: String) {
        var seen: Set<Substring> = []
        names = maps.split(separator: "\n").compactMap { line in
            guard let slash = line.firstIndex(of: "/") else { return nil }
            return line[slash...].trimmingSuffix(" (deleted)").split(separator: "/").last
        }.filter { seen.insert($0).inserted }
    }

    /// Names and versions of those that are wanted, in the order of the wishes; what is not loaded is left out.
    ///
    /// - Parameter wanted: how their files' names begin, before digits or `.so`: `libpng` is `libpng16.so.16.39.0`.
    package func described(_ wanted: [String]) -> [String] {
        wanted.flatMap { name in names.filter { Self.isFile($0, of: name) }.map(Self.described) }
    }

    private static func isFile(_ file: Substring, of name: String) -> Bool {
        file.hasPrefix(name) && file.dropFirst(name.count).drop { $0.isASCII && $0.isNumber }.hasPrefix(".so")
    }

    /// One without a version in its file's name is its name alone.
    private static func described(_ file: Substring) -> String {
        guard let end = file.firstRange(of: ".so") else { return String(file) }
        let version = file[end.upperBound...].drop { $0 == "." }
        return version.isEmpty ? String(file[..<end.lowerBound]) : "\(file[..<end.lowerBound]) \(version)"
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring {
        hasSuffix(suffix) ? dropLast(suffix.count) : self
    }
}
