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
