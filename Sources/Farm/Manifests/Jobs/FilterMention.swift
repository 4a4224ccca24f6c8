package import JobModel

/// A filter that a manifest asks for, and where.
package struct FilterMention: Hashable, Sendable {
    package let invocation: FilterInvocation
    /// Of its name.
    package let span: SourceSpan
    /// That it changes nothing was told.
    package let isKnownAsIdle: Bool
}
