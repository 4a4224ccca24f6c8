/// A file, and why a message or a report names it.
package struct FileReason: Hashable, Sendable, Codable {
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}
