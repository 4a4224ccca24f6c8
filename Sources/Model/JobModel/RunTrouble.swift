/// What a person has to know of an ended run, beside its failed frames. It is stored with the run's counts.
package struct RunTrouble: Hashable, Codable, Sendable {
    /// The most outputs and pictures that are named.
    package static let mostNamed = 20
    private static let mostReasons = 20

    /// Why the exit code is not 0 although all frames were tried.
    package private(set) var reasons: [String]?
    /// The first outputs that were kept. Later runs, or a person, may have changed them since.
    package private(set) var kept: [FileReason]?
    /// The number of all kept outputs.
    package private(set) var keptCount: Int?
    /// The first pictures that were broken before the run. Such a picture may be gone now.
    package private(set) var broken: [FileReason]?

    /// Nil if there is nothing to tell.
    package init?(reasons: [String], kept: [FileReason], broken: [FileReason]) {
        guard !(reasons.isEmpty && kept.isEmpty && broken.isEmpty) else { return nil }
        self.reasons = reasons.isEmpty ? nil : Array(reasons.prefix(Self.mostReasons))
        self.kept = kept.isEmpty ? nil : Array(kept.prefix(Self.mostNamed))
        keptCount = kept.isEmpty ? nil : kept.count
        self.broken = broken.isEmpty ? nil : Array(broken.prefix(Self.mostNamed))
    }

    /// All reasons as one message; nil if there are none.
    package var reason: String? { reasons?.joined(separator: "\n") }

    /// Only the reasons, for a list of many runs.
    package var withoutNames: RunTrouble? { RunTrouble(reasons: reasons ?? [], kept: [], broken: []) }
}
