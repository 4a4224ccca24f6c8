import Testing

/// Quoted values that do not end as they should, and escapes that are none.
@Suite struct RefusedQuoteTests {
    @Test func `a single quote without its partner is refused`() {
        #expect(
            ParsedText("description: 'one\n").messages
                == """
                text.yaml:1:14: error: no closing ' on this line
                1 | description: 'one
                  |              ^
                  = a quoted text ends on the line where it begins
                """)
    }

    @Test func `a double quote without its partner is refused`() {
        #expect(
            ParsedText("description: \"one\n").messages
                == """
                text.yaml:1:14: error: no closing " on this line
                1 | description: "one
                  |              ^
                  = a quoted text ends on the line where it begins
                """)
    }

    @Test func `a quoted text over two lines is refused once`() {
        #expect(
            ParsedText("description: \"one\n  two\"\njob: a\n").messages
                == """
                text.yaml:1:14: error: no closing " on this line
                1 | description: "one
                  |              ^
                  = a quoted text ends on the line where it begins
                """)
    }

    @Test func `an apostrophe inside single quotes is refused`() {
        #expect(
            ParsedText("description: 'it's late'\n").messages
                == """
                text.yaml:1:18: error: text after the closing '
                1 | description: 'it's late'
                  |                  ^^^^^^^
                  = write '' for a quote inside single quotes
                """)
    }

    @Test func `text behind a double quote is refused`() {
        #expect(
            ParsedText("description: \"a\" b\n").messages
                == #"""
                text.yaml:1:18: error: text after the closing "
                1 | description: "a" b
                  |                  ^
                  = write \" for a quote inside double quotes
                """#)
    }

    @Test func `a comment that touches a quote is refused`() {
        #expect(
            ParsedText("description: 'a'# b\n").messages
                == """
                text.yaml:1:17: error: no blank before '#'
                1 | description: 'a'# b
                  |                 ^
                  = put a blank between the value and its comment
                """)
    }

    @Test func `a comment without a blank behind a quote is refused`() {
        #expect(
            ParsedText("description: 'a' #3\n").messages
                == """
                text.yaml:1:18: error: '#3' would be cut off as a comment
                1 | description: 'a' #3
                  |                  ^^
                  = put it inside the quotes; for a comment put a blank after '#'
                """)
    }

    @Test func `an unknown escape is refused`() {
        #expect(
            ParsedText(#"output: "out\photos""#).messages
                == #"""
                text.yaml:1:13: error: '\p' is not an escape
                1 | output: "out\photos"
                  |             ^^
                  = inside double quotes write \\ for a backslash; the escapes are \" \\ \/ \b \f \n \r \t and \u with four digits
                """#)
    }

    @Test func `a hexadecimal escape is refused`() {
        #expect(
            ParsedText(#"description: "\x41""#).messages
                == #"""
                text.yaml:1:15: error: '\x' is not an escape
                1 | description: "\x41"
                  |               ^^^^
                  = write \u0041
                """#)
    }

    @Test func `a Unicode escape with too few digits is refused`() {
        #expect(
            ParsedText(#"description: "\u12""#).messages
                == #"""
                text.yaml:1:15: error: '\u' without four hexadecimal digits
                1 | description: "\u12"
                  |               ^^
                  = write it as in \u00e9
                """#)
    }

    @Test func `a surrogate pair is refused with the character to write`() {
        #expect(
            ParsedText(#"description: "\uD83D\uDE00""#).messages
                == #"""
                text.yaml:1:15: error: half of a surrogate pair is not a character in YAML
                1 | description: "\uD83D\uDE00"
                  |               ^^^^^^^^^^^^
                  = write the character itself: 😀
                """#)
    }

    @Test func `half a surrogate pair is refused`() {
        #expect(
            ParsedText(#"description: "\uD83D""#).messages
                == #"""
                text.yaml:1:15: error: half of a surrogate pair is not a character in YAML
                1 | description: "\uD83D"
                  |               ^^^^^^
                  = write the character itself
                """#)
    }

    @Test func `an escaped zero byte is refused`() {
        #expect(
            ParsedText(#"description: "a\u0000b""#).messages
                == #"""
                text.yaml:1:16: error: '\u0000' cannot be part of a text
                1 | description: "a\u0000b"
                  |                ^^^^^^
                  = remove it
                """#)
    }

    @Test func `an escaped byte order mark is refused`() {
        #expect(
            ParsedText(#"description: "\uFEFFa""#).messages
                == #"""
                text.yaml:1:15: error: '\uFEFF' cannot be part of a text
                1 | description: "\uFEFFa"
                  |               ^^^^^^
                  = remove it
                """#)
    }
}
