import Manifests
import Testing
import Yams

/// Every accepted text must be valid YAML and give a YAML parser the same tree of strings.
@Suite struct AgreementTests {
    @Test func `generated documents give the same strings under YAML`() {
        var accepted = 0
        for seed in 0..<2000 as Range<UInt64> {
            let text = DocumentGenerator.document(seed: seed)
            let agreement = Agreement(on: text)
            if agreement == .same { accepted += 1 }
            if case .different = agreement { Issue.record("seed \(seed): \(agreement)\n\(text)") }
        }
        // Fewer would mean that the generator has lost the grammar, and proves nothing.
        #expect(accepted >= 1000)
    }

    @Test func `damaged documents that are still accepted give the same strings under YAML`() {
        var accepted = 0
        for seed in 0..<20_000 as Range<UInt64> {
            var mutation = Mutation(seed: seed)
            let text = mutation.mutated(DocumentGenerator.document(seed: seed % 2000))
            let agreement = Agreement(on: text)
            if agreement == .same { accepted += 1 }
            if case .different = agreement { Issue.record("seed \(seed): \(agreement)\n\(text)") }
        }
        #expect(accepted >= 3000)
    }

    @Test(arguments: Corpus.accepted) func `hand-written files give the same strings under YAML`(file: Corpus.File)
        throws
    {
        #expect(Agreement(on: try file.text()) == .same)
    }

    /// YAML would accept most of these, and read something else than a person means.
    @Test(arguments: Corpus.refused) func `hand-written files that mislead are refused`(file: Corpus.File) throws {
        #expect(Agreement(on: try file.text()) == .refused)
    }

    @Test func `there are files to read`() {
        #expect(Corpus.accepted.count >= 8)
        #expect(Corpus.refused.count >= 8)
    }
}
