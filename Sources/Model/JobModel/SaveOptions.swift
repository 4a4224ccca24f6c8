public import Catalogs

/// How outputs are written.
public struct SaveOptions: Hashable, Sendable, Codable {
    public let metadata: MetadataPolicy
    /// What shows through where a format without alpha gets a transparent picture: red, green, blue, 0–255.
    public let background: [Int]
    /// The format's own options, by name (`quality`, `compression`, …), as its descriptor types them.
    public let values: [String: ParameterValue]

    public init(
        metadata: MetadataPolicy = .keep, background: [Int] = [255, 255, 255], values: [String: ParameterValue] = [:]
    ) {
        self.metadata = metadata
        self.background = background
        self.values = values
    }
}
