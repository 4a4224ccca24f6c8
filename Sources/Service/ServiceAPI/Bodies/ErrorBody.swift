/// A problem of RFC 9457, as clients read it (`application/problem+json`).
package struct ErrorBody: Hashable, Sendable, Codable {
    /// `/problems/KIND`
    package let type: String?
    package let title: String?
    package let status: Int?
    package let detail: String?
    /// Several remedies are on lines of their own.
    package let remedy: String?
    package let errors: [Item]?

    /// One of several problems, of a manifest for example.
    package struct Item: Hashable, Sendable, Codable {
        /// Counted from 1. Nil if the problem has no place.
        package let line: Int?
        package let column: Int?
        package let message: String
        package let remedy: String?

        package init(line: Int? = nil, column: Int? = nil, message: String, remedy: String? = nil) {
            self.line = line
            self.column = column
            self.message = message
            self.remedy = remedy
        }
    }

    package init(
        type: String?, title: String?, status: Int?, detail: String?, remedy: String? = nil, errors: [Item]? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.remedy = remedy
        self.errors = errors
    }

    /// The last part of its type. Nil if it has none, as `about:blank`.
    package var kind: String? {
        guard let type, let slash = type.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let kind = String(type[type.utf8.index(after: slash)...])
        return kind.isEmpty ? nil : kind
    }

    /// The kind of a problem whose manifest is wrong. Its errors have the places.
    package static let manifestKind = "manifest"
    /// The kind of a problem whose manifest cannot be read.
    package static let missingManifestKind = "no-manifest"
    /// The kind of a change for which it is too late. It will never be possible.
    package static let endedKind = "ended"
    /// The kind of a job that would never start, because a job has failed whose success it needs.
    package static let needsKind = "needs"
    /// The kind of a change of something that only the config file can change.
    package static let configKind = "config"

    /// Whether a conflict (409) stays one: nothing is gained if the request is repeated later.
    package var isLasting: Bool { [Self.endedKind, Self.needsKind, Self.configKind].contains(kind) }
}
