import FoundationEssentials
package import JobModel

extension OutputEncoding {
    /// The same text for the same encoding, always.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Words and whole numbers, which JSON always can.
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Nil for the text of a version of Penumbra that wrote other ones.
    package init?(text: String) {
        guard let encoding = try? JSONDecoder().decode(OutputEncoding.self, from: Data(text.utf8)) else { return nil }
        self = encoding
    }
}
