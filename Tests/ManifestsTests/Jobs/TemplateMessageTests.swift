import Catalogs
import Testing

/// Output templates that are not well made.
@Suite struct TemplateMessageTests {
    @Test func `an unknown field is refused with the list`() {
        #expect(
            Reading.job("output: out/{zzz}.png").messages
                == """
                job.yaml:1:13: error: unknown field '{zzz}'
                1 | output: out/{zzz}.png
                  |             ^^^^^
                  = the fields are {dir}, {stem}, {ext}, {job}, {width}, {height}, {index}, {frame}, {date} and {hash8}
                """)
    }

    @Test func `a misspelled field is suggested`() {
        #expect(
            Reading.job("output: out/{stm}.png").messages
                == """
                job.yaml:1:13: error: unknown field '{stm}'
                1 | output: out/{stm}.png
                  |             ^^^^^
                  = did you mean {stem}?
                """)
    }

    @Test func `another tool's field is suggested`() {
        #expect(
            Reading.job("output: out/{name}.png").messages
                == """
                job.yaml:1:13: error: unknown field '{name}'
                1 | output: out/{name}.png
                  |             ^^^^^^
                  = did you mean {stem}?
                """)
    }

    @Test func `blanks inside a field are refused`() {
        #expect(
            Reading.job("output: 'out/{ stem }.png'").messages
                == """
                job.yaml:1:14: error: unknown field '{ stem }'
                1 | output: 'out/{ stem }.png'
                  |              ^^^^^^^^
                  = did you mean {stem}?
                """)
    }

    @Test func `doubled braces are refused`() {
        #expect(
            Reading.job("output: out/{{stem}}.png").messages
                == """
                job.yaml:1:13: error: doubled braces have no meaning here
                1 | output: out/{{stem}}.png
                  |             ^^
                  = write a field in single braces, {stem}; a path cannot have braces of its own
                """)
    }

    @Test func `an unclosed field is refused`() {
        #expect(
            Reading.job("output: out/{stem.png").messages
                == """
                job.yaml:1:13: error: no '}' closes this '{'
                1 | output: out/{stem.png
                  |             ^
                  = write a field like {stem}; a path cannot have braces of its own
                """)
    }

    @Test func `a field inside a field is refused`() {
        #expect(
            Reading.job("output: out/{stem{ext}}.png").messages
                == """
                job.yaml:1:13: error: no '}' closes this '{'
                1 | output: out/{stem{ext}}.png
                  |             ^
                  = write a field like {stem}; a path cannot have braces of its own
                """)
    }

    @Test func `a stray brace is refused`() {
        #expect(
            Reading.job("output: out/stem}.png").messages
                == """
                job.yaml:1:17: error: no '{' opens this '}'
                1 | output: out/stem}.png
                  |                 ^
                  = write a field like {stem}; a path cannot have braces of its own
                """)
    }

    @Test func `an empty field is refused`() {
        #expect(
            Reading.job("output: out/{}.png").messages
                == """
                job.yaml:1:13: error: a field without a name
                1 | output: out/{}.png
                  |             ^^
                  = write a field like {stem}
                """)
    }

    @Test func `an index without leading zero is refused`() {
        #expect(
            Reading.job("output: out/{index:4}.png").messages
                == """
                job.yaml:1:13: error: '{index:4}' does not say how many digits
                1 | output: out/{index:4}.png
                  |             ^^^^^^^^^
                  = write {index}, or {index:04} for 0001, 0002, …
                """)
    }

    @Test func `an empty output is refused`() {
        #expect(
            Reading.job("output: ''").messages
                == """
                job.yaml:1:9: error: 'output' is empty
                1 | output: ''
                  |         ^^
                  = write a text
                """)
    }

    @Test func `a folder is refused`() {
        #expect(
            Reading.job("output: out/").messages
                == """
                job.yaml:1:9: error: the output is a folder, not a file
                1 | output: out/
                  |         ^^^^
                  = add a file's name, such as {stem}.png
                """)
    }

    @Test func `an output without extension is refused`() {
        #expect(
            Reading.job("output: out.d/{stem}").messages
                == """
                job.yaml:1:9: error: the name has no extension, which decides the format
                1 | output: out.d/{stem}
                  |         ^^^^^^^^^^^^
                  = write it like out.d/{stem}.jpg
                """)
    }

    @Test func `an output that ends in another field is refused`() {
        #expect(
            Reading.job("output: out/{stem}.{date}").messages
                == """
                job.yaml:1:9: error: the name has no extension, which decides the format
                1 | output: out/{stem}.{date}
                  |         ^^^^^^^^^^^^^^^^^
                  = write it like out/{stem}.{date}.jpg
                """)
    }

    @Test func `an extension field without a dot is refused`() {
        #expect(
            Reading.job("output: out/{stem}{ext}").messages
                == """
                job.yaml:1:9: error: no dot stands before the extension
                1 | output: out/{stem}{ext}
                  |         ^^^^^^^^^^^^^^^
                  = write .{ext}
                """)
    }

    @Test func `an unknown extension gets the list of extensions`() {
        #expect(
            Reading.job("output: out/{stem}.xyz").messages
                == """
                job.yaml:1:20: error: no format is written to '.xyz'
                1 | output: out/{stem}.xyz
                  |                    ^^^
                  = the extensions are .jpg, .jpeg, .png, .tif, .tiff and .webp
                """)
    }

    @Test func `a format that needs a program which is not there is told what to install`() {
        let catalog = Catalog(
            versions: [:], filters: Catalog.example.filters, formats: Catalog.example.formats,
            missingFormats: [
                MissingFormat(
                    extensions: ["mp4"], reason: "there is no ffmpeg", remedy: "install the package 'ffmpeg'")
            ])
        #expect(
            Reading.job("output: out/{stem}.MP4", catalog: catalog).messages
                == """
                job.yaml:1:20: error: '.MP4' cannot be written here: there is no ffmpeg
                1 | output: out/{stem}.MP4
                  |                    ^^^
                  = install the package 'ffmpeg'
                """)
    }

    @Test func `a misspelled extension is suggested`() {
        #expect(
            Reading.job("output: \"out/{stem}.jepg\"").messages
                == """
                job.yaml:1:21: error: no format is written to '.jepg'
                1 | output: "out/{stem}.jepg"
                  |                     ^^^^
                  = did you mean '.jpg'? the extensions are .jpg, .jpeg, .png, .tif, .tiff and .webp
                """)
    }

    @Test func `a format that can only be read is refused`() {
        #expect(
            Reading.job("output: out/{stem}.heic").messages
                == """
                job.yaml:1:20: error: no format is written to '.heic'
                1 | output: out/{stem}.heic
                  |                    ^^^^
                  = the extensions are .jpg, .jpeg, .png, .tif, .tiff and .webp
                """)
    }

    @Test func `the caret covers the whole value where escapes moved its characters`() {
        #expect(
            Reading.job("output: \"out\\/{stm}.png\"").messages
                == #"""
                job.yaml:1:9: error: unknown field '{stm}'
                1 | output: "out\/{stm}.png"
                  |         ^^^^^^^^^^^^^^^^
                  = did you mean {stem}?
                """#)
    }

    @Test func `one name for many inputs is worth a warning`() {
        #expect(
            Reading.job("output: out/x.png").messages
                == """
                job.yaml:1:9: warning: all outputs get the same name, and '*.jpg' may be several pictures
                1 | output: out/x.png
                  |         ^^^^^^^^^
                  = put {stem}, {index} or {hash8} into the name
                """)
    }

    @Test func `one name for a list of inputs is worth a warning`() {
        #expect(
            Reading.job("inputs: [a.png, b.png]\noutput: out/{dir}.png").messages
                == """
                job.yaml:2:9: warning: all outputs get the same name, and 'a.png, b.png' may be several pictures
                2 | output: out/{dir}.png
                  |         ^^^^^^^^^^^^^
                  = put {stem}, {index} or {hash8} into the name
                """)
    }

    @Test(arguments: ["a.png", "a[[]1]{{}x}[*].jpg", "[?]"])
    func `one name for a file whose name looks like a pattern is worth none`(input: String) {
        #expect(Reading.job("inputs: '\(input)'\noutput: out/x.png").messages == "")
    }
}
