package import JobStorage

/// Chooses attempts by their tasks: `37`, `37p2`, `37/probe`, `37/tile-12`.
package struct TaskFilter: Hashable, Sendable {
    package let number: Int
    private let page: Int?
    private let kind: String?
    private let tile: Int?

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let frame = parts[0].split(separator: "p", omittingEmptySubsequences: false)
        guard parts.count <= 2, frame.count <= 2, let number = Int(frame[0]) else { return nil }
        self.number = number
        page = frame.count == 2 ? Int(frame[1]).map { $0 - 1 } : nil
        if frame.count == 2, page == nil { return nil }
        let words = parts.count == 2 ? parts[1].split(separator: "-", omittingEmptySubsequences: false) : []
        kind = words.first.map(String.init)
        tile = words.count == 2 ? Int(words[1]) : nil
        if words.count > 2 || words.count == 2 && tile == nil { return nil }
    }

    package func includes(_ attempt: StoredAttempt) -> Bool {
        attempt.number == number && (page ?? attempt.page) == attempt.page && (kind ?? attempt.kind) == attempt.kind
            && (tile == nil || tile == attempt.tile)
    }
}
