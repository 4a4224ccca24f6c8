import Foundation

/// The project's own files, read as text.
struct SourceTree {
    struct File {
        /// From the project's folder: `Sources/Farm/Planning/JobPlan.swift`.
        let path: String
        let text: String

        var group: String { component(1) }
        var module: String { path.hasPrefix("Sources/") ? component(2) : component(1) }

        private func component(_ index: Int) -> String {
            let parts = path.split(separator: "/")
            return index < parts.count ? String(parts[index]) : ""
        }

        /// The modules that the file imports.
        var imports: [String] {
            text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index <= 2,
                    words[..<index].allSatisfy({ ["public", "package", "internal", "@testable"].contains($0) }),
                    words.count > index + 1
                else { return nil }
                return String(words[index + 1].prefix { $0 != "." && $0 != ";" })
            }
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func swiftFiles(below folder: String) throws -> [File] {
        let start = root.appending(path: folder)
        let names = FileManager.default.subpaths(atPath: start.path) ?? []
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
            File(
                path: "\(folder)/\(name)", text: try String(contentsOf: start.appending(path: name), encoding: .utf8))
        }
    }
}
