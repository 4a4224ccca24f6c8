package import Catalogs
import Manifests

/// The names that shells complete: filters, parameters, formats and keys of manifests.
///
/// A worker takes too long to start at each press of the Tab key, so the program keeps this value in a file.
package struct CompletionWords: Codable, Hashable, Sendable {
    /// What the names depend on: the worker program, and the folders of plugins.
    package let stamp: String
    private let filters: [String]
    /// The parameters of filters that take numbers, each once.
    private let numbers: [String]
    private let formats: [String]

    package init(_ catalog: Catalog, stamp: String) {
        self.stamp = stamp
        filters = Self.plain(catalog.filters.map(\.name))
        numbers = Self.plain(
            catalog.filters.flatMap(\.parameters).filter { ParameterDescriptor.isNumeric($0) }.map(\.name))
        formats = Self.plain(catalog.formats.map(\.name))
    }

    /// Filters whose names begin so.
    package func filters(from prefix: String) -> [String] { filters.filter { $0.hasPrefix(prefix) } }

    /// Formats whose names begin so.
    package func formats(from prefix: String) -> [String] { formats.filter { $0.hasPrefix(prefix) } }

    /// Parameters of filters for `--sweep`, with a `=` at their ends.
    package func sweeps(from prefix: String) -> [String] {
        numbers.map { "\($0)=" }.filter { $0.hasPrefix(prefix) }
    }

    /// Keys of manifests for `--set`, with a `=` at their ends. Keys of lists need an index, so they are not proposed.
    package static func keys(from prefix: String) -> [String] {
        let paths = ManifestSchema(Catalog(versions: [:], filters: [], formats: [])).keys.map(\.path)
        let blocks = Set(paths.compactMap { path in path.lastIndex(of: ".").map { String(path[..<$0]) } })
        return paths.filter { !blocks.contains($0) && !$0.contains("[") && !lists.contains($0) }
            .map { "\($0)=" }.filter { $0.hasPrefix(prefix) }
    }

    /// Keys whose values are lists or mappings.
    private static let lists: Set<String> = ["filters", "layers", "animate", "outputs"]

    /// Sorted, each once. Names of plugins with other characters are left out, because shells would have to quote them.
    package static func plain(_ names: [String]) -> [String] {
        Set(names).filter { name in
            !name.isEmpty && name.utf8.count <= 100
                && name.utf8.allSatisfy { byte in
                    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                        || byte == 95
                }
        }.sorted()
    }
}

extension ParameterDescriptor {
    fileprivate static func isNumeric(_ parameter: ParameterDescriptor) -> Bool {
        switch parameter.kind {
        case .number, .numberOrPair, .numberOrWord, .integer, .integerOrWord: true
        default: false
        }
    }
}
