import FoundationEssentials
import JobModel

/// A value that is kept as one text of JSON.
package protocol StoredJSON: Codable {}

extension OutputEncoding: StoredJSON {}

extension StoredJSON {
    /// The same text for the same value, always: texts are compared.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Such values hold texts and finite numbers, which JSON always can.
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Nil for the text of a version of Penumbra that wrote other ones.
    package init?(text: String) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}
