import Catalogs
import JobModel
import Manifests
import Testing

/// `animate:`, what makes frames of each picture.
@Suite struct AnimationTests {
    private static let times = [
        ParameterDescriptor("duration", .number(minimum: 0.1, maximum: 60), fallback: .number(1), summary: "Seconds"),
        ParameterDescriptor("fps", .number(minimum: 1, maximum: 240), fallback: .number(30), summary: "Rate"),
        ParameterDescriptor("delay", .number(minimum: 0, maximum: 60), fallback: .number(0), summary: "Begin"),
        ParameterDescriptor(
            "hold", .numbers([NamedRange("first", 0...9, fallback: 0), NamedRange("last", 0...9, fallback: 0)]),
            summary: "Stays"),
        ParameterDescriptor("there_and_back", .boolean, fallback: .boolean(false), summary: "Returns"),
        ParameterDescriptor(
            "frame", .integerOrWord(minimum: 1, maximum: 9, words: ["all", "last"]), fallback: .word("all"),
            summary: "Which"),
    ]

    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "crossfade", kind: .animation, summary: "Fades", renderingVersion: 1,
                parameters: times + [
                    ParameterDescriptor("filters", .integer(minimum: 1, maximum: 9), summary: "How many")
                ]),
            FilterDescriptor(
                name: "move", kind: .animation, summary: "Moves", renderingVersion: 1,
                parameters: times + [
                    ParameterDescriptor("picture", .layer, summary: "Path", requiredLike: "logo.png"),
                    ParameterDescriptor("path", .path, summary: "Way", requiredLike: "[{x: 0, y: 0}, {x: 9, y: 9}]"),
                    ParameterDescriptor(
                        "spring",
                        .numbers([NamedRange("damping", 0.01...1), NamedRange("velocity", -9...9, fallback: 0)]),
                        summary: "Swings"),
                ]),
            .gaussian, .invert,
            FilterDescriptor(
                name: "overlay", kind: .point, summary: "Lays over", renderingVersion: 1,
                parameters: [ParameterDescriptor("picture", .layer, summary: "Path", requiredLike: "logo.png")]),
            FilterDescriptor(
                name: "halve", kind: .geometry, summary: "Halves", renderingVersion: 1, parameters: []),
        ],
        formats: [
            .png,
            FormatDescriptor(
                name: "gif", extensions: ["gif"], canRead: true, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: true, frameTime: 10, isLossless: false, largestSide: 65535, options: []),
            FormatDescriptor(
                name: "webp", extensions: ["webp"], canRead: true, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: true, frameTime: 1, isLossless: false, largestSide: 16383, options: []),
            FormatDescriptor(
                name: "mp4", extensions: ["mp4"], canRead: false, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: false, frameTime: 1, isVideo: true, isLossless: false, largestSide: 16384, options: []),
        ])

    private func reading(_ lines: String, output: String = "o.webp") -> Reading {
        Reading("\(lines)\njob: a\ninputs: b.png\noutput: \(output)\n", catalog: Self.catalog)
    }

    private static let path = "path: [{x: 0, y: 50%}, {x: 80%, y: 50%}]"

    @Test func `an animation comes after all filters of each output, and fades all of them in`() {
        let job = reading("filters: [invert, {gaussian: {radius: 3}}]\nanimate: {crossfade: {duration: 0.2}}").job
        #expect(job?.chain.map(\.filter) == ["invert", "gaussian"])
        let animation = job?.outputs.first?.animations.first
        #expect(animation?.filter == "crossfade")
        #expect(
            animation?.values == [
                "duration": .number(0.2), "fps": .number(30), "filters": .integer(2), "frame": .word("all"),
                "delay": .number(0), "there_and_back": .boolean(false),
            ])
        #expect(job?.isAnimated == true)
        #expect(job?.pages == .first)
    }

    @Test func `layers are in the picture that fades`() {
        let lines = "layers: [{picture: l.png}]\nfilters: [invert]\nanimate: crossfade"
        let job = reading(lines).job
        #expect(job?.chain.map(\.filter) == ["overlay", "invert"])
        #expect(job?.outputs.first?.animations.first?.values["filters"] == .integer(1))
    }

    @Test func `it may be written alone`() {
        #expect(
            reading("filters: [invert]\nanimate: crossfade").job?.outputs.first?.animations.first?.filter == "crossfade"
        )
    }

    @Test func `what changes the size comes before it`() {
        func count(_ filters: String) -> ParameterValue? {
            reading("filters: \(filters)\nanimate: crossfade").job?.outputs.first?.animations.first?.values["filters"]
        }
        #expect(count("[invert, halve, invert]") == .integer(1))
        #expect(count("[halve, invert, invert]") == .integer(2))
        let given = reading("filters: [invert, invert]\nanimate: {crossfade: {filters: 1}}").job
        #expect(given?.outputs.first?.animations.first?.values["filters"] == .integer(1))
    }

    @Test func `with frames in its name every picture is one, and each kind of file will do`() {
        let job = reading("filters: [invert]\nanimate: crossfade", output: "o-{frame:03}.png").job
        #expect(job?.pages == .frame(0))
    }

    @Test func `each of several outputs fades its own filters in, too`() {
        let text = """
            job: a
            inputs: b.png
            filters: [invert]
            animate: crossfade
            outputs:
              - path: a.webp
              - path: b.gif
                filters: [{gaussian: {radius: 2}}]

            """
        let outputs = Reading(text, catalog: Self.catalog).job?.outputs
        #expect(outputs?.compactMap { $0.animations.first?.values["filters"] } == [.integer(1), .integer(2)])
    }

    @Test func `a move needs no filters, and makes all colours sRGB`() {
        let job = reading("animate: {move: {picture: l.png, \(Self.path), spring: {damping: 0.5}}}").job
        #expect(job?.color == .srgb)
        #expect(job?.picturePaths == ["/home/ann/jobs/l.png"])
        let values = job?.outputs.first?.animations.first?.values
        #expect(
            values?["path"]
                == .path([
                    Point(x: .pixels(0), y: .percent(50)), Point(x: .percent(80), y: .percent(50)),
                ]))
        #expect(values?["spring"] == .numbers(["damping": 0.5, "velocity": 0]))
    }

    @Test func `overrides find it`() {
        let mention = reading("filters: [invert]\nanimate: crossfade").result.filters.last
        #expect(mention?.path == "animate.crossfade")
    }

    @Test func `an animation among filters, and a filter as an animation, are told their places`() {
        #expect(
            Reading.job("filters: [crossfade]", catalog: Self.catalog).messages == """
                job.yaml:1:11: error: 'crossfade' makes frames of a picture, and is no item of 'filters'
                1 | filters: [crossfade]
                  |           ^^^^^^^^^
                  = write it under 'animate:', as animate: {crossfade: …}
                """)
        #expect(
            reading("filters: [invert]\nanimate: {gaussian: {radius: 3}}").messages == """
                job.yaml:2:11: error: 'gaussian' is a filter, and makes no frames
                2 | animate: {gaussian: {radius: 3}}
                  |           ^^^^^^^^
                  = write it under 'filters:'; 'animate' takes crossfade and move
                """)
        #expect(
            reading("filters: [invert]\ncrossfade: {duration: 1}").problems == ["2:1: 'crossfade' is an animation"])
        #expect(
            reading("filters: [invert]\nanimate: {crosfade: {}}").messages == """
                job.yaml:2:11: error: there is no animation 'crosfade'
                2 | animate: {crosfade: {}}
                  |           ^^^^^^^^
                  = did you mean 'crossfade'? 'animate' takes crossfade and move
                """)
    }

    @Test func `several animations are a list`() {
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {}, move: {}}").messages == """
                job.yaml:2:10: error: 'animate' takes an animation, or a list of them: crossfade and move
                2 | animate: {crossfade: {}, move: {}}
                  |          ^^^^^^^^^^^^^^^^^^^^^^^^^
                  = write each as an item: - crossfade: {duration: 0.2}
                """)
        let words = ["2:11: 'animate' takes an animation, or a list of them: crossfade and move"]
        #expect(reading("filters: [invert]\nanimate: [[crossfade]]").problems == words)
        #expect(reading("filters: [invert]\nanimate: []").problems == ["2:10: 'animate' is an empty list"])
    }

    private static func move(_ more: String = "") -> String { "{picture: l.png, \(path)\(more)}" }

    @Test func `they share the values of the first one, and each has its own times`() {
        let job = reading(
            """
            filters: [invert]
            animate:
              - crossfade: {fps: 10, hold: {last: 1}, duration: 3}
              - move: \(Self.move(", delay: 2"))
              - move: \(Self.move(", fps: 10"))
            """
        ).job
        let animations = job?.outputs.first?.animations ?? []
        #expect(animations.map(\.filter) == ["crossfade", "move", "move"])
        #expect(animations.map { $0.values["fps"] } == [.number(10), .number(10), .number(10)])
        #expect(animations.map { $0.values["duration"] } == [.number(3), .number(1), .number(1)])
        #expect(animations.map { $0.values["delay"] } == [.number(0), .number(2), .number(0)])
        #expect(Set(animations.map { $0.values["hold"] }) == [.numbers(["first": 0, "last": 1])])
    }

    @Test func `moves may be one entry, as filters`() {
        let found = reading("animate:\n  move:\n    - \(Self.move())\n    - \(Self.move(", duration: 2"))")
        #expect(found.problems == [])
        #expect(found.job?.outputs.first?.animations.map { $0.values["duration"] } == [.number(1), .number(2)])
        #expect(found.result.filters.map(\.path) == ["animate.move[0]", "animate.move[1]"])
        let items = reading("filters: [invert]\nanimate:\n  - crossfade\n  - move: \(Self.move())")
        #expect(items.result.filters.map(\.path) == ["filters[0].invert", "animate[0].crossfade", "animate[1].move"])
    }

    @Test func `what they share, they cannot have in two ways`() {
        func second(_ more: String) -> Reading {
            reading("filters: [invert]\nanimate:\n  - crossfade\n  - move: \(Self.move(more))")
        }
        #expect(
            second(", fps: 12").messages == """
                job.yaml:4:70: error: all animations of a list have the same 'fps', and the first one has another value
                4 |   - move: {picture: l.png, path: [{x: 0, y: 50%}, {x: 80%, y: 50%}], fps: 12}
                  |                                                                      ^^^
                  = write 'fps' in the first one alone
                """)
        #expect(
            second(", hold: {first: 1}").problems
                == ["4:70: all animations of a list have the same 'hold', and the first one has another value"])
        #expect(second(", delay: 2, curve: linear").problems.count == 1)
    }

    @Test func `what fades comes before what moves`() {
        #expect(
            reading("filters: [invert]\nanimate:\n  - move: \(Self.move())\n  - crossfade").messages == """
                job.yaml:4:5: error: 'crossfade' fades in the filters, and stands behind another animation
                4 |   - crossfade
                  |     ^^^^^^^^^
                  = write it once, as the first one of the list
                """)
    }

    @Test func `an animation there and back has twice as many frames`() {
        let back = "filters: [invert]\nanimate: {crossfade: {duration: 40, fps: 200, there_and_back: true}}"
        #expect(
            reading(back, output: "o-{frame}.png").problems
                == ["2:11: 'duration' and 'fps' make 16000 frames; an animation has at most 10000"])
    }

    @Test func `a frame that is not there is told`() {
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {duration: 0.1, frame: 5}}").messages == """
                job.yaml:2:11: error: there is no frame 5 of 4
                2 | animate: {crossfade: {duration: 0.1, frame: 5}}
                  |           ^^^^^^^^^
                  = write a number up to 4, or frame: last
                """)
        let back = "filters: [invert]\nanimate: {crossfade: {duration: 0.1, frame: 5, there_and_back: true}}"
        #expect(reading(back).problems == [])
    }

    @Test func `pictures of frames are not held`() {
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {hold: {last: 1}}}", output: "o-{frame}.png").messages
                == """
                job.yaml:2:11: error: pictures of frames have no times, and 'hold' sets times
                2 | animate: {crossfade: {hold: {last: 1}}}
                  |           ^^^^^^^^^
                  = leave 'hold' out, or '{frame}' out of the name
                """)
    }

    @Test func `there must be something to fade in`() {
        #expect(
            reading("filters: [invert, halve]\nanimate: crossfade").messages == """
                job.yaml:2:10: error: 'crossfade' fades in the filters behind 'halve', which changes the size, and there are none
                2 | animate: crossfade
                  |          ^^^^^^^^^
                  = write them under 'filters:': - gaussian: {radius: 12}
                """)
        #expect(reading("animate: crossfade").problems == ["1:10: 'crossfade' fades in filters, and there are none"])
    }

    @Test func `an output that holds no animation, or not so many frames, is told`() {
        #expect(
            reading("filters: [invert]\nanimate: crossfade", output: "o.png").messages == """
                job.yaml:5:9: error: this output can hold no animation
                5 | output: o.png
                  |         ^^^^^
                  = write one as gif, mp4 or webp, or a picture of each frame: out/{stem}-{frame:04}.png
                """)
        #expect(reading("filters: [invert]\nanimate: crossfade", output: "{stem}.{ext}").problems.count == 1)
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {fps: 60}}", output: "o.gif").messages == """
                job.yaml:2:11: error: 60 frames a second are more than the 50 that gif can show
                2 | animate: {crossfade: {fps: 60}}
                  |           ^^^^^^^^^
                  = write fps: 50, or less
                """)
        #expect(reading("filters: [invert]\nanimate: {crossfade: {fps: 60}}").problems == [])
        let mixed = """
            job: a
            inputs: b.png
            filters: [invert]
            animate: crossfade
            outputs: [{path: 'o-{frame}.png'}, {path: o.webp}]

            """
        #expect(
            Reading(mixed, catalog: Self.catalog).problems
                == ["5:43: other outputs have '{frame}' in their names, and this one does not"])
    }

    @Test func `without an animation, an output that all pages would share is worth a warning`() {
        let text = """
            job: a
            inputs: b.png
            filters: [invert]
            outputs: [{path: 'o-{frame}.png'}, {path: o.webp}]

            """
        let reading = Reading(text, catalog: Self.catalog)
        #expect(
            reading.messages
                == """
                job.yaml:4:43: warning: other outputs have '{frame}' in their names, and this one does not; a picture of several pages stops the job then
                4 | outputs: [{path: 'o-{frame}.png'}, {path: o.webp}]
                  |                                           ^^^^^^
                  = write it into all names, for an output of each page, or into none
                """)
        #expect(reading.job != nil)
    }

    @Test(arguments: ["", "\nanimate: crossfade"])
    func `a video has no number of a frame in its name`(animate: String) {
        let messages = reading("filters: [invert]\(animate)", output: "o-{frame}.mp4").messages
        #expect(
            messages.contains("error: '{frame}' stands for one picture of each frame, and mp4 holds all frames\n")
                && messages.hasSuffix("  = leave '{frame}' out of the name"), "\(messages)")
    }

    @Test func `a video may have any rate`() {
        #expect(reading("filters: [invert]\nanimate: {crossfade: {fps: 240}}", output: "o.mp4").problems == [])
    }

    @Test func `one frame alone is a picture as any other`() {
        let single = "filters: [invert]\nanimate: {crossfade: {frame: 3}}"
        #expect(reading(single, output: "o.png").job?.pages == .first)
        #expect(
            reading(single, output: "o-{frame}.png").messages == """
                job.yaml:5:9: error: a single frame is made, and '{frame}' stands for each of several
                5 | output: o-{frame}.png
                  |         ^^^^^^^^^^^^^
                  = leave '{frame}' out of the name, or 'frame' out of the animation
                """)
    }

    @Test func `what is too long, or fades in more than there is, is told`() {
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {duration: 60, fps: 200}}", output: "o-{frame}.png")
                .messages
                    == """
                    job.yaml:2:11: error: 'duration' and 'fps' make 12001 frames; an animation has at most 10000
                    2 | animate: {crossfade: {duration: 60, fps: 200}}
                      |           ^^^^^^^^^
                      = make it shorter, or show fewer frames a second
                    """)
        #expect(
            reading("filters: [invert, halve, invert]\nanimate: {crossfade: {filters: 2}}").problems
                == ["2:11: 'filters: 2' is more than the 1 filter behind 'halve', which changes the size"])
        #expect(
            reading("filters: [invert, invert]\nanimate: {crossfade: {filters: 3}}").problems
                == ["2:11: 'filters: 3' is more than the 2 filters that there are"])
        #expect(
            reading("filters: [invert]\nanimate: {crossfade: {fps: 100}}").problems
                == ["2:11: 100 frames a second are more than the 90 that webp can show"])
    }

    @Test func `a way leads from place to place`() {
        func problems(_ path: String) -> [String] {
            reading("animate: {move: {picture: l.png, path: \(path)}}").problems
        }
        #expect(problems("{x: 3, y: 4}") == ["1:40: 'path' must be a list of places {x, y}, not a mapping"])
        #expect(problems("[{x: 3, y: 4}]") == ["1:40: 'path' needs at least two places"])
        #expect(problems("[{x: 3, y: 4}, {x: 3}]") == ["1:55: 'path[1]' has no 'y'"])
        #expect(problems("[{x: 3, y: 4}, {x: a, y: 1}]").count == 1)
    }

    @Test func `a spring has its numbers`() {
        func problems(_ spring: String) -> [String] {
            reading("animate: {move: {picture: l.png, \(Self.path), spring: \(spring)}}").problems
        }
        #expect(problems("{velocity: 3}").count == 1)
        #expect(problems("{damping: 2}").count == 1)
        #expect(problems("0.5").count == 1)
        #expect(problems("{damping: 0.5, bounce: 2}").count == 1)
    }

    @Test func `an installation without animations says so`() {
        #expect(
            Reading.job("filters: [invert]\nanimate: crossfade").problems == [
                "2:10: this installation makes no animations"
            ])
    }
}
