/// Which values a filter computes with.
public enum Light: String, Hashable, Sendable, CaseIterable {
    /// The samples as they are stored.
    case encoded
    /// Linear light: the colours go through the curve of the picture and back; alpha is linear already.
    case linear
}
