import Testing

/// Lists and mappings in brackets that are not well made.
@Suite struct RefusedFlowTests {
    @Test func `a list over several lines is refused once`() {
        #expect(
            ParsedText("inputs: [\n  a,\n  b\n]\njob: a\n").messages
                == """
                text.yaml:1:9: error: no closing ']' on this line
                1 | inputs: [
                  |         ^
                  = close it on the line where it begins, or write one entry per line, indented, without brackets
                """)
    }

    @Test func `a mapping over several lines is refused once`() {
        #expect(
            ParsedText("save: {quality: 1,\n  metadata: keep}\n").messages
                == """
                text.yaml:1:7: error: no closing '}' on this line
                1 | save: {quality: 1,
                  |       ^
                  = close it on the line where it begins, or write one entry per line, indented, without brackets
                """)
    }

    @Test func `nothing is said of missing keys if a list is not closed`() {
        #expect(
            Reading("job: [\n").messages
                == """
                job.yaml:1:6: error: no closing ']' on this line
                1 | job: [
                  |      ^
                  = close it on the line where it begins, or write one entry per line, indented, without brackets
                """)
    }

    @Test func `a comment inside brackets is refused`() {
        #expect(
            ParsedText("inputs: [a, # b\n").messages
                == """
                text.yaml:1:9: error: no closing ']' on this line
                1 | inputs: [a, # b
                  |         ^
                  = close it on the line where it begins, or write one entry per line, indented, without brackets
                """)
    }

    @Test func `a color without quotes inside braces is refused`() {
        #expect(
            ParsedText("save: {background: #fff}\n").messages
                == """
                text.yaml:1:20: error: a value cannot begin with '#'
                1 | save: {background: #fff}
                  |                    ^^^^
                  = quote it: '#fff'
                """)
    }

    @Test func `a template that begins with a field is refused`() {
        #expect(
            ParsedText("output: {dir}/{stem}.png\n").messages
                == """
                text.yaml:1:9: error: '{' at the start makes this a mapping, and text follows it
                1 | output: {dir}/{stem}.png
                  |         ^^^^^^^^^^^^^^^^
                  = quote it: '{dir}/{stem}.png'
                """)
    }

    @Test func `a pattern that begins with a bracket is refused`() {
        #expect(
            ParsedText("- [ab]*.jpg\n").messages
                == """
                text.yaml:1:3: error: '[' at the start makes this a list, and text follows it
                1 | - [ab]*.jpg
                  |   ^^^^^^^^^
                  = quote it: '[ab]*.jpg'
                """)
    }

    @Test(arguments: ["1,000.5", "1.2,5"])
    func `no number is proposed that would be refused`(written: String) {
        #expect(
            ParsedText("gaussian: {radius: \(written)}\n").messages.hasSuffix(
                "\n  = decimals come after a point, and nothing stands between thousands"))
    }

    @Test(arguments: [("2,5", "2.5"), ("-2,5", "-2.5"), ("+2,5", "+2.5"), ("2,5%", "2.5%"), ("2, 5", "2.5")])
    func `decimals behind a comma are refused with the number that was meant`(written: String, meant: String) {
        #expect(
            ParsedText("gaussian: {radius: \(written)}\n").messages
                == """
                text.yaml:1:20: error: a comma in braces ends a value, and what follows it is no 'key: value'
                1 | gaussian: {radius: \(written)}
                  |                    \(String(repeating: "^", count: written.count))
                  = did you mean \(meant)? decimals come after a point
                """)
    }

    @Test func `a field alone is refused`() {
        #expect(
            ParsedText("output: {stem}\n").messages
                == """
                text.yaml:1:10: error: 'stem' has no value
                1 | output: {stem}
                  |          ^^^^
                  = write {stem: value}; if the braces belong to a text, quote it
                """)
    }

    @Test func `text behind a closing bracket is refused`() {
        #expect(
            ParsedText("inputs: [a, b] c\n").messages
                == """
                text.yaml:1:16: error: text after the closing ']'
                1 | inputs: [a, b] c
                  |                ^
                  = remove it, or quote the whole value
                """)
    }

    @Test func `a comma too many at the end is refused`() {
        #expect(
            ParsedText("inputs: [a, b, ]\n").messages
                == """
                text.yaml:1:14: error: nothing stands between the commas
                1 | inputs: [a, b, ]
                  |              ^
                  = remove the comma that is too many
                """)
    }

    @Test func `a comma too many inside is refused`() {
        #expect(
            ParsedText("inputs: [a,, b]\n").messages
                == """
                text.yaml:1:12: error: nothing stands between the commas
                1 | inputs: [a,, b]
                  |            ^
                  = remove the comma that is too many
                """)
    }

    @Test func `a comma too many inside braces is refused`() {
        #expect(
            ParsedText("save: {, quality: 1}\n").messages
                == """
                text.yaml:1:8: error: nothing stands between the commas
                1 | save: {, quality: 1}
                  |        ^
                  = remove the comma that is too many
                """)
    }

    @Test func `a key without a value inside braces is refused`() {
        #expect(
            ParsedText("save: {quality, metadata: keep}\n").messages
                == """
                text.yaml:1:8: error: 'quality' has no value
                1 | save: {quality, metadata: keep}
                  |        ^^^^^^^
                  = write {quality: value}; if the braces belong to a text, quote it
                """)
    }

    @Test func `a key with an empty value inside braces is refused`() {
        #expect(
            ParsedText("save: {quality: , metadata: keep}\n").messages
                == """
                text.yaml:1:8: error: 'quality' has no value
                1 | save: {quality: , metadata: keep}
                  |        ^^^^^^^
                  = write {quality: value}; if the braces belong to a text, quote it
                """)
    }

    @Test func `a colon without a blank inside braces is refused`() {
        #expect(
            ParsedText("save: {quality:1}\n").messages
                == """
                text.yaml:1:15: error: no blank after 'quality:'
                1 | save: {quality:1}
                  |               ^
                  = write 'quality: ' and the value
                """)
    }

    @Test func `a blank before a colon inside braces is refused`() {
        #expect(
            ParsedText("save: {quality : 1}\n").messages
                == """
                text.yaml:1:16: error: a blank between 'quality' and its colon
                1 | save: {quality : 1}
                  |                ^
                  = write 'quality: ' and the value
                """)
    }

    @Test func `a quoted key inside braces is refused`() {
        #expect(
            ParsedText("save: {\"quality\": 1}\n").messages
                == """
                text.yaml:1:8: error: the key 'quality' is in quotes
                1 | save: {"quality": 1}
                  |        ^^^^^^^^^
                  = write it without: quality:
                """)
    }

    @Test func `a bad key inside braces is refused`() {
        #expect(
            ParsedText("save: {my key: 1}\n").messages
                == """
                text.yaml:1:8: error: 'my key' is not a key
                1 | save: {my key: 1}
                  |        ^^^^^^
                  = a key is a letter or '_', then letters, digits, '_' and '-'; if this is text with a colon, quote it
                """)
    }

    @Test func `a merge key inside braces is refused`() {
        #expect(
            ParsedText("save: {<<: a}\n").messages
                == """
                text.yaml:1:8: error: merge keys ('<<:') are not read
                1 | save: {<<: a}
                  |        ^^
                  = write the entries here once more
                """)
    }

    @Test func `a key that is given twice inside braces is refused`() {
        #expect(
            ParsedText("save: {quality: 1, quality: 2}\n").messages
                == """
                text.yaml:1:20: error: 'quality' is already given in line 1
                1 | save: {quality: 1, quality: 2}
                  |                    ^^^^^^^
                  = remove one of the two
                """)
    }

    @Test func `a pair inside a list is refused`() {
        #expect(
            ParsedText("filters: [gaussian: {radius: 3}]\n").messages
                == """
                text.yaml:1:19: error: a 'key: value' pair inside a list
                1 | filters: [gaussian: {radius: 3}]
                  |                   ^
                  = put it in braces: [{key: value}]
                """)
    }

    @Test func `a colon and a blank inside a value inside braces are refused`() {
        #expect(
            ParsedText("save: {metadata: a: b}\n").messages
                == """
                text.yaml:1:19: error: ': ' inside a value makes it another 'key: value'
                1 | save: {metadata: a: b}
                  |                   ^
                  = quote it: 'a: b'
                """)
    }

    @Test func `a missing comma between two keys is shown`() {
        #expect(
            ParsedText("save: {compression: zstd level: 3}\n").messages
                == """
                text.yaml:1:31: error: ': ' inside a value makes it another 'key: value'
                1 | save: {compression: zstd level: 3}
                  |                               ^
                  = if a comma is missing, write {…: zstd, level: 3}; if this is one text, quote it: 'zstd level: 3'
                """)
    }

    @Test func `no comma is proposed in a text that has no key`() {
        #expect(ParsedText("save: {note: see http://x: y}\n").messages.hasSuffix("= quote it: 'see http://x: y'"))
    }

    @Test func `braces inside a text inside braces are refused`() {
        #expect(
            ParsedText("a: {output: out/{dir}/x.png}\n").messages
                == """
                text.yaml:1:17: error: a bracket or brace inside a text inside brackets
                1 | a: {output: out/{dir}/x.png}
                  |                 ^
                  = quote it: 'out/{dir}/x.png'
                """)
    }

    @Test func `a missing comma is refused`() {
        #expect(
            ParsedText("inputs: ['a' 'b']\n").messages
                == """
                text.yaml:1:14: error: expected ',' or ']'
                1 | inputs: ['a' 'b']
                  |              ^
                  = put a comma between entries
                """)
    }

    @Test func `an alias inside brackets is refused`() {
        #expect(
            ParsedText("inputs: [*.jpg, b]\n").messages
                == """
                text.yaml:1:10: error: '*' at the start makes this a YAML alias, which is not read
                1 | inputs: [*.jpg, b]
                  |          ^^^^^
                  = quote it: '*.jpg'
                """)
    }

    @Test func `a dash inside brackets is refused`() {
        #expect(
            ParsedText("inputs: [- a, b]\n").messages
                == """
                text.yaml:1:10: error: a value cannot begin with '-'
                1 | inputs: [- a, b]
                  |          ^^^
                  = quote it: '- a'
                """)
    }

    @Test func `a tab inside brackets is refused`() {
        #expect(
            ParsedText("inputs: [a,\tb]\n").messages
                == """
                text.yaml:1:12: error: a tab outside quotes
                1 | inputs: [a,→b]
                  |            ^
                  = write a space, or quote the text that has the tab
                """)
    }
}
