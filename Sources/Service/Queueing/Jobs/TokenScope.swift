/// What the bearer of a token may do. Each scope includes those before it.
package enum TokenScope: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    case read
    /// Also submits jobs, and changes its own ones.
    case submit
    case admin

    package static func < (a: TokenScope, b: TokenScope) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .submit: 1
        case .admin: 2
        }
    }
}
