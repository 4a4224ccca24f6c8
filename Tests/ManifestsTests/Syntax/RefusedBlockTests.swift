import Testing

/// Lines that are no entries of their block.
@Suite struct RefusedBlockTests {
    @Test func `a line without a colon is refused`() {
        #expect(
            ParsedText("job: a\nhello # there\n").messages
                == """
                text.yaml:2:1: error: expected 'key: value', found 'hello'
                2 | hello # there
                  | ^^^^^
                  = write a key, a colon, a blank and a value
                """)
    }

    @Test func `brackets instead of an entry are refused`() {
        #expect(
            ParsedText("{job: a}\n").messages
                == """
                text.yaml:1:1: error: expected 'key: value', found a bracket
                1 | {job: a}
                  | ^
                  = write brackets as a value, after 'key: '
                """)
    }

    @Test func `a quoted key is refused`() {
        #expect(
            ParsedText("\"job\": a\n").messages
                == """
                text.yaml:1:1: error: the key 'job' is in quotes
                1 | "job": a
                  | ^^^^^
                  = write it without: job:
                """)
    }

    @Test func `a quoted key behind a dash is refused`() {
        #expect(
            ParsedText("- \"invert\": {}\n").messages
                == """
                text.yaml:1:3: error: the key 'invert' is in quotes
                1 | - "invert": {}
                  |   ^^^^^^^^
                  = write it without: invert:
                """)
    }

    @Test func `a key with a blank is refused`() {
        #expect(
            ParsedText("my key: a\n").messages
                == """
                text.yaml:1:1: error: 'my key' is not a key
                1 | my key: a
                  | ^^^^^^
                  = a key is a letter or '_', then letters, digits, '_' and '-'; if this is text with a colon, quote it
                """)
    }

    @Test func `a key that begins with a digit is refused`() {
        #expect(
            ParsedText("2nd: a\n").messages
                == """
                text.yaml:1:1: error: '2nd' is not a key
                1 | 2nd: a
                  | ^^^
                  = a key is a letter or '_', then letters, digits, '_' and '-'; if this is text with a colon, quote it
                """)
    }

    @Test func `a key with other letters is refused`() {
        #expect(
            ParsedText("größe: a\n").messages
                == """
                text.yaml:1:1: error: 'größe' is not a key
                1 | größe: a
                  | ^^^^^
                  = a key is a letter or '_', then letters, digits, '_' and '-'; if this is text with a colon, quote it
                """)
    }

    @Test func `a merge key is refused`() {
        #expect(
            ParsedText("<<: *base\n").messages
                == """
                text.yaml:1:1: error: merge keys ('<<:') are not read
                1 | <<: *base
                  | ^^
                  = write the entries here once more
                """)
    }

    @Test func `a complex key is refused`() {
        #expect(
            ParsedText("? a\n").messages
                == """
                text.yaml:1:1: error: '?' begins a complex key in YAML, which is not read
                1 | ? a
                  | ^
                  = write 'key: value'; if the text begins with '?', quote it
                """)
    }

    @Test func `an anchor before a key is refused`() {
        #expect(
            ParsedText("&base job: a\n").messages
                == """
                text.yaml:1:1: error: '&' at the start makes this a YAML anchor, which is not read
                1 | &base job: a
                  | ^^^^^^^^^^^^
                  = write the value again where it is needed; if '&' belongs to the text, quote it: '&base job: a'
                """)
    }

    @Test func `a tag before a key is refused`() {
        #expect(
            ParsedText("!job name: a\n").messages
                == """
                text.yaml:1:1: error: '!' at the start makes this a YAML tag, which is not read
                1 | !job name: a
                  | ^^^^^^^^^^^^
                  = leave the tag out: the key decides the type; if '!' belongs to the text, quote it: '!job name: a'
                """)
    }

    @Test func `an alias instead of a key is refused`() {
        #expect(
            ParsedText("*base : a\n").messages
                == """
                text.yaml:1:1: error: '*' at the start makes this a YAML alias, which is not read
                1 | *base : a
                  | ^^^^^^^^^
                  = quote it: '*base : a'
                """)
    }

    @Test func `a colon without a blank is refused`() {
        #expect(
            ParsedText("job:a\n").messages
                == """
                text.yaml:1:4: error: no blank after 'job:'
                1 | job:a
                  |    ^
                  = write 'job: ' and the value
                """)
    }

    @Test func `a blank before the colon is refused`() {
        #expect(
            ParsedText("job : a\n").messages
                == """
                text.yaml:1:4: error: a blank between 'job' and its colon
                1 | job : a
                  |    ^^
                  = write 'job: ' and the value
                """)
    }

    @Test func `a key that is given twice is refused`() {
        #expect(
            ParsedText("job: a\ninputs: b\njob: c\n").messages
                == """
                text.yaml:3:1: error: 'job' is already given in line 1
                3 | job: c
                  | ^^^
                  = remove one of the two
                """)
    }

    @Test func `a list item among keys is refused`() {
        #expect(
            ParsedText("job: a\n- b\n").messages
                == """
                text.yaml:2:1: error: a list item among 'key: value' lines
                2 | - b
                  | ^^^
                  = indent it below the key that the list belongs to
                """)
    }

    @Test func `a key among list items is refused`() {
        #expect(
            ParsedText("inputs:\n  - a\n  b: c\n").messages
                == """
                text.yaml:3:3: error: 'b: c' among list items
                3 |   b: c
                  |   ^^^^
                  = if 'b' is a key of the job, move it to the start of the line; if it belongs to the item above, indent it \
                deeper; if it is an item, begin it with '- '
                """)
    }

    @Test func `a text among list items is refused`() {
        #expect(
            ParsedText("inputs:\n  - a\n  b\n").messages
                == """
                text.yaml:3:3: error: 'b' among list items
                3 |   b
                  |   ^
                  = begin it with '- '
                """)
    }

    @Test func `a key as a list item among keys is refused`() {
        #expect(
            ParsedText("job: a\n-   output: b\n").messages
                == """
                text.yaml:2:1: error: a list item among 'key: value' lines
                2 | -   output: b
                  | ^^^^^^^^^^^^^
                  = indent it below the key that the list belongs to; if 'output' is a key of the job, begin the line with 'output:'
                """)
    }

    @Test func `a dash without a blank is refused`() {
        #expect(
            ParsedText("inputs:\n  - a\n  -b\n").messages
                == """
                text.yaml:3:3: error: no blank after '-'
                3 |   -b
                  |   ^^
                  = write '- ' and the item
                """)
    }

    @Test func `a list on its key's line is refused`() {
        #expect(
            ParsedText("inputs: - a\n").messages
                == """
                text.yaml:1:9: error: a list cannot begin on its key's line
                1 | inputs: - a
                  |         ^
                  = put each '- item' on a line of its own below the key, or write [a, b]
                """)
    }

    @Test func `a dash behind a dash is refused`() {
        #expect(
            ParsedText("- - a\n").messages
                == """
                text.yaml:1:3: error: a list item cannot begin with another '-'
                1 | - - a
                  |   ^
                  = write the inner list as - [a, b]
                """)
    }

    @Test func `a key without a value is refused`() {
        #expect(
            ParsedText("job: # later\ninputs: a\n").messages
                == """
                text.yaml:1:1: error: 'job' has no value
                1 | job: # later
                  | ^^^
                  = write it after the colon ('' is empty text), or indent the lines that belong to it deeper than 'job'
                """)
    }

    @Test func `parameters in their filter's column are refused`() {
        #expect(
            ParsedText("filters:\n  - gaussian:\n    radius: 3\n").messages
                == """
                text.yaml:2:5: error: 'gaussian' has no value
                2 |   - gaussian:
                  |     ^^^^^^^^
                  = write it after the colon ('' is empty text), or indent the lines that belong to it deeper than 'gaussian'
                """)
    }

    @Test func `a list item without a value is refused`() {
        #expect(
            ParsedText("inputs:\n  -\n  - a\n").messages
                == """
                text.yaml:2:3: error: a list item without a value
                2 |   -
                  |   ^
                  = write it after '- ' ('' is empty text), or remove the line
                """)
    }

    @Test func `a value below its key is refused`() {
        #expect(
            ParsedText("description:\n  text\n").messages
                == """
                text.yaml:2:3: error: a value starts on the line of its key or '-'
                2 |   text
                  |   ^^^^
                  = move it to the end of the line above
                """)
    }

    @Test func `brackets below their key are refused`() {
        #expect(
            ParsedText("inputs:\n  [a, b]\n").messages
                == """
                text.yaml:2:3: error: a value starts on the line of its key or '-'
                2 |   [a, b]
                  |   ^^^^^^
                  = move it to the end of the line above
                """)
    }
}
