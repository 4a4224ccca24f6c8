/// Why a worker could not finish an attempt, as the worker reports it. (If a worker dies, the coordinator classifies
/// its death instead.)
package struct TaskFailure: Error, Hashable, Sendable, Codable {
    /// The kind decides what happens next.
    package enum Kind: Hashable, Sendable, Codable {
        /// The picture is broken. Another attempt would fail, too.
        case data
        /// A value of the manifest does not suit this picture, though it may suit others. Another attempt would fail,
        /// too.
        case value
        /// The plugin of this name broke the rules for plugins. Another attempt would fail, too.
        case plugin(String)
        /// The picture does not exist, or was replaced. A later run may find it.
        case input
        /// This user may not read the picture, or may not write its output.
        case permission
        /// The picture exceeds a setting's limit. Another attempt would fail, too.
        case limit
        /// The output cannot be written at its path. Outputs of other frames may be.
        case output
        /// The disk is full or read-only, or a quota is reached. No picture can be written here.
        case storage
        /// This process gets no more threads, open files or memory, see ``ResourceLimitError``. Another attempt may get them.
        case resourceLimit
        /// A tile's file does not hold the pixels of its receipt. The tile is rendered again.
        case damagedTile(index: Int)
        /// The canvas could not be read back. The frame starts again.
        case damagedCanvas
        /// Pixels, or the written file, differ from what was rendered. The frame starts again.
        case mismatch
        /// Something else that may not happen in another attempt.
        case transient

        /// Receipts and journals store these names.
        private enum CodingKeys: String, CodingKey {
            case data, value, plugin, input, permission, limit, output, damagedTile, damagedCanvas, mismatch, transient
            case storage = "place"
            case resourceLimit = "machine"
        }
    }

    package let kind: Kind
    /// One sentence with the file, the reason, and the remedy if there is one.
    package let message: String

    /// In bytes. A message has a path of up to 4,096 bytes, or two, and the words of a library or a plugin.
    package static let longestMessage = 16_000

    /// The end of a message that is too long is left out.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message.prefix(bytes: Self.longestMessage)
    }
}

extension String {
    /// The beginning of the text, in complete characters of Unicode, of at most so many bytes.
    package func prefix(bytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: most)
        // Continuation bytes of a UTF-8 character begin with the bits 10.
        while utf8[end] & 0b1100_0000 == 0b1000_0000 { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}
