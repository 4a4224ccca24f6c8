/// The side of a tile.
public enum TileSize: Hashable, Sendable, Codable {
    /// As large as the halo demands: at most 30 % more pixels are read than written.
    case auto
    case pixels(Int)
}

/// Whether a frame is rendered as one task or cut into tiles.
public enum ShardMode: String, Hashable, Sendable, Codable, CaseIterable {
    case auto
    case frame
    case tile
}

/// What happens when an output is already there.
public enum ExistingPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case overwrite
    case skip
    case error
}

/// How much is checked before an output is published.
public enum VerifyLevel: String, Hashable, Sendable, Codable, CaseIterable {
    /// Digests of tiles and files are compared.
    case digest
    /// Also renders a random sample again on another worker, over shifted tile borders.
    case audit
    /// Also decodes the written file and compares.
    case full
}

/// How long one attempt of a task may take.
public enum TimeLimit: Hashable, Sendable, Codable {
    /// Grows with the megapixels of the task.
    case auto
    case seconds(Double)
}

/// Which colour space the filters see and the output keeps.
public enum ColorPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case srgb
}

/// Which metadata an output carries. Embedded thumbnails and previews are dropped whatever it says.
public enum MetadataPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    /// No place, no serial numbers, no names.
    case `public`
    case icc
    case strip
}
