public import Catalogs

/// How outputs are written.
public struct SaveOptions: Hashable, Sendable, Codable {
    public let metadata: MetadataPolicy
    /// What shows through where a format without alpha gets a transparent picture: red, green, blue, 0–255.
    public let background: [Int]
    /// The chain is computed with 16 bits, and the output has 8, rounded by a pattern that hides the steps.
    public let dither: Bool
    /// The format's own options, by name (`quality`, `compression`, …), as its descriptor types them.
    public let values: [String: ParameterValue]

    public init(
        metadata: MetadataPolicy = .keep, background: [Int] = [255, 255, 255], dither: Bool = false,
        values: [String: ParameterValue] = [:]
    ) {
        self.dither = dither
        self.metadata = metadata
        self.background = background
        self.values = values
    }
}
