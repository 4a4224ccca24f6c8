/// Paths as text: what can be said of them without looking at a disk.
package enum PathText {
    /// The names of an absolute path, without `.` and `..`.
    package static func components(_ path: String) -> [String] {
        var result: [String] = []
        for name in path.split(separator: "/") {
            switch name {
            case ".": continue
            case "..": _ = result.popLast()
            default: result.append(String(name))
            }
        }
        return result
    }

    package static func joined(_ components: some Sequence<String>) -> String {
        "/" + components.joined(separator: "/")
    }

    /// Absolute and without `.` and `..`.
    package static func normalized(_ path: String, in folder: String) -> String {
        joined(components(path.hasPrefix("/") ? path : "\(folder)/\(path)"))
    }

    /// For people: relative to `folder` when it lies below it, and ``visible(_:)``.
    package static func shown(_ path: String, from folder: String) -> String {
        let prefix = folder == "/" ? "/" : folder + "/"
        return visible(path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path)
    }

    /// Control characters, which may be in a file's name and would break lines or worse, as `\u{a}`.
    package static func visible(_ name: String) -> String {
        guard name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return name }
        return name.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(Character(scalar))
        }.joined()
    }

    package static func folder(of path: String) -> String {
        joined(components(path).dropLast())
    }

    package static func name(of path: String) -> String {
        components(path).last ?? ""
    }

    /// A name without its last extension, and that extension without the dot (empty when there is none).
    package static func split(name: String) -> (stem: String, ext: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }
}
