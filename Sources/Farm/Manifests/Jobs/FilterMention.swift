package import JobModel

/// A filter that a manifest asks for, and where.
package struct FilterMention: Hashable, Sendable {
    package let invocation: FilterInvocation
    /// Of its name.
    package let span: SourceSpan
    /// Where overrides find its parameters, from the job or the entry of `outputs:` that it belongs to:
    /// `filters[1].motion`, `layers[0]`.
    package let place: String
    /// That it changes nothing was told.
    package let isKnownAsIdle: Bool
}
