import Catalogs
import JobModel
import Manifests

extension ValueReader where Value == [NamedProgram] {
    /// Names with paths: `{denoise: /usr/local/bin/denoise}`.
    ///
    /// - Parameter path: Reads the path of a file.
    static func programs(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            let example = "{denoise: /usr/local/bin/denoise}"
            guard let reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let entries = reader.mapping.entries
            guard entries.count <= ProgramRules.most else {
                log.error(
                    .other(
                        Words(
                            "'\(name)' has \(entries.count) programs",
                            remedy: "allow at most \(ProgramRules.most) programs")), at: node.span)
                return nil
            }
            let programs = entries.map { entry -> NamedProgram? in
                guard entry.key.utf8.count <= ProgramRules.longestName else {
                    log.error(
                        .other(
                            Words(
                                "the name \(entry.key.quoted) of a program is too long",
                                remedy: "a name has at most \(ProgramRules.longestName) characters")), at: entry.keySpan
                    )
                    return nil
                }
                return path.read(entry.value, for: "\(name).\(entry.key)", log: log).map {
                    NamedProgram(name: entry.key, path: $0)
                }
            }
            let present = programs.compactMap(\.self)
            let bytes = present.reduce(0) { $0 + $1.name.utf8.count + $1.path.utf8.count }
            guard bytes <= ProgramRules.mostBytes else {
                log.error(
                    .other(
                        Words(
                            "the names and paths of '\(name)' have \(bytes) bytes",
                            remedy: "they may have \(ProgramRules.mostBytes); give shorter paths, by links for instance"
                        )),
                    at: node.span)
                return nil
            }
            return present.count == programs.count ? present : nil
        }
    }
}

enum ProgramRules {
    /// Workers get all of them in one variable of their environment.
    static let most = 100
    static let longestName = 64
    /// Half of what the kernel takes for a variable.
    static let mostBytes = 65_536
}
