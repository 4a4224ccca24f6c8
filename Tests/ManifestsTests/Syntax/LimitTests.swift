import Manifests
import Testing

/// Limits of the format. Each is named by its error.
@Suite struct LimitTests {
    @Test func `a file of more than one mebibyte is not read`() {
        #expect(
            ParsedText("# " + String(repeating: "x", count: SyntaxLimits.bytes)).messages
                == """
                text.yaml:1:1: error: the file has 1048578 bytes, more than the 1048576 that are read
                1 |
                  | ^
                  = name inputs by globs instead of one by one, or cut the job into several
                """)
    }

    @Test func `blocks nested too deep are refused`() {
        #expect(
            ParsedText(nestedBlocks(SyntaxLimits.depth + 1)).messages
                == """
                text.yaml:17:17: error: more than 16 blocks inside each other
                17 |                 k: v
                   |                 ^^^^
                   = no key needs that many
                """)
    }

    @Test func `brackets nested too deep are refused`() {
        #expect(
            ParsedText("a: [[[[[b]]]]]\n").messages
                == """
                text.yaml:1:8: error: more than 4 brackets inside each other
                1 | a: [[[[[b]]]]]
                  |        ^
                  = write the outer ones as indented lines
                """)
    }

    @Test func `brackets in nested blocks count together`() {
        #expect(
            ParsedText(nestedBlocks(SyntaxLimits.depth - 1, value: "[[a]]")).messages
                == """
                text.yaml:15:19: error: more than 16 blocks inside each other
                15 |               k: [[a]]
                   |                   ^
                   = no key needs that many
                """)
    }

    @Test func `a compact mapping counts as a block`() {
        #expect(
            ParsedText(nestedBlocks(SyntaxLimits.depth - 1, value: "\n" + String(repeating: " ", count: 14) + "- k: v"))
                .messages
                    == """
                    text.yaml:16:15: error: more than 16 blocks inside each other
                    16 |               - k: v
                       |               ^^^^^^
                       = no key needs that many
                    """)
    }

    @Test func `a value too many ends the reading`() {
        #expect(
            ParsedText(String(repeating: "- x\n", count: SyntaxLimits.nodes)).messages
                == """
                text.yaml:1:1: error: more than 100000 values
                1 | - x
                  | ^^^
                  = name inputs by globs instead of one by one, or cut the job into several
                """)
    }

    @Test func `a value too many inside brackets ends the reading`() {
        #expect(
            ParsedText("a: [" + String(repeating: "x,", count: SyntaxLimits.nodes) + "x]").messages
                == """
                text.yaml:1:200005: error: more than 100000 values
                1 | …x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x]
                  |                                                                        ^
                  = name inputs by globs instead of one by one, or cut the job into several
                """)
    }

    @Test func `a key that is too long is refused`() {
        #expect(
            ParsedText(String(repeating: "k", count: SyntaxLimits.keyLength + 1) + ": v").messages
                == """
                text.yaml:1:1: error: a key of more than 128 characters
                1 | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: v
                  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = no key is that long
                """)
    }
}

/// Mappings inside each other, `depth` of them, the innermost with `value`.
private func nestedBlocks(_ depth: Int, value: String = "v") -> String {
    let keys = (0..<depth).map { String(repeating: " ", count: $0) + "k:" }
    return keys.joined(separator: "\n") + " " + value + "\n"
}
