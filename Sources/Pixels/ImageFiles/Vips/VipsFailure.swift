import CVips

/// What libvips said when a call of it failed, as one line.
struct VipsFailure: Error {
    let line: String

    /// Takes libvips' error text and leaves its buffer empty.
    ///
    /// The buffer belongs to the process, not to a thread: text of a failure elsewhere at the same moment may be in
    /// it. The text is for people alone; that a call failed is known from its result.
    static func take() -> VipsFailure {
        guard let buffer = vips_error_buffer_copy() else { return VipsFailure(line: fallback) }
        defer { g_free(buffer) }
        return VipsFailure(line: firstLine(of: String(cString: buffer)))
    }

    private static let fallback = "libvips gave no reason"

    /// The first line that says something, without the name of the part of libvips before it (`VipsJpeg: …`).
    static func firstLine(of text: String) -> String {
        for line in text.split(whereSeparator: \.isNewline) {
            var words = line[...]
            if let colon = words.firstIndex(of: ":"), !words[..<colon].contains(" ") {
                words = words[words.index(after: colon)...]
            }
            let trimmed = words.drop { $0.isWhitespace }
            if !trimmed.isEmpty { return String(trimmed) }
        }
        return fallback
    }
}
