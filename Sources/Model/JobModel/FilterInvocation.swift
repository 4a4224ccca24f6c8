public import Catalogs

/// One filter of a chain with the values that the manifest gave and the fallbacks of those it did not give.
public struct FilterInvocation: Hashable, Sendable, Codable {
    public let filter: String
    /// By parameter name (never a synonym). A parameter without value and fallback is missing.
    public let values: [String: ParameterValue]

    public init(filter: String, values: [String: ParameterValue]) {
        self.filter = filter
        self.values = values
    }
}

extension [FilterInvocation] {
    /// The same chain with one frame, from 0, of the animation that it ends with.
    public func showing(frame: Int) -> [FilterInvocation] {
        guard let last else { return self }
        let shown = last.values.merging([FilterInvocation.frame: .integer(frame + 1)]) { $1 }
        return dropLast() + [FilterInvocation(filter: last.filter, values: shown)]
    }
}

extension FilterInvocation {
    /// The parameter of every filter that makes frames: which of them is shown, from 1; else all.
    public static let frame = "frame"
}
