import Glibc

/// Bounds of what one picture may cost.
package struct DecodeLimits: Hashable, Sendable {
    /// More pixels are refused, as the header announces them, before memory is taken.
    package let maxPixels: Int
    /// A picture that has to be turned is held whole; above this many bytes in a scratch file, not in memory.
    package let memoryBytes: Int
    /// Where that scratch file lies. It has no name and goes with the process.
    package let scratchFolder: String

    /// What a picture that is turned takes in memory at most.
    package static let heldBytes = 256 << 20

    package init(maxPixels: Int, memoryBytes: Int = heldBytes, scratchFolder: String? = nil) {
        self.maxPixels = maxPixels
        self.memoryBytes = memoryBytes
        self.scratchFolder = scratchFolder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }
}
