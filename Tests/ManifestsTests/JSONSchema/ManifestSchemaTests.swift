import Catalogs
import Manifests
import Testing

/// The schema takes what the reader takes, and refuses what it can know to be wrong.
@Suite struct ManifestSchemaTests {
    /// Where the texts differ from their verdicts.
    private func disagreements(_ texts: [String], wanted: Bool) throws -> [String] {
        zip(texts, try SchemaChecker.accepts(texts)).compactMap { $1 == wanted ? nil : $0 }
    }

    @Test func `hand-written manifests that the reader takes are valid`() throws {
        let texts = try Corpus.accepted.map { try $0.text() }.filter { Reading($0).job != nil }
        #expect(texts.count >= 2)
        #expect(try disagreements(texts, wanted: true) == [])
    }

    @Test func `whatever form of a value the reader takes is valid`() throws {
        let texts = SchemaCases.right
        #expect(texts.filter { Reading($0).job == nil } == [])
        #expect(try disagreements(texts, wanted: true) == [])
    }

    @Test func `single mistakes are refused as the reader refuses them`() throws {
        let texts = SchemaCases.wrong
        #expect(texts.filter { Reading($0).job != nil } == [])
        #expect(try disagreements(texts, wanted: false) == [])
    }

    @Test func `generated manifests with known keys are valid where the reader takes them`() throws {
        let texts = (0..<4000 as Range<UInt64>).map { SchemaCases.generated(seed: $0) }
        let taken = texts.filter { Reading($0).job != nil }
        #expect(taken.count >= 400)
        #expect(try disagreements(taken, wanted: true) == [])
        // What the schema cannot see is little: mostly numbers in quotes that are out of range.
        let refused = texts.filter { Reading($0).job == nil }
        #expect(Double(try disagreements(refused, wanted: false).count) <= 0.12 * Double(refused.count))
    }

    @Test func `defaults and examples are valid themselves`() throws {
        let texts = Catalog.example.filters.flatMap { filter in
            filter.parameters.compactMap { parameter -> String? in
                guard case .word(let word) = parameter.fallback else { return nil }
                return SchemaCases.job("filters: [{\(filter.name): {\(parameter.name): \(word)}}]")
            }
        }
        #expect(try disagreements(texts, wanted: true) == [])
    }

    @Test func `the schema has the names that other tools have for a filter`() {
        let json = ManifestSchema(.example).json
        #expect(json.contains(#""x-other-names": ["#))
        for name in ["blur", "gaussian_blur"] { #expect(json.contains("\"\(name)\"")) }
    }

    @Test func `an installation without filters has a schema, too`() throws {
        let empty = Catalog(versions: [:], filters: [], formats: [.png])
        #expect(try SchemaChecker.accepts([SchemaCases.job("")], catalog: empty) == [false])
    }
}
