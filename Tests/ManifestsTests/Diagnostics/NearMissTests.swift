import Catalogs
import Manifests
import Testing

/// Every name that a manifest may have is suggested for slips of one letter.
@Suite struct NearMissTests {
    static let keys = [
        "description", "inputs", "exclude", "filters", "output", "save", "color", "tile", "shard", "existing",
        "retries",
        "timeout", "max_pixels", "dpi", "verify",
    ]
    static let filters = Catalog.example.filters.map(\.name)
    static let parameters = Catalog.example.filters.flatMap { filter in
        filter.parameters.flatMap { [$0.name] + $0.synonyms.map(\.name) }.map { (filter.name, $0) }
    }
    static let choices = [
        ("shard", "frame"), ("shard", "tile"), ("existing", "overwrite"), ("existing", "skip"), ("existing", "error"),
        ("verify", "digest"), ("verify", "audit"), ("verify", "full"), ("color", "keep"), ("color", "srgb"),
    ]

    @Test(arguments: keys) func `a key with two letters swapped is suggested`(key: String) {
        #expect(Reading.job("\(key.swapped): 1").suggestions.contains(key))
    }

    @Test(arguments: keys) func `a key with a letter too many is suggested`(key: String) {
        #expect(Reading.job("\(key)x: 1").suggestions.contains(key))
    }

    @Test(arguments: filters) func `a filter with two letters swapped is suggested`(filter: String) {
        #expect(Reading.filter(filter.swapped).suggestions == [filter])
    }

    @Test(arguments: parameters) func `a parameter with two letters swapped is suggested`(filter: String, name: String)
    {
        #expect(Reading.filter("\(filter): {\(name.swapped): 1}").suggestions == [name])
    }

    @Test(arguments: choices) func `a choice with two letters swapped is suggested`(key: String, word: String) {
        #expect(Reading.job("\(key): \(word.swapped)").suggestions == [word])
    }

    @Test(arguments: ["zzz", "x", "entirely-different", String(repeating: "inputs", count: 50)])
    func `what resembles nothing gets no suggestion`(key: String) {
        #expect(Reading.job("\(key): 1").suggestions.isEmpty)
    }
}

extension Reading {
    /// The words after each "did you mean".
    fileprivate var suggestions: [String] {
        remedies.compactMap { remedy in
            remedy?.split(separator: "did you mean '", maxSplits: 1, omittingEmptySubsequences: false)
                .dropFirst().first.map { String($0.prefix { $0 != "'" }) }
        }
    }
}

extension String {
    /// The word with its second and third letter swapped, or its first two when those are equal.
    fileprivate var swapped: String {
        var letters = Array(self)
        guard letters.count > 2 else { return self }
        let first = letters[1] == letters[2] ? 0 : 1
        letters.swapAt(first, first + 1)
        return String(letters)
    }
}
