/// A message in two parts: what is wrong, and what to do. Problem bodies have the two as `detail` and `remedy`.
package struct Explanation: Hashable, Sendable {
    package let summary: String
    /// Several remedies are on lines of their own. Nil for none.
    package let remedy: String?

    private static let separator = "\n   = "

    package init(_ summary: String, remedy: String?) {
        self.summary = summary
        self.remedy = remedy
    }

    /// Splits a message of Penumbra: one line, then lines that begin with `   = `.
    package init(message: String) {
        let parts = message.split(separator: Self.separator, omittingEmptySubsequences: false)
        summary = parts.first.map(String.init) ?? ""
        remedy = parts.count < 2 ? nil : parts.dropFirst().joined(separator: "\n")
    }

    /// The message that it was.
    package var message: String {
        let remedies = remedy?.split(separator: "\n") ?? []
        return summary + remedies.map { Self.separator + $0 }.joined()
    }
}
