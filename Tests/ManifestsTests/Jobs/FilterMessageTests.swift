import Catalogs
import JobModel
import Testing

/// Filters that the catalog does not have, or not in this form.
@Suite struct FilterMessageTests {
    @Test func `a misspelled filter is suggested`() {
        #expect(
            Reading.filter("gausian: {radius: 12}").messages
                == """
                job.yaml:4:5: error: unknown filter 'gausian'
                4 |   - gausian: {radius: 12}
                  |     ^^^^^^^
                  = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer
                """)
    }

    @Test func `another tool's filter is suggested`() {
        #expect(
            Reading.filter("blur: {radius: 12}").messages
                == """
                job.yaml:4:5: error: unknown filter 'blur'
                4 |   - blur: {radius: 12}
                  |     ^^^^
                  = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer
                """)
    }

    @Test func `a filter that resembles none points to the list`() {
        #expect(
            Reading.filter("sepia").messages
                == """
                job.yaml:4:5: error: unknown filter 'sepia'
                4 |   - sepia
                  |     ^^^^^
                  = 'penumbra filters' lists the filters your workers offer
                """)
    }

    @Test func `broken plugins are mentioned with an unknown filter`() {
        #expect(
            Reading.filter(
                "sepia", catalog: Catalog(versions: [:], filters: [.gaussian], formats: [.png], pluginProblems: ["no"])
            ).messages
                == """
                job.yaml:4:5: error: unknown filter 'sepia'
                4 |   - sepia
                  |     ^^^^^
                  = 'penumbra filters' lists the filters your workers offer (1 plugin could not be loaded)
                """)
    }

    private static let refusing = Catalog(
        versions: [:], filters: [.gaussian], formats: [.png], pluginProblems: ["no"],
        unpinnedPlugins: [UnpinnedPlugin(path: "/opt/libFilmLook.so", sha256: "52e0")])

    @Test func `a filter whose plugin is refused for want of a pin is told so, with the pin`() {
        #expect(
            Reading.filter("film-look", catalog: Self.refusing).messages
                == """
                job.yaml:4:5: error: unknown filter 'film-look'
                4 |   - film-look
                  |     ^^^^^^^^^
                  = /opt/libFilmLook.so is there, and refused by 'plugins: pinned-only': add '{file: libFilmLook.so, sha256: 52e0}' to 'plugin_pins' in the config file
                """)
    }

    @Test func `refused plugins are mentioned with another unknown filter`() {
        #expect(
            Reading.filter("gausian", catalog: Self.refusing).remedies == [
                "did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer (1 plugin could not be "
                    + "loaded, 1 plugin refused for want of a pin)"
            ])
    }

    @Test func `a filter that is not offered is not suggested`() {
        #expect(
            Reading.filter("blur", catalog: Catalog(versions: [:], filters: [.invert], formats: [.png])).messages
                == """
                job.yaml:4:5: error: unknown filter 'blur'
                4 |   - blur
                  |     ^^^^
                  = 'penumbra filters' lists the filters your workers offer
                """)
    }

    @Test func `a value instead of parameters is refused with the long form`() {
        #expect(
            Reading.filter("gaussian: 12").messages
                == """
                job.yaml:4:15: error: 'gaussian' takes parameters with their names, not a single value
                4 |   - gaussian: 12
                  |               ^^
                  = write gaussian: {radius: 12}
                """)
    }

    @Test func `a value for a filter without parameters is refused`() {
        #expect(
            Reading.filter("invert: 12").messages
                == """
                job.yaml:4:13: error: 'invert' takes parameters with their names, not a single value
                4 |   - invert: 12
                  |             ^^
                  = it has none: write - invert
                """)
    }

    @Test func `a list instead of parameters is refused`() {
        #expect(
            Reading.filter("gaussian: [12]").messages
                == """
                job.yaml:4:15: error: 'gaussian' takes parameters with their names, not a list
                4 |   - gaussian: [12]
                  |               ^^^^
                  = write gaussian: {radius: 12}
                """)
    }

    @Test func `two filters in one item are refused`() {
        #expect(
            Reading.filter("{gaussian: {radius: 3}, invert: {}}").messages
                == """
                job.yaml:4:29: error: 'invert' is in the same list item as 'gaussian'
                4 |   - {gaussian: {radius: 3}, invert: {}}
                  |                             ^^^^^^
                  = each filter needs its own '- '; parameters of 'gaussian' are indented deeper than its name
                """)
    }

    @Test func `an empty item is refused`() {
        #expect(
            Reading.filter("{}").messages
                == """
                job.yaml:4:5: error: a filter is a name, or a name with parameters, not an empty mapping
                4 |   - {}
                  |     ^^
                  = write - name, or - name: {parameter: value}
                """)
    }

    @Test func `a list instead of a filter is refused`() {
        #expect(
            Reading.filter("[gaussian, 12]").messages
                == """
                job.yaml:4:5: error: a filter is a name, or a name with parameters, not a list
                4 |   - [gaussian, 12]
                  |     ^^^^^^^^^^^^^^
                  = write - name, or - name: {parameter: value}
                """)
    }

    @Test func `a filter outside a list is refused`() {
        #expect(
            Reading.job("filters: invert").messages
                == """
                job.yaml:1:10: error: 'filters' must be a list, not a single value
                1 | filters: invert
                  |          ^^^^^^
                  = begin each filter with '- ' on a line of its own
                """)
    }

    @Test func `a mapping of filters is refused`() {
        #expect(
            Reading.job("filters: {gaussian: {radius: 3}}").messages
                == """
                job.yaml:1:10: error: 'filters' must be a list, not a mapping
                1 | filters: {gaussian: {radius: 3}}
                  |          ^^^^^^^^^^^^^^^^^^^^^^^
                  = begin each filter with '- ' on a line of its own
                """)
    }

    @Test func `an empty chain changes only the format`() throws {
        let reading = Reading.job("filters: []")
        #expect(reading.messages == "")
        let job = try #require(reading.job)
        #expect(job.chain.isEmpty)
    }

    @Test func `a filter that is named by a key of its own is refused`() {
        #expect(
            Reading.filter("name: gaussian\n    radius: 3").messages
                == """
                job.yaml:4:5: error: a filter's name stands before its colon, not behind 'name:'
                4 |   - name: gaussian
                  |     ^^^^
                  = write - gaussian: with the parameters indented below it
                """)
    }
}
