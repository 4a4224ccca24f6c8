import Testing

/// What a text must not have, whatever its lines mean.
@Suite struct RefusedTextTests {
    @Test func `a file with a zero byte is not read`() {
        #expect(
            ParsedText(bytes: Array("job: a".utf8) + [0]).messages
                == """
                text.yaml:1:1: error: this is not a text file: it has a zero byte
                1 |
                  | ^
                  = a manifest is UTF-8 text; UTF-16 is not read
                """)
    }

    @Test func `a byte that is not UTF-8 is named with its place`() {
        #expect(
            ParsedText(bytes: Array("job: caf".utf8) + [0xE9] + Array("\n".utf8)).messages
                == """
                text.yaml:1:9: error: byte 0xE9 is not UTF-8 here
                1 | job: caf�
                  |         ^
                  = save the file as UTF-8
                """)
    }

    @Test func `a byte order mark is refused`() {
        #expect(
            ParsedText("\u{FEFF}job: a\n").messages
                == """
                text.yaml:1:1: error: the file has a byte order mark
                1 | job: a
                  | ^
                  = save it as 'UTF-8', not as 'UTF-8 with BOM'
                """)
    }

    @Test func `a control character is refused and not printed`() {
        #expect(
            ParsedText("job: a\u{1B}[2Jb\n").messages
                == #"""
                text.yaml:1:7: error: control character U+001B
                1 | job: a�[2Jb
                  |       ^
                  = remove it; where it is meant, write \u001B inside double quotes
                """#)
    }

    @Test func `a Unicode line separator is refused`() {
        #expect(
            ParsedText("job: a\u{2028}b\n").messages
                == #"""
                text.yaml:1:7: error: U+2028 is a line break to some programs and none to others
                1 | job: a�b
                  |       ^
                  = remove it, or write \u2028 inside double quotes
                """#)
    }

    @Test func `a carriage return of its own is refused`() {
        #expect(
            ParsedText("job: a\rinputs: b\n").messages
                == """
                text.yaml:1:7: error: a carriage return without a line feed
                1 | job: a
                  |       ^
                  = end lines with LF or CRLF
                """)
    }

    @Test func `a tab in the indentation is refused`() {
        #expect(
            ParsedText("save:\n\tquality: 1\n").messages
                == """
                text.yaml:2:1: error: a tab in the indentation
                2 | →quality: 1
                  | ^
                  = indent with spaces
                """)
    }

    @Test func `a tab behind a colon is refused`() {
        #expect(
            ParsedText("job:\ta\n").messages
                == """
                text.yaml:1:5: error: a tab outside quotes
                1 | job:→a
                  |     ^
                  = write a space, or quote the text that has the tab
                """)
    }

    @Test func `a tab before a comment is refused`() {
        #expect(
            ParsedText("job: a\t# why\n").messages
                == """
                text.yaml:1:7: error: a tab outside quotes
                1 | job: a→# why
                  |       ^
                  = write a space, or quote the text that has the tab
                """)
    }

    @Test func `a no-break space in a value is refused`() {
        #expect(
            ParsedText("job: a\u{A0}b\n").messages
                == """
                text.yaml:1:7: error: U+00A0 looks like a space and is none
                1 | job: a b
                  |       ^
                  = write an ordinary space, or quote the text if the character is meant
                """)
    }

    @Test func `a no-break space behind a colon is refused`() {
        #expect(
            ParsedText("job:\u{A0}a\n").messages
                == """
                text.yaml:1:5: error: U+00A0 looks like a space and is none
                1 | job: a
                  |     ^
                  = write an ordinary space, or quote the text if the character is meant
                """)
    }

    @Test func `a text of comments alone is refused`() {
        #expect(
            ParsedText("# nothing yet\n\n").messages
                == """
                text.yaml:1:1: error: there is nothing in here but blanks and comments
                1 | # nothing yet
                  | ^
                  = write 'key: value' lines
                """)
    }

    @Test func `a manifest that says nothing is told what one needs, by an example that is one`() {
        let result = Reading("# nothing yet\n\n")
        #expect(
            result.messages
                == """
                job.yaml:1:1: error: there is nothing in here but blanks and comments
                1 | # nothing yet
                  | ^
                  = a manifest needs the name of a job, its inputs, its filters and an output:
                    job: blurred
                    inputs: [photos/**/*.jpg]
                    filters: [{gaussian: {radius: 12}}]
                    output: out/{dir}/{stem}.jpg
                """)
        let example = result.messages.split(separator: "\n").suffix(4).map { $0.drop { $0 == " " } + "\n" }
        #expect(Reading(example.joined()).job != nil)
    }

    @Test func `a document start is refused`() {
        #expect(
            ParsedText("---\njob: a\n").messages
                == """
                text.yaml:1:1: error: '---' is not needed: a file is one document
                1 | ---
                  | ^^^
                  = remove this line
                """)
    }

    @Test func `a second document is refused and left alone`() {
        #expect(
            ParsedText("job: a\n---\njob: b\n\tx\n").messages
                == """
                text.yaml:2:1: error: '---' begins another document, but a file is one document
                2 | ---
                  | ^^^
                  = remove this line, or put what follows into a file of its own
                """)
    }

    @Test func `a document end is refused`() {
        #expect(
            ParsedText("job: a\n...\n").messages
                == """
                text.yaml:2:1: error: '...' begins another document, but a file is one document
                2 | ...
                  | ^^^
                  = remove this line, or put what follows into a file of its own
                """)
    }

    @Test func `a directive is refused`() {
        #expect(
            ParsedText("%YAML 1.2\njob: a\n").messages
                == """
                text.yaml:1:1: error: YAML directives ('%…') are not read
                1 | %YAML 1.2
                  | ^^^^^^^^^
                  = remove this line
                """)
    }

    @Test func `a number sign behind a blank is refused when it begins no comment`() {
        #expect(
            ParsedText("description: Holiday #3\n").messages
                == """
                text.yaml:1:22: error: '#3' would be cut off as a comment
                1 | description: Holiday #3
                  |                      ^^
                  = quote it: 'Holiday #3'; for a comment put a blank after '#'
                """)
    }

    @Test func `a color without quotes is refused`() {
        #expect(
            ParsedText("background: #fff\n").messages
                == """
                text.yaml:1:13: error: '#fff' would be cut off as a comment
                1 | background: #fff
                  |             ^^^^
                  = quote it: '#fff'; for a comment put a blank after '#'
                """)
    }

    @Test func `a line that is indented too deep is refused`() {
        #expect(
            ParsedText("save:\n  quality: 1\n   metadata: keep\n").messages
                == """
                text.yaml:3:4: error: indented by 3 spaces where 2 would fit
                3 |    metadata: keep
                  |    ^^^^^^^^^^^^^^
                  = the lines of one block start in the same column
                """)
    }

    @Test func `a line between two indentations is refused`() {
        #expect(
            ParsedText("save:\n    quality: 1\n  metadata: keep\n").messages
                == """
                text.yaml:3:3: error: indented by 2 spaces where 0 or 4 would fit
                3 |   metadata: keep
                  |   ^^^^^^^^^^^^^^
                  = the lines of one block start in the same column
                """)
    }

    @Test func `a line left of the first one is refused`() {
        #expect(
            ParsedText("  job: a\ninputs: b\n").messages
                == """
                text.yaml:2:1: error: indented by 0 spaces where 2 would fit
                2 | inputs: b
                  | ^^^^^^^^^
                  = the lines of one block start in the same column
                """)
    }

    @Test func `a value that goes on in the next line is refused`() {
        #expect(
            ParsedText("description: one\n  two\n").messages
                == #"""
                text.yaml:2:3: error: this line continues the value above, but a value is one line
                2 |   two
                  |   ^^^
                  = join the lines; for a line break in the text write "…\n…" in double quotes
                """#)
    }
}
