import Catalogs
import JobModel
import Manifests
import Testing

/// `color`, `intent` and `black_point` of `save`.
@Suite struct OutputColorReadingTests {
    private func color(_ save: String) throws -> OutputColor? {
        try #require(Reading.job("save: {\(save)}").job).outputs[0].save.color
    }

    @Test func `an output has the colours of the filters, or those of a named space`() throws {
        #expect(try color("dither: true") == nil)
        #expect(try color("color: keep") == nil)
        for space in NamedColorSpace.allCases {
            #expect(try color("color: \(space.rawValue)") == OutputColor(.named(space)))
        }
        #expect(
            try color("color: p3, intent: saturation, black_point: false")
                == OutputColor(.named(.p3), intent: .saturation, blackPoint: false))
    }

    @Test func `the path of a profile starts from the manifest's folder`() throws {
        let profile = OutputColor.Space.profile(PictureReference(path: "/home/ann/jobs/inks/paper.icc"))
        #expect(try color("color: inks/paper.icc, intent: perceptual") == OutputColor(profile, intent: .perceptual))
        #expect(try color("color: /P.ICM") == OutputColor(.profile(PictureReference(path: "/P.ICM"))))
    }

    @Test func `an absolute intent keeps black as it is`() throws {
        #expect(try color("color: a.icc, intent: absolute")?.blackPoint == false)
        #expect(
            Reading.job("save: {color: a.icc, intent: absolute, black_point: true}").messages
                == """
                job.yaml:1:53: error: 'black_point: true' does not go with 'intent: absolute', which keeps black as it is
                1 | save: {color: a.icc, intent: absolute, black_point: true}
                  |                                                     ^^^^
                  = leave 'black_point' out, or write 'intent: relative'
                """)
    }

    @Test func `a space that there is not is refused with those that there are`() {
        #expect(
            Reading.job("save: {color: adobee}").messages
                == """
                job.yaml:1:15: error: 'color' of 'save' has no colour space 'adobee'
                1 | save: {color: adobee}
                  |               ^^^^^^
                  = did you mean 'adobe'? it takes keep, srgb, p3, adobe or gray, or the path of an .icc file
                """)
    }

    @Test func `a space of outputs is no space for filters`() {
        #expect(
            Reading.job("color: p3").messages
                == """
                job.yaml:1:8: error: 'color' of the job is the space in which filters work: 'keep' or 'srgb'
                1 | color: p3
                  |        ^^
                  = write 'color: p3' under 'save:' to convert the outputs
                """)
    }

    @Test func `a profile needs a format that has a place for it`() {
        #expect(
            Reading.job("output: out/{stem}.webp\nsave: {color: a.icc}").messages
                == """
                job.yaml:2:15: error: webp has no place for the profile of 'color: a.icc'
                2 | save: {color: a.icc}
                  |               ^^^^^
                  = jpeg, png and tiff have one; or write 'color: srgb'
                """)
        #expect(Reading.job("output: out/{stem}.webp\nsave: {color: gray}").job != nil)
    }

    @Test func `an output keeps the profile that its colours need`() {
        #expect(
            Reading.job("save: {color: p3, metadata: strip}").messages
                == """
                job.yaml:1:15: error: 'color: p3' needs its profile in the output, and 'metadata' leaves it out
                1 | save: {color: p3, metadata: strip}
                  |               ^^
                  = write 'metadata: icc', add icc to the list, or write 'color: srgb'
                """)
        for save in ["color: p3, metadata: icc", "color: srgb, metadata: strip", "color: p3, metadata: [icc, dates]"] {
            #expect(Reading.job("save: {\(save)}").job != nil)
        }
    }

    @Test(arguments: ["intent: relative", "black_point: true", "color: keep, intent: relative"])
    func `how colours are converted means nothing without a conversion`(save: String) {
        let key = save.contains("intent") ? "intent" : "black_point"
        let messages = Reading.job("save: {\(save)}").messages
        #expect(
            messages.contains(
                "error: '\(key)' says how 'color' of 'save' converts colours, and there is no 'color'\n"), "\(messages)"
        )
        #expect(
            messages.contains("= add 'color: srgb', or another colour space, or leave '\(key)' out"), "\(messages)")
    }

    @Test func `what is wrong with a profile is told where it is named`() throws {
        let text = "job: a\ninputs: b.png\nfilters: [invert]\noutput: c.png\nsave: {color: p.icc}\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "a.yaml", realPath: "/x/a.yaml", catalog: .example
        ) { path, folder in ("\(folder)/\(path)", "no such file") }
        #expect(
            result.messages == [
                """
                a.yaml:5:15: error: the profile of 'color', 'p.icc': no such file
                5 | save: {color: p.icc}
                  |               ^^^^^
                  = write the path of an ICC profile of RGB, gray or CMYK; CMYK suits JPEG and TIFF; this one leads to /x/p.icc
                """
            ])
        var found = JobReader.read(
            bytes: Array(text.utf8), path: "a.yaml", realPath: "/x/a.yaml", catalog: .example)
        let mention = try #require(found.pictures.first)
        #expect(mention.kind == .profile(format: "png"))
        found.add("is of CMYK, which PNG does not hold; JPEG and TIFF do", of: mention)
        #expect(found.job == nil)
        #expect(found.messages[0].contains("'p.icc': is of CMYK, which PNG does not hold; JPEG and TIFF do"))
    }
}
