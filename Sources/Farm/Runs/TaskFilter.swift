package import JobStorage

/// Chooses attempts by their tasks: `37`, `37p2`, `37/frame`, `37/tile-12`.
package struct TaskFilter: Hashable, Sendable {
    package let number: Int
    private let page: Int?
    private let kind: String?
    private let tile: Int?

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let frame = parts[0].split(separator: "p", omittingEmptySubsequences: false)
        guard parts.count <= 2, frame.count <= 2, let number = Self.number(frame[0]), number > 0 else { return nil }
        self.number = number
        page = frame.count == 2 ? Self.number(frame[1]).map { $0 - 1 } : nil
        if frame.count == 2, page.map({ $0 < 0 }) ?? true { return nil }
        let words = parts.count == 2 ? parts[1].split(separator: "-", omittingEmptySubsequences: false) : []
        kind = words.first.map(String.init)
        if let kind, kind.isEmpty || !kind.utf8.allSatisfy({ (0x61...0x7a).contains($0) }) { return nil }
        tile = words.count == 2 ? Self.number(words[1]) : nil
        if words.count > 2 || words.count == 2 && tile == nil { return nil }
    }

    /// A number as tasks are named by it: no sign, and no zero before it.
    private static func number(_ text: Substring) -> Int? {
        Int(text).flatMap { $0 >= 0 && String($0) == text ? $0 : nil }
    }

    package func includes(_ attempt: StoredAttempt) -> Bool {
        attempt.number == number && (page ?? attempt.page) == attempt.page && (kind ?? attempt.kind) == attempt.kind
            && (tile == nil || tile == attempt.tile)
    }
}
