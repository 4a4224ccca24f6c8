import Coordination
import Testing

/// What is kept of the words of an attempt's worker.
@Suite struct LogTests {
    /// Characters of one to four bytes, of several code points, and with combining marks.
    private static let words = "aé€😀👩‍👩‍👧‍👦e\u{301}\r\nz"

    @Test func `a log is cut by bytes, and never within a character of Unicode`() {
        for count in 0...Self.words.utf8.count + 3 {
            let end = Self.words.lastBytes(count)
            #expect(end.utf8.count <= count)
            // No more is cut than the character within which the limit lies.
            #expect(end.utf8.count > min(count, Self.words.utf8.count) - 4)
            #expect(Self.words.utf8.suffix(end.utf8.count).elementsEqual(end.utf8))
            #expect(!end.unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test func `words of one long character are cut, too`() {
        let words = "x" + String(repeating: "\u{301}", count: 10_000)
        #expect(words.count == 1)
        #expect(words.lastBytes(4096).utf8.count == 4096)
    }
}
