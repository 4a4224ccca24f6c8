/// Why a worker could not finish an attempt, told by the worker itself. (A worker that dies tells nothing; the
/// coordinator classes its death.)
package struct TaskFailure: Error, Hashable, Sendable, Codable {
    /// Decides what happens next.
    package enum Kind: Hashable, Sendable, Codable {
        /// The picture is broken. Another attempt would fail alike.
        case data
        /// A value of the manifest does not suit this picture, though it may suit others. Another attempt would fail alike.
        case value
        /// A plugin, with its name, did what no plugin may do. Another attempt would fail alike.
        case plugin(String)
        /// The picture is not there, or is another one now. It may be there another time.
        case input
        /// The picture may not be read, or its output not be written, by this user.
        case permission
        /// The picture is more than a setting allows. Another attempt would fail alike.
        case limit
        /// The output cannot be put where it is wanted; other frames' may.
        case output
        /// The disk is full or read-only, a quota is reached: no picture can be written here.
        case storage
        /// This process may have no more threads, open files or memory: see ``Shortage``. Another attempt may.
        case resourceLimit
        /// A tile's file does not hold the pixels of its receipt; that tile is rendered again.
        case damagedTile(index: Int)
        /// The canvas could not be read back; the frame starts again.
        case damagedCanvas
        /// Pixels or the file that was written differ from what was rendered; the frame starts again.
        case mismatch
        /// Something else that another attempt may not meet.
        case transient

        /// Receipts and journals store these names.
        private enum CodingKeys: String, CodingKey {
            case data, value, plugin, input, permission, limit, output, damagedTile, damagedCanvas, mismatch, transient
            case storage = "place"
            case resourceLimit = "machine"
        }
    }

    package let kind: Kind
    /// One sentence that names the file and the reason, and what to do where there is something to do.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
