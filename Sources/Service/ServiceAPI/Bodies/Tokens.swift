package import Queueing

/// The body of `POST /tokens`.
package struct TokenRequest: Hashable, Sendable {
    /// For people, who find the token by it in lists.
    package let name: String
    package let scope: TokenScope
    /// The folders that its jobs may use. Empty for no limit: then a request has no such member.
    package let roots: [String]
    /// The highest priority that its owner may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    /// Nil if it does not expire.
    package let expires: WallTime?

    package init(
        name: String, scope: TokenScope, roots: [String] = [], maxPriority: Priority? = nil, expires: WallTime? = nil
    ) {
        self.name = name
        self.scope = scope
        self.roots = roots
        self.maxPriority = maxPriority
        self.expires = expires
    }

    package static let longestName = 63
    package static let mostRoots = 64
}

/// `{"name": "render-bot", "scope": "submit", "roots": ["/srv/a"], "max_priority": 60, "expires": "2027-02-25T00:00:00Z"}`
extension TokenRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, scope, roots
        case maxPriority = "max_priority"
        case expires
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        name = try values.decode(String.self, forKey: .name)
        guard (1...Self.longestName).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw values.fault(
                .name,
                "'\(BodyError.shown(name))' is no name of a token\n   = a name has 1 to \(Self.longestName) "
                    + "visible ASCII characters, without blanks")
        }
        let word = try values.decode(String.self, forKey: .scope)
        guard let scope = TokenScope(rawValue: word) else {
            throw values.fault(
                .scope,
                "there is no scope '\(BodyError.shown(word))'\n   = the scopes are "
                    + TokenScope.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.scope = scope
        roots = try values.texts(.roots, most: Self.mostRoots)
        // A program whose list is empty by mistake must not get a token for everything.
        guard !values.contains(.roots) || !roots.isEmpty else {
            throw values.fault(.roots, "it is empty\n   = name a folder, or leave 'roots' out for all folders")
        }
        for root in roots { try values.check(path: root, of: .roots) }
        maxPriority = try values.optional(.maxPriority)
        expires = try values.optional(.expires)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(scope, forKey: .scope)
        if !roots.isEmpty { try values.encode(roots, forKey: .roots) }
        try values.encodeIfPresent(maxPriority, forKey: .maxPriority)
        try values.encodeIfPresent(expires, forKey: .expires)
    }
}

/// The body of `POST /tokens/{id}/renew`: `{"expires": "2027-02-25T00:00:00Z"}`
package struct TokenRenewal: Hashable, Sendable, Codable {
    /// Nil if it does not expire.
    package let expires: WallTime?

    package init(expires: WallTime? = nil) { self.expires = expires }

    private enum CodingKeys: String, CodingKey, CaseIterable { case expires }

    package init(from decoder: any Decoder) throws {
        expires = try decoder.request(keyedBy: CodingKeys.self).optional(.expires)
    }
}

/// The body of `PATCH /tokens/{id}`: `{"max_priority": 60}`, or `{"max_priority": null}` for no limit.
package struct TokenChange: Hashable, Sendable {
    /// Nil for no limit.
    package let maxPriority: Priority?

    package init(maxPriority: Priority?) { self.maxPriority = maxPriority }
}

extension TokenChange: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case maxPriority = "max_priority" }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        guard values.contains(.maxPriority) else {
            throw BodyError(
                .refused("the request changes nothing\n   = name max_priority: a number, or null for no limit"))
        }
        maxPriority = try values.decode(Priority?.self, forKey: .maxPriority)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(maxPriority, forKey: .maxPriority)
    }
}

/// A token as lists show it. It has no secret.
package struct TokenEntry: Hashable, Sendable, Codable {
    package let id: String
    package let name: String
    package let scope: TokenScope
    package let roots: [String]
    /// The highest priority that its owner may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    package let created: WallTime
    package let expires: WallTime?
    /// When it was used last. Nil if never.
    package let used: WallTime?
    package let revoked: WallTime?

    package init(
        id: String, name: String, scope: TokenScope, roots: [String], maxPriority: Priority? = nil, created: WallTime,
        expires: WallTime?, used: WallTime?, revoked: WallTime?
    ) {
        self.id = id
        self.name = name
        self.scope = scope
        self.roots = roots
        self.maxPriority = maxPriority
        self.created = created
        self.expires = expires
        self.used = used
        self.revoked = revoked
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, scope, roots
        case maxPriority = "max_priority"
        case created, expires, used, revoked
    }
}

/// The answer to `POST /tokens`: the members of the entry, and the token, which is shown once.
package struct TokenCreated: Hashable, Sendable, Codable {
    package let entry: TokenEntry
    package let token: String
    /// Why jobs of the token will be refused on this machine. Nil if they will not.
    package let warning: String?

    package init(_ entry: TokenEntry, token: String, warning: String? = nil) {
        self.entry = entry
        self.token = token
        self.warning = warning
    }

    private enum CodingKeys: String, CodingKey { case token, warning }

    package init(from decoder: any Decoder) throws {
        entry = try TokenEntry(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        token = try values.decode(String.self, forKey: .token)
        warning = try values.decodeIfPresent(String.self, forKey: .warning)
    }

    package func encode(to encoder: any Encoder) throws {
        try entry.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(token, forKey: .token)
        try values.encodeIfPresent(warning, forKey: .warning)
    }
}

/// The answer to `GET /tokens`.
package struct TokenList: Hashable, Sendable, Codable {
    package let tokens: [TokenEntry]

    package init(_ tokens: [TokenEntry]) { self.tokens = tokens }
}
