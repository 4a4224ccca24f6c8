import Catalogs
import Manifests
import Testing

/// How a problem is printed.
@Suite struct RenderingTests {
    @Test func `an error has its place, its line, its carets and what to do`() {
        let text = """
            # A poster.
            job: poster
            inputs: posters/*.tif
            filters:
              - invert
              - gausian: {radius: 12}
            output: out/{stem}.png
            """
        #expect(
            Reading(text).messages == """
                job.yaml:6:5: error: unknown filter 'gausian'
                6 |   - gausian: {radius: 12}
                  |     ^^^^^^^
                  = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer
                """)
    }

    @Test func `the gutter is as wide as the line's number`() {
        #expect(
            ParsedText(String(repeating: "\n", count: 99) + "a:b").messages == """
                text.yaml:100:2: error: no blank after 'a:'
                100 | a:b
                    |  ^
                    = write 'a: ' and the value
                """)
    }

    @Test func `a warning looks like an error and keeps the job`() {
        let reading = Reading.job("output: out/x.png")
        #expect(reading.job != nil)
        #expect(reading.messages.hasPrefix("job.yaml:1:9: warning: all outputs get the same name"))
    }

    @Test func `carets stand under wide characters and behind combining ones`() {
        #expect(
            ParsedText("a: [日本, e\u{301}, *x]").messages == """
                text.yaml:1:13: error: '*' at the start makes this a YAML alias, which is not read
                1 | a: [日本, e\u{301}, *x]
                  |              ^^
                  = quote it: '*x'
                """)
        #expect(
            ParsedText("a: *日本").messages == """
                text.yaml:1:4: error: '*' at the start makes this a YAML alias, which is not read
                1 | a: *日本
                  |    ^^^^^
                  = quote it: '*日本'
                """)
    }

    @Test func `a long line is cut around the mark`() {
        let long = String(repeating: "x, ", count: 60)
        #expect(
            ParsedText("a: [\(long)*b, \(long)]").messages == """
                text.yaml:1:185: error: '*' at the start makes this a YAML alias, which is not read
                1 | … x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, *b, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, …
                  |                                                                        ^^
                  = quote it: '*b'
                """)
    }

    @Test(arguments: ["a: *\u{1B}[31m\u{202E}x\u{200D}y", "a: {\u{1B}c}", "\u{1B}c", "\u{1B}c: x", "a: {b\u{202E}: x}"])
    func `control sequences do not reach the terminal`(text: String) {
        let messages = ParsedText(text).messages
        #expect(!messages.isEmpty)
        #expect(!messages.unicodeScalars.contains { [0x1B, 0x202E, 0x200D].contains($0.value) })
    }

    @Test func `a file name with a line break stays on its line`() {
        let result = JobReader.read(bytes: [], path: "a\nb", realPath: "/a\nb", catalog: .example)
        #expect(result.messages.first?.hasPrefix(#"a\u{a}b:1:1: error: "#) == true)
    }

    @Test func `a line that was made of an argument is shown as the argument, and has no number`() {
        let result = JobReader.read(
            bytes: Array("job: a b\nfilters:\n  - gausian: 5\n".utf8), path: "apply", realPath: "/apply",
            arguments: [nil, nil, ArgumentLine("the chain", before: 4)], catalog: .example)
        #expect(
            result.messages.contains { message in
                message.hasPrefix("the chain: error: unknown filter 'gausian'\n  | gausian: 5\n  | ^^^^^^^\n  = ")
            }, "\(result.messages)")
        // Nobody has written this line, and no argument has it.
        #expect(result.messages.contains { $0.hasPrefix("apply: error: ") && $0.contains("\n  | job: a b\n") })
        let quoted = ArgumentLine("--output a", before: 9, behind: 1)
        #expect((quoted.column(for: 10), quoted.column(for: 3)) == (1, 1))
    }

    @Test func `after a hundred problems the rest is counted`() {
        let lines = (0..<103).map { "key\($0):\n" }.joined()
        let diagnostics = ParsedText(lines).diagnostics
        #expect(diagnostics.count == 101)
        #expect(
            diagnostics.last?.problem.words
                == Words(
                    "3 more problems are not shown",
                    remedy: "fix those above first: some of these may be fixed with them"))
        #expect(diagnostics.last?.position.line == 101)
    }
}
