import Catalogs
import JobModel
import Testing

/// Save options that the output cannot have.
@Suite struct SaveMessageTests {
    @Test func `another format's option is refused with what there is`() {
        #expect(
            Reading.job("save: {quality: 80}").messages
                == """
                job.yaml:1:8: error: png has no option 'quality'
                1 | save: {quality: 80}
                  |        ^^^^^^^
                  = it is an option of jpeg and webp; png has compression
                """)
    }

    @Test func `an option of no format is refused`() {
        #expect(
            Reading.job("save: {speed: 3}").messages
                == """
                job.yaml:1:8: error: 'save' has no option 'speed'
                1 | save: {speed: 3}
                  |        ^^^^^
                  = its options are metadata, background, dither, precision, depth, color, intent, black_point, set and compression
                """)
    }

    @Test func `a misspelled option is suggested`() {
        #expect(
            Reading.job("save: {compresion: 3}").messages
                == """
                job.yaml:1:8: error: 'save' has no option 'compresion'
                1 | save: {compresion: 3}
                  |        ^^^^^^^^^^
                  = did you mean 'compression'?
                """)
    }

    @Test func `an option out of range is refused`() {
        #expect(
            Reading.job("save: {compression: 10}").messages
                == """
                job.yaml:1:21: error: 'compression' cannot be 10
                1 | save: {compression: 10}
                  |                     ^^
                  = write a value from 0 to 9
                """)
    }

    @Test func `unknown metadata is refused`() {
        #expect(
            Reading.job("save: {metadata: none}").messages
                == """
                job.yaml:1:18: error: 'metadata' cannot be 'none'
                1 | save: {metadata: none}
                  |                  ^^^^
                  = it takes keep, public, icc or strip
                """)
    }

    @Test func `metadata can be listed`() {
        let save = { (text: String) in Reading.job("save: {metadata: \(text)}").job?.outputs.first?.save.metadata }
        #expect(save("[icc, copyright, creator]") == .only([.icc, .copyright, .creator]))
        #expect(save("[icc]") == .icc)
        #expect(save("public") == .public)
    }

    @Test func `a kind of metadata that there is not is refused with what is near`() {
        #expect(
            Reading.job("save: {metadata: [icc, copyrigth]}").messages
                == """
                job.yaml:1:24: error: 'metadata[1]' cannot be 'copyrigth'
                1 | save: {metadata: [icc, copyrigth]}
                  |                        ^^^^^^^^^
                  = did you mean 'copyright'? it takes icc, copyright, creator, description, dates, gps, camera, keywords or resolution
                """)
    }

    @Test func `a kind of metadata alone is to be listed`() {
        #expect(
            Reading.job("save: {metadata: copyright}").messages
                == """
                job.yaml:1:18: error: 'metadata' takes 'copyright' in a list
                1 | save: {metadata: copyright}
                  |                  ^^^^^^^^^
                  = write [copyright], or [icc, copyright] to keep the colours' profile
                """)
    }

    @Test func `a background must be opaque`() {
        #expect(
            Reading.job("save: {background: transparent}").messages
                == """
                job.yaml:1:20: error: 'background' must be opaque: it is what shows through transparency
                1 | save: {background: transparent}
                  |                    ^^^^^^^^^^^
                  = write a colour without alpha, such as white or '#1a2b3c'
                """)
    }

    @Test func `an unknown color is refused`() {
        #expect(
            Reading.job("save: {background: red}").messages
                == """
                job.yaml:1:20: error: 'background' needs a colour, and 'red' is none
                1 | save: {background: red}
                  |                    ^^^
                  = write it like '#fff', '#1a2b3c' or '#1a2b3c80' (in quotes), or white, black or transparent
                """)
    }

    @Test func `an option that suits no format is refused for an open extension`() {
        #expect(
            Reading.job("output: out/{stem}.{ext}\nsave: {compression: zip}").messages
                == """
                job.yaml:2:21: error: 'compression' needs a whole number, and 'zip' is none
                2 | save: {compression: zip}
                  |                     ^^^
                  = write one from 0 to 9
                """)
    }

    @Test func `an option of no format is refused for an open extension`() {
        #expect(
            Reading.job("output: out/{stem}.{ext}\nsave: {speed: 3}").messages
                == """
                job.yaml:2:8: error: 'save' has no option 'speed'
                2 | save: {speed: 3}
                  |        ^^^^^
                  = its options are metadata, background, dither, precision, depth, color, intent, black_point, set, quality, progressive, compression and lossless
                """)
    }

    @Test func `a depth that the format has not is refused`() {
        #expect(
            Reading.job("output: out/{stem}.jpg\nsave: {depth: 16}").messages
                == """
                job.yaml:2:15: error: jpeg has no samples for 'depth: 16'
                2 | save: {depth: 16}
                  |               ^^
                  = it has '8'; tiff has all
                """)
    }

    @Test func `a dithered output has 8 bits`() {
        #expect(
            Reading.job("save: {dither: true, depth: 16}").messages
                == """
                job.yaml:1:29: error: 'depth: 16' does not go with 'dither', which makes 8 bits of finer samples
                1 | save: {dither: true, depth: 16}
                  |                             ^^
                  = leave one of them out
                """)
    }

    private static let limited = Catalog(
        versions: [:], filters: [.invert],
        formats: [
            FormatDescriptor(
                name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8, .u16],
                holdsAlpha: true, isLossless: true, largestSide: 65535,
                options: [
                    ParameterDescriptor("palette", .boolean, fallback: .boolean(false), summary: "Palette"),
                    ParameterDescriptor(
                        "colors", .integer(minimum: 2, maximum: 256), fallback: .integer(256), summary: "Colours"),
                    ParameterDescriptor(
                        "bits", .choice(["auto", "8", "12"]), fallback: .word("auto"), summary: "Bits"),
                ],
                sampleLimits: [
                    SampleLimit("palette", .boolean(true), [.u8]), SampleLimit("bits", .word("12"), [.u16]),
                ], conditions: [OptionCondition(["colors"], need: "palette", .boolean(true))])
        ])

    @Test func `a depth that an option does not allow is refused`() {
        #expect(
            Reading.job("save: {palette: true, depth: 16}", catalog: Self.limited).messages
                == """
                job.yaml:1:30: error: 'depth: 16' does not go with 'palette: true'
                1 | save: {palette: true, depth: 16}
                  |                              ^^
                  = leave one of them out
                """)
        for save in ["{palette: true, depth: 8}", "{palette: false, depth: 16}", "{bits: 12, depth: 16}"] {
            #expect(Reading.job("save: \(save)", catalog: Self.limited).messages == "", "\(save)")
        }
    }

    @Test func `an option that needs finer samples than a dithered output has is refused`() {
        #expect(
            Reading.job("save: {bits: 12, dither: true}", catalog: Self.limited).messages
                == """
                job.yaml:1:14: error: 'bits: 12' does not go with 'dither', which makes 8 bits of finer samples
                1 | save: {bits: 12, dither: true}
                  |              ^^
                  = leave one of them out
                """)
    }

    @Test(arguments: ["{colors: 16}", "{colors: 16, palette: false}"])
    func `an option that another one switches on is refused without it`(save: String) {
        #expect(
            Reading.job("save: \(save)", catalog: Self.limited).messages
                == """
                job.yaml:1:8: error: 'colors' has no effect without 'palette: true'
                1 | save: \(save)
                  |        ^^^^^^
                  = write 'palette: true', or remove 'colors'
                """)
    }

    @Test func `with it, or without both, all is well, and a wrong value is reported once`() {
        for save in ["{colors: 16, palette: true}", "{palette: false}", "{}"] {
            #expect(Reading.job("save: \(save)", catalog: Self.limited).messages == "", "\(save)")
        }
        #expect(Reading.job("save: {colors: 16, palette: maybe}", catalog: Self.limited).problems.count == 1)
    }

    @Test func `texts are read by their names`() throws {
        let job = try #require(
            Reading.job("save: {set: {copyright: © Ann, creator: [Ann, Bo], keywords: boat}}").job)
        #expect(
            job.outputs[0].save.texts
                == MetadataTexts([.copyright: ["© Ann"], .creator: ["Ann", "Bo"], .keywords: ["boat"]]))
        #expect(try #require(Reading.job("save: {set: {}}").job).outputs[0].save.texts == nil)
    }

    @Test(arguments: [
        ("{title: ''}", "'title' is empty"), ("{title: [a, b]}", "'title'"),
        ("{keywords: []}", "'keywords' is an empty list"),
        ("{author: Ann}", "'set' has no text 'author'"), ("Ann", "'set'"),
    ])
    func `texts that no picture can have are refused`(value: String, message: String) {
        let messages = Reading.job("save: {set: \(value)}").messages
        #expect(messages.contains("error: ") && messages.contains(message), "\(messages)")
    }

    @Test func `texts need a format that has a place for them`() {
        #expect(
            Reading.job("output: out/{stem}.webp\nsave: {set: {title: Boats}}").messages
                == """
                job.yaml:2:13: error: webp has no place for the texts of 'set'
                2 | save: {set: {title: Boats}}
                  |             ^^^^^^^^^^^^^^
                  = jpeg, png and tiff have one; or leave 'set' out
                """)
    }

    /// Reads a job with an output of a format that needs an address.
    private func service(_ lines: String) -> Reading {
        let format = FormatDescriptor(
            name: "iiif", extensions: ["iiif"], canRead: false, canWrite: true, sampleFormats: [.u8], holdsAlpha: false,
            isFolder: true, isLossless: false, largestSide: 1000,
            options: [
                ParameterDescriptor("id", .address, summary: "Address", requiredLike: "https://example.org/iiif/{stem}")
            ])
        let catalog = Catalog(versions: [:], filters: [.invert], formats: [.jpeg, .png, format])
        return Reading.job(lines, catalog: catalog)
    }

    @Test(arguments: [
        ("out/{stem}.iiif", "https://example.org/iiif/{stem}"),
        ("out/{dir}/{stem}.iiif", "http://e.org:80/{dir}/{stem}"),
        ("out/{stem}-{frame:03}.iiif", "https://e.org/{frame}/{stem}/{job}"),
        ("out/{stem}.iiif", "https://e.org/a%20b/{stem}"),
        ("out/{index:04}.iiif", "https://e.org/{index:02}"), ("out/{stem}-{hash8}.iiif", "https://e.org/{stem}"),
    ])
    func `an output has an address with the fields of its path`(path: String, address: String) throws {
        let reading = service("output: '\(path)'\nsave: {id: '\(address)'}")
        #expect(reading.messages == "")
        #expect(try #require(reading.job).save.values == ["id": .text(address)])
    }

    @Test(arguments: [
        ("example.org/{stem}", "begin it with https:// or http:// and the name of the site"),
        ("https://", "begin it with https:// or http:// and the name of the site"),
        ("https:///{stem}", "begin it with https:// or http:// and the name of the site"),
        ("ftp://e.org/{stem}", "begin it with https:// or http:// and the name of the site"),
        ("https://e.org/{stem}/", "leave out the slash at its end"),
        ("https://e.org/a b/{stem}", "an address has no ' '; write it as %20, for example, or leave it out"),
        ("https://e.org/{stem}?a", "an address has no '?'; write it as %20, for example, or leave it out"),
        ("https://e.org/ü/{stem}", "an address has no 'ü'; write it as %20, for example, or leave it out"),
    ])
    func `what is no address is refused, with a remedy`(address: String, remedy: String) {
        let reading = service("output: out/{stem}.iiif\nsave: {id: '\(address)'}")
        #expect(reading.problems == ["2:12: 'id' cannot be '\(address)'"])
        #expect(reading.remedies == [remedy])
    }

    @Test func `an address cannot have fields that are known too late`() {
        #expect(
            service("output: out/{stem}-{width}.iiif\nsave: {id: 'https://e.org/{stem}-{width}'}").messages
                == """
                job.yaml:2:12: error: 'id' cannot have {width}, which is known only when the output is rendered, or differs from day to day
                2 | save: {id: 'https://e.org/{stem}-{width}'}
                  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = it can have {dir}, {stem}, {ext}, {job}, {index} and {frame}
                """)
        #expect(
            service("output: out/{stem}.iiif\nsave: {id: 'https://e.org/{steem}'}").problems == [
                "2:27: unknown field '{steem}'"
            ])
    }

    @Test func `an address without a field of the path is refused`() {
        #expect(
            service("output: out/{dir}/{stem}.iiif\nsave: {id: 'https://e.org/{stem}'}").messages
                == """
                job.yaml:2:12: error: 'id' has no {dir}, which the path of the output has: two outputs could have one address
                2 | save: {id: 'https://e.org/{stem}'}
                  |            ^^^^^^^^^^^^^^^^^^^^^^
                  = add {dir} to it
                """)
    }

    @Test func `an output that needs an address is refused without one`() {
        #expect(
            service("output: out/{stem}.iiif").messages
                == """
                job.yaml:1:9: error: the output in iiif has no 'save'
                1 | output: out/{stem}.iiif
                  |         ^^^^^^^^^^^^^^^
                  = add 'save: {id: "https://example.org/iiif/{stem}"}'
                """)
        let reading = service("output: out/{stem}.iiif\nsave: {metadata: strip}")
        #expect(reading.problems == ["2:7: 'save' has no 'id'"])
        #expect(reading.remedies == ["add 'id: https://example.org/iiif/{stem}'"])
    }

    @Test func `what is dithered is not computed in 8 bits`() {
        let messages = Reading.job("save: {dither: true, precision: 8}").messages
        #expect(
            messages.contains("'precision: 8' does not go with 'dither', which makes 8 bits of finer samples"),
            "\(messages)")
    }

    @Test func `control characters and long lists are refused`() {
        #expect(Reading.job("save: {set: {title: \"a\\u0001b\"}}").messages.contains("remove its control characters"))
        let list = Array(repeating: "word of ten", count: 200).joined(separator: ", ")
        #expect(
            Reading.job("save: {set: {keywords: [\(list)]}}").messages.contains(
                "the texts of 'keywords' have 2200 bytes, and 2000 fit"))
    }

    @Test func `a text that is too long is refused`() {
        let messages = Reading.job("save: {set: {title: \(String(repeating: "a", count: 2001))}}").messages
        #expect(messages.contains("it has 2001 bytes, and 2000 fit; shorten it"), "\(messages)")
    }

    @Test func `options are not checked against an output that is wrong`() {
        #expect(
            Reading.job("output: out/{stem}.xyz\nsave: {quality: 80}").messages
                == """
                job.yaml:1:20: error: no format is written to '.xyz'
                1 | output: out/{stem}.xyz
                  |                    ^^^
                  = the extensions are .jpg, .jpeg, .png, .tif, .tiff and .webp
                """)
    }

    @Test func `save is a mapping`() {
        #expect(
            Reading.job("save: 80").messages
                == """
                job.yaml:1:7: error: 'save' must be a mapping, not a single value
                1 | save: 80
                  |       ^^
                  = write 'key: value' lines
                """)
    }
}
