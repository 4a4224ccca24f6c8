import Testing

/// Values without quotes that YAML gives another meaning.
@Suite struct RefusedScalarTests {
    @Test func `an asterisk at the start is refused as an alias`() {
        #expect(
            ParsedText("- *.jpg # all\n").messages
                == """
                text.yaml:1:3: error: '*' at the start makes this a YAML alias, which is not read
                1 | - *.jpg # all
                  |   ^^^^^
                  = quote it: '*.jpg'
                """)
    }

    @Test func `an ampersand at the start is refused as an anchor`() {
        #expect(
            ParsedText("save: &base\n  quality: 1\n").messages
                == """
                text.yaml:1:7: error: '&' at the start makes this a YAML anchor, which is not read
                1 | save: &base
                  |       ^^^^^
                  = write the value again where it is needed; if '&' belongs to the text, quote it: '&base'
                """)
    }

    @Test func `an exclamation mark at the start is refused as a tag`() {
        #expect(
            ParsedText("retries: !!int 3\n").messages
                == """
                text.yaml:1:10: error: '!' at the start makes this a YAML tag, which is not read
                1 | retries: !!int 3
                  |          ^^^^^^^
                  = leave the tag out: the key decides the type; if '!' belongs to the text, quote it: '!!int 3'
                """)
    }

    @Test func `a literal text block is refused with its lines`() {
        #expect(
            ParsedText("description: |\n  one\n  two: 2\njob: a\n").messages
                == #"""
                text.yaml:1:14: error: text blocks ('|') are not read
                1 | description: |
                  |              ^
                  = write the text on this line; for a line break write "…\n…" in double quotes
                """#)
    }

    @Test func `a folded text block is refused with its lines`() {
        #expect(
            ParsedText("description: >-\n  one\n").messages
                == #"""
                text.yaml:1:14: error: text blocks ('>') are not read
                1 | description: >-
                  |              ^^
                  = write the text on this line; for a line break write "…\n…" in double quotes
                """#)
    }

    @Test func `a bar at the start is refused`() {
        #expect(
            ParsedText("description: |x|\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with '|'
                1 | description: |x|
                  |              ^^^
                  = quote it: '|x|'
                """)
    }

    @Test func `a greater-than sign at the start is refused`() {
        #expect(
            ParsedText("description: > 3 px\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with '>'
                1 | description: > 3 px
                  |              ^^^^^^
                  = quote it: '> 3 px'
                """)
    }

    @Test func `a percent sign at the start is refused`() {
        #expect(
            ParsedText("description: %a\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with '%'
                1 | description: %a
                  |              ^^
                  = quote it: '%a'
                """)
    }

    @Test func `an at sign at the start is refused`() {
        #expect(
            ParsedText("description: @a\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with '@'
                1 | description: @a
                  |              ^^
                  = quote it: '@a'
                """)
    }

    @Test func `a backtick at the start is refused`() {
        #expect(
            ParsedText("description: `a`\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with '`'
                1 | description: `a`
                  |              ^^^
                  = quote it: '`a`'
                """)
    }

    @Test func `a question mark at the start is refused`() {
        #expect(
            ParsedText("- ?.jpg\n").messages
                == """
                text.yaml:1:3: error: a value cannot begin with '?'
                1 | - ?.jpg
                  |   ^^^^^
                  = quote it: '?.jpg'
                """)
    }

    @Test func `a question mark and a blank at the start are refused as a complex key`() {
        #expect(
            ParsedText("- ? a\n").messages
                == """
                text.yaml:1:3: error: '?' begins a complex key in YAML, which is not read
                1 | - ? a
                  |   ^^^
                  = write 'key: value'; if the text begins with '?', quote it
                """)
    }

    @Test func `a colon at the start is refused`() {
        #expect(
            ParsedText("description: :a\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with ':'
                1 | description: :a
                  |              ^^
                  = quote it: ':a'
                """)
    }

    @Test func `a comma at the start is refused`() {
        #expect(
            ParsedText("description: ,a\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with ','
                1 | description: ,a
                  |              ^^
                  = quote it: ',a'
                """)
    }

    @Test func `a closing bracket at the start is refused`() {
        #expect(
            ParsedText("description: ]a\n").messages
                == """
                text.yaml:1:14: error: a value cannot begin with ']'
                1 | description: ]a
                  |              ^^
                  = quote it: ']a'
                """)
    }

    @Test func `a colon and a blank inside are refused`() {
        #expect(
            ParsedText("description: note: it's late # c\n").messages
                == """
                text.yaml:1:18: error: ': ' inside a value makes it another 'key: value'
                1 | description: note: it's late # c
                  |                  ^
                  = quote it: 'note: it''s late'
                """)
    }

    @Test func `a colon at the end is refused`() {
        #expect(
            ParsedText("description: to do:\n").messages
                == """
                text.yaml:1:19: error: a colon at the end of a value makes it a key
                1 | description: to do:
                  |                   ^
                  = quote it: 'to do:'
                """)
    }
}
