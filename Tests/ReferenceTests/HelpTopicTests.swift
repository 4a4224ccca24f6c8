import Catalogs
import Reference
import Testing

/// `penumbra help TOPIC`
@Suite struct HelpTopicTests {
    private static let nothing = Catalog(versions: [:], filters: [], formats: [])

    @Test func `the topics are those that help lists`() {
        #expect(
            HelpTopic.allCases.map(\.rawValue) == ["manifest", "output-names", "exit-codes", "environment", "files"])
    }

    @Test(arguments: HelpTopic.allCases, [20, 60, 80, 300])
    func `no line is wider than the terminal, or than 100 columns`(topic: HelpTopic, width: Int) {
        let text = topic.text(Self.nothing, width: width)
        // Narrower terminals get 40 columns, because a name is longer than some of them.
        let most = min(max(width, 40), 100)
        // A name with a single word behind it cannot be broken.
        for line in text.split(separator: "\n") where line.split(separator: " ").count > 2 {
            #expect(line.count <= most, "\(line)")
        }
        for line in text.split(separator: "\n") { #expect(line.last != " ", "\(line)") }
    }

    @Test func `an entry is a name, what it is, and what to do`() {
        let text = HelpTopic.exitCodes.text(Self.nothing, width: 60)
        #expect(
            text.hasPrefix(
                """
                If a command has several jobs, the highest code counts. A
                manifest with errors counts before one that is missing.

                  0
                      Everything is done, or was done before. Pictures that
                      failed in an earlier run and have not changed are
                      named, and not tried again.
                      There is nothing to do, unless broken pictures are
                      named.

                """))
    }

    @Test func `a key has its words in a column`() {
        let text = HelpTopic.manifest.text(Self.nothing, width: 80)
        #expect(
            text.contains(
                """
                  receipts
                      Whether Penumbra writes a receipt beside each output.
                      Takes a word. Default: none.
                        none     Penumbra writes no receipts.
                        sidecar  Penumbra writes a receipt, a small JSON file, beside each
                                 output.
                """), "\(text)")
    }

    @Test func `a required key says so`() {
        let text = HelpTopic.manifest.text(Self.nothing, width: 80)
        #expect(text.contains("      Takes a name. It is required.\n"))
    }

    @Test func `keys that come from filters are there if the catalog is`() {
        let filter = FilterDescriptor(
            name: "glass", kind: .area, summary: "Blurs", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "see_through", .boolean, fallback: .boolean(true), summary: "Keeps it transparent", isShared: true)
            ])
        let catalog = Catalog(versions: [:], filters: [filter], formats: [])
        #expect(HelpTopic.manifest.text(catalog, width: 80).contains("\n  see_through\n      Keeps it transparent."))
        #expect(!HelpTopic.manifest.text(Self.nothing, width: 80).contains("see_through"))
    }
}
