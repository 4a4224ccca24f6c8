import Catalogs
import JobModel
import Manifests
import Testing

/// Filters that measure the picture as it is in its file.
@Suite struct MeasureMessageTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "trim", kind: .geometry, summary: "Trims", renderingVersion: 1, parameters: [], measures: .part),
            FilterDescriptor(
                name: "deskew", kind: .geometry, summary: "Turns", renderingVersion: 1, parameters: [],
                measures: .angle),
            FilterDescriptor(
                name: "gray-point", kind: .point, summary: "Balances", renderingVersion: 1, parameters: [],
                measures: .light),
            FilterDescriptor(name: "invert", kind: .point, summary: "Inverts", renderingVersion: 1, parameters: []),
        ], formats: [.png])

    private func reading(_ filters: String) -> Reading { .job("filters: \(filters)", catalog: Self.catalog) }

    @Test(arguments: [
        "[trim]", "[deskew]", "[trim, deskew]", "[trim, deskew, invert]", "[trim, invert, invert]",
        "[gray-point]", "[trim, gray-point]", "[deskew, gray-point]", "[trim, deskew, gray-point, invert]",
    ])
    func `they stand at the beginning of a chain`(filters: String) {
        #expect(reading(filters).messages == "")
    }

    @Test func `the chain says what is measured`() {
        let chain = reading("[trim, deskew, invert]").job?.chain ?? []
        #expect(chain.map(\.measures) == [.part, .angle, nil])
        #expect(chain.measuredFilters.map(\.filter) == ["trim", "deskew"])
    }

    @Test func `behind another filter they are refused`() {
        #expect(
            reading("[invert, trim]").messages
                == """
                job.yaml:1:19: error: 'trim' measures the picture as it is in its file, and 'invert' before it changes the picture
                1 | filters: [invert, trim]
                  |                   ^^^^
                  = write 'trim' before 'invert'
                """)
        #expect(reading("[gray-point, trim]").remedies == ["write 'trim' before 'gray-point'"])
        #expect(reading("[gray-point, gray-point]").remedies == ["use it once"])
        #expect(reading("[deskew, trim]").remedies == ["write 'trim' before 'deskew'"])
        #expect(reading("[trim, trim]").remedies == ["use it once"])
        #expect(reading("[trim, invert, deskew, invert]").remedies == ["write 'deskew' before 'invert'"])
    }

    @Test func `the common filters come before those of each output`() {
        func reading(_ common: String, _ own: String) -> Reading {
            Reading(
                """
                job: nightly
                inputs: '*.jpg'
                filters: \(common)
                outputs:
                  - path: a/{stem}.png
                    filters: \(own)
                  - path: b/{stem}.png

                """, catalog: Self.catalog)
        }
        #expect(reading("[trim]", "[deskew, invert]").messages == "")
        #expect(
            reading("[invert]", "[trim]").problems == [
                "6:15: 'trim' measures the picture as it is in its file, and 'invert' before it changes the picture"
            ])
        #expect(
            reading("[invert, deskew]", "[invert]").problems == [
                "3:19: 'deskew' measures the picture as it is in its file, and 'invert' before it changes the picture"
            ])
    }
}
