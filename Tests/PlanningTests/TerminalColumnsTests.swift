import JobModel
import Testing

/// How much room a terminal gives to a name.
@Suite struct TerminalColumnsTests {
    @Test(
        arguments: [
            ("", 0), ("photo.jpg", 9), ("Straße", 6), ("写真.jpg", 8), ("ｶﾒﾗ", 3), ("ＡＢ", 4), ("사진", 4),
            ("e\u{301}t", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("📷 1", 4), ("☔", 2), ("ก\u{0E34}", 1),
            ("a\u{200D}b", 2),
        ] as [(String, Int)])
    func `a wide character takes two columns, a combining one none`(text: String, columns: Int) {
        #expect(text.terminalColumns == columns)
    }

    @Test(arguments: [(0, ""), (1, ""), (2, "写"), (3, "写"), (4, "写真"), (9, "写真e\u{301}")])
    func `a text is cut where its columns end`(columns: Int, prefix: String) {
        #expect("写真e\u{301}".prefix(columns: columns) == prefix)
    }
}
