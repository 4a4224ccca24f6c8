import Catalogs
import Manifests
import Testing

/// Warnings about what a manifest asks for, and that has no effect.
@Suite struct EffectMessageTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "place", kind: .geometry, summary: "Places", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor(
                        "fit", .choice(["inside", "cover", "pad"]), fallback: .word("inside"), summary: "Fit"),
                    ParameterDescriptor("bars", .color, summary: "With fit: pad or cover"),
                    ParameterDescriptor(
                        "angle", .numberOrWord(minimum: -360, maximum: 360, words: ["left", "right"]), summary: "Angle"),
                    ParameterDescriptor("turned", .boolean, summary: "With an angle in degrees"),
                ],
                rules: [
                    .needs(parameter: "bars", other: "fit", words: ["pad", "cover"]),
                    .needs(parameter: "turned", other: "angle", words: []),
                    .idleAtMultiples(parameter: "turned", other: "angle", step: 90),
                ])
        ], formats: [.png])

    private func reading(_ parameters: String) -> Reading { .filter("place: {\(parameters)}", catalog: Self.catalog) }

    @Test func `a parameter without effect beside a word is worth a warning`() {
        #expect(
            reading("bars: white").messages
                == """
                job.yaml:4:13: warning: 'bars' has no effect with 'fit: inside'
                4 |   - place: {bars: white}
                  |             ^^^^
                  = remove it, or write 'fit: pad or cover'
                """)
        #expect(reading("bars: white, fit: pad").messages == "")
        #expect(reading("fit: inside").messages == "")
    }

    @Test func `one that no word goes with is to be removed`() {
        #expect(
            reading("angle: left, turned: true").messages
                == """
                job.yaml:4:26: warning: 'turned' has no effect with 'angle: left'
                4 |   - place: {angle: left, turned: true}
                  |                          ^^^^^^
                  = remove it
                """)
        #expect(reading("angle: 3, turned: true").messages == "")
    }

    @Test(arguments: ["90", "-180", "0", "270.0"])
    func `a parameter without effect at right angles is worth a warning`(angle: String) {
        let written = angle == "270.0" ? "270" : angle
        #expect(
            reading("angle: \(angle), turned: true").problems.map { $0.drop { $0 != "'" } }
                == ["'turned' has no effect with 'angle: \(written)'"])
        #expect(reading("angle: \(angle)").messages == "")
    }

    @Test func `a filter that a worker calls idle is warned of at its name, but for a radius of 0, which is told`() {
        var result = Reading.filter("gaussian: {radius: 3}").result
        result.addIdle(result.filters[0])
        #expect(
            result.messages == [
                """
                job.yaml:4:5: warning: 'gaussian' with these values changes no pixel
                4 |   - gaussian: {radius: 3}
                  |     ^^^^^^^^
                  = remove it, or change a value
                """
            ])
        #expect(result.job != nil)
        var told = Reading.filter("gaussian: {radius: 0}").result
        told.addIdle(told.filters[0])
        #expect(told.diagnostics.count == 1)
    }

    @Test func `a filter that a worker cannot make is an error at its name`() {
        var result = Reading.filter("motion: {radius: 3}").result
        result.add("the film is too long; write less", of: result.filters[0])
        #expect(
            result.messages == [
                """
                job.yaml:4:5: error: 'motion' does not work with these values: the film is too long; write less
                4 |   - motion: {radius: 3}
                  |     ^^^^^^
                  = change a value
                """
            ])
        #expect(result.job == nil)
    }
}
