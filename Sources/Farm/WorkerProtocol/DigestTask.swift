import JobModel

/// Reads files from end to end, to tell whether they are what they were.
package struct DigestTask: Hashable, Sendable, Codable {
    package struct File: Hashable, Sendable, Codable {
        package let path: String
        /// As in ``InputSpec``.
        package let bytes: [UInt8]?

        package init(path: String, bytes: [UInt8]? = nil) {
            self.path = path
            self.bytes = bytes
        }

        /// Files are told apart by their names' bytes.
        package static func == (a: File, b: File) -> Bool {
            PathKey(a.path) == PathKey(b.path) && a.bytes == b.bytes
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(PathKey(path))
            hasher.combine(bytes)
        }
    }

    package let files: [File]

    package init(files: [File]) { self.files = files }
}
