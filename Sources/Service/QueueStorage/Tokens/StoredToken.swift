package import Queueing

/// A token as the database has it. Its secret is not stored.
package struct StoredToken: Hashable, Sendable {
    /// Not secret.
    package let id: String
    /// For people. Several tokens may have the same one.
    package let name: String
    /// SHA-256 of the secret: 32 bytes.
    package let digest: [UInt8]
    package let scope: TokenScope
    /// The folders that its jobs may use. Empty for no limit.
    package let roots: [String]
    /// The highest priority that its owner may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    package let created: WallTime
    /// Nil for never.
    package let expires: WallTime?
    package let used: WallTime?
    package let revoked: WallTime?

    package init(
        id: String, name: String, digest: [UInt8], scope: TokenScope, roots: [String] = [],
        maxPriority: Priority? = nil, created: WallTime, expires: WallTime? = nil, used: WallTime? = nil,
        revoked: WallTime? = nil
    ) {
        self.id = id
        self.name = name
        self.digest = digest
        self.scope = scope
        self.roots = roots
        self.maxPriority = maxPriority
        self.created = created
        self.expires = expires
        self.used = used
        self.revoked = revoked
    }
}
