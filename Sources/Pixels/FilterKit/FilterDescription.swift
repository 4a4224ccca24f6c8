/// A filter's description of itself for manifests.
public struct FilterDescription: Sendable {
    public let name: String
    public let version: String
    public let summary: String
    public let renderingVersion: Int
    public let parameters: [any FilterParameter]

    /// - Parameters:
    ///   - name: as manifests name the filter: small letters, digits, `-` and `_`.
    ///   - version: the plugin's, `1.0.2`. Outputs are made again when it changes.
    ///   - summary: one line, without a full stop.
    ///   - renderingVersion: raise it when, and only when, the filter's pixels change.
    ///   - parameters: in the order in which they are listed.
    public init(
        name: String, version: String, summary: String, renderingVersion: Int = 1,
        parameters: [any FilterParameter] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.renderingVersion = renderingVersion
        self.parameters = parameters
    }
}

/// Why a filter cannot do what it was asked; the text reaches the user as it is.
public struct FilterFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter description: one sentence that says what is wrong and what to do about it.
    public init(_ description: String) { self.description = description }
}
