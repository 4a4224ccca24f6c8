import Manifests
import Testing

/// What the format accepts, and the tree that it gives.
@Suite struct AcceptedSyntaxTests {
    @Test func `blocks nest by indentation`() {
        let text = ParsedText("a:\n  b:\n      c: 1\n      d: 2\n  e: 3\nf: 4\n")
        #expect(text.outline == #"{a: {b: {c: "1", d: "2"}, e: "3"}, f: "4"}"#)
    }

    @Test func `a list stands below its key, indented or not`() {
        #expect(
            ParsedText("a:\n  - 1\n  - 2\nb:\n- 3\n- 4\nc: 5\n").outline == #"{a: ["1", "2"], b: ["3", "4"], c: "5"}"#)
    }

    @Test func `a list item holds a mapping from its own line on`() {
        #expect(
            ParsedText("- a: 1\n  b: 2\n-   c:\n      d: 3\n    e: 4\n- f:\n  - 5\n").outline
                == #"[{a: "1", b: "2"}, {c: {d: "3"}, e: "4"}, {f: ["5"]}]"#)
    }

    @Test func `a block may begin below its dash`() {
        #expect(ParsedText("-\n  a: 1\n- # why\n  - 2\n").outline == #"[{a: "1"}, ["2"]]"#)
    }

    @Test func `brackets hold lists and mappings on one line`() {
        #expect(
            ParsedText("a: [1, '2', \"3\", [4], {b: 5}]\nc: { d: {e: 6},f: 7 }\ng: []\nh: {}\n").outline
                == #"{a: ["1", "2", "3", ["4"], {b: "5"}], c: {d: {e: "6"}, f: "7"}, g: [], h: {}}"#)
    }

    @Test func `a root may be indented`() {
        #expect(ParsedText("  a: 1\n  b: 2\n").outline == #"{a: "1", b: "2"}"#)
    }

    @Test func `comments stand on lines of their own and behind values`() {
        let text = ParsedText("# one\na: 1 # two\n   #three\nb: 'x' #\n\nc: # four\n  - y#z   # five\n# six")
        #expect(text.outline == #"{a: "1", b: "x", c: ["y#z"]}"#)
    }

    @Test(arguments: ["a: 1\nb: 2\n", "a: 1\nb: 2", "a: 1\r\nb: 2\r\n", "a: 1\r\nb: 2", "\n\na: 1   \n   \nb:   2\n\n"])
    func `line ends, blank lines and trailing spaces make no difference`(text: String) {
        #expect(ParsedText(text).outline == #"{a: "1", b: "2"}"#)
    }

    @Test(arguments: [
        "no", "null", "~", "true", "007", "1e3", "0x1F", ".5", "12:30:45", "2026-11-21", "-1", "--", "-x", "=", "<<",
        "a:b", "http://x/y?z=1#top", "it's", "a - b", "a ? b", "a & b", "a#b", "100%",
        "out/{dir}/{stem}.png", "photos/**/*.jpg", "a [b]", "a, b", "say \"hi\"", #"C:\photos"#, "é e\u{301} 日本語 😀",
        "a  b", "x @y", "a|b>c", "$HOME", "(x)", "^", "+3",
    ])
    func `a plain value is the text that is written`(value: String) {
        let text = ParsedText("a: \(value)\nb:\n  - \(value)\n")
        #expect(text.outline == "{a: \(value.literal), b: [\(value.literal)]}")
    }

    @Test func `single quotes take everything as it is`() {
        #expect(ParsedText(#"a: 'it''s: "\n" # {x}'"#).outline == #"{a: "it's: \"\\n\" # {x}"}"#)
        #expect(ParsedText("a: ''").outline == #"{a: ""}"#)
        #expect(ParsedText("a: ''''").outline == #"{a: "'"}"#)
    }

    @Test func `double quotes take the escapes of JSON`() {
        let text = ParsedText(#"a: "\" \\ \/ \b \f \n \r \t \u00e9 \u20AC 'x' # y""#)
        #expect(text.root?.text(of: "a") == "\" \\ / \u{8} \u{C} \n \r \t é € 'x' # y")
    }

    @Test func `a tab may stand inside quotes and comments`() {
        #expect(ParsedText("a: 'x\ty' #\tz\n").outline == #"{a: "x\ty"}"#)
    }

    @Test(arguments: ["a", "_", "A9", "a-b_c-9", "no", "null", "true"])
    func `a key is a word`(key: String) {
        #expect(ParsedText("\(key): 1").outline == #"{\#(key): "1"}"#)
        #expect(ParsedText("x: {\(key): 1}").outline == #"{x: {\#(key): "1"}}"#)
    }

    @Test func `a no-break space may stand inside quotes`() {
        #expect(ParsedText("a: 'x\u{A0}y'").root?.text(of: "a") == "x\u{A0}y")
    }

    @Test func `a span covers the key, and the value with its quotes`() {
        let entry = ParsedText("a: 1\nlong-key:   'it''s'  # why\n").root?.entries.last
        #expect(entry?.keySpan == SourceSpan(source: .file, start: .init(line: 2, column: 1), length: 8))
        #expect(entry?.value.span == SourceSpan(source: .file, start: .init(line: 2, column: 13), length: 7))
    }

    @Test func `columns count Unicode scalars`() {
        let list = ParsedText("a: [é, 日本, 😀]").root?.entries.first?.value
        guard case .sequence(let items) = list?.content else { return #expect(Bool(false), "a list") }
        #expect(items.map(\.span.start.column) == [5, 8, 12])
        #expect(items.map(\.span.length) == [1, 2, 1])
    }
}

extension SyntaxNode {
    fileprivate var entries: [Entry] {
        if case .mapping(let mapping) = content { mapping.entries } else { [] }
    }

    fileprivate func text(of key: String) -> String? {
        entries.first { $0.key == key }?.value.text
    }
}
