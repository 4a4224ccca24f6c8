package import Queueing

/// The body of `POST /session`: `{"token": "pnb_…"}`
package struct SignInRequest: Hashable, Sendable {
    package let token: String

    package init(token: String) { self.token = token }
}

extension SignInRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case token }

    package init(from decoder: any Decoder) throws {
        token = try decoder.request(keyedBy: CodingKeys.self).decode(String.self, forKey: .token)
    }
}

/// Who a caller is, by his session or his token: the answer to `GET /session`.
package struct SessionEntry: Hashable, Sendable, Codable {
    /// The name that an administrator has given the token.
    package let name: String
    package let scope: TokenScope
    /// Which jobs are his own.
    package let owner: Owner
    /// The folders that his jobs may use. Empty for no limit.
    package let roots: [String]
    /// The highest priority that he may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    /// Nil if it does not expire.
    package let expires: WallTime?

    package init(
        name: String, scope: TokenScope, owner: Owner, roots: [String], maxPriority: Priority? = nil, expires: WallTime?
    ) {
        self.name = name
        self.scope = scope
        self.owner = owner
        self.roots = roots
        self.maxPriority = maxPriority
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey {
        case name, scope, owner, roots
        case maxPriority = "max_priority"
        case expires
    }
}
