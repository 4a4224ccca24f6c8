import Catalogs
import JobModel
import Manifests
import Testing

/// `layers:`, and filters that are done several times.
@Suite struct LayerTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "overlay", kind: .point, summary: "Lays a picture over it", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor("picture", .layer, summary: "Path", requiredLike: "logo.png"),
                    ParameterDescriptor("x", .length(), fallback: .length(.pixels(0)), summary: "Left side"),
                ]), .gaussian, .invert,
        ], formats: [.png])

    private func reading(_ lines: String) -> Reading { .job(lines, catalog: Self.catalog) }

    private func overlay(_ path: String, x: Length = .pixels(0)) -> FilterInvocation {
        FilterInvocation(
            filter: "overlay", values: ["picture": .picture(PictureReference(path: path)), "x": .length(x)])
    }

    @Test func `layers come first, the lowest before those above it`() {
        let job = reading("layers: [{picture: a.png}, {picture: /b.png, x: 10%}]").job
        let invert = FilterInvocation(filter: "invert", values: [:])
        #expect(job?.chain == [overlay("/home/ann/jobs/a.png"), overlay("/b.png", x: .percent(10)), invert])
    }

    @Test func `layers need no filters`() {
        let text = "job: a\ninputs: b.png\nlayers: [{picture: l.png}]\noutput: c.png\n"
        #expect(Reading(text, catalog: Self.catalog).job?.chain.map(\.filter) == ["overlay"])
    }

    @Test func `pictures over each other are all sRGB`() {
        #expect(reading("layers: [{picture: a.png}]").job?.color == .srgb)
        #expect(reading("filters: [{overlay: {picture: a.png}}]").job?.color == .srgb)
        #expect(reading("color: srgb\nlayers: [{picture: a.png}]").job?.color == .srgb)
        #expect(reading("filters: [invert]").job?.color == .keep)
        #expect(
            reading("color: keep\nlayers: [{picture: a.png}]").messages == """
                job.yaml:1:8: error: pictures that lie over each other need one colour space
                1 | color: keep
                  |        ^^^^
                  = write 'color: srgb', or nothing
                """)
    }

    @Test func `a filter's colour is one of sRGB, and so are then the pictures`() {
        func color(_ text: String) -> ColorPolicy? { Reading.job("filters: [{fill: {color: \(text)}}]").job?.color }
        #expect(color("'#336699'") == .srgb)
        #expect(color("'#808080'") == .srgb)
        for anywhere in ["white", "black", "transparent", "'#ffffff80'", "'#33669900'"] {
            #expect(color(anywhere) == .keep)
        }
        #expect(
            Reading.job("color: keep\nfilters: [{fill: {color: '#369'}}]").messages == """
                job.yaml:1:8: error: the colour of 'color' is one of sRGB, and the pictures may be of another colour space
                1 | color: keep
                  |        ^^^^
                  = write 'color: srgb', or nothing; black, white and transparent are the same everywhere
                """)
    }

    @Test func `an output in a wide space is told that it gets colours of sRGB alone`() {
        #expect(
            reading("save: {color: p3}\nfilters: [{overlay: {picture: a.png}}]").messages == """
                job.yaml:5:9: warning: this output in 'p3' has only colours of sRGB, because 'picture' of 'overlay' makes the whole job work in sRGB
                5 | output: out/{stem}.png
                  |         ^^^^^^^^^^^^^^
                  = write 'color: srgb' for the job if that is right; an output that needs more colours needs a job without it
                """)
        #expect(
            Reading.job("save: {color: adobe}\nfilters: [{fill: {color: '#369'}}]").messages
                .contains("in 'adobe' has only colours of sRGB, because 'color' of 'fill' makes"))
        for lines in [
            "color: srgb\nsave: {color: p3}\nfilters: [{fill: {color: '#369'}}]",
            "save: {color: gray}\nfilters: [{fill: {color: '#369'}}]", "save: {color: p3}\nfilters: [invert]",
            "save: {color: p3}\nfilters: [{fill: {color: white}}]",
            "save: {color: a.icc}\nfilters: [{fill: {color: '#369'}}]",
        ] {
            #expect(Reading.job(lines).messages == "", "\(lines)")
        }
    }

    @Test func `a layer without a picture, and what is no list, are told`() {
        #expect(
            reading("layers: [{x: 3}]").messages == """
                job.yaml:1:10: error: a layer has no 'picture'
                1 | layers: [{x: 3}]
                  |          ^^^^^^
                  = add 'picture: logo.png'
                """)
        #expect(
            reading("layers: logo.png").messages == """
                job.yaml:1:9: error: 'layers' must be a list, and this is a single value
                1 | layers: logo.png
                  |         ^^^^^^^^
                  = write each picture as an item, the lowest first: - picture: label.png
                """)
        #expect(
            reading("layers: [logo.png]").messages == """
                job.yaml:1:10: error: a layer has parameters, and this is a single value
                1 | layers: [logo.png]
                  |          ^^^^^^^^
                  = write its path as - picture: label.png
                """)
        #expect(reading("layers: []").problems == ["1:9: 'layers' is an empty list"])
        #expect(reading("layers: [{picture: a.png, y: 3}]").problems == ["1:27: a layer has no parameter 'y'"])
    }

    @Test func `an installation without overlays says so`() {
        #expect(
            Reading.job("layers: [{picture: a.png}]").messages == """
                job.yaml:1:9: error: this installation has no layers
                1 | layers: [{picture: a.png}]
                  |         ^^^^^^^^^^^^^^^^^^
                  = install penumbra and penumbra-worker of one version
                """)
    }

    @Test func `a filter with a list of parameters is done once for each, in order`() {
        let chain = reading("filters: [{gaussian: [{radius: 3}, {radius: 4}]}, invert]").job?.chain
        #expect(chain?.map(\.filter) == ["gaussian", "gaussian", "invert"])
        #expect(chain?.compactMap { $0.values["radius"] } == [.number(3), .number(4)])
        #expect(reading("filters: [{gaussian: [{radius: 3}, {radios: 4}]}]").problems.count == 1)
        #expect(reading("filters: [{gaussian: [3, 4]}]").problems.count == 1)
    }

    @Test func `what a set of parameters lacks is told at that set`() {
        #expect(
            reading("filters: [{overlay: [{picture: a.png}, {x: 1}]}]").problems
                == ["1:40: 'overlay' has no 'picture'"])
    }

    @Test func `overrides find every filter where it is told to be`() {
        let lines = "layers: [{picture: a.png}]\nfilters: [{gaussian: [{radius: 3}, {radius: 4}]}, invert]"
        #expect(
            reading(lines).result.filters.map(\.path)
                == ["layers[0]", "filters[0].gaussian[0]", "filters[0].gaussian[1]", "filters[1].invert"])
        let changed = Reading.job(
            lines, set: "filters[0].gaussian[1].radius=9", "layers[0].x=5", catalog: Self.catalog)
        #expect(changed.job?.chain.first == overlay("/home/ann/jobs/a.png", x: .pixels(5)))
        #expect(changed.job?.chain[2].values["radius"] == .number(9))
    }
}
