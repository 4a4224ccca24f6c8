/// Text that a worker, a plugin, a file's name, a cluster or a client may send, and that may reach no terminal as it is.
package enum HostileText {
    /// The characters that a terminal, a reader or a log obeys or hides. This list is written without the code that it
    /// tests.
    private static let ranges: [ClosedRange<UInt32>] = [
        // C0 and DEL with C1.
        0x00...0x1F, 0x7F...0x9F,
        // Soft hyphen, letters and marks without a form, Arabic letter mark.
        0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E...0x180E,
        // Zero-width space, marks of direction, separators of lines and paragraphs, embeddings, isolates.
        0x200B...0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F,
        // Fillers, the byte order mark, interlinear marks, tags.
        0x3164...0x3164, 0xFEFF...0xFEFF, 0xFFA0...0xFFA0, 0xFFF9...0xFFFB, 0xE0001...0xE0001, 0xE0020...0xE007F,
    ]

    /// Texts with such characters at their begin, in their midst and at their end, for what they are used for.
    package static let all: [String] =
        ranges.flatMap { $0 }.compactMap(Unicode.Scalar.init).map { "a\(Character($0))b" } + [
            "\u{1b}[2J\u{1b}]0;title\u{7}", "\u{9b}31mred", "exe\u{202e}gpj", "\u{2066}a\u{2069}",
            "line\r\nforged: 40 published",
            "line\u{2028}forged", "line\u{85}forged", "\u{feff}a", "pay\u{200b}pal", "\r\nopenjd_env: A=b",
            String(decoding: [0x61, 0x9B, 0x32, 0x4A, 0xFF, 0xC3], as: UTF8.self) + "\u{9b}",
        ]

    /// The characters of a text that may not reach an output.
    ///
    /// - Parameter lines: Whether the output has lines of its own.
    package static func remains(in text: String, lines: Bool = false) -> [String] {
        text.unicodeScalars.filter { scalar in
            !(lines && scalar == "\n") && ranges.contains { $0.contains(scalar.value) }
        }.map { "U+" + String($0.value, radix: 16, uppercase: true) }
    }
}
