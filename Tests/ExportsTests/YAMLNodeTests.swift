import Exports
import Testing
import Yams

/// What is written has to be read by YAML parsers as it was meant.
@Suite struct YAMLNodeTests {
    @Test func `blocks are laid out as a person would`() {
        let node = YAMLNode.map([
            "name": .text("blur"), "count": .number(3), "left": nil, "none": .list([]),
            "steps": .list([
                .map(["name": .text("Render"), "args": .texts(["--index", "{{Task.Param.Shard}}", "a b"])]),
                .text("last"),
            ]),
            "limits": .map(["timeout": .number(60)]),
        ])
        #expect(
            node.written == """
                name: blur
                count: 3
                none: []
                steps:
                  - name: Render
                    args:
                      - "--index"
                      - "{{Task.Param.Shard}}"
                      - a b
                  - last
                limits:
                  timeout: 60

                """)
    }

    static let odd = [
        "", " ", "a ", " a", "a: b", "a:", "- a", "-", "--- a", "...", "#", "a #b", "a#b", "{{Param.X}}", "[a]", "{a}",
        "*a",
        "&a", "!a", "|", ">", "%", "@", "`", "'", "\"", "\\", "a\\nb", "it's", "say \"so\"", "a\nb", "a\r\nb", "\t",
        "a\u{0}b",
        "\u{7F}", "\u{85}", "\u{2028}", "a\u{FEFF}b", "\u{FFFE}", "\u{1FFFF}", "é", "e\u{301}", "日本", "🌘", "yes", "No",
        "ON",
        "true", "null", "~", "y", "3", "-3", "0x1f", "1e3", ".5", ".inf", ".nan", "1:30", "2026-11-23", "=", "<<", "?",
        "? a",
        ",", "a, b", "/srv/it's here/(1).yaml", "$HOME", "a;b", "_x", "+1",
    ]

    @Test(arguments: odd) func `a text is read as the same text`(text: String) throws {
        let written = YAMLNode.map(["value": .text(text), "list": .texts([text, text])]).written
        let read = try #require(try Yams.load(yaml: written) as? [String: Any])
        let value = read["value"] as? String
        #expect(value.map { Array($0.utf8) } == Array(text.utf8), "\(written)")
        #expect((read["list"] as? [String])?.map { Array($0.utf8) } == [Array(text.utf8), Array(text.utf8)])
    }

    @Test(arguments: odd) func `a key is read as the same text`(text: String) throws {
        let written = YAMLNode.map([text: .number(1)]).written
        let read = try #require(try Yams.load(yaml: written) as? [String: Int])
        #expect(read.keys.map { Array($0.utf8) } == [Array(text.utf8)])
    }
}
