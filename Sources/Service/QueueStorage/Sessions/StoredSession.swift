package import Queueing

/// The session of a browser, as the database has it. Its cookie is not stored.
package struct StoredSession: Hashable, Sendable {
    /// SHA-256 of the cookie: 32 bytes.
    package let digest: [UInt8]
    /// The identifier of the token that the browser has shown.
    package let token: String
    package let created: WallTime
    package let expires: WallTime

    package init(digest: [UInt8], token: String, created: WallTime, expires: WallTime) {
        self.digest = digest
        self.token = token
        self.created = created
        self.expires = expires
    }
}
