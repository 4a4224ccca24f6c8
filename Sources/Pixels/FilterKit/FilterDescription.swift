/// A filter's description of itself for manifests.
public struct FilterDescription: Sendable {
    public let name: String
    public let version: String
    public let summary: String
    public let renderingVersion: Int
    public let parameters: [any FilterParameter]

    /// - Parameters:
    ///   - name: the filter's name in manifests: small letters, digits, `-` and `_`.
    ///   - version: the plugin's version, such as `1.0.2`. It changes with every release, and renders nothing again.
    ///   - summary: a sentence on one line, without its full stop: "Adds film grain".
    ///   - renderingVersion: raise it when, and only when, the filter's pixels change.
    ///   - parameters: the parameters, in the order of the documentation.
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

/// An error of a filter. The user sees its text unchanged.
public struct FilterFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameter description: one sentence that says what is wrong and what to do about it.
    public init(_ description: String) { self.description = description }
}
