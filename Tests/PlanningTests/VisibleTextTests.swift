import Foundation
import JobModel
import Testing

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("\u{1b}[31m", #"\u{1b}[31m"#), ("a\u{9b}2J", #"a\u{9b}2J"#), ("\u{202e}gpj", #"\u{202e}gpj"#),
        ("\u{2066}x\u{2069}", #"\u{2066}x\u{2069}"#), ("a\u{7f}", #"a\u{7f}"#), ("\u{feff}a", #"\u{feff}a"#),
        ("\u{e0041}", #"\u{e0041}"#), ("a\u{2028}b", #"a\u{2028}b"#), ("\r\n", #"\u{d}\u{a}"#),
    ]) func `what a terminal or a reader would obey is shown by its number`(text: String, shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test(arguments: ["héllo wörld", "写真 01.jpg", "👨‍👩‍👧.png", "می‌خواهم", "a b"])
    func `text of all scripts stays as it is`(text: String) {
        #expect(VisibleText.line(text) == text)
        #expect(VisibleText.lines(text) == text)
    }

    @Test func `messages keep their lines`() {
        #expect(VisibleText.lines("a\n\tb\u{1b}") == "a\n\tb\\u{1b}")
    }

    @Test func `a message keeps what to do on a line of its own, and no other line`() {
        #expect(
            VisibleText.message("a\r\nb: no\n   = do\nthis\u{202e}") == "a\\u{d}\\u{a}b: no\n   = do\\u{a}this\\u{202e}"
        )
    }

    @Test func `JSON keeps its meaning`() throws {
        let text = #"{"name":"a\#u{202e}b\#u{e0041}\#u{9b}"}"#
        let escaped = VisibleText.json(text)
        #expect(escaped == #"{"name":"a\u202eb\udb40\udc41\u009b"}"#)
        let object = try JSONSerialization.jsonObject(with: Data(escaped.utf8)) as? [String: String]
        #expect(object?["name"] == "a\u{202e}b\u{e0041}\u{9b}")
    }
}
