import Foundation
import JobModel
import TestSupport
import Testing

/// The doors that text passes on its way to a terminal, a log or a program.
@Suite struct HostileTextTests {
    @Test(arguments: HostileText.all) func `no door lets it through`(text: String) throws {
        #expect(HostileText.remains(in: VisibleText.line(text)) == [])
        #expect(HostileText.remains(in: VisibleText.message(text)) == [])
        #expect(HostileText.remains(in: VisibleText.lines(text).replacing("\t", with: ""), lines: true) == [])
        let json = try JSONEncoder().encode([text])
        let visible = VisibleText.json(Array(json))
        #expect(HostileText.remains(in: String(decoding: visible, as: UTF8.self)) == [])
        let read = try #require(JSONSerialization.jsonObject(with: Data(visible)) as? [String])
        #expect(read.first?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
    }

    @Test func `bytes that are no UTF-8 become visible, too`() {
        let text = VisibleText.json([0x22, 0x9B, 0x32, 0xFF, 0x22])
        #expect(String(decoding: text, as: UTF8.self) == "\"\u{fffd}2\u{fffd}\"")
    }

    @Test(arguments: ["❤\u{fe0f}", "葛\u{e0100}", "한글", "ក\u{17b6}", "e\u{301}"])
    func `what gives a character its form stays`(text: String) {
        #expect(VisibleText.line(text) == text)
    }
}
